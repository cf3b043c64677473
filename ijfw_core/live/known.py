"""What the hook may know of projects before anything is imported: a cache beside the manifest.

Derived from `projects.toml` and the consent files, made anew whenever one of them changed. Of a
project that is not in it, or whose files changed since, the hook knows nothing and looks it up.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ijfw_core.errors import IjfwError
from ijfw_core.live import consent, hook, manifest, prompt_recall
from ijfw_core.loading import trust
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_core.text import parse_time

STATES: dict[bool | None, str] = {True: "yes", False: "no", None: "ask"}


def state(place: Roots) -> str:
    """What the cache says of a project: "yes", "no", "ask"; "" where it does not know."""
    found = hook.load(_path(place.home))
    try:
        row = found["projects"].get(os.fsencode(place.project))
        if found["of"] != _mark(place.home / trust.PROJECTS) or row is None:
            return ""
        return str(row["state"]) if _fresh(row) else ""
    except (TypeError, KeyError, AttributeError):
        return ""


def update(
    home: Path,
    place: Roots | None = None,
    replies: Mapping[tuple[str, str], bytes] | None = None,
    watched: Sequence[Path] = (),
) -> None:
    """Make the cache anew; for one project with the answers to a session start.

    `replies` is (platform, its event) -> what to print; they count as long as the files `watched`
    are as they are. A failure leaves the old cache, which its marks make harmless.
    """
    try:
        with files.lock(home / "run" / "projects.lock", wait=2):
            manifest.replace(
                Path(os.fsdecode(_path(home))),
                hook.pack(_build(home, place, dict(replies or {}), watched)),
            )
    except (OSError, IjfwError, TypeError, KeyError, AttributeError):
        pass


def _build(
    home: Path,
    place: Roots | None,
    replies: dict[tuple[str, str], bytes],
    watched: Sequence[Path],
) -> dict[str, Any]:
    of = _mark(home / trust.PROJECTS)
    tables = trust.tables(home)
    old = hook.load(_path(home)) or {"projects": {}, "aliases": {}}
    rows: dict[bytes, dict[str, Any]] = {}
    for project in {**tables.get("asked", {}), **tables.get("consent", {})}:
        row = _row(tables, project)
        if place is not None and str(place.project) == project:
            row["files"] += [(os.fsencode(path), _mark(path)) for path in watched]
            row["replies"] = replies
            _keep_replies(row, old["projects"].get(os.fsencode(project)), same_files=True)
        else:
            _keep_replies(row, old["projects"].get(os.fsencode(project)), same_files=False)
        rows[os.fsencode(project)] = row
    aliases = dict(old["aliases"])
    if place is not None and place.team.parent.parent != place.project:  # a worktree
        checkout = place.team.parent.parent
        aliases[os.fsencode(checkout)] = (os.fsencode(place.project), _mark(checkout / ".git"))
    aliases = {path: one for path, one in aliases.items() if one[0] in rows}
    for path, (project_path, git) in aliases.items():
        row = rows[project_path]
        rows[path] = {**row, "files": [*row["files"], (path + b"/.git", git)]}
    return {"of": of, "projects": rows, "aliases": aliases}


def _keep_replies(row: dict[str, Any], before: dict[str, Any] | None, *, same_files: bool) -> None:
    """Take over prebuilt answers of other platforms, or of a project that did not change."""
    if before is None or before["state"] != row["state"] or not _fresh(before):
        return
    if not same_files or sorted(before["files"]) == sorted(row["files"]):
        row["files"] = before["files"]
        row["replies"] = {**before["replies"], **row["replies"]}


def _row(tables: Mapping[str, Any], project: str) -> dict[str, Any]:
    record = tables.get("consent", {}).get(project)
    answer, marks, index = consent.Consent(None), [], b""
    if isinstance(record, dict) and isinstance(record.get("file"), str):
        path = Path(record["file"])
        marks = [(os.fsencode(path), _mark(path))]
        answer = consent.check(path, record)
        index = os.fsencode(path.parent) + b"/" + prompt_recall.INDEX
    asked = consent.asked_in(tables, project)
    until = parse_time(asked.until)
    return {
        "state": STATES[answer.consented],
        "files": marks,
        "asked": asked.sessions,
        "until": until.timestamp() if until else 0.0,
        "replies": {},
        "recall": index if index and _mark(Path(os.fsdecode(index))) else b"",
    }


def _fresh(row: Mapping[str, Any]) -> bool:
    return all(hook.mark(path) == seen for path, seen in row["files"])


def _mark(path: Path) -> Any:
    return hook.mark(os.fsencode(path))


def _path(home: Path) -> bytes:
    return os.fsencode(home) + b"/" + hook.PROJECTS
