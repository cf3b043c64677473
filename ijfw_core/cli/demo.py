"""`ijfw demo`: the whole job on a bundled session, in a folder of its own."""

import random
import string
import tempfile
from collections.abc import Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say
from ijfw_core.pipeline.redaction import Redactor
from ijfw_core.project import Project, open_project
from ijfw_core.storage import files
from ijfw_core.text import one_line
from ijfw_hookspecs import AgentEvent, Signal


@click.command(epilog="Example: ijfw demo --keep /tmp/ijfw-demo")
@click.option("--keep", type=click.Path(file_okay=False), help="Work in this folder and keep it.")
@json_option
@report_errors
def demo(keep: str | None, as_json: bool) -> None:
    """Run the whole job on a bundled session and show each stage.

    Touches nothing of yours: it works in a temporary folder, with built-in plugins only.
    """
    with tempfile.TemporaryDirectory(prefix="ijfw-demo-") as scratch:
        place = Path(keep) if keep else Path(scratch)
        result = _play(place, quiet=as_json)
    if as_json:
        emit_json(result)
    elif keep:
        say(f"\nKept in {place}. Read it: cd {place / 'shop'} && ijfw memory list")
    else:
        say("\nFor your own sessions: ijfw setup claude-code, or ijfw capture FILE for one")


def _play(place: Path, *, quiet: bool) -> dict[str, Any]:
    from ijfw_core import service

    tell = (lambda _text="": None) if quiet else say
    shop = place / "shop"
    (shop / ".git").mkdir(parents=True, exist_ok=True)
    secrets = invent_secrets()
    transcript = place / "session.jsonl"
    transcript.write_text(bundled_session(secrets), encoding="utf-8")
    project = open_project(shop, {"HOME": str(place / "home")}, third_party=False)

    tell("1. Listen and redact: what was worth keeping in a session of a coding agent\n")

    hide = Redactor(project.hooks, project.context("")).text  # for this screen; counts apart

    def show(event: AgentEvent, found: Sequence[Signal]) -> None:
        source = event.text if event.kind == "prompt" else event.tool.input if event.tool else ""
        for signal in found:
            if signal.kind != "intent":
                tell(f"   {signal.kind:12} {one_line(signal.text)[:90]}")
                tell(f"   {'':12} from: {one_line(hide(source))[:84]}")

    captured, report = service.capture(project, str(transcript), on_signal=show)
    hidden = sum(captured.redactions.values())
    kinds = ", ".join(f"{kind} {n}" for kind, n in captured.redactions.items())
    tell(f"\n2. Redacted before a byte was written: {hidden} ({kinds})")
    tell("\n3. Classify, score, gate: what became of each\n")
    for item in report.judged:
        tell(f"   {service.explain(item)}")
    written = sorted(p for p in project.roots.folder.rglob("*") if p.is_file())
    tell(f"\n4. Files written below {project.roots.folder}\n")
    for path in written:
        tell(f"   {path.relative_to(project.roots.folder)} ({path.stat().st_size} bytes)")
    _show_entries(project, tell)
    leaked = sum(secret in path.read_text("utf-8", "replace") for path in written
                 for secret in secrets.values())  # fmt: skip
    tell(
        f"\n6. The {len(secrets)} secrets of the session, looked for in these files: {leaked} found"
    )
    tell(f"\n{report.line or 'Nothing stored.'}")
    return {
        "captured": captured,
        "secrets_found": leaked,
        "files": [str(path.relative_to(project.roots.folder)) for path in written],
    }


def _show_entries(project: Project, tell: Any) -> None:
    tell("\n5. knowledge.md, as a person or an agent reads it\n")
    text = files.read_text(project.roots.memory / "knowledge.md")
    for line in text.rstrip().splitlines():
        tell(f"   {line}")


def bundled_session(secrets: dict[str, str]) -> str:
    """The bundled transcript, with secrets put in where it has `{{name}}`."""
    text = resources("ijfw_core.demo").joinpath("session.jsonl").read_text("utf-8")
    for name, value in secrets.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def invent_secrets() -> dict[str, str]:
    """Fresh values in documented shapes, so that no token stands in a file of ours."""
    pick = random.SystemRandom()

    def some(n: int, alphabet: str = string.ascii_letters + string.digits) -> str:
        return "".join(pick.choice(alphabet) for _ in range(n))

    word = some(10) + "7!" + some(3)
    return {
        "github-token": "gh" + "p_" + some(36),
        "postgres-password": some(14) + "9x",
        "password": word,
    }
