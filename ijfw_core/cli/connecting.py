"""What `setup` and `uninstall` share: what they work on, what they show, what they ask."""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ijfw_core.cli.output import say, table, warn
from ijfw_core.errors import RefusedError, UsageError
from ijfw_core.install.setup import Place, Plan, Planned
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_core.loading.hooks import Hooks
from ijfw_core.storage.roots import Roots


class Opened:
    """The user's folder, plugins, and the project we stand in, if any."""

    def __init__(self, ctx: click.Context) -> None:
        from ijfw_core.live import manifest
        from ijfw_core.loading import loader
        from ijfw_core.storage import roots

        self.home = roots.home_folder(os.environ)
        config = manifest.user_config(self.home, os.environ)
        wanted = not (ctx.find_root().obj or {}).get("no_plugins", False)
        self.hooks: Hooks = loader.load(config, third_party=wanted)
        self._config = config
        for problem in self.hooks.problems:
            warn(f"ijfw: {problem.message}")
        self.here: Roots | None = None
        self._refusal: RefusedError | None = None
        try:
            self.here = roots.find(Path.cwd(), os.environ)
        except RefusedError as error:
            self._refusal = error

    def checkout(self) -> Path:
        """The folder whose settings are the project's."""
        if self.here is None:
            raise self._refusal or RefusedError("no project here")
        return self.here.team.parent.parent

    def project_place(self) -> Place | None:
        """The settings of the project we stand in, if any."""
        return Place("project", self.checkout()) if self.here is not None else None

    def places(self, *, user: bool, project: bool, every: bool) -> list[Place]:
        """Where to look for our hooks."""
        from ijfw_core.install import setup as settings

        if user != project:
            return [Place("project", self.checkout()) if project else Place("user")]
        found = [Place("user")]
        if self.here is not None:
            found.append(Place("project", self.checkout()))
        if every:
            roots = {row.root for row in settings.records(self.home).values() if row.root}
            found += [Place("project", Path(root)) for root in sorted(roots) if Path(root).is_dir()]
        return list(dict.fromkeys(found))

    def safe(self, text: str) -> str:
        """A text without secrets: settings may hold keys, and the output ends in a transcript."""
        from ijfw_core.project import Project
        from ijfw_core.storage.roots import Roots

        place = self.here or Roots(self.home, self.home, self.home / "team", self.home)
        return Project(place, self._config, self.hooks, os.environ).redactor.text(text)


def show(opened: Opened, planned: Sequence[Planned], hints: Sequence[str]) -> None:
    """The changes as one diff, and what a person should know before they say yes."""
    from ijfw_core.install import setup as settings

    if planned:
        say(opened.safe(settings.diff(planned)))
    for hint in hints:
        warn(f"Note: {hint}.")


def show_table(rows: Sequence[dict[str, Any]]) -> None:
    """One line a platform: where it was found, how it stands, what would be done."""
    table(
        ("platform", "found", "now", "setup"),
        [(row["platform"], row["found"] or "-", row["state"], _todo(row)) for row in rows],
    )
    say()


def platform_rows(
    opened: Opened, chosen: Sequence[GuardedAdapter], plan: Plan
) -> list[dict[str, Any]]:
    """Every platform there is, with what setup makes of it."""
    from ijfw_core.install import connected

    names = {adapter.name for adapter in chosen}
    adapters = [a for a in opened.hooks.adapters() if isinstance(a, GuardedAdapter)]
    return [
        {
            "platform": adapter.name,
            "found": adapter.detect(),
            "state": connected.standing(opened.home, adapter, opened.project_place()).state,
            "chosen": adapter.name in names,
            "files": [one.edit.path for one in plan.edits if one.platform == adapter.name],
            "refused": plan.refused.get(adapter.name, ""),
        }
        for adapter in sorted(adapters, key=lambda adapter: adapter.name)
    ]


def _todo(row: dict[str, Any]) -> str:
    if row["refused"]:
        return f"refused: {row['refused']}"
    if not row["chosen"]:
        return "not found" if not row["found"] else "not asked for"
    count = len(row["files"])
    return f"{count} file{'' if count == 1 else 's'} to write" if count else "nothing to change"


def as_json_object(opened: Opened, planned: Sequence[Planned], *, dry_run: bool) -> dict[str, Any]:
    """What --json prints of a plan."""
    from ijfw_core.install import setup as settings
    from ijfw_core.live import manifest

    return {
        "changed": bool(planned) and not dry_run,
        "dry_run": dry_run,
        "home": str(opened.home),
        "command": manifest.hook_command(opened.home),
        "edits": [
            {
                "platform": one.platform,
                "scope": one.scope,
                "path": one.edit.path,
                "diff": opened.safe(settings.diff([one])),
            }
            for one in planned
        ],
    }


def on_terminal() -> bool:
    """Whether a person can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def confirm(question: str, *, must: bool = False) -> None:
    """Ask on a terminal. Elsewhere the command is the yes, except where it `must` be said."""
    if not on_terminal():
        if must:
            raise UsageError("Nobody can answer here; nothing was changed. Use --yes.")
        return
    if not click.confirm(question, default=not must, err=True):
        raise UsageError("Nothing was changed.")


def ask_consent(here: Roots | None, *, ask: bool) -> str:
    """Consent of the project we stand in: asked on a terminal where there is no answer yet."""
    from ijfw_core.cli.consent import decide
    from ijfw_core.live import consent, known

    if here is None:
        return ""
    found = consent.read(here)
    if found.consented is None and ask and on_terminal():
        answer = click.prompt(
            f"May IJFW remember sessions of {here.project}? Errors with their fixes, corrections, "
            "preferences and decisions stay on this computer, without secrets",
            type=click.Choice(["yes", "no", "later"]),
            default="later",
            err=True,
        )
        if answer != "later":
            decide(here, yes=answer == "yes", now=datetime.now(UTC))
            found = consent.read(here)
    return known.STATES[found.consented]


def our_command() -> str:
    """How a person calls us here: by name only where the shell finds it."""
    import shlex
    import shutil

    beside = Path(sys.executable).with_name("ijfw")
    found = shutil.which("ijfw")
    if not beside.exists() or (found and os.path.realpath(found) == os.path.realpath(beside)):
        return "ijfw"
    return shlex.quote(str(beside))
