"""`ijfw consent`: whether this project may be remembered."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say, warn
from ijfw_core.storage.roots import Roots


@click.command(epilog="Example: ijfw consent yes")
@click.argument("choice", type=click.Choice(["yes", "no", "ask", "status"]), default="status")
@click.option("--session", default="", help="With ask: be silent for this session only.")
@json_option
@report_errors
def consent(choice: str, session: str, as_json: bool) -> None:
    """May IJFW remember sessions of this project?

    \b
    yes     keep errors and fixes, corrections, preferences and decisions, without secrets
    no      keep nothing; what was heard and not judged yet is removed
    ask     no answer now: ask again in another session
    status  what holds at present

    Memory that exists stays, and what you store yourself works either way.
    """
    from ijfw_core.live import capture, known
    from ijfw_core.live import consent as answers

    place = capture.locate(Path.cwd(), os.environ)
    now = datetime.now(UTC)
    held = 0
    if choice in ("yes", "no"):
        held = decide(place, yes=choice == "yes", now=now)
    elif choice == "ask":
        answers.withdraw(place)
        answers.remember_asked(place, session, now)
    if choice != "status":
        known.update(place.home, place)
    found = answers.read(place)
    if as_json:
        emit_json({"consented": found.consented, "at": found.at or None})
        return
    project = place.project
    if found.consented is None:
        say(f"{project}: no answer yet, so hooks keep nothing. Answer: ijfw consent yes | no")
    elif found.consented:
        say(f"{project}: yes, since {found.at}. Sessions are remembered in {place.folder}.")
        if choice == "yes":
            tell_next(held)
    else:
        say(f"{project}: no, since {found.at}. Hooks keep nothing.")


def decide(place: Roots, *, yes: bool, now: datetime) -> int:
    """Keep an answer; gives how many memories the folder held before its first yes."""
    from ijfw_core.live import consent as answers
    from ijfw_core.live import known
    from ijfw_core.project import open_project
    from ijfw_core.recall import prelude

    before = answers.read(place).consented
    answers.decide(place, yes, now)
    known.update(place.home, place)
    if not yes or before:
        return 0
    project = open_project(place.project)
    prelude.refresh(project)
    return sum(entry.tier != "global" for entry in project.memory.entries())


def tell_next(held: int) -> None:
    """What a person does after a yes, and that they should look at what a folder came with."""
    if held:
        warn(
            f"Note: this folder holds {held} memories already, and agents will be told them. "
            "If it came from somebody else, look at them first: ijfw memory list"
        )
    say("Next: work with your agent as always. Some seconds after a session ends, see what it")
    say("left: ijfw memory list. Whether all works: ijfw doctor")
