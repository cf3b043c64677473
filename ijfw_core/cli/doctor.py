"""`ijfw doctor` and `ijfw status`: whether it works, and what there is."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table
from ijfw_core.errors import RefusedError
from ijfw_core.loading.hooks import Hooks
from ijfw_core.storage.roots import Roots

if TYPE_CHECKING:
    from ijfw_core.install.status import PlatformStatus

CONSENT = {True: "yes", False: "no", None: "no answer"}


@click.command(epilog="Example: ijfw doctor --json")
@json_option
@click.pass_context
@report_errors
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check that everything works, by doing it: store and read, redact, run the hooks.

    Exit status 1 where something does not; each finding says what to do.
    """
    from ijfw_core.install import doctor as examining
    from ijfw_core.install.checks import Examined

    home, hooks, here = _opened(ctx)
    checks = examining.examine(Examined(home, dict(os.environ), hooks, here))
    ok = all(check.ok for check in checks)
    if as_json:
        emit_json({"ok": ok, "checks": checks})
    else:
        for check in checks:
            say(f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.detail}")
            if check.fix:
                say(f"      -> {check.fix}")
        bad = sum(not check.ok for check in checks)
        say("\nEverything works." if ok else f"\n{bad} of {len(checks)} checks failed.")
    if not ok:
        raise SystemExit(1)


@click.command(epilog="Example: ijfw status")
@json_option
@click.pass_context
@report_errors
def status(ctx: click.Context, as_json: bool) -> None:
    """Show agents, projects with their consent, last sessions, and what waits."""
    from ijfw_core.install import status as reading
    from ijfw_core.loading.guarded import GuardedAdapter

    home, hooks, here = _opened(ctx)
    adapters = [a for a in hooks.adapters() if isinstance(a, GuardedAdapter)]
    found = reading.read(home, adapters, here)
    if as_json:
        emit_json(found)
        return
    elsewhere = _tell_platforms(found.platforms)
    if elsewhere:
        say(f"not found: {', '.join(elsewhere)}")
    if found.model.state != "off":
        wanted = found.model
        say(f"model {wanted.model}: {wanted.state} ({wanted.detail}){wanted.waits}")
    if found.on_prompt:
        say(f"recall on a prompt: {found.on_prompt}")
    say()
    rows = [
        (
            ("* " if p.here else "") + p.project + ("" if p.exists else " (gone)"),
            CONSENT[p.consented],
            str(p.staged),
            str(p.running),
            str(p.pending),
        )
        for p in found.projects
    ]
    if rows:
        table(("project", "consent", "staged", "running", "pending"), rows)
    for project in found.projects:
        for session in project.sessions if project.here else project.sessions[:1]:
            say(f"{session.at}  {Path(project.project).name}  {session.session}: {session.line}")
        if project.dream:
            say(f"{Path(project.project).name}: last dream {project.dream}")
    if not rows:
        say("No project yet. In one: ijfw consent yes")


def _tell_platforms(platforms: "Sequence[PlatformStatus]") -> list[str]:
    """Tell of each agent; the names of those that are not found here."""
    elsewhere = [p.platform for p in platforms if p.state == "untouched" and not p.found]
    for one in platforms:
        if one.platform in elsewhere:
            continue
        last = f", hooks last ran {one.last_fired}" if one.last_fired else ""
        about = one.detail if one.state != "untouched" else f"found at {one.found}"
        say(f"{one.platform}: {one.state} ({about}){last}")
        if one.fix:
            say(f"  -> {one.fix}")
    return elsewhere


def _opened(ctx: click.Context) -> tuple[Path, Hooks, Roots | None]:
    """The user's folder, the plugins, and the project we stand in, if any."""
    from ijfw_core.live import manifest
    from ijfw_core.loading import loader
    from ijfw_core.storage import roots

    home = roots.home_folder(os.environ)
    wanted = not (ctx.find_root().obj or {}).get("no_plugins", False)
    hooks = loader.load(manifest.user_config(home, os.environ), third_party=wanted)
    try:
        return home, hooks, roots.find(Path.cwd(), os.environ)
    except RefusedError:
        return home, hooks, None
