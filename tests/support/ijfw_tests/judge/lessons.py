"""Lessons: the rules' wording beside models' answers, read in and judged on the real way.

Of a good answer each lesson should be kept; of a bad one nothing that says what nobody said. What
is not kept is worded by the rules, so that `stored` is what a project would have in the end.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ijfw_core.pipeline import gate, proposals, worker
from ijfw_core.project import Project, open_project
from ijfw_core.synthesis import ModelError, grounding, prompt, reply
from ijfw_hookspecs import Candidate, Request, Signal
from ijfw_tests.judge.sets import Case, parts, toml
from ijfw_tests.judge.table import Row, excess, share

STAGE = "lessons"
FILES = ("lessons", "lessons_errors")
NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)
FIELDS = ("of", "summary", "content", "why", "how_to_apply")
MILD = frozenset({"vague", "swapped", "empty talk"})  # useless, and nothing false is said
BAR = 0.15  # of the mild ones: one in eight


class Answer(NamedTuple):
    """What a model answered to a session; `sort` is "good" or what is wrong with it."""

    case: Case
    sort: str
    text: str
    lessons: int  # that it holds, as far as it is JSON


class Outcome(NamedTuple):
    """What became of an answer: the candidates by cluster, and those that the gate keeps."""

    answer: Answer
    candidates: dict[str, Candidate]
    kept: frozenset[str]


def judge_cases() -> list[Case]:
    """The labelled sessions."""
    return [case for name in FILES for case in toml(name)["case"]]


def answers(case: Case) -> Iterator[Answer]:
    """The answers of a session, as the text that came from a model."""
    for lessons in case["good"]:
        yield _answer(case, "good", {"lessons": lessons})
    for bad in case["bad"]:
        yield _answer(case, bad["sort"], bad)


def _answer(case: Case, sort: str, given: dict[str, Any]) -> Answer:
    if "text" in given:
        return Answer(case, sort, given["text"], 0)
    rows = [dict(zip(FIELDS, lesson, strict=True)) for lesson in given["lessons"]]
    return Answer(case, sort, json.dumps({"lessons": rows}), len(rows))


def request(case: Case) -> Request:
    """What the synthesizers are asked."""
    signals = tuple(
        Signal(
            kind=kind, text=text, about=about, signature=signature, key=cluster, at=NOW,
            session=case["name"], turn=f"t{number}", plugin="judge",
        )
        for number, (cluster, kind, text, about, signature) in enumerate(case["heard"])
    )  # fmt: skip
    return Request(model="claude-judge", signals=signals)


@contextmanager
def project() -> Iterator[Project]:
    """An empty project, whose gate judges."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Path(folder) / "p"
        (shop / ".git").mkdir(parents=True)
        env = {"HOME": folder, "IJFW_HOME": str(Path(folder) / "h")}
        opened = open_project(shop, env, now=NOW)
        opened.check_redaction()
        yield opened


def read(opened: Project, answer: Answer) -> Outcome:
    """An answer through parsing, redaction, caps, classifiers, scores and the gate."""
    asked = request(answer.case)
    try:
        found = reply.parse(answer.text, asked)
    except ModelError:
        found = []
    return _outcome(opened, answer, proposals.evident(opened, found, asked.signals))


def ruled(opened: Project, case: Case) -> Outcome:
    """What the rules make of a session."""
    made = proposals.propose(opened, case["name"], _clusters(case), [], ask=False)
    return _outcome(opened, Answer(case, "rules", "", 0), [one.candidate for one in made.found])


def _clusters(case: Case) -> dict[str, list[Signal]]:
    clusters: dict[str, list[Signal]] = {}
    for signal in request(case).signals:
        clusters.setdefault(signal.key, []).append(signal)
    return clusters


def _outcome(opened: Project, answer: Answer, found: Sequence[Candidate]) -> Outcome:
    session = answer.case["name"]
    by_cluster = {one.signals[0].key: one for one in found}
    kept = set()
    for key, one in by_cluster.items():
        judged = worker.classified(opened, one, session)
        scores = opened.hooks.score(judged, opened.context(session))
        if gate.judge(scores, opened.config.gate).action in ("write", "stage"):
            kept.add(key)
    return Outcome(answer, by_cluster, frozenset(kept))


def rows(shown: list[str]) -> list[Row]:
    """The figures of every set; what was missed in the open part is added to `shown`."""
    found: list[Row] = []
    with project() as opened:
        for name, cases in parts(judge_cases()):
            found += _rows(opened, name, cases, shown if "open" in name else [])
    return found


