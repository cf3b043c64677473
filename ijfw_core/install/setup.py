"""Connect agents: our hook in their settings, and everything back as it was.

An adapter plans the edits of its platform's files; this module shows them as a diff, keeps a
backup beside each file, writes by compare-and-swap, and remembers in `~/.ijfw/setup.json` what it
wrote (digests only). Where a file still is what setup left, uninstall gives it its former bytes
back; where somebody changed it since, only our entries are taken out. A platform whose files cannot
be read is refused as a whole, the others go on.
"""

import contextlib
import difflib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec

from ijfw_core.errors import IjfwError, RefusedError, UsageError
from ijfw_core.live import manifest
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_core.loading.hooks import Hooks
from ijfw_core.storage import files
from ijfw_core.text import digest
from ijfw_hookspecs import FileEdit

Scope = Literal["user", "project"]
RECORD = "setup.json"
BACKUP = ".ijfw-backup"  # beside the file: settings may hold keys, which no folder of ours may


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What setup did to one settings file."""

    platform: str
    scope: Scope
    root: str  # the project's folder; "" for the user's own settings
    after: str  # digest of what was written
    at: float  # unix time
    backup: str = ""  # "" where there was no file
    exact: bool = True  # the backup is what uninstall gives back
    folder_made: bool = False  # of records before `folders`: the file's own
    folders: tuple[str, ...] = ()  # that were made for it, the innermost first


class Planned(NamedTuple):
    """One edit of a settings file, and whose it is."""

    platform: str
    scope: Scope
    root: str
    edit: FileEdit
    clean: bool = True  # install: none of our hooks was in the file before


class Connects(Protocol):
    """What a plan needs of an adapter."""

    @property
    def name(self) -> str:
        """The platform."""
        ...

    def install(self, scope: Scope, command: Sequence[str]) -> Sequence[FileEdit]: ...
    def uninstall(self, scope: Scope) -> Sequence[FileEdit]: ...


class Plan(NamedTuple):
    """What is to be done, and the platforms whose files stay as they are."""

    edits: list[Planned]
    refused: dict[str, str]  # platform -> why, with file and line


class Place(NamedTuple):
    """A set of settings: the user's own, or those of the project in `root`."""

    scope: Scope
    root: Path | None = None


def choose(hooks: Hooks, names: Sequence[str], *, every: bool = False) -> list[GuardedAdapter]:
    """The adapters of these platforms; without names those that are here, or with `every` all.

    Here is what was found on this computer or is connected already. Raises UsageError for a name
    that no adapter has.
    """
    known = {a.name: a for a in hooks.adapters() if isinstance(a, GuardedAdapter)}
    missing = [name for name in names if name not in known]
    if missing:
        raise UsageError(f"no platform {missing[0]!r}; there is: {', '.join(sorted(known))}")
    if names:
        return [known[name] for name in dict.fromkeys(names)]
    found = sorted(known.values(), key=lambda adapter: adapter.name)
    return [a for a in found if every or a.detect() or a.status().state != "untouched"]


def plan(adapters: Iterable[Connects], place: Place, home: Path) -> Plan:
    """The edits that connect these platforms; nothing where they are connected already."""
    made = Plan([], {})
    root = str(place.root or "")
    for adapter in adapters:
        command = [*manifest.hook_command(home), adapter.name]
        try:
            with inside(place):
                ours = {edit.path for edit in adapter.uninstall(place.scope)}
                edits = adapter.install(place.scope, command)
        except (ValueError, IjfwError, OSError) as error:
            made.refused[adapter.name] = str(error)
            continue
        made.edits.extend(
            Planned(adapter.name, place.scope, root, e, e.path not in ours) for e in edits
        )
    return made


