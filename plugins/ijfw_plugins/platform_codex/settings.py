"""Where Codex keeps what we put there, and whether the person trusted it.

Codex runs no hook that nobody reviewed. Trust is a digest of the hook's definition, kept in its
config under the place of the hook; we read it to tell the person, and never write it.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ijfw_core import edits
from ijfw_core.edits import Piece
from ijfw_hookspecs import AdapterStatus
from ijfw_plugins.platform_codex import NAME

# Event -> seconds the client waits. It cuts SessionEnd to 3 s itself, with a warning above that.
EVENTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 10,
    "PostToolUse": 10,
    "Stop": 10,
    "SessionEnd": 3,
}


def pieces(folder: Path, skills: Path, command: Sequence[str] = ()) -> list[Piece]:
    """All that is ours, for `ijfw_core.edits`; `command` runs our hook, () to take things out."""
    hooks = {event: _group(event, command) for event in EVENTS}
    return [
        *edits.hook_items(folder / "hooks.json", NAME, hooks, within="hooks"),
        edits.TomlTable(
            path=folder / "config.toml",
            keys=("mcp_servers", "ijfw"),
            value=edits.mcp_server(command),
            ours=edits.is_mcp_server,
        ),
        edits.skill_file(skills, "mcp__ijfw__{}"),
    ]


def trusted(found: AdapterStatus, folders: Sequence[Path]) -> AdapterStatus:
    """The status with what the person trusted; with hooks that wait for it, how to trust them."""
    if found.state != "standing by":
        return found
    good, waiting = 0, 0
    for folder in folders:
        known = _states(folder)
        for key, digest in hooks_in(folder / "hooks.json"):
            told = [state.get(key, {}).get("trusted_hash") for state in known]
            good, waiting = good + (digest in told), waiting + (digest not in told)
    note = f"{good} hooks trusted"
    if waiting:
        note = f"{waiting} of {good + waiting} hooks wait for your trust: run /hooks in codex"
    return AdapterStatus(state=found.state, detail=f"{found.detail}; {note}")


def hooks_in(path: Path) -> Iterator[tuple[str, str]]:
    """(place, digest) of each hook of ours in a hooks.json, as Codex names and sums them."""
    ours = edits.is_hook(NAME)
    try:
        events = json.loads(edits.read(path) or "{}").get("hooks", {})
        groups = [(e, n, g) for e, every in events.items() for n, g in enumerate(every)]
        for event, number, group in groups:
            for place, hook in enumerate(group.get("hooks", ())):
                if ours(hook):
                    label = _label(event)
                    yield f"{path}:{label}:{number}:{place}", digest(label, group, hook)
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return


def digest(label: str, group: dict[str, Any], hook: dict[str, Any]) -> str:
    """The sum by which Codex knows a hook again (found by trying, with version 0.171.0)."""
    known = {
        "type": "command",
        "command": hook.get("command"),
        "timeout": hook.get("timeout", 600),
        "async": hook.get("async", False),
    }
    if hook.get("statusMessage"):
        known["statusMessage"] = hook["statusMessage"]
    about: dict[str, Any] = {"event_name": label, "hooks": [known]}
    if group.get("matcher") is not None:
        about["matcher"] = group["matcher"]
    text = json.dumps(about, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _group(event: str, command: Sequence[str]) -> dict[str, object]:
    hook = {"type": "command", "command": edits.hook_line(command, event), "timeout": EVENTS[event]}
    return {"hooks": [hook]}


def _label(event: str) -> str:
    """`PostToolUse` as `post_tool_use`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in event).lstrip("_")


def _states(folder: Path) -> list[dict[str, Any]]:
    """What the person trusted: in the config beside the hooks, and in their own."""
    import os
    import tomllib

    own = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    found = []
    for path in dict.fromkeys((folder / "config.toml", own / "config.toml")):
        try:
            state = tomllib.loads(edits.read(path) or "")["hooks"]["state"]
            found.append({key: value for key, value in state.items() if isinstance(value, dict)})
        except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
            continue
    return found
