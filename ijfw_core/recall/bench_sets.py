"""Labelled sets for recall, read as memories and questions.

Three formats, told apart by their content:

    LoCoMo       JSON: conversations of dated sessions, questions with the turns that answer them
    LongMemEval  JSON: questions, each with its own sessions and those that answer it
    own          JSON lines: {"entry": {"id", "summary", "type"?, ...}},
                 {"query", "relevant": [id], "forbidden"?: [id], "category"?}, {"now": time}
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ijfw_core.errors import NotFoundError, UsageError
from ijfw_core.grammar import is_id
from ijfw_core.text import cap, clean, one_line, parse_time
from ijfw_hookspecs import Entry

MAX_BYTES = 1 << 30  # of a set
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
_DATES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d")


class Question(NamedTuple):
    """A question and the ids that answer it."""

    text: str
    relevant: frozenset[str]
    sessions: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    category: str = ""


class Case(NamedTuple):
    """One memory, and the questions that are put to it."""

    entries: list[Entry]
    questions: list[Question]
    now: datetime | None = None


def load(path: Path) -> tuple[str, Iterator[Case]]:
    """The format of a set, and its cases."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is larger than {MAX_BYTES} bytes")
        raw = path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror}") from error
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return "own", iter([_own(raw)])
    found = value if isinstance(value, list) else [value]
    first = found[0] if found and isinstance(found[0], dict) else {}
    if "conversation" in first:
        return "locomo", _cases(path, _locomo, found)
    if "haystack_sessions" in first:
        return "longmemeval", _cases(path, _longmemeval, found)
    if "entry" in first or "query" in first:
        return "own", iter([_own(raw)])
    raise UsageError(f"{path} is neither LoCoMo, LongMemEval nor JSON lines of our own")


def _cases(
    path: Path, read: Callable[[Mapping[str, Any]], Case], samples: Sequence[Any]
) -> Iterator[Case]:
    for number, sample in enumerate(samples, 1):
        try:
            yield read(sample)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise UsageError(
                f"{path}: sample {number} is not as it should be: {error!r}"
            ) from error


def _own(raw: bytes) -> Case:
    entries: list[Entry] = []
    questions: list[Question] = []
    now = None
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise UsageError(f"line {number} is no JSON object: {error}") from error
        if "entry" in row:
            entries.append(_own_entry(number, row["entry"]))
        elif "query" in row:
            questions.append(
                Question(
                    text=str(row["query"]),
                    relevant=frozenset(map(str, row.get("relevant", ()))),
                    forbidden=frozenset(map(str, row.get("forbidden", ()))),
                    category=str(row.get("category", "")),
                )
            )
        elif "now" in row:
            now = parse_time(str(row["now"]))
    return Case(entries, questions, now)


def _own_entry(number: int, row: Any) -> Entry:
    try:
        name = str(row["id"])
        if not is_id(name):
            raise UsageError(f"line {number}: {name!r} is no id")
        return _entry(
            name,
            str(row["summary"]),
            parse_time(str(row.get("stored", ""))) or datetime(2026, 1, 1, tzinfo=UTC),
            kind=str(row.get("type", "observation")),
            content=str(row.get("content", "")),
            why=str(row.get("why", "")),
            how_to_apply=str(row.get("how_to_apply", "")),
            tags=tuple(map(str, row.get("tags", ()))),
            session=str(row.get("session", "")),
            valid_to=parse_time(str(row.get("valid_to", ""))),
            superseded_by=str(row.get("superseded_by", "")),
        )
    except (KeyError, TypeError) as error:
        raise UsageError(f"line {number}: an entry needs id and summary") from error


def _locomo(sample: Mapping[str, Any]) -> Case:
    talk = sample["conversation"]
    entries: list[Entry] = []
    known: dict[str, str] = {}
    for name, turns in talk.items():
        if not name.startswith("session_") or not isinstance(turns, list):
            continue
        start = _date(str(talk.get(f"{name}_date_time", "")))
        for at, turn in enumerate(turns):
            image = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn.get('speaker', '')}: {turn.get('text', '')}{image}"
            known[turn["dia_id"]] = _safe_id(turn["dia_id"])
            moment = start + timedelta(seconds=20 * at)
            entries.append(_turn(known[turn["dia_id"]], text, moment, name))
    questions = []
    sessions = {entry.id: entry.session for entry in entries}
    for row in sample.get("qa", ()):
        named = [part for text in row.get("evidence", ()) for part in _dia_ids(str(text))]
        relevant = frozenset(known[name] for name in named if name in known)
        if relevant:
            questions.append(
                Question(
                    text=str(row["question"]),
                    relevant=relevant,
                    sessions=frozenset(sessions[name] for name in relevant),
                    category=_CATEGORIES.get(row.get("category"), ""),
                )
            )
    return Case(entries, questions)


def _longmemeval(sample: Mapping[str, Any]) -> Case:
    entries: list[Entry] = []
    wanted = frozenset(map(str, sample.get("answer_session_ids", ())))
    relevant: set[str] = set()
    names = sample["haystack_session_ids"]
    dates = sample.get("haystack_dates") or [""] * len(names)
    for number, (name, date, turns) in enumerate(
        zip(names, dates, sample["haystack_sessions"], strict=False)
    ):
        start = _date(str(date))
        for at, turn in enumerate(turns):
            key = f"s{number}.{at}"
            text = str(turn.get("content", ""))
            if text.strip():
                entries.append(_turn(key, text, start + timedelta(seconds=20 * at), str(name)))
            if turn.get("has_answer"):
                relevant.add(key)
    question = Question(
        text=str(sample["question"]),
        relevant=frozenset(relevant),
        sessions=wanted,
        category=str(sample.get("question_type", "")),
    )
    return Case(entries, [question], _date(str(sample.get("question_date", ""))))


def _dia_ids(text: str) -> Iterator[str]:
    """The turn ids of a piece of evidence: some hold several."""
    for part in text.replace(";", " ").replace(",", " ").split():
        head, colon, tail = part.partition(":")
        if colon and tail.isdigit():
            yield f"{head}:{int(tail)}"


def _safe_id(text: str) -> str:
    return text if is_id(text) else "t" + "".join(c if c.isalnum() else "-" for c in text)


def _date(text: str) -> datetime:
    for form in _DATES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return parse_time(text) or datetime(2026, 1, 1, tzinfo=UTC)


def _turn(name: str, text: str, moment: datetime, session: str) -> Entry:
    summary = cap(one_line(clean(text)), 120)
    whole = clean(text)
    return _entry(
        name,
        summary,
        moment,
        content=whole if one_line(whole) != summary else "",
        session="".join(c if c.isalnum() or c in "-_" else "-" for c in session),
    )


def _entry(name: str, summary: str, moment: datetime, **fields: Any) -> Entry:
    fields = {"kind": "observation", **fields}
    return Entry(id=name, summary=one_line(summary), stored=moment, origin="import", **fields)
