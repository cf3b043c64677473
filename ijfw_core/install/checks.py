"""What doctor checks of the program itself: settings, plugins, redaction, a store that keeps."""

import contextlib
import os
import random
import shutil
import string
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from ijfw_core.live import manifest
from ijfw_core.loading import config as configuration
from ijfw_core.loading import loader
from ijfw_core.loading.hooks import Hooks
from ijfw_core.project import Project, open_project
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id
from ijfw_hookspecs import Change, Entry


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    fix: str = ""  # what to do, a command where there is one


class Examined(NamedTuple):
    """What is looked at."""

    home: Path  # the user's folder, ~/.ijfw
    env: Mapping[str, str]
    hooks: Hooks
    here: Roots | None  # None outside of projects


def settings(what: Examined) -> Iterator[Check]:
    """Settings that can be read, and what of the project's was left out."""
    place = what.here or Roots(what.home, what.home, what.home / "team", what.home)
    config = configuration.load(place, what.env)
    left_out = "; ".join(problem.message for problem in config.problems)
    yield Check(
        name="config",
        ok=not left_out,
        detail=left_out or "settings are readable",
        fix="look at it: ijfw config show; allow it: ijfw trust" if left_out else "",
    )
    if configuration.disabled(what.env):
        yield Check(
            name="switched off",
            ok=False,
            detail="IJFW_DISABLE is set: hooks do nothing",
            fix="unset IJFW_DISABLE",
        )


def plugins(what: Examined) -> Iterator[Check]:
    """Plugins that are broken, changed since they were enabled, or enabled and not installed."""
    rows = loader.plugin_table(manifest.user_config(what.home, what.env))
    bad = [r for r in rows if r.status in ("broken", "blocked") or (r.status == "on" and r.reason)]
    for row in bad:
        verb = "enable" if row.status == "on" else "disable"
        yield Check(
            name=f"plugin {row.name}",
            ok=False,
            detail=row.reason,
            fix=f"ijfw plugins {verb} {row.name}",
        )
    if not bad:
        running = sum(row.status == "on" for row in rows)
        yield Check(name="plugins", ok=True, detail=f"{running} on, none broken or changed")


def redaction(what: Examined) -> Iterator[Check]:
    """Secrets made up for this check are found by the redactors."""
    with scratch(what) as project:
        project.check_redaction()
        missed = [kind for kind, text in canaries() if text in project.redactor.text(f"key {text}")]
    yield Check(
        name="redaction",
        ok=not missed,
        detail=f"not found: {', '.join(missed)}" if missed else "made-up secrets are removed",
        fix="enable the built-in redactors: ijfw plugins list" if missed else "",
    )


def canaries() -> Iterator[tuple[str, str]]:
    """Made-up secrets in documented shapes."""
    pick = random.SystemRandom()

    def some(n: int, alphabet: str = string.ascii_letters + string.digits) -> str:
        return "".join(pick.choices(alphabet, k=n))

    yield "github token", "gh" + "p_" + some(36)
    yield "aws key", "AK" + "IA" + some(16, string.ascii_uppercase + "234567")


def store(what: Examined) -> Iterator[Check]:
    """An entry is stored in a project made for this check, and read back from its file."""
    with scratch(what) as project:
        entry = Entry(
            id=new_id(project.now),
            kind="decision",
            summary="an entry of doctor goes to disk and comes back",
            stored=project.now,
        )
        run = Run(id=new_id(project.now), kind="command", at=project.now)
        change = Change(op="create", entry=entry, reason="doctor", plugin="doctor")
        status = [outcome.status for outcome in project.writer.apply(run, [change])]
        project.memory.refresh()
        found = project.memory.get(entry.id)
    ok = status == ["written"] and found is not None and found.summary == entry.summary
    detail = "one entry stored and read back" if ok else f"store said {status}, read back: {found}"
    fix = "" if ok else "look at the store: ijfw plugins list"
    yield Check(name="store", ok=ok, detail=detail, fix=fix)


@contextlib.contextmanager
def scratch(what: Examined) -> Iterator[Project]:
    """A project and a user's folder that exist for one check, with the user's settings."""
    with tempfile.TemporaryDirectory(prefix="ijfw-doctor-", ignore_cleanup_errors=True) as folder:
        home, shop = Path(folder) / "home", Path(folder) / "project"
        (shop / ".git").mkdir(parents=True)
        (home / "run").mkdir(mode=0o700, parents=True)
        for name in ("config.toml", "projects.toml", "run/precompiled"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(what.home / name, home / name)
                os.chmod(home / name, 0o600)
        yield open_project(shop, {**what.env, "IJFW_HOME": str(home)})
