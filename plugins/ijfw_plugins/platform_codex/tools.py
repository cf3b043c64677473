"""A tool call of Codex as a `Tool`, the same from a hook's payload and from a rollout."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ijfw_core.text import clean, strip_memory
from ijfw_core.toolcalls import DIFF_LINES, ToolKind, edited, is_ours, others, text_of
from ijfw_hookspecs import Tool

SERVER = "mcp__ijfw"
_SHELLS = frozenset(
    {"Bash", "shell", "exec_command", "shell_command", "local_shell", "unified_exec"}
)
_WRAPPED = 3  # words in ["/bin/bash", "-lc", "the command"]
_EDITED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$", re.M)
_HERE_END = re.compile(r"\n\w+\s*\Z")  # nothing runs after the patch
_PATCH = "*** Begin Patch"
# What is put in front of an output that goes back to the model.
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.M)
_NOT_DONE = ("unsupported custom tool call", "apply_patch verification failed")
_HEAD = 400  # characters of an output in which that stands


def finish(
    name: str,
    arguments: object,
    output: str,
    call_id: str,
    *,
    exit_code: int | None = None,
    failed: bool | None = None,
) -> Tool:
    """Describe a finished call. Tolerates arguments of any shape."""
    args: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    patch = _patch_in(name, arguments, args)
    kind: ToolKind
    if patch:
        kind, shown = "edit", patched(patch)
        subject = shown.partition("\n")[0]
    elif name in _SHELLS:
        kind, shown = "shell", command(args)
        subject = shown
    elif name.startswith("mcp__"):
        kind, shown, subject = "mcp", others(args), text_of(args, "path", "file_path")
    elif name in ("view_image", "read_file", "grep_files", "list_dir"):
        kind, shown = "read", text_of(args, "path", "file_path", "dir_path", "pattern")
        subject = shown
    else:
        kind, shown, subject = "other", others(args), text_of(args, "path", "file_path")
    if kind == "edit" and failed is None and output.startswith(_NOT_DONE):
        failed = True
    return Tool(
        name=name,
        kind=kind,
        input=shown,
        output=strip_memory(clean(output)),
        exit_code=exit_code,
        failed=failed if failed is not None or exit_code is None else exit_code != 0,
        call_id=call_id,
        is_ours=name == SERVER or name.startswith(f"{SERVER}__") or is_ours(kind, subject),
    )


def command(args: Mapping[str, Any]) -> str:
    """The command of a shell call, without the shell that is put around it."""
    given = args.get("command", args.get("cmd"))
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        return ""
    words = [word for word in given if isinstance(word, str)]
    if len(words) == _WRAPPED and words[1] in ("-lc", "-c"):
        return words[2]
    return " ".join(words)


def patched(patch: str) -> str:
    """What `Tool.input` says of a patch: its first file, then the lines that go and come."""
    names = _EDITED.findall(patch)
    changed = [line for line in patch.splitlines() if line[:1] in ("+", "-")]
    return "\n".join([names[0].strip() if names else "", *changed[:DIFF_LINES]])[:4000].rstrip()


def changes(item: Mapping[str, Any]) -> str:
    """The same of a finished change of files."""
    found = item.get("changes")
    for path, change in found.items() if isinstance(found, dict) else ():
        if not isinstance(change, dict):
            continue
        diff = text_of(change, "unified_diff")
        if not diff:
            return edited(path, [("", text_of(change, "content"))])
        lines = [line for line in diff.splitlines() if line[:1] in ("+", "-")]
        return "\n".join([path, *lines[:DIFF_LINES]])[:4000]
    return ""


def content(value: object) -> str:
    """The text of an answer, whatever its shape."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return content(value.get("content"))
    return "\n".join(_texts(value)) if isinstance(value, list) else ""


def told(output: object) -> tuple[str, int | None]:
    """(text, exit status) of an output as it went back to the model, of any version."""
    text = content(output)
    if text.startswith("{"):
        from ijfw_core.jsonlog import decode

        value = decode(text.encode("utf-8", "replace")) or {}
        about = value.get("metadata")
        if isinstance(value.get("output"), str) and isinstance(about, dict):
            code = about.get("exit_code")
            return value["output"], code if isinstance(code, int) else None
    head = text[:_HEAD]
    match = _EXIT.search(head)
    at = text.find("\nOutput:\n", 0, _HEAD)
    body = text[at + len("\nOutput:\n") :] if at >= 0 else text
    return body, int(match.group(1)) if match else None


def _texts(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield text


def _patch_in(name: str, arguments: object, args: Mapping[str, Any]) -> str:
    """The patch of a call that edits files: by its own tool, or through a shell."""
    if name == "apply_patch":
        given = (
            arguments if isinstance(arguments, str) else text_of(args, "command", "input", "patch")
        )
        return given or _PATCH
    given = command(args) if name in _SHELLS else ""
    alone = given.lstrip().startswith("apply_patch") and _HERE_END.search(given) is not None
    return given if alone and _PATCH in given else ""