def plan_removal(adapters: Iterable[Connects], place: Place, home: Path) -> Plan:
    """The edits that disconnect these platforms: former bytes where nobody changed the file since.

    A file of which only the former bytes are ours, because a person edited it, stays.
    """
    rows = records(home)
    made = Plan([], {})
    root = str(place.root or "")
    for adapter in adapters:
        try:
            with inside(place):
                edits = adapter.uninstall(place.scope)
        except (ValueError, IjfwError, OSError) as error:
            made.refused[adapter.name] = str(error)
            continue
        exact = (_exact(edit, rows.get(_target(edit))) for edit in edits)
        made.edits.extend(Planned(adapter.name, place.scope, root, edit) for edit in exact)
    return made


def refusal(plan: Plan) -> RefusedError:
    """What a person is told where files of platforms could not be read or written."""
    why = "; ".join(f"{name}: {text}" for name, text in plan.refused.items())
    done = any(one.platform not in plan.refused for one in plan.edits)
    kept = f"Only {', '.join(plan.refused)} stays as it was" if done else "Nothing was changed"
    return RefusedError(f"{why}. {kept}: mend the file, then try again")


def missing(adapter: GuardedAdapter, place: Place, command: Sequence[str]) -> str:
    """What `install` would still change for this very command; "" where nothing.

    Raises RefusedError where a file cannot be read.
    """
    try:
        with inside(place):
            edits = adapter.install(place.scope, command)
    except ValueError as error:
        raise RefusedError(str(error)) from error
    return ", ".join(edit.path for edit in edits)


def diff(planned: Iterable[Planned]) -> str:
    """The edits as one unified diff; not redacted."""
    lines: list[str] = []
    for one in planned:
        texts = (one.edit.before, one.edit.after)
        old, new = ((text or "").splitlines(keepends=True) for text in texts)
        names = [os.devnull if text is None else one.edit.path for text in texts]
        pieces = difflib.unified_diff(old, new, names[0], names[1], n=2)
        lines += [p if p.endswith("\n") else p + "\n\\ No newline at end of file\n" for p in pieces]
    return "".join(lines)


def apply(
    home: Path, env: Mapping[str, str], planned: Sequence[Planned], now: float
) -> dict[str, str]:
    """Put hook.py and manifest into `home`, then make the edits of `plan`.

    Every link is looked at before the first byte is written; RefusedError where one leads out of
    the project. Gives the platforms whose file another program changed since it was planned, with
    the reason: files before that one are connected then. Raises OSError.
    """
    targets = [_checked(one) for one in planned]
    manifest.install(home, env)
    failed: dict[str, str] = {}
    for one, target in zip(planned, targets, strict=True):
        if one.platform in failed:
            continue
        rows = records(home)
        row = _row(one, target, rows.get(str(target)), now, _new_folders(target))
        if row.backup and not os.path.lexists(row.backup):
            files.replace(Path(row.backup), one.edit.before or "")
        _write_records(home, {**rows, str(target): row})
        try:
            _swap(target, one.edit)
        except IjfwError as error:
            failed[one.platform] = str(error)
    return failed


def remove(home: Path, planned: Sequence[Planned]) -> dict[str, str]:
    """Make the edits of `plan_removal`, and take away what setup kept for it. As `apply`."""
    targets = [_checked(one) for one in planned]
    failed: dict[str, str] = {}
    folders: list[str] = []
    for one, target in zip(planned, targets, strict=True):
        try:
            _swap(target, one.edit)
        except IjfwError as error:
            failed.setdefault(one.platform, str(error))
            continue
        rows = records(home)
        row = rows.pop(str(target), None)
        if row is None:
            continue
        if row.backup:
            files.remove(Path(row.backup))
        folders += [*row.folders, *([str(target.parent)] if row.folder_made else [])]
        _write_records(home, rows)
    for folder in sorted(set(folders), key=len, reverse=True):
        with contextlib.suppress(OSError):  # others keep files there
            os.rmdir(folder)
    return failed


