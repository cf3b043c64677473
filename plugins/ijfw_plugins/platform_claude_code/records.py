"""One line of a Claude Code session file as a record. Whatever a line holds, nothing raises."""

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

_SURROGATE = re.compile("[\ud800-\udfff]")
_EMPTY = Raw()


class Record(Struct, rename="camel", gc=False):
    """The fields that are used. Any, because a field of an odd type must not cost the record."""

    type: Any = None
    subtype: Any = None
    uuid: Any = None
    session_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    git_branch: Any = None
    is_meta: Any = None
    is_sidechain: Any = None
    is_compact_summary: Any = None
    is_visible_in_transcript_only: Any = None
    origin: Any = None  # {"kind": "human" | "channel" | "peer" | "task-notification" | ...}
    agent_id: Any = None
    prompt_id: Any = None
    leaf_uuid: Any = None
    message_id: Any = None
    operation: Any = None
    message: Raw = _EMPTY
    attachment: Raw = _EMPTY
    tool_use_result: Raw = _EMPTY  # large, decoded only where a field of it is needed
    system_payload: Raw = _EMPTY  # only a look-alike of another client has it


class Message(Struct, gc=False):
    """What the model was told or said."""

    content: Any = None


class Attachment(Struct, gc=False):
    """Something the client put between the messages."""

    type: Any = None
    prompt: Any = None
    commandMode: Any = None
    source_uuid: Any = None


class ShellResult(Struct, rename="camel", gc=False):
    """What the client says of a command that did not fail."""

    interrupted: Any = None
    return_code_interpretation: Any = None
    background_task_id: Any = None


_record = msgspec.json.Decoder(Record)
_message = msgspec.json.Decoder(Message)
_attachment = msgspec.json.Decoder(Attachment)
_shell = msgspec.json.Decoder(ShellResult)
_any = msgspec.json.Decoder()

# DecodeError is a ValueError; RecursionError comes from deep nesting.
_UNREADABLE = (ValueError, RecursionError)


class Line(Struct, gc=False):
    """A record with its message decoded; `content` is None where it has none."""

    record: Record
    content: Any = None


def decode(data: bytes) -> Line | None:
    """A line as a record; None where it is none: not JSON, no object, a message of odd shape."""
    try:
        return _decode(data)
    except _UNREADABLE:
        pass
    try:
        return _decode(_mended(data))
    except _UNREADABLE:
        return None


def _decode(data: bytes) -> Line:
    record = _record.decode(data)
    if record.type not in ("user", "assistant"):
        return Line(record)
    if not record.message:
        raise ValueError("no message")
    content = _message.decode(record.message).content
    if not isinstance(content, str | list):
        raise ValueError("no content")
    return Line(record, content)


def _mended(data: bytes) -> bytes:
    """The same JSON; invalid UTF-8 and lone surrogates, which msgspec refuses, become U+FFFD."""
    import json  # hooks do not wait for it

    value = json.loads(data.decode("utf-8", "replace"))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return _SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)).encode()


def attachment(record: Record) -> Attachment | None:
    """The attachment of a record, or None."""
    if not record.attachment:
        return None
    try:
        return _attachment.decode(record.attachment)
    except _UNREADABLE:
        return None


def shell_result(record: Record) -> ShellResult | None:
    """The client's account of a finished command; None where it gives none."""
    try:
        return _shell.decode(record.tool_use_result) if record.tool_use_result else None
    except _UNREADABLE:
        return None


def result_text(record: Record) -> str:
    """`toolUseResult` where it is a string: the message of a call that failed."""
    if bytes(record.tool_use_result)[:1] != b'"':
        return ""
    try:
        value = _any.decode(record.tool_use_result)
    except _UNREADABLE:
        return ""
    return value if isinstance(value, str) else ""


def result(record: Record, tool: str) -> object:
    """`toolUseResult` of a tool whose result is small and read whole; None for all others."""
    if tool != "AskUserQuestion" or not record.tool_use_result:
        return None
    try:
        return _any.decode(record.tool_use_result)
    except _UNREADABLE:
        return None


def text(value: object) -> str:
    """A field that should be a string."""
    return value if isinstance(value, str) else ""


def texts(content: object) -> list[str]:
    """The text blocks of a content, whatever its shape."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        block["text"]
        for block in content
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]


def blocks(content: object, kind: str) -> list[dict[str, Any]]:
    """The blocks of one type."""
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and block.get("type") == kind]


def is_typed(record: Record) -> bool:
    """Whether a user record may be what a person typed, not what the client or an agent put in."""
    kind = record.origin.get("kind") if isinstance(record.origin, dict) else None
    marks = (record.is_meta, record.is_compact_summary, record.is_visible_in_transcript_only)
    return kind in (None, "human") and not any(mark is True for mark in marks)


def is_ours(line: Line) -> bool:
    """Whether the record can only be this client's (others write records that look alike)."""
    record = line.record
    if record.type in ("user", "assistant"):
        return line.content is not None and bool(text(record.session_id) or text(record.uuid))
    marks = {
        "summary": record.leaf_uuid,
        "queue-operation": record.operation,
        "file-history-snapshot": record.message_id,
        "attachment": record.uuid if record.attachment else None,
        "system": None if record.system_payload else record.uuid and record.session_id,
    }
    return isinstance(record.type, str) and bool(marks.get(record.type))
