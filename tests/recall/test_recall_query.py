"""Filters, phrases and the structured grammar; nothing typed is an error."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ijfw_core.project import Project
from ijfw_core.recall import query
from ijfw_core.recall import search as recall
from ijfw_hookspecs import Query
from ijfw_tests.entries import NOW, memory

Ids = Callable[[Project, str], list[str]]
DAY = timedelta(days=1)


def parsed(text: str) -> Query:
    return query.parse(text, NOW).query


def test_filters_are_taken_out_of_the_words() -> None:
    found = parsed(
        'type:decision tag:#deploy/web session:0b1c since:2026-03-01 "blue green" rollout'
    )
    assert (found.text, found.phrases) == ("blue green rollout", ("blue green",))
    assert (found.kinds, found.tags, found.session) == (("decision",), ("deploy/web",), "0b1c")
    assert found.since == datetime(2026, 3, 1, tzinfo=UTC)
    assert query.parse("project:shop cart", NOW).projects == ("shop",)
    assert parsed("superseded:yes x").include_superseded
    assert not parsed("superseded:no x").include_superseded


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("since:2w", NOW - 14 * DAY, None),
        ("until:2026-04-30", None, datetime(2026, 5, 1, tzinfo=UTC)),
        ("since:yesterday", datetime(2026, 4, 30, tzinfo=UTC), None),
        ("until:yesterday", None, datetime(2026, 5, 1, tzinfo=UTC)),
        ("since:2026-02 until:2026-02", datetime(2026, 2, 1, tzinfo=UTC),
         datetime(2026, 3, 1, tzinfo=UTC)),
        ("since:2025 until:2025", datetime(2025, 1, 1, tzinfo=UTC),
         datetime(2026, 1, 1, tzinfo=UTC)),
        ("until:2025-12", None, datetime(2026, 1, 1, tzinfo=UTC)),
        ("since:2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC), None),
    ],
)  # fmt: skip
def test_times(text: str, since: datetime | None, until: datetime | None) -> None:
    found = parsed(f"{text} x")
    assert (found.since, found.until, found.text) == (since, until, "x")


@pytest.mark.parametrize(
    "text",
    ["since:foo", "until:2026-13-45", "superseded:perhaps", "tier:moon",
     "type: x", "tag:#", "since:9999999y",
     "http://x", "a:b:c", "type:a(b"],
)  # fmt: skip
def test_what_is_no_filter_is_words(text: str) -> None:
    found = parsed(text)
    assert found == Query(text=text)


def test_the_structured_grammar() -> None:
    found = parsed('dv: tag = #a/b AND linked_to = "Big Plan" AND created_after = 1767225600')
    assert (found.text, found.tags, found.links) == ("", ("a/b",), ("Big Plan",))
    assert found.since == datetime(2026, 1, 1, tzinfo=UTC)
    assert parsed("dv: created_before = 1767225600000").until == datetime(2026, 1, 1, tzinfo=UTC)
    assert parsed("dv: colour = blue AND tag = x").tags == ("x",)
    assert parsed("dv: what is this").text == "dv: what is this"


def test_filters_hold(place: Any, ids: Ids) -> None:
    place.write(
        memory("a", "rollout of the cart", kind="decision", tags=("deploy/web",), session="s1"),
        memory("b", "rollout of the till", kind="pattern", tags=("deploy",), session="s2", day=9),
        memory("c", "rollout of the shelf", kind="decision", tags=("deployment",), day=19),
    )
    project = place.open()
    assert set(ids(project, "tag:deploy rollout")) == {"a", "b"}
    assert ids(project, "tag:deploy/web rollout") == ["a"]
    assert set(ids(project, "type:decision rollout")) == {"a", "c"}
    assert ids(project, "session:s2 rollout") == ["b"]
    assert ids(project, "since:2026-04-15 rollout") == ["c"]
    assert ids(project, "until:2026-04-01 rollout") == ["a"]
    assert ids(project, "type:decision tag:deploy") == ["a"], "without words: what passes"
    assert ids(project, "type:decision") == ["c", "a"], "the newest first"
    assert ids(project, "tag:nowhere rollout") == []
    assert ids(project, "tier:journal rollout") == []
    assert ids(project, "dv: tag = #deploy") == ["b", "a"]


def test_a_session_is_its_whole_id_or_the_start_of_one_alone(place: Any, ids: Ids) -> None:
    place.write(
        memory("a", "rollout of the cart", session="s3"),
        memory("b", "rollout of the till", session="s399"),
        memory("c", "rollout of the shelf", session="0b1c2d3e-77aa"),
        memory("d", "rollout of the lamp", session="release-1"),
        memory("e", "rollout of the desk", session="release-12"),
        memory("f", "rollout of the door", session="release-13"),
    )
    project = place.open()
    assert ids(project, "session:s3 rollout") == ["a"]
    assert ids(project, "session:s39 rollout") == []
    assert ids(project, "session:0b1c2d3e rollout") == ["c"]
    assert ids(project, "session:0b1c2d3e") == ["c"]
    assert ids(project, "session:0b1c2d3 rollout") == []
    assert ids(project, "session:release-1 rollout") == ["d"]
    assert ids(project, "session:release- rollout") == []


def test_links(place: Any, ids: Ids) -> None:
    place.write(
        memory("a", "see [[Big Plan]] for the rest"),
        memory("b", "near to it", extra=(("near", "a"),)),
        memory("c", "alone"),
    )
    project = place.open()
    assert ids(project, 'dv: linked_to = "Big Plan"') == ["a"]
    assert ids(project, 'dv: linked_to = "a"') == ["b"]


def test_a_type_that_is_none_may_have_been_words(place: Any, ids: Ids) -> None:
    place.write(memory("a", "error in the parser"), memory("b", "use pytest"))
    assert ids(place.open(), "type:error parser") == ["a"]


def test_an_exact_phrase_comes_first_and_costs_no_hits(place: Any, ids: Ids) -> None:
    place.write(
        memory("apart", "flag of feature and flag of cart"),
        memory("exact", "it hides behind a Feature  Flag for now, a longer text about it all"),
    )
    project = place.open()
    assert ids(project, '"feature flag"') == ["exact"]
    assert set(ids(project, "feature flag")) == {"exact", "apart"}
    assert set(ids(project, '"flag feature of"')) == {"exact", "apart"}, "no such phrase"
    assert ids(project, 'is the "feature flag" of the cart hidden?') == ["exact", "apart"]


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ['"', "pytest", "type:", "tag:a", "since:x", "dv:", "AND", "(", ")", "*", "^", "NEAR",
             "-", ":", "NOT", "OR", "%", "_", "\\", "'", "日本", "é", "\ud800", "\x00", "c++"]
        ),
        max_size=12,
    ).map(" ".join),
)  # fmt: skip


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(HOSTILE)
def test_no_query_fails(place: Any, text: str) -> None:
    if not place.knowledge.exists():
        place.write(memory("a", "use pytest"), memory("b", "Postgres 日本 c++"))
    recall.search(place.open(), text)


@pytest.mark.parametrize(
    "noise",
    ['"', "(", "*", "AND", "NOT x", "col:x", "NEAR(", "^", '"unbalanced', "since:foo", "--"],
)
def test_a_bad_query_finds_what_the_plain_one_finds(place: Any, ids: Ids, noise: str) -> None:
    place.write(memory("a", "use pytest for the parser"), memory("b", "Postgres"))
    project = place.open()
    for text in (f"pytest parser {noise}", f"{noise} pytest parser"):
        assert ids(project, text) == ["a"]


def test_a_huge_query_is_bounded(place: Any, ids: Ids) -> None:
    place.write(memory("a", "use pytest"), memory("b", "Postgres"))
    assert ids(place.open(), "pytest " + "x1 y2 " * 50_000) == ["a"]
    assert ids(place.open(), "pytest " + " ".join(f"word{n}" for n in range(3000))) in ([], ["a"])
