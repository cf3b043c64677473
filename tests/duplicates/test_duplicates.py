"""Whether a note repeats, replaces or resembles a stored one."""

import builtins
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_core.text import digest
from ijfw_hookspecs import Candidate, Context, Entry, Hit, Query, Score, Signal, Tier
from ijfw_plugins.score_duplicates import compare, score_confidence

NOW = datetime(2026, 5, 1, tzinfo=UTC)

# Label -> the verdicts that are right for it. A missed duplicate is cheap, a lost update is not.
RIGHT = {
    "exact": {"duplicate"},
    "light": {"duplicate"},
    "paraphrase": {"duplicate", "near"},
    "update": {"update"},
    "contradiction": {"update"},
    "related": {"near", "new"},
    "unrelated": {"new"},
}


class Memory:
    """Memory that holds these entries."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def get(self, entry_id: str) -> Entry | None:
        return next((entry for entry in self._entries if entry.id == entry_id), None)

    def entries(self, *tiers: Tier) -> Iterable[Entry]:
        return iter(self._entries)

    def search(self, query: Query) -> Sequence[Hit]:
        return []

    def changed(self, tier: Tier, known: object) -> Iterable[tuple[str, str, Entry | None]]:
        return [(entry.id, entry.digest, entry) for entry in self._entries]


def entry(name: str, text: str, **fields: Any) -> Entry:
    stored = Entry(id=name, kind="decision", summary=text[:120], content=text, stored=NOW)
    return replace(stored, **fields)


def check(text: str, entries: Sequence[Entry], signals: Sequence[Signal] = ()) -> Score | None:
    candidate = Candidate(kind="decision", summary=text[:120], content=text, signals=tuple(signals))
    context = Context(project="/p", session="s", now=NOW, memory=Memory(entries))
    score: Score | None = score_confidence(candidate, context)
    return score


def relation(text: str, entries: Sequence[Entry], signals: Sequence[Signal] = ()) -> str:
    score = check(text, entries, signals)
    return score.relation if score else ""


def pairs(name: str) -> list[dict[str, str]]:
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


# --- labelled pairs -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs-held.jsonl"])
def test_labelled_pairs(name: str) -> None:
    table = Counter((p["label"], compare(p["a"], p["b"]).verdict) for p in pairs(name))
    shown = dict(table)
    for label in RIGHT:
        found = sum(n for (of, _), n in table.items() if of == label)
        wrong = sum(n for (of, v), n in table.items() if of == label and v not in RIGHT[label])
        limit = 0 if label in ("exact", "light", "unrelated") else 0.1 if found < 10 else 0.12
        assert wrong <= max(limit * found, 1 if limit else 0), shown
    for label in ("update", "contradiction", "related", "unrelated"):
        assert table[label, "duplicate"] == 0, shown


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs-held.jsonl"])
def test_changes_are_never_duplicates_the_other_way_round(name: str) -> None:
    changed = [p for p in pairs(name) if p["label"] in ("update", "contradiction")]
    assert [p["id"] for p in changed if compare(p["b"], p["a"]).verdict == "duplicate"] == []


# --- one kind of difference at a time -------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The proxy listens on port 8080.", "The proxy listens on port 8081."),
        ("The proxy speaks HTTP.", "The proxy speaks HTTPS."),
        ("Deploy v1 of the schema.", "Deploy v2 of the schema."),
        ("Keep 10 backups.", "Keep ten thousand backups."),
        ("Uploads are allowed.", "Uploads are not allowed."),
        ("Always squash.", "Never squash."),
        ("The weight function is `hermweight`.", "The weight function is `hermeweight`."),
        ("The release freezes on 2026-05-01.", "The release freezes on 2026-06-01."),
        ("The certificate ends (2026-05-01).", "The certificate ends (2026-06-01)."),
        ("Service A depends on service B.", "Service B depends on service A."),
        ("Lint before testing.", "Test before linting."),
        ("The exporter may run twice.", "The exporter must run twice."),
        ("The worker uses the API.", "The worker is used by the API."),
        ("Copy the file from staging to prod.", "Copy the file from prod to staging."),
        ("The rename is reversible.", "The rename is irreversible."),
        ("Only admins may delete rows in the audit table.", "Admins may delete rows in it."),
        ("Talk to Heron about invoices.", "Talk to Huron about invoices."),
        ("Images come from the cdn-a host.", "Images come from the cdn-b host."),
        ("Logs go to /var/log/app.log.", "Logs go to /var/log/api.log."),
        ("8080", "9090"),
        ("端口是 8080", "端口是 9090"),
    ],
)
def test_a_difference_that_counts(a: str, b: str) -> None:
    assert compare(a, b).verdict != "duplicate"
    assert compare(b, a).verdict != "duplicate"


@pytest.mark.parametrize(
    "edited",
    [
        "the configuration of the exporter is not read again before a restart",
        "The configuraiton of the exporter isn't read again before a restart.",
        "The configuration of the exporter is not read agian before a restart.",
        "The configurration of the exporter is not read again before a restart!",
        "The configuratian of the exporter is not read again before a restart.",
        "The configuration of exporter is not read again before a restart.",
        "## The configuration of the _exporter_ is not read again before a restart",
        "2026-05-05T10:00:00Z The configuration of the exporter is not read again before a restart",
        "**Decision:** The configuration of the exporter is not read again before a restart",
        "> The  configuration of the exporter\nis not read again before a restart",
    ],
)
def test_light_edits(edited: str) -> None:
    stored = "The configuration of the exporter is not read again before a restart."
    assert compare(stored, edited).verdict == "duplicate"
    assert compare(edited, stored).verdict == "duplicate"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The pool holds 8 connections.", "The pool holds 32 connections."),
        ("The owner is Kim.", "The owner is now Sasha."),
        ("We deploy with Ansible.", "We no longer deploy with Ansible."),
        ("Use argparse.", "Don't use argparse."),
        ("Use argparse, not click.", "Use click, not argparse."),
    ],
)
def test_updates(a: str, b: str) -> None:
    assert compare(a, b).verdict == "update"


# --- in memory ------------------------------------------------------------------------------------

NAMES = ("orders", "billing", "search", "mailer", "ledger", "catalog", "reports", "gateway")
HAPPENINGS = (
    "the {0} service reads its settings from {1}.toml and restarts when the file changes",
    "run make {0}-{1} before you touch the {0} tables of the warehouse",
    "a timeout in {0} was fixed by raising the limit of {1} to {2} s",
    "the user wants {0} reports sorted by {1}, newest first, with {2} rows a page",
    "{0} talks to {1} over gRPC on port {2}",
    "tests of {0} need the {1} container and about {2} minutes",
)


def journal(size: int, seed: int) -> list[str]:
    """Distinct notes out of few words: the hardest journal there is."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < size:
        first, second = chance.sample(NAMES, 2)
        nth = chance.randrange(2, 40 * size + 60)
        text = chance.choice(HAPPENINGS).format(f"{first}{nth % 97}", f"{second}{nth % 89}", nth)
        found[text] = None
    return list(found)


