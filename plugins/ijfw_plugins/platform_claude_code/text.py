"""Which words of a Claude Code session a person typed, and which the client or we put there."""

import re

from ijfw_core.text import clean, strip_memory

# Blocks that the client, an editor or a hook puts around or beside what was typed.
_BESIDE = (
    "system-reminder",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "new-diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    "hook_context",
)
_OPEN = re.compile(r"<(" + "|".join(_BESIDE) + r")(?:\s[^<>]{0,200})?>")
# A message that starts with one of these is the client's from its first to its last word.
_MACHINE = re.compile(
    r"<(?:task-notification|teammate-message|background-task-output|tick"
    r"|command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)"
    r"|bash-(?:input|stdout|stderr))(?:\s[^<>]{0,200})?>"
)
_TYPED = re.compile(r"</?(?:user-memory-input|user-query)>")  # only wraps what a person typed
_PICTURE = re.compile(
    r"\[Image(?: #\d{1,6}|: source: [^\]\n]{0,400})?\]|\[Pasted image[^\]\n]{0,80}\]"
)
_SYNTHETIC = (
    "Caveat: The messages below",
    "[Request interrupted",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
    "Base directory for this skill:",
    "API Error:",
    "PreToolUse:",
    "PostToolUse:",
    "UserPromptSubmit hook",
    "SessionStart:",
)
_REJECTED = (
    "The user doesn't want to ",
    "[Request interrupted by user",
    "The tool use was rejected",
    "User rejected ",
    "Permission to use ",
    "Claude requested permissions ",
    "Request interrupted by user",
)


def human(text: str) -> str:
    """What a person typed in a user message; "" where nobody did.

    Injected blocks, our own marker and picture placeholders are taken out. Linear in the text.
    """
    text = strip_memory(clean(text))
    if "<" in text:
        text = _TYPED.sub("", _without_blocks(text))
    if "[" in text:
        text = _PICTURE.sub("", text)
    text = text.strip()
    return "" if text.startswith(_SYNTHETIC) or _MACHINE.match(text) else text


def _without_blocks(text: str) -> str:
    """Take out the known blocks; one that is never closed takes the rest."""
    kept: list[str] = []
    at = 0
    while match := _OPEN.search(text, at):
        kept.append(text[at : match.start()])
        end = f"</{match.group(1)}>"
        close = text.rfind(end, match.end())
        if close < 0:
            return "".join(kept)
        at = close + len(end)
    kept.append(text[at:])
    return "".join(kept)


def rejected(text: str) -> bool:
    """Whether a failed tool call failed because a person, or a permission, said no."""
    return text.removeprefix("Error: ").lstrip().startswith(_REJECTED)


def said_instead(text: str) -> str:
    """What a person said who rejected a tool call; "" where they only said no."""
    _, mark, words = text.partition("the user said:\n")
    return human(words.partition("\n\nNote: The user's next message")[0]) if mark else ""


def output(text: str) -> str:
    """A tool's output without what the client added to it and what we injected."""
    text = strip_memory(clean(text))
    text = _without_reminders(text)
    if text.startswith("<tool_use_error>"):
        text = text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    return text


def _without_reminders(text: str) -> str:
    """The client's reminders stand at the end of a result; elsewhere the tag is the file's own."""
    text = text.rstrip()
    while text.endswith("</system-reminder>"):
        start = text.rfind("<system-reminder>")
        if start < 0:
            break
        text = text[:start].rstrip()
    return text
