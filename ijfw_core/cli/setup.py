"""`ijfw setup` and `ijfw uninstall`: connect agents, and give their settings back."""

import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say, warn
from ijfw_core.errors import RefusedError, UsageError
from ijfw_core.install.setup import Place, Planned
from ijfw_core.loading.hooks import Hooks
from ijfw_core.storage.roots import Roots

platforms_argument = click.argument("platforms", nargs=-1, metavar="[PLATFORM]...")
every_option = click.option("--all", "every", is_flag=True, help="Every platform there is.")
user_option = click.option("--user", is_flag=True, help="In your own settings: every project.")
project_option = click.option("--project", is_flag=True, help="In this project's settings only.")
dry_option = click.option("--dry-run", is_flag=True, help="Show the changes, write nothing.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command(epilog="Example: ijfw setup claude-code --dry-run")
@platforms_argument
@every_option
@user_option
@project_option
@dry_option
@yes_option
@json_option
@click.pass_context
@report_errors
def setup(
    ctx: click.Context,
    platforms: tuple[str, ...],
    every: bool,
    user: bool,
    project: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Connect an agent: put our hook into its settings (yours, unless --project).

    Shows the changes first and keeps a backup beside each file. Running it again changes nothing.
    On a terminal it also asks whether this project may be remembered.
    """
    from ijfw_core.install import setup as settings

    if user and project:
        raise UsageError("--user or --project, not both")
    opened = _Opened(ctx)
    place = Place("project", opened.checkout()) if project else Place("user")
    chosen = settings.choose(opened.hooks, platforms, every=every)
    planned = settings.plan(chosen, place, opened.home)
    hints = settings.warnings(planned, opened.home)
    if not as_json:
        _show(opened, planned, hints)
    if not dry_run:
        if planned and not yes and not as_json:
            _confirm("Write this?")
        settings.apply(opened.home, os.environ, planned, time.time())
    state = "" if dry_run or as_json else _ask_consent(opened.here, ask=not yes)
    if as_json:
        emit_json(_as_json(opened, planned, dry_run=dry_run) | {"warnings": hints})
    else:
        _tell_setup([a.name for a in chosen], planned, state, dry_run=dry_run)


@click.command(epilog="Example: ijfw uninstall claude-code --dry-run")
@platforms_argument
@user_option
@project_option
@click.option("--purge", is_flag=True, help="Delete all memory and settings of ours, too.")
@dry_option
@yes_option
@json_option
@click.pass_context
@report_errors
def uninstall(
    ctx: click.Context,
    platforms: tuple[str, ...],
    user: bool,
    project: bool,
    purge: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Disconnect agents: their settings become what they were. Memory stays, unless --purge.

    A file that others changed since setup keeps their changes; only our entries go. Without
    --user or --project both are looked at.
    """
    from ijfw_core.install import purge as deleting
    from ijfw_core.install import setup as settings

    if purge and (user or project or platforms):
        raise UsageError("--purge is for everything: no platform, --user or --project with it")
    opened = _Opened(ctx)
    chosen = settings.choose(opened.hooks, platforms, every=not platforms)
    planned: list[Planned] = []
    for place in opened.places(user=user, project=project, every=purge):
        planned += settings.plan_removal(chosen, place, opened.home)
    folders = deleting.private_folders(opened.home, opened.here) if purge else []
    doomed = [str(folder) for folder in (*folders, *([opened.home] if purge else []))]
    if not as_json:
        _show(opened, planned, [f"deleted for good: {path}" for path in doomed])
    left: list[str] = []
    stub = ""
    if not dry_run:
        if purge and not yes:
            _confirm(f"Delete {len(doomed)} folders with all memory for good?", must=True)
        elif planned and not yes and not as_json:
            _confirm("Write this?")
        settings.remove(opened.home, planned)
        if purge:
            left, stub = deleting.purge(opened.home, folders)
    if as_json:
        answer = _as_json(opened, planned, dry_run=dry_run)
        emit_json(answer | {"purged": [] if dry_run else doomed, "left": left, "stub": stub})
    else:
        _tell_uninstall(planned, doomed, left, dry_run=dry_run)
        if stub:
            warn(f"{stub} stays and does nothing, for agents that still run. When they have ended: "
                 "run this again, or delete it.")  # fmt: skip


class _Opened:
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


def _show(opened: _Opened, planned: Sequence[Planned], hints: Sequence[str]) -> None:
    from ijfw_core.install import setup as settings

    if planned:
        say(opened.safe(settings.diff(planned)))
    for hint in hints:
        warn(f"Note: {hint}.")


def _as_json(opened: _Opened, planned: Sequence[Planned], *, dry_run: bool) -> dict[str, Any]:
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


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _confirm(question: str, *, must: bool = False) -> None:
    """Ask on a terminal. Elsewhere the command is the yes, except where it `must` be said."""
    if not _on_terminal():
        if must:
            raise UsageError("Nobody can answer here; nothing was changed. Use --yes.")
        return
    if not click.confirm(question, default=not must, err=True):
        raise UsageError("Nothing was changed.")


def _ask_consent(here: Roots | None, *, ask: bool) -> str:
    """Consent of the project we stand in: asked on a terminal where there is no answer yet."""
    from ijfw_core.cli.consent import decide
    from ijfw_core.live import consent, known

    if here is None:
        return ""
    found = consent.read(here)
    if found.consented is None and ask and _on_terminal():
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


def _tell_setup(
    names: Sequence[str], planned: Sequence[Planned], state: str, *, dry_run: bool
) -> None:
    if dry_run:
        say("Dry run: nothing was written." if planned else "Nothing would change.")
        return
    if not planned:
        say(f"{', '.join(names)}: connected already, nothing to change.")
    else:
        say(f"Connected: {', '.join(dict.fromkeys(one.platform for one in planned))}.")
    ours = _our_command()
    say("\nNext:")
    if state == "yes":
        say("  1. Start your agent anew and work as always: this project is remembered.")
    else:
        say(f"  1. In a project that may be remembered: {ours} consent yes")
        say("     (without an answer the agent asks you in its next session there)")
        say("  2. Start your agent anew in it, and work as always.")
    say(f"  {2 if state == 'yes' else 3}. Some seconds after a session ends: {ours} memory list")
    say(f"Whether all works: {ours} doctor")


def _our_command() -> str:
    """How a person calls us here: by name only where the shell finds it."""
    import shlex
    import shutil

    beside = Path(sys.executable).with_name("ijfw")
    found = shutil.which("ijfw")
    if not beside.exists() or (found and os.path.realpath(found) == os.path.realpath(beside)):
        return "ijfw"
    return shlex.quote(str(beside))


def _tell_uninstall(
    planned: Sequence[Planned], doomed: Sequence[str], left: Sequence[str], *, dry_run: bool
) -> None:
    if dry_run:
        say("Dry run: nothing was written.")
    elif planned:
        say(f"Disconnected: {', '.join(dict.fromkeys(one.platform for one in planned))}.")
    else:
        say("No hook of ours was found.")
    if not dry_run:
        for path in left:
            warn(f"Not ours, so it stays: {path}")
        say(f"Deleted: {', '.join(doomed)}" if doomed else "Memory stays. See: ijfw memory list")
