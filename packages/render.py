"""Render the packages from their sources: `python packages/render.py`. A test holds them equal.

Sources are the skill and rules of `ijfw_core/edits`, `packages/commands/*.md` and
`packages/ijfw.sh`; manifests carry the version of the distribution.
"""

import json
import os
import re
import sys
from pathlib import Path

from ijfw_core import __version__, edits

HERE = Path(__file__).parent
ABOUT = "Local-first memory shared by all coding agents on this computer"
AUTHOR = {"name": "The IJFW maintainers"}
CLAUDE_TOOL = "mcp__plugin_ijfw_ijfw__{}"  # of a plugin's server, as the client shows it
GEMINI_TOOL = "mcp_ijfw_{}"
CLAUDE_RUN = '"${CLAUDE_PLUGIN_ROOT}"/bin/ijfw'
GEMINI_RUN = "sh ${extensionPath}${/}bin${/}ijfw"
# Event -> seconds (Claude Code), milliseconds (Gemini CLI). A plugin cannot raise the 1.5 s that
# Claude Code gives to SessionEnd; the hook needs a few hundredths of that. The first session start
# after installing may have to put the hook in place: a second of CPU, on a busy computer longer.
CLAUDE_EVENTS = {
    "SessionStart": 60,
    "UserPromptSubmit": 10,
    "PostToolUse": 10,
    "PostToolUseFailure": 10,
    "Stop": 10,
    "SessionEnd": 10,
}
GEMINI_EVENTS = {"SessionStart": 60000, "BeforeAgent": 10000, "AfterTool": 10000, "AfterAgent": 10000, "SessionEnd": 10000}  # fmt: skip  # noqa: E501


def rendered() -> dict[str, str]:
    """Every file of the packages: path below the repository -> text."""
    files = {
        ".claude-plugin/marketplace.json": _json(
            {
                "name": "ijfw",
                "owner": AUTHOR,
                "metadata": {"description": ABOUT, "version": __version__},
                "plugins": [
                    {"name": "ijfw", "source": "./packages/claude-code", "description": ABOUT}
                ],
            }
        )
    }
    files |= {f"packages/claude-code/{name}": text for name, text in _claude().items()}
    return files | {f"packages/gemini-cli/{name}": text for name, text in _gemini().items()}


def _claude() -> dict[str, str]:
    hooks = {
        event: [
            {
                **({"matcher": "*"} if event.startswith("PostTool") else {}),
                "hooks": [
                    {
                        "type": "command",
                        "command": f"{CLAUDE_RUN} agent-hook claude-code {event}",
                        "timeout": seconds,
                    }
                ],
            }
        ]
        for event, seconds in CLAUDE_EVENTS.items()
    }
    server = {"command": "${CLAUDE_PLUGIN_ROOT}/bin/ijfw", "args": ["mcp"]}
    manifest = {
        "name": "ijfw",
        "version": __version__,
        "description": ABOUT,
        "author": AUTHOR,
        "license": "MIT",
        "keywords": ["memory", "mcp", "hooks"],
    }
    files = {
        ".claude-plugin/plugin.json": _json(manifest),
        "hooks/hooks.json": _json({"description": ABOUT, "hooks": hooks}),
        ".mcp.json": _json({"mcpServers": {"ijfw": server}}),
        f"skills/{edits.SKILL}/SKILL.md": edits.skill(CLAUDE_TOOL),
        "bin/ijfw": _script(),
    }
    for path in sorted((HERE / "commands").glob("*.md")):
        files[f"commands/{path.name}"] = _filled(path.read_text("utf-8"), CLAUDE_TOOL)
    return files


def _gemini() -> dict[str, str]:
    hooks = {
        event: [
            {
                **({"matcher": "*"} if event == "AfterTool" else {}),
                "hooks": [
                    {
                        "name": "ijfw",
                        "type": "command",
                        "command": f"{GEMINI_RUN} agent-hook gemini-cli {event}",
                        "timeout": limit,
                    }
                ],
            }
        ]
        for event, limit in GEMINI_EVENTS.items()
    }
    manifest = {
        "name": "ijfw",
        "version": __version__,
        "description": ABOUT,
        "contextFileName": "GEMINI.md",
        "mcpServers": {
            "ijfw": {"command": "sh", "args": ["${extensionPath}${/}bin${/}ijfw", "mcp"]}
        },
    }
    files = {
        "gemini-extension.json": _json(manifest),
        "hooks/hooks.json": _json({"hooks": hooks}),
        "GEMINI.md": edits.rules(GEMINI_TOOL),
        f"skills/{edits.SKILL}/SKILL.md": edits.skill(GEMINI_TOOL),
        "bin/ijfw": _script(),
    }
    for path in sorted((HERE / "commands").glob("*.md")):
        _, head, body = path.read_text("utf-8").split("---\n", 2)
        about = re.search(r"^description: (.*)$", head, re.M)
        text = _filled(body, GEMINI_TOOL).replace("$ARGUMENTS", "{{args}}")
        files[f"commands/ijfw/{path.stem}.toml"] = (
            f'description = "{about.group(1) if about else ""}"\nprompt = """\n{text}"""\n'
        )
    return files


def _filled(text: str, tool: str) -> str:
    """A command's text in which «ijfw» is the command line and «name» a tool of our server."""
    text = text.replace("«ijfw»", "ijfw")
    return re.sub(r"«(\w+)»", lambda match: tool.format(match.group(1)), text)


def _script() -> str:
    return (HERE / "ijfw.sh").read_text("utf-8")


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def main() -> None:
    """Write every file that is not as it should be."""
    for name, text in rendered().items():
        path = HERE.parent / name
        if path.exists() and path.read_text("utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        os.chmod(path, 0o755 if name.endswith("bin/ijfw") else 0o644)
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
