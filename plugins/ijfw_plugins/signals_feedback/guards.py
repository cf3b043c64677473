"""Which prompts hold no feedback at all, and which part of a prompt the user typed."""

import re

from ijfw_core.text import MARK_OPEN, strip_memory

# How prompts begin that no human typed, or that are commands to the client.
_SYNTHETIC = (
    "[request interrupted",
    "this session is being continued",
    "caveat: the messages below",
    "<command-name>",
    "<command-message>",
    "<local-command",
    "<bash-",
    "<task-notification>",
    "<environment_context>",
    "<user_instructions>",
    "<user-prompt-submit-hook>",
    "<turn_aborted>",
    "<system-reminder>",
    "<system",
    "# agents.md instructions",
    "please continue the conversation from where we left",
    "base directory for this skill",
    "stop hook feedback",
)
_IDE_REQUEST = re.compile(r"^##? My request for [\w -]{1,30}:[ \t]*$", re.M)
_IDE_BLOCK = re.compile(
    r"<(ide_\w{1,40}|system-reminder|attached_files?|open_and_recently_viewed_files|environment_details)>"
    r"(?:(?!</\1>)[\s\S])*(?:</\1>|\Z)"
)
_SLASH = re.compile(r"^/[A-Za-z][\w:.-]{0,60}(?=\s|$)")
_IMAGE = re.compile(r"\[Image(?: #\d+)?(?::[^\]\n]{0,300})?\]|_\*\*User[^*\n]{0,60}\*\*_", re.I)


def typed(prompt: str, limit: int) -> str:
    """The part of a prompt that the user typed, at most `limit` characters; "" where there is none.

    Takes the request out of an IDE wrapper, drops injected blocks, our own memory marks and image
    placeholders. Slash commands, interruptions and continuation summaries give "".
    """
    text = prompt[: limit * 2]
    if MARK_OPEN[1:-1] in text:
        text = strip_memory(text)
    if text.lstrip().startswith("# Context from my IDE"):
        requests = list(_IDE_REQUEST.finditer(text))
        text = text[requests[-1].end() :] if requests else ""
    if "<" in text:
        text = _IDE_BLOCK.sub("", text)
    text = _IMAGE.sub(" ", text).strip()
    head = text[:80].lower()
    if head.startswith(_SYNTHETIC) or _SLASH.match(text):
        return ""
    return text[:limit]
