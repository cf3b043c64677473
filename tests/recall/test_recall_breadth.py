"""A long list reaches more sessions; the first ten hits are those of a short one."""

from typing import Any

from ijfw_core.recall import search as recall
from ijfw_hookspecs import Entry
from ijfw_tests.entries import memory


def harbour() -> list[Entry]:
    """A session that is all about a harbour, two that name it once, and what has nothing to do."""
    talk = [
        memory(f"a{n}", f"harbour crane harbour note{'abcdefghijklmn'[n]}", session="s1", day=n)
        for n in range(14)
    ]
    long = " ".join(f"filler{n}" for n in range(40))
    named = memory("b", f"the harbour {long}", session="s2")
    lead = memory("c", "nothing but a crane", session="s3")
    others = [memory(f"z{n}", f"unrelated matter {n}", session=f"t{n}") for n in range(140)]
    return [*talk, named, lead, *others]


def test_behind_the_first_ten_new_sessions_come_first(place: Any) -> None:
    place.write(*harbour())
    project = place.open()
    short = [hit.entry.id for hit in recall.search(project, "harbour", 10)]
    long = [hit.entry.id for hit in recall.search(project, "harbour", 50)]
    assert long[:10] == short
    assert long[10] == "b"
    assert {f"a{n}" for n in range(14)} <= set(long)


def test_where_there_is_room_the_best_lead_on_to_further_sessions(place: Any) -> None:
    place.write(*harbour())
    project = place.open()
    hits = recall.search(project, "harbour", 50)
    assert hits[-1].entry.id == "c"
    assert hits[-1].parts["related"] > 0
    assert not any(hit.entry.id.startswith("z") for hit in hits)
    assert "c" not in {hit.entry.id for hit in recall.search(project, "harbour", 10)}


def test_what_is_over_stays_last(place: Any) -> None:
    old = memory("old", "harbour of old", session="s9", superseded_by="a1")
    place.write(*harbour(), old)
    found = recall.search(place.open(), "harbour", 50, include_superseded=True)
    assert found[-1].entry.id == "old"
