"""`ijfw hook`: what an agent's hook does with an event, in the foreground, to see it at work."""

import os
import sys
from typing import NoReturn

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, warn
from ijfw_core.errors import IjfwError


@click.command(epilog="Example: ijfw hook --platform claude-code Stop < payload.json")
@click.option("--platform", required=True, help="Which agent's payload it is.")
@click.option("--install", is_flag=True, help="Put hook.py in place and leave the event to it.")
@click.argument("event")
@json_option
@report_errors
def hook(platform: str, install: bool, event: str, as_json: bool) -> None:
    """Handle EVENT with the payload on stdin, and tell what became of it.

    The same as the installed hook, but nothing is left to the background: stdout has the reply to
    the agent, stderr the rest. With --json, stdout has all of it as one object.
    """
    if install:
        _leave_to_script(platform, event)
    from ijfw_core.live import capture, known, manifest
    from ijfw_core.live import consent as answers
    from ijfw_core.live import hook as parent
    from ijfw_core.storage import roots

    home = roots.home_folder(os.environ)
    os.environ["IJFW_HOME"] = str(home)
    found = parent.read_manifest(os.fsencode(home))
    data = sys.stdin.buffer.read(parent.LIMIT + 1)
    arrived = capture.arrive(platform, event, data, found, os.environ)
    greeted, reply, signals, state = False, "", [], ""
    if arrived is not None:
        first = parent.first(parent.Call(os.fsencode(home), platform, event, data))
        greeted = event in manifest.greets(arrived.adapter.caps)
        greeted = greeted and (first or arrived.event.kind == "session_start")
    if greeted:
        reply = capture.answer(platform, event, data, found).decode("utf-8", "replace")
    if arrived is not None:
        signals = capture.handle(arrived, event, data, found, os.environ, greeted=greeted)
        state = known.STATES[answers.read(arrived.place).consented]
    freshness = "fresh" if found is not None else "stale"
    if as_json:
        emit_json(
            {
                "reply": reply,
                "manifest": freshness,
                "event": arrived.event.kind if arrived else "",
                "project": str(arrived.place.project) if arrived else "",
                "consent": state,
                "signals": signals,
            }
        )
        return
    if reply:
        sys.stdout.write(reply + "\n")
    if arrived is None:
        raise IjfwError("nothing to do: not our payload or platform, or no project of it")
    warn(f"manifest {freshness}; consent {state}")
    for signal in signals:
        warn(f"  {signal.kind}: {signal.text}")
    if not signals:
        warn("  nothing worth keeping")


def _leave_to_script(platform: str, event: str) -> NoReturn:
    """What the package of an agent does at its first event: from the next one on it finds the
    script itself. Ends with 0 whatever happens; an agent may take another status for a veto."""
    from ijfw_core.live import manifest
    from ijfw_core.storage import roots

    try:
        line = manifest.install(roots.home_folder(os.environ), os.environ)
        os.execv(line[0], [*line, platform, event])
    except (OSError, IjfwError):
        raise SystemExit(0) from None
