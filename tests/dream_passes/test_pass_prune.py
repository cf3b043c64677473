"""What never became knowledge leaves the journal when it is old; topic files likewise."""

from pathlib import Path
from typing import Any

import pytest

from ijfw_hookspecs import Change, Entry
from ijfw_plugins.dream_prune import prune
from ijfw_plugins.dream_stale_topics import stale_topics
from ijfw_tests.nights import DAY, START, Alone, Life, record, said


def pruned(*entries: Entry, day: float) -> list[Change]:
    return list(prune(Alone(entries).context(START + day * DAY)))


def test_a_record_is_archived_after_thirty_days(life: Life) -> None:
    life.keep(1, record(1, "s-1"))
    assert life.dream(30.9, "prune") == {"prune": 0}
    assert life.dream(31.1, "prune") == {"prune": 1}
    assert life.entries(32, "journal") == []
    (copy,) = (path for path in life.files() if path.startswith("_archive/"))
    assert copy == f"_archive/auto-stale-2026-04-02/{record(1, 's-1').id}.md"
    assert life.dream(33, "prune") == {"prune": 0}


@pytest.mark.parametrize(
    "fields",
    [
        {"origin": "user"},
        {"origin": "import"},
        {"kind": "decision"},
        {"kind": "preference"},
        {"tags": ("error", "pinned")},
        {"extra": (("pinned", "yes"),)},
        {"stored": START + 4000 * DAY},
    ],
)
def test_what_stays_whatever_its_age(fields: dict[str, Any]) -> None:
    assert pruned(record(1, "s-1", **fields), day=100) == []
    assert len(pruned(record(1, "s-1"), day=100)) == 1


def test_evidence_of_what_is_curated_stays() -> None:
    records = [record(n, f"s-{n}", extra=(("key", f"{n:012}"),)) for n in (1, 2, 3)]
    links = (("key", f"{1:012}"), ("evidence", records[1].id))
    assert len(pruned(*records, day=100)) == 3
    curated = record(4, "s-4", tier="knowledge", extra=links)
    assert [change.target for change in pruned(*records, curated, day=100)] == [records[2].id]


def topics(folder: Path, *entries: Entry, day: float, index: str = "") -> list[str]:
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "MEMORY.md").write_text(index)
    context = Alone(entries).context(START + day * DAY, folder=str(folder))
    return [change.target for change in stale_topics(context)]


def test_a_topic_file_that_nobody_names_is_archived_after_ninety_days(tmp_path: Path) -> None:
    one = record(1, "s-1", tier="knowledge", kind="pattern", path="pattern_psycopg.md")
    assert topics(tmp_path, one, day=90.9) == []
    assert topics(tmp_path, one, day=91.1) == [one.id]
    for index in ("[a](pattern_psycopg.md)", "[[pattern_psycopg]]", "[x](./pattern_psycopg.md#y)"):
        assert topics(tmp_path, one, day=400, index=index) == []
    assert topics(tmp_path, one, day=400, index="- [x](pattern_psycopg2.md)") == [one.id]


def test_no_decision_and_nothing_of_a_person_is_a_stale_topic(tmp_path: Path) -> None:
    kept = [
        said(1, "s-1", "use pytest", path="preference_use-pytest.md"),
        record(1, "s-2", tier="knowledge", path="pattern_a.md", origin="user"),
        record(1, "s-3", tier="knowledge", path="pattern_b.md", tags=("pinned",)),
        record(1, "s-4", tier="knowledge", path="knowledge.md"),
    ]
    assert topics(tmp_path, *kept, day=400) == []


def test_a_linked_index_is_not_followed(tmp_path: Path) -> None:
    one = record(1, "s-1", tier="knowledge", path="pattern_psycopg.md")
    secret = tmp_path / "elsewhere.md"
    secret.write_text("[x](pattern_psycopg.md)")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").symlink_to(secret)
    context = Alone([one]).context(START + 400 * DAY, folder=str(tmp_path))
    assert [change.target for change in stale_topics(context)] == [one.id]
