"""`ijfw setup` and `ijfw uninstall`: connect agents, and give their settings back."""

import os
import time
from collections.abc import Mapping, Sequence

import click

from ijfw_core.cli.connecting import (
    Opened,
    as_json_object,
    ask_consent,
    confirm,
    our_command,
    platform_rows,
    show,
    show_table,
)
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, warn
from ijfw_core.errors import IjfwError, UsageError
from ijfw_core.install.setup import Place, Plan, Planned
from ijfw_core.loading.guarded import GuardedAdapter

platforms_argument = click.argument("platforms", nargs=-1, metavar="[PLATFORM]...")
every_option = click.option("--all", "every", is_flag=True, help="Every platform there is.")
user_option = click.option("--user", is_flag=True, help="In your own settings: every project.")
project_option = click.option("--project", is_flag=True, help="In this project's settings only.")
rules_option = click.option(
    "--agents-md", "rules", is_flag=True, help="Also a block of rules in this project's AGENTS.md."
)
dry_option = click.option("--dry-run", is_flag=True, help="Show the changes, write nothing.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command(epilog="Example: ijfw setup --dry-run")
@platforms_argument
@every_option
@user_option
@project_option
@rules_option
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
    rules: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Connect agents: our hooks, MCP server and skill in their settings (yours, unless --project).

    Without names those that are found on this computer. Shows the changes first and keeps a backup
    beside each file. Running it again changes nothing. A platform whose settings cannot be read is
    refused, the others are connected. On a terminal it also asks whether this project may be
    remembered.
    """
    from ijfw_core.install import setup as settings

    if user and project:
        raise UsageError("--user or --project, not both")
    opened = Opened(ctx)
    place = Place("project", opened.checkout()) if project else Place("user")
    chosen = settings.choose(opened.hooks, platforms, every=every)
    plan = settings.plan(chosen, place, opened.home)
    if rules:
        plan = _with_rules(opened, plan)
    if not chosen and not rules:
        raise IjfwError(_nobody_here(opened))
    hints = settings.warnings(plan.edits, opened.home)
    rows = platform_rows(opened, chosen, plan)
    if not as_json:
        told = [row for row in rows if row["chosen"] or row["found"] or not platforms]
        if len(told) > 1 or plan.refused:
            show_table(told)
        show(opened, plan.edits, hints)
    failed: Mapping[str, str] = {}
    if not dry_run and (plan.edits or not plan.refused):
        if plan.edits and not yes and not as_json:
            confirm("Write this?")
        failed = settings.apply(opened.home, os.environ, plan.edits, time.time())
    plan.refused.update(failed)
    state = "" if dry_run or as_json else ask_consent(opened.here, ask=not yes)
    if as_json:
        answer = as_json_object(opened, plan.edits, dry_run=dry_run)
        emit_json(answer | {"warnings": hints, "platforms": rows, "refused": plan.refused})
    else:
        _tell_setup(chosen, plan, state, dry_run=dry_run)
    if plan.refused:
        raise settings.refusal(plan)


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
    opened = Opened(ctx)
    plan = _removal(opened, platforms, opened.places(user=user, project=project, every=purge))
    if purge and plan.refused:
        raise settings.refusal(plan)
    folders = deleting.private_folders(opened.home, opened.here) if purge else []
    doomed = [str(folder) for folder in (*folders, *([opened.home] if purge else []))]
    if not as_json:
        show(opened, plan.edits, [f"to be deleted for good: {path}" for path in doomed])
    left: list[str] = []
    stub = ""
    if not dry_run:
        if purge and not yes:
            confirm(f"Delete {len(doomed)} folders with all memory for good?", must=True)
        elif plan.edits and not yes and not as_json:
            confirm("Write this?")
        plan.refused.update(settings.remove(opened.home, plan.edits))
        if purge:
            left, stub = deleting.purge(opened.home, folders)
    if as_json:
        answer = as_json_object(opened, plan.edits, dry_run=dry_run) | {"refused": plan.refused}
        emit_json(answer | {"purged": [] if dry_run else doomed, "left": left, "stub": stub})
    else:
        _tell_uninstall(plan.edits, doomed, left, dry_run=dry_run)
        _tell_elsewhere(opened, platforms)
        if stub:
            warn(f"{stub} stays and does nothing, for agents that still run. When they have ended: "
                 "run this again, or delete it.")  # fmt: skip
    if plan.refused:
        raise settings.refusal(plan)


def _with_rules(opened: Opened, plan: Plan) -> Plan:
    """The plan with the block in AGENTS.md of the project we stand in."""
    from ijfw_core.install import setup as settings
    from ijfw_core.install.agents_file import AgentsFile

    more = settings.plan([AgentsFile()], Place("project", opened.checkout()), opened.home)
    return Plan([*plan.edits, *more.edits], {**plan.refused, **more.refused})


def _removal(opened: Opened, names: Sequence[str], places: Sequence[Place]) -> Plan:
    """What takes these platforms out of these settings; without names also the block of rules."""
    from ijfw_core.install import setup as settings
    from ijfw_core.install.agents_file import AgentsFile

    chosen = settings.choose(opened.hooks, names, every=not names)
    also = [] if names else [AgentsFile()]
    whole = Plan([], {})
    for place in places:
        plan = settings.plan_removal([*chosen, *also], place, opened.home)
        whole.edits.extend(plan.edits)
        whole.refused.update(plan.refused)
    return whole


def _nobody_here(opened: Opened) -> str:
    names = sorted(a.name for a in opened.hooks.adapters() if isinstance(a, GuardedAdapter))
    if not names:
        return "no plugin knows an agent; see: ijfw plugins list"
    return (
        f"no agent was found on this computer; nothing was changed. Looked for: {', '.join(names)}."
        f" To connect one all the same, name it: {our_command()} setup {names[0]}"
    )


def _tell_setup(chosen: Sequence[GuardedAdapter], plan: Plan, state: str, *, dry_run: bool) -> None:
    """What was done, and how to see that it works."""
    written = list(dict.fromkeys(one.platform for one in plan.edits))
    written = [name for name in written if name not in plan.refused]
    same = [a.name for a in chosen if a.name not in (*written, *plan.refused)]
    if dry_run:
        say("Dry run: nothing was written." if plan.edits else "Nothing would change.")
        return
    if same:
        say(f"{', '.join(same)}: connected already, nothing to change.")
    if written:
        say(f"Connected: {', '.join(written)}.")
    if not written and not same:
        return
    ours = our_command()
    steps = [] if state == "yes" else [
        f"In a project that may be remembered: {ours} consent yes\n"
        "     (without an answer the agent asks you in its next session there)"
    ]  # fmt: skip
    steps += [
        f"{a.name}: {a.caps.trust_hint or 'trust our hooks when it asks'}"
        for a in chosen
        if a.caps.needs_trust and a.name not in plan.refused
    ]
    steps.append("Start your agent anew there, and work as always.")
    steps.append(f"Some seconds after a session ends: {ours} memory list")
    say("\nNext:")
    for number, step in enumerate(steps, 1):
        say(f"  {number}. {step}")
    say(f"Whether all works: {ours} doctor")


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


def _tell_elsewhere(opened: Opened, names: Sequence[str]) -> None:
    """Projects that are still connected by settings of their own."""
    from ijfw_core.install import setup as settings

    rows = settings.records(opened.home).values()
    roots = {row.root for row in rows if row.root and (not names or row.platform in names)}
    for root in sorted(roots):
        warn(f"Still connected: {root}. There: {our_command()} uninstall --project")
