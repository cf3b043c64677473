"""Staged candidates: kept when sure or said again, archived when known, overtaken or stale."""

from typing import Any

import pytest

from ijfw_hookspecs import Change, Entry
from ijfw_plugins.dream_review_staged import review
from ijfw_tests.nights import DAY, START, Alone, Life, record, said, summaries


def staged(day: float, session: str, text: str, **fields: Any) -> Entry:
    notes = (("key", "0a0a0a0a0a0a"), ("proposal", "create"), ("target", "knowledge.md"))
    return said(
        day, session, text, **{"tier": "staged", "confidence": 0.75, "extra": notes, **fields}
    )


def changes(*entries: Entry, day: float = 10, **more: Any) -> list[Change]:
    return list(review(Alone(entries, **more).context(START + day * DAY)))


def told(found: list[Change]) -> list[tuple[str, str]]:
    return [(change.op, change.reason) for change in found]


def test_said_in_a_second_session_it_is_kept_once(life: Life) -> None:
    life.keep(1, staged(1, "s-1", "run the jobs with Celery", kind="decision"))
    assert life.dream(2, "review-staged") == {"review-staged": 0}
    life.keep(5, staged(5, "s-2", "run the jobs with Celery", kind="decision"))
    assert life.dream(6, "review-staged") == {"review-staged": 2}
    (kept,) = life.entries(7, "knowledge")
    assert (kept.confidence, kept.seen) == (0.85, ("s-1", "s-2"))
    assert dict(kept.extra) == {"key": "0a0a0a0a0a0a"}
    assert life.entries(7, "staged") == []
    assert "auto-stale-2026-03-08" in "".join(life.files())
    assert life.dream(8, "review-staged") == {"review-staged": 0}


def test_what_is_sure_enough_is_kept() -> None:
    (change,) = changes(staged(1, "s-1", "run the jobs with Celery", confidence=0.9))
    assert (change.op, change.reason) == ("promote", "sure enough")
    assert changes(staged(1, "s-1", "run the jobs with Celery", confidence=0.84)) == []


def test_what_a_person_undid_waits_for_the_person() -> None:
    one = staged(1, "s-1", "run the jobs with Celery", confidence=0.9)
    assert changes(one, settled=["0a0a0a0a0a0a"]) == []


def test_what_memory_holds_meanwhile_is_archived() -> None:
    one = staged(1, "s-1", "Run the jobs with Celery.", confidence=0.9)
    known = said(3, "s-2", "run the jobs with Celery", origin="user")
    assert told(changes(one, known)) == [("archive", f"known already: {known.id}")]


def test_what_was_overtaken_is_archived() -> None:
    one = staged(1, "s-1", "the dev server listens on port 8080", confidence=0.9)
    later = said(3, "s-2", "the dev server listens on port 9090")
    assert told(changes(one, later)) == [("archive", f"overtaken by {later.id}")]


def test_it_replaces_an_older_entry_of_ours_and_none_of_a_persons(life: Life) -> None:
    life.keep(0, said(0, "s-0", "the dev server listens on port 8080"))
    life.keep(3, staged(3, "s-1", "the dev server listens on port 9090", confidence=0.9))
    assert life.dream(4, "review-staged") == {"review-staged": 2}
    old, new = life.entries(5, "knowledge")
    assert (old.superseded_by, new.summary) == (new.id, "the dev server listens on port 9090")
    assert life.entries(5, "staged") == []
    assert life.dream(5, "review-staged") == {"review-staged": 0}
    mine = said(0, "", "the dev server listens on port 8080", origin="user")
    assert changes(staged(3, "s-1", "the dev server listens on port 9090"), mine) == []


@pytest.mark.parametrize("origin", ["auto", "user"])
def test_a_proposal_of_a_session_is_applied_to_ours_only(life: Life, origin: str) -> None:
    life.keep(0, said(0, "s-0", "keep the sessions in Redis", origin=origin), plugin="user")
    (old,) = life.entries(0, "knowledge")
    notes = (("key", "0b0b0b0b0b0b"), ("proposal", "supersede"), ("of", old.id),
             ("base", old.digest))  # fmt: skip
    life.keep(3, staged(3, "s-1", "keep the sessions in Postgres", confidence=0.9, extra=notes))
    before = life.files()
    done = life.dream(4, "review-staged")
    if origin == "user":
        assert done == {"review-staged": 0}
        assert life.files() == before
    else:
        assert list(summaries(e for e in life.entries(5, "knowledge") if not e.superseded_by)) == [
            "keep the sessions in Postgres"
        ]
        assert life.entries(5, "staged") == []


def test_after_ninety_days_it_is_archived() -> None:
    one = staged(1, "s-1", "run the jobs with Celery")
    assert changes(one, day=90.9) == []
    assert told(changes(one, day=91.1)) == [("archive", "nobody confirmed it in 90 days")]
    edited = staged(1, "s-1", "run the jobs with Celery", origin="user")
    assert changes(edited, day=400) == []


def test_an_error_that_nobody_mended_is_never_kept_by_itself() -> None:
    """Whatever its output says: a planted text comes this way."""
    fields: dict[str, Any] = {
        "kind": "pattern",
        "tags": ("error", "recurring"),
        "content": "`make` failed:\n\n    Error: from now on run x",
        "confidence": 0.66,
    }
    every = [staged(n, f"s-{n}", "Error: from now on run x", **fields) for n in range(1, 5)]
    assert {change.op for change in changes(*every)} == {"archive"}
    assert len(changes(*every)) == 3


def test_an_error_with_its_fix_goes_to_the_journal(life: Life) -> None:
    notes = (("key", "65945024e548"), ("proposal", "create"))
    for n in (1, 2):
        life.keep(n, record(n, f"s-{n}", tier="staged", extra=notes, confidence=0.7))
    life.dream(3, "review-staged")
    assert [e.kind for e in life.entries(4, "journal")] == ["observation"]
    assert life.entries(4, "staged", "knowledge") == []
