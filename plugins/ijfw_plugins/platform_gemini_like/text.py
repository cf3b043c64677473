"""Which words of a chat a person typed, and which the client or we put there."""

import re

from ijfw_core.text import clean, digest, strip_memory

# What hooks add stands in this block; the client escapes what is in it, our marker too.
_CONTEXT = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.S)
# A message that starts with one of these is the client's from its first to its last word.
_MACHINE = re.compile(
    r"<(?:session_context|system-reminder|loaded_context|task-notification|state_snapshot"
    r"|background_output|available_skills)[\s>]"
    r"|This is the (?:Gemini CLI|Qwen Code)\b|System: |\[Request interrupted"
    r"|I ran the following shell command:\n"
)
_COMMAND = re.compile(r"[/?][A-Za-z][\w:-]*(?:\s|\Z)")
_REFERENCED = "\n--- Content from referenced files ---"
_FOLDER = re.compile(
    r"(?:Workspace Directories:\*{0,2}\n\s*- |working in the director(?:y|ies): ?\n?\s*(?:- )?)"
    r"(/[^\n]{1,1000})"
)


def human(text: str) -> str:
    """What a person typed in a user message; "" where nobody did. Linear in the text."""
    text = clean(text)
    if "hook_context" in text:
        text = _CONTEXT.sub("", text)
    text = strip_memory(text).partition(_REFERENCED)[0].strip()
    return "" if _MACHINE.match(text) or _COMMAND.match(text) else text


def folder_in(text: str) -> str:
    """The working folder that the client tells the model at the start; "" where it does not."""
    match = _FOLDER.search(text[:4000])
    return match.group(1).strip() if match else ""


def turn_of(typed: str) -> str:
    """The turn that a prompt begins. Hooks know no id of it, so its words name it in both."""
    return "p" + digest(typed)


def plain(text: str) -> str:
    """An output without what hooks and the client put around it."""
    text = clean(text)
    if "hook_context" in text:
        text = _CONTEXT.sub("", text)
    text = strip_memory(text).strip()
    if text.endswith("</untrusted_context>"):  # one that was cut may begin with another line
        text = text.removeprefix("<untrusted_context>").removesuffix("</untrusted_context>")
    return text.strip("\n")
