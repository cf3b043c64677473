"""Calibration: of what gets a confidence, which share is right and useful, band by band."""

import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ijfw_core.pipeline.listen import Listener, signal_id
from ijfw_core.pipeline.worker import conclude
from ijfw_core.project import Project, open_project
from ijfw_hookspecs import AgentEvent, Tool
from ijfw_tests.judge import families
from ijfw_tests.judge.feedback import SIXTH, judge_cases, sixth_cases
from ijfw_tests.judge.sets import Case, is_closed, toml
from ijfw_tests.judge.table import Row, share

STAGE = "confidence"
NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)
BANDS = ((0.85, 1.01), (0.65, 0.85), (0.0, 0.65))


class Judged(NamedTuple):
    """A candidate of a session, with its confidence and whether a colleague would keep it."""

    session: str
    confidence: float
    useful: bool
    text: str


def sessions() -> list[Case]:
    """The judge's sessions, and each message with a known object as a session of its own."""
    found = [
        case | {"name": f"{part}-{n}", "whole": True}
        for part in ("sessions", "sessions_more")
        for n, case in enumerate(toml(part)["session"])
    ]
    for message in [*judge_cases(), *sixth_cases()]:
        if message["labels"] != ["none"] and not message["holds"]:
            continue  # nobody said what would be useful of it
        steps = [["agent", message["reply"]]] if message["reply"] else []
        keep = [] if message["labels"] == ["none"] else [message["holds"]]
        found.append(
            {"name": message["name"], "steps": [*steps, ["user", message["text"]]], "keep": keep}
        )
    return found


def events(case: Case) -> Iterable[AgentEvent]:
    """The steps of a session as the events that an adapter gives."""
    reply, session = "", case["name"]
    for number, step in enumerate(case["steps"]):
        at = NOW + timedelta(seconds=number)
        if step[0] == "agent":
            reply = step[1]
            continue
        text = step[1] if step[0] == "user" else ""
        tool = None
        if step[0] == "sh":
            tool = Tool(
                name="Bash", kind="shell", input=step[1], exit_code=step[2], output=step[3],
                failed=bool(step[2]), call_id=f"c{number}",
            )  # fmt: skip
        elif step[0] == "edit":
            tool = Tool(name="Edit", kind="edit", input="\n".join(step[1:]), call_id=f"c{number}")
        yield AgentEvent(
            platform="claude-code", kind="tool_end" if tool else "prompt", session=session, at=at,
            cwd="/p", turn=f"t{number}", text=text, reply=reply if text else "", tool=tool,
        )  # fmt: skip


def judge(project: Project, case: Case) -> list[Judged]:
    """The candidates of a session through the whole pipeline, writing nothing."""
    context = project.context(case["name"])
    listener = Listener(project.hooks, context, project.redactor)
    signals = [signal for event in events(case) for signal in listener.hear(event)]
    report = conclude(project, case["name"], signals, map(signal_id, signals), dry_run=True)
    found = []
    for item in report.judged:
        text = f"{item.candidate.summary}\n{item.candidate.content}"
        found.append(
            Judged(case["name"], item.verdict.confidence, _is_useful(text, case["keep"]), text)
        )
    return found


def _is_useful(text: str, keep: Sequence[Sequence[str]]) -> bool:
    low = text.lower()
    return any(all(word.lower() in low for word in words) for words in keep)


def rows(shown: list[str]) -> list[Row]:
    """The calibration table of the open and of the closed part, and what was not found."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        place = Path(folder, "project")
        for path in (home, place / ".git"):
            path.mkdir(parents=True)
        env = {"HOME": str(home), "IJFW_HOME": str(home / ".ijfw")}
        project = open_project(place, env, third_party=False, now=NOW)
        every = [(case, judge(project, case)) for case in sessions()]
    found: list[Row] = []
    for name in ("judge, open", "judge, closed", "sixth, seen since"):
        mine = [(case, items) for case, items in every if _part(case["name"]) == name]
        items = [item for _, items in mine for item in items]
        for low, high in BANDS:
            band = [item for item in items if low <= item.confidence < high]
            right = sum(item.useful for item in band)
            label = f"{low:.2f} to {min(high, 1):.2f}: right and useful"
            # "sixth", unread: 20 of 22 before evidence had families, 18 of 20 after, then 18 of 18.
            bar = 0.95 if low == BANDS[0][0] else None
            found.append(Row(STAGE, name, len(band), label, share(right, len(band)), low=bar))
            if "open" in name:
                shown += _wrong(band, low)
        wanted = [(case, items) for case, items in mine if case["keep"] and case.get("whole")]
        kept = [any(i.useful and i.confidence >= 0.65 for i in items) for _, items in wanted]
        figure = share(sum(kept), len(kept))
        if kept:
            found.append(Row(STAGE, name, len(kept), "wanted and kept or staged", figure))
        if "open" in name:
            shown += [
                f"confidence: {case['name']} wants {case['keep']}, got "
                + " / ".join(f"{i.confidence:.2f} {i.text!r}" for i in items)
                for (case, items), ok in zip(wanted, kept, strict=True)
                if not ok
            ]
    for family, (right, given) in families.counts().items():
        measure = f"{family}: right and useful"
        found.append(Row(STAGE, "families, open", given, measure, share(right, given)))
    return found


def _part(name: str) -> str:
    if name.startswith(SIXTH):
        return "sixth, seen since"
    return "judge, closed" if is_closed(name) else "judge, open"


def _wrong(band: Sequence[Judged], low: float) -> list[str]:
    return [
        f"confidence {item.confidence:.2f} {item.session}: {item.text!r}"
        for item in band
        if not item.useful and low >= 0.65
    ]
