"""What an agent reads of us: the skill and the rules, one source for every platform."""

from pathlib import Path

SKILL = "ijfw-auto-memorize"  # the name of the skill, and of its folder


def skill(tool: str = "{}") -> str:
    """SKILL.md. `tool` is how the platform names a tool of our server: "mcp__ijfw__{}", say."""
    return _text("skill.md", tool)


def rules(tool: str = "{}") -> str:
    """The lines for AGENTS.md and its like, for platforms that read rules only."""
    return _text("rules.md", tool)


def _text(name: str, tool: str) -> str:
    """A text in which «name» stands for a tool of our server."""
    import re

    text = Path(__file__).with_name(name).read_text("utf-8")
    return re.sub(r"«(\w+)»", lambda match: tool.format(match.group(1)), text)
