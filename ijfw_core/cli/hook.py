"""`ijfw hook`: what an agent's hook does with an event, in the foreground, to see it at work."""

import os
import sys

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, warn
from ijfw_core.errors import IjfwError


@click.command(epilog="Example: ijfw hook --platform claude-code Stop < payload.json")
@click.option("--platform", required=True, help="Which agent's payload it is.")
@click.argument("event")
@json_option
@report_errors
def hook(platform: str, event: str, as_json: bool) -> None:
    """Handle EVENT with the payload on stdin, and tell what became of it.

    The same as the installed hook, but nothing is left to the background: stdout has the reply to
    the agent, stderr the rest. With --json, stdout has all of it as one object.
    """
    from ijfw_core.live import capture, known
    from ijfw_core.live import consent as answers
    from ijfw_core.live import hook as parent
    from ijfw_core.storage import roots

    home = roots.home_folder(os.environ)
    os.environ["IJFW_HOME"] = str(home)
    found = parent.read_manifest(os.fsencode(home))
    data = sys.stdin.buffer.read(parent.LIMIT + 1)
    reply = capture.answer(platform, event, data, found).decode("utf-8", "replace")
    arrived = capture.arrive(platform, event, data, found, os.environ)
    signals = capture.handle(arrived, event, data, found, os.environ) if arrived else []
    state = ""
    if arrived is not None:
        state = known.STATES[answers.read(arrived.place).consented]
    if as_json:
        kind = arrived.event.kind if arrived else ""
        emit_json(
            {
                "reply": reply,
                "manifest": "fresh" if found is not None else "stale",
                "event": kind,
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
    warn(f"manifest {'fresh' if found is not None else 'stale'}; consent {state}")
    for signal in signals:
        warn(f"  {signal.kind}: {signal.text}")
    if not signals:
        warn("  nothing worth keeping")
