"""Which words of a Codex session a person typed, and which the client or we put there."""

import re

from ijfw_core.text import clean, strip_memory

# What an editor puts in front of a request.
_REQUEST = "## My request for Codex:"
_EDITOR = "# Context from my IDE setup:"
# A message that starts with one of these is the client's from its first to its last word.
_MACHINE = re.compile(
    r"<(?:environment_context|user_instructions|permissions instructions|turn_aborted"
    r"|user_shell_command|skill|skills_instructions|subagent_notification|collaboration_mode"
    r"|apps_instructions|plugins_instructions|model_switch|INSTRUCTIONS|system-reminder"
    r"|hook_prompt|goal_context|app-context)[\s>]"
    r"|# AGENTS\.md instructions|Another language model started to solve this problem"
    r"|\[Request interrupted"
)
_PICTURE = re.compile(r"</?image(?:\s[^<>]{0,200})?>|\[Image #\d{1,6}\]")


def human(text: str) -> str:
    """What a person typed in a user message; "" where nobody did. Linear in the text."""
    text = strip_memory(clean(text)).strip()
    if text.startswith(_EDITOR):
        _, mark, typed = text.rpartition(_REQUEST)
        text = typed.strip() if mark else ""
    if _MACHINE.match(text):
        return ""
    return _PICTURE.sub("", text).strip() if "age" in text else text