def records(home: Path) -> dict[str, Row]:
    """What setup did, by the real path of the settings file; nothing where that is not readable."""
    try:
        text = files.read_text(home / RECORD)
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=dict[str, Row])
    except (OSError, IjfwError, msgspec.MsgspecError):
        return {}


def warnings(planned: Sequence[Planned], home: Path) -> list[str]:
    """What a person should know before they say yes."""
    found: list[str] = []
    parts = Path(sys.executable).parts
    if ".cache" in parts or "tmp" in parts[:2]:
        found.append(
            f"the hooks will run {sys.executable}, which lies in a folder that programs empty; "
            "install ijfw for good first: uv tool install ijfw"
        )
    for one in planned:
        if one.scope == "project":
            user = [path for path, row in records(home).items() if row.scope == "user"
                    and row.platform == one.platform]  # fmt: skip
            found += [f"{path} connects every project already" for path in user]
            found.append(f"{one.edit.path} names paths of this computer: do not commit it")
    return list(dict.fromkeys(found))


def _exact(edit: FileEdit, row: Row | None) -> FileEdit:
    """The edit that gives the former bytes back, where the file is as setup left it."""
    if row is None or not row.exact or digest(edit.before or "", 16) != row.after:
        return edit
    if not row.backup:
        return FileEdit(path=edit.path, before=edit.before, after=None)
    if not os.path.exists(row.backup):
        return edit
    return FileEdit(path=edit.path, before=edit.before, after=files.read_text(Path(row.backup)))


def _new_folders(target: Path) -> tuple[str, ...]:
    """The folders that have to be made for a file, the innermost first."""
    found: list[str] = []
    folder = target.parent
    while not folder.exists() and folder != folder.parent:
        found.append(str(folder))
        folder = folder.parent
    return tuple(found)


def _row(one: Planned, target: Path, old: Row | None, now: float, folders: tuple[str, ...]) -> Row:
    before = one.edit.before
    same = old is not None and not one.clean and digest(before or "", 16) == old.after
    if old is not None and same:  # nobody else touched it: what stood there first still counts
        return msgspec.structs.replace(old, after=digest(one.edit.after or "", 16), at=now)
    if old is not None and old.backup:
        files.remove(Path(old.backup))
    return Row(
        platform=one.platform,
        scope=one.scope,
        root=one.root,
        after=digest(one.edit.after or "", 16),
        at=now,
        backup="" if before is None else _backup_name(target),
        exact=one.clean,
        folders=folders or (old.folders if old is not None else ()),
    )


def _backup_name(target: Path) -> str:
    names = (f"{target}{BACKUP}{n or ''}" for n in range(1000))
    return next(name for name in names if not os.path.lexists(name))


def _target(edit: FileEdit) -> str:
    return os.path.realpath(edit.path)


def _checked(one: Planned) -> Path:
    """Where the file really is. A project may not lead us out of its folder."""
    target = Path(_target(one.edit))
    if one.root and not target.is_relative_to(os.path.realpath(one.root)):
        raise RefusedError(f"{one.edit.path} is a link out of the project; nothing was changed")
    return target


def _swap(target: Path, edit: FileEdit) -> None:
    try:
        if edit.after is None:
            files.remove(target, expect=edit.before or "")
        else:
            files.replace(target, edit.after, expect=edit.before or "")
            if edit.executable:
                os.chmod(target, 0o700)
    except files.ChangedError:
        raise IjfwError(
            f"{edit.path} was changed by another program just now; it is as that left it. Try again"
        ) from None


def _write_records(home: Path, rows: Mapping[str, Row]) -> None:
    if rows:
        files.replace(home / RECORD, msgspec.json.format(msgspec.json.encode(rows)).decode() + "\n")
    else:
        files.remove(home / RECORD)


@contextlib.contextmanager
def inside(place: Place) -> Iterator[None]:
    """Adapters look for a project's settings in the working folder."""
    with contextlib.chdir(place.root) if place.root else contextlib.nullcontext():
        yield