EDITS = (
    lambda text: text,
    lambda text: text.upper() if text.isascii() and "." not in text else text + ".",
    lambda text: f"**{text}**",
    lambda text: f"- [2026-04-03] {text}",
    lambda text: f"Note: {text} (2026-04-03)",
    lambda text: text.replace(" ", "  ").capitalize(),
)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 100, 1000, 10_000])
def test_journals_of_every_size(size: int) -> None:
    notes = journal(size + 30, seed=size)
    entries = [entry(str(n), text, digest=str(n)) for n, text in enumerate(notes[:size])]
    false = [text for text in notes[size:] if relation(text, entries) == "duplicate"]
    assert false == []
    chosen = random.Random(1).sample(range(size), min(size, 30))
    for n, number in enumerate(chosen):
        text = EDITS[n % len(EDITS)](notes[number])
        score = check(text, entries)
        assert score is not None
        assert (score.relation, score.of) == ("duplicate", str(number)), text


def test_a_relation_without_a_value() -> None:
    score = check("The port is 9090.", [entry("e1", "The port is 8080.")])
    assert score is not None
    assert (score.weight, score.veto, score.relation, score.of) == (0, False, "update", "e1")
    assert "9090" in score.reason


def test_nothing_in_memory_is_alike() -> None:
    assert check("The port is 8080.", []) is None
    assert check("The port is 8080.", [entry("e1", "Fonts are subset.")]) is None
    assert check("", [entry("e1", "")]) is None


def test_a_duplicate_wins_over_an_update_over_what_is_near() -> None:
    near = entry("near", "The proxy port is written to a file at start.")
    update = entry("update", "The proxy port is 8080.")
    same = entry("same", "The proxy port is 9090.")
    text = "The proxy port is 9090"
    assert relation(text, [near, update, same]) == "duplicate"
    assert relation(text, [near, update]) == "update"
    assert relation(text, [near]) in ("near", "")