def _rows(opened: Project, name: str, cases: list[Case], shown: list[str]) -> list[Row]:
    rules = [ruled(opened, case) for case in cases]
    fallback = {one.answer.case["name"]: one for one in rules}
    read_in = [read(opened, answer) for case in cases for answer in answers(case)]
    good = [one for one in read_in if one.answer.sort == "good"]
    bad = [one for one in read_in if one.answer.sort != "good"]
    found = _worded(name, "rules", rules) + _worded(name, "model, good answers", good)
    lessons = sum(one.answer.lessons for one in good)
    lost = lessons - sum(len(one.candidates) for one in good)
    found.append(Row(STAGE, name, lessons, "good thrown away", excess(lost, lessons), high=0.05))
    sunk = sum(
        len((fallback[one.answer.case["name"]].kept & one.candidates.keys()) - one.kept)
        for one in good
    )  # of which the rules' wording is kept
    found.append(Row(STAGE, name, lessons, "good lost at the gate", excess(sunk, lessons), high=0))
    shown += [f"lessons thrown away: {why}" for one in good for why in _lost(one)]
    for sort in sorted({one.answer.sort for one in bad}):
        mine = [one for one in bad if one.answer.sort == sort]
        through = [one for one in mine if one.candidates]
        shown += [f"lessons let through ({sort}): {_text(c)}" for one in through
                  for c in one.candidates.values()]  # fmt: skip
        high = BAR if sort in MILD else 0
        label = f"{sort}: let through"
        found.append(Row(STAGE, name, len(mine), label, excess(len(through), len(mine)), high=high))
    stored = [_stored(one, fallback[one.answer.case["name"]]) for one in read_in]
    said = [f"{one.answer.case['name']} {w!r}" for one in read_in for w in _never(one)]
    shown += [f"lessons invented: {one}" for one in said]
    found.append(Row(STAGE, name, len(read_in), "inventions stored", float(len(said)), high=0))
    return found + _worded(name, "stored after any answer", stored)


def _worded(name: str, who: str, outcomes: list[Outcome]) -> list[Row]:
    """Useful: the summary names the object. Complete: all that a colleague would write is there."""
    wanted = useful = complete = 0
    for one in outcomes:
        for cluster, facts in one.answer.case["facts"].items():
            candidate = one.candidates.get(cluster)
            wanted += 1
            if candidate is None:
                continue
            own = _text(candidate).casefold()
            useful += _says(candidate.summary.casefold(), facts[0])
            complete += all(_says(own, fact) for fact in facts)
    low_useful, low_complete = LOW[who]
    return [
        Row(STAGE, name, wanted, f"{who}: useful", share(useful, wanted), low=low_useful),
        Row(STAGE, name, wanted, f"{who}: complete", share(complete, wanted), low=low_complete),
    ]


# Shares of the clusters. The rules' are what they reached when the sets were made.
LOW: dict[str, tuple[float | None, float | None]] = {
    "rules": (0.9, 0.95),
    "model, good answers": (0.95, 0.95),
    "stored after any answer": (0.95, 0.95),
}


def _says(text: str, fact: str) -> bool:
    return any(word in text for word in fact.split("|"))


def _text(candidate: Candidate) -> str:
    return "\n".join((candidate.summary, candidate.content, candidate.how_to_apply, candidate.why))


def _stored(one: Outcome, rules: Outcome) -> Outcome:
    return one._replace(candidates=rules.candidates | one.candidates)


def _never(one: Outcome) -> list[str]:
    """What nobody said, in the model's own words: without the quotes of the evidence."""
    found = []
    for candidate in one.candidates.values():
        own = [candidate.summary, candidate.content.split("\n\nFixed by: ")[0]]
        own += [candidate.how_to_apply, candidate.why.split("Heard: ")[0]]
        text = "\n".join(own).casefold()
        found += [word for word in one.answer.case["never"] if word.casefold() in text]
    return found


def _lost(one: Outcome) -> Iterator[str]:
    asked = request(one.answer.case)
    for lesson in json.loads(one.answer.text)["lessons"]:
        if lesson["of"] not in one.candidates:
            group = [signal for signal in asked.signals if signal.key == lesson["of"]]
            heard = grounding.of_signals(group, prompt.asked(asked).data)
            body = "\n".join((lesson["content"], lesson["why"], lesson["how_to_apply"]))
            why = grounding.objection(lesson["summary"], body, heard)
            yield f"{one.answer.case['name']} {lesson['summary']!r} {body!r}: {why}"
