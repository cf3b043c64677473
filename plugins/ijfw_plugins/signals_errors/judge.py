"""From one finished tool call to its error signal, if it has one."""

import re

from ijfw_core.text import digest, one_line, printable
from ijfw_hookspecs import Signal, Tool
from ijfw_plugins.signals_errors import detect
from ijfw_plugins.signals_errors.commands import Command, normal, parse

# Of reads and edits that failed only the machine's refusals teach something.
_MACHINE = re.compile(
    r"\bE(?:ACCES|ROFS|NOSPC|PERM|DQUOT)\b|Read-only file system|No space left on device|"
    r"[Pp]ermission denied"
)
BRIEF = 80  # characters of a command of which only the quotes matter
_HEX = re.compile(
    r"\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{7,64}\b(?<=\d[a-f])|\b[0-9a-f]{8}-[0-9a-f-]{27}\b"
)
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@~+-]*(?:[/\\][\w.@~+-]+)+")
# What a shell says before it runs anything: the same lesson whatever the command was.
_SHELL = re.compile(
    r"\S*(?:bash|zsh|/sh|dash)(?::|: -c:)(?: (?:eval:|line) ?\d*:?| \d+:)* ?"
    r"(?:[Ss]yntax error|parse error|unexpected EOF|no matches found|bad substitution)|"
    r"(?:zsh|bash|sh):\d+: (?:parse error|no matches found)"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def error(tool: Tool, cwd: str = "") -> Signal | None:
    """The signal of a tool result that failed, or None."""
    if tool.kind == "shell":
        command = parse(tool.input)
    elif tool.failed or tool.exit_code:
        command = Command(())
    else:
        return None
    found = detect.find(tool.output, command, tool.exit_code, tool.failed)
    if found is None or not _teaches(tool, found):
        return None
    line = printable(found.line).strip()  # its columns stay
    about = (
        tool.input if tool.kind == "shell" else f"{tool.name} {tool.input.partition(chr(10))[0]}"
    )
    if unread(line) and len(about) > BRIEF:
        about = about[:BRIEF].rpartition(" ")[0] + " …"
    return Signal(
        kind="error",
        text=line,
        about=one_line(about),
        key=key(found, about, cwd),
        signature=found.signature,
    )


def _teaches(tool: Tool, found: detect.Found) -> bool:
    """The agent's own tools fail on its slips: only what names a cause is worth a signal."""
    if tool.kind in ("read", "edit"):
        return _MACHINE.search(found.line) is not None
    return tool.kind != "other" or found.signature != detect.UNKNOWN


def key(found: detect.Found, command: str, cwd: str) -> str:
    """What makes two errors the same: the signature and the test, or the command and the message.

    The message counts without paths, numbers and addresses, so that two errors of one class and one
    command stay apart and the same one is known again.
    """
    if unread(found.line):
        return f"error:{found.signature}:shell#{digest(message(found.line), 3)}"
    if found.test:
        return f"error:{found.signature}:{found.test}"
    return f"error:{found.signature}:{here(command, cwd)[:160]}#{digest(message(found.line), 3)}"


def unread(line: str) -> bool:
    """Does an error line say that the shell could not read the command?"""
    return _SHELL.match(line) is not None


def here(command: str, cwd: str) -> str:
    """The normal form of a command, with the working folder left out of paths."""
    return normal(command.replace(cwd.rstrip("/") + "/", "") if len(cwd) > 1 else command)


def message(line: str) -> str:
    """An error line without what changes from run to run."""
    line = _PATH.sub(lambda match: re.split(r"[/\\]", match.group())[-1], line)
    return _NUMBER.sub("0", _HEX.sub("0", line)).lower()