def test_what_holds_no_more_is_not_compared() -> None:
    text = "The proxy port is 9090."
    past = [
        entry("a", text, superseded_by="b"),
        entry("c", text, valid_to=NOW - timedelta(days=1)),
        entry("d", text, tier="handoff"),
    ]
    assert check(text, past) is None
    assert (
        relation(text, [*past, entry("e", text, valid_to=NOW + timedelta(days=1))]) == "duplicate"
    )


def test_the_same_signal_in_other_words() -> None:
    signal = Signal(kind="error", text="x", key="error:E0382:cargo build")
    stored = entry(
        "e1",
        "cargo build fails with E0382; clone the handle before the loop",
        extra=(("key", digest(signal.key, 6)),),
    )
    text = "E0382 in cargo build: before the loop, clone the handle that moves"
    assert relation(text, [stored]) == "near"
    assert relation(text, [stored], [signal]) == "duplicate"
    assert relation("cargo build fails with E0499; drop the borrow", [stored], [signal]) != ""
    assert relation("Something else entirely.", [stored], [signal]) == "near"


def test_a_changed_number_under_the_same_key_is_an_update() -> None:
    signal = Signal(kind="preference", text="x", key="port")
    stored = entry("e1", "The proxy port is 8080.", extra=(("key", digest("port", 6)),))
    assert relation("The proxy port is 9090.", [stored], [signal]) == "update"


def test_a_memory_that_changes_is_seen() -> None:
    text = "The proxy port is 9090."
    entries = [entry("e1", "Fonts are subset.")]
    assert check(text, entries) is None
    entries.append(entry("e2", text))
    assert relation(text, entries) == "duplicate"
    entries[1] = entry("e2", "The proxy port is 1.")
    assert relation(text, entries) == "update"


def test_content_counts_not_only_the_summary() -> None:
    stored = entry("e1", "Set A in the job.", summary="KeyError in the nightly job")
    same_summary = Candidate(
        kind="observation",
        summary="KeyError in the nightly job",
        content="Delete the cache and run the importer by hand.",
    )
    context = Context(project="/p", session="s", now=NOW, memory=Memory([stored]))
    score = score_confidence(same_summary, context)
    assert score is None or score.relation != "duplicate"


def test_without_any_heavy_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **fields: Any) -> Any:
        if name in ("rank_bm25", "numpy"):
            raise ImportError(name)
        return real(name, *rest, **fields)

    monkeypatch.setattr(builtins, "__import__", refuse)
    notes = journal(300, seed=7)
    entries = [entry(str(n), text) for n, text in enumerate(notes)]
    for number in range(0, 300, 20):
        score = check(notes[number], entries)
        assert score is not None
        assert (score.relation, score.of) == ("duplicate", str(number))


# --- any text -------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(a=st.text(max_size=80), b=st.text(max_size=80))
def test_no_text_raises(a: str, b: str) -> None:
    compare(a, b)
    relation(b, [entry("e1", a)])


WORDS = (
    "the",
    "worker",
    "reads",
    "port",
    "8080",
    "not",
    "config.toml",
    "use",
    "never",
    "red",
    "5",
    "s",
)
_sentence = st.lists(
    st.sampled_from(WORDS),
    min_size=1,
    max_size=12,
).map(" ".join)


@settings(max_examples=80, deadline=None)
@given(text=_sentence)
def test_a_note_repeats_itself(text: str) -> None:
    for edited in (text, text + ".", f"**{text}**", text.capitalize()):
        assert compare(text, edited).verdict == "duplicate"


@settings(max_examples=80, deadline=None)
@given(text=_sentence, number=st.integers(0, 10**6), other=st.integers(0, 10**6))
def test_another_number_is_never_a_duplicate(text: str, number: int, other: int) -> None:
    if number != other:
        assert compare(f"{text} {number}", f"{text} {other}").verdict != "duplicate"


@pytest.mark.parametrize("piece", ["a ", "not ", ". ", "8080 ", "`", "x-", "**", "un", "\n"])
def test_long_texts_are_bounded(piece: str) -> None:
    """Without a bound each of these takes minutes."""
    text = piece * (1_000_000 // len(piece))
    assert compare(text, text + "b").verdict in ("duplicate", "update", "near", "new")
