"""The table of facts: windows, cardinality, back-dating, replay, decay."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.recall.facts import Facts, as_known, built_in, normal, stated, with_own
from ijfw_hookspecs import Candidate, Entry, Score, Signal

DAY = timedelta(days=1)
START = datetime(2026, 3, 1, tzinfo=UTC)


def day(n: float) -> datetime:
    return START + n * DAY


def said(
    name: str,
    *facts: tuple[str, str, str],
    at: float = 0,
    since: float | None = None,
    until: float | None = None,
    **more: object,
) -> Entry:
    """An entry that was stored on day `at`, with facts valid in [since, until)."""
    return Entry(
        id=name,
        kind="decision",
        summary=name,
        stored=day(at),
        valid_from=None if since is None else day(since),
        valid_to=None if until is None else day(until),
        facts=facts,
        **more,  # type: ignore[arg-type]
    )


def version(number: str) -> tuple[str, str, str]:
    return ("Postgres", "version", number)


def windows(table: Facts, subject: str = "Postgres") -> list[tuple[str, float, float | None]]:
    """(object, from, to) in days."""
    return [
        (
            row.object,
            (row.valid_from - START) / DAY,
            None if row.valid_to is None else (row.valid_to - START) / DAY,
        )
        for row in table.get_history(subject)
    ]


def test_a_new_object_ends_the_window_of_the_old_one() -> None:
    table = Facts([said("a", version("15"), at=0), said("b", version("16"), at=10)])
    assert windows(table) == [("15", 0, 10), ("16", 10, None)]
    assert [row.object for row in table.get_valid_at(day(5), "postgres", "Version")] == ["15"]
    assert [row.object for row in table.get_valid_at(day(10), "Postgres")] == ["16"]
    assert table.get_valid_at(day(-1)) == []


def test_a_predicate_with_many_objects_ends_nothing() -> None:
    entries = [
        said("a", ("team", "decided", "use REST"), at=0),
        said("b", ("team", "decided", "drop IE"), at=3),
        said("c", ("team", "unheard_of", "x"), ("team", "unheard_of", "y"), at=4),
    ]
    assert len(Facts(entries).get_valid_at(day(9), "team")) == 4


def test_a_superseded_entry_ends_its_facts() -> None:
    old = said("a", ("project", "uses", "unittest"), until=4, superseded_by="b")
    table = Facts([old, said("b", ("project", "uses", "pytest"), at=4)])
    assert windows(table, "project") == [("unittest", 0, 4), ("pytest", 4, None)]


def test_a_back_dated_claim_changes_its_window_only() -> None:
    """The earlier claim goes on after it, and the present value stays."""
    entries = [said("a", version("14"), at=1), said("b", version("16"), at=10)]
    between = said("c", version("15"), at=20, since=5, until=7)
    assert windows(Facts([*entries, between])) == [
        ("14", 1, 5),
        ("15", 5, 7),
        ("14", 7, 10),
        ("16", 10, None),
    ]
    open_end = said("c", version("15"), at=20, since=5)
    assert windows(Facts([*entries, open_end])) == [("14", 1, 5), ("15", 5, 10), ("16", 10, None)]


def test_the_same_fact_again_is_no_change() -> None:
    once = said("a", version("16"), at=0, confidence=0.9)
    again = said("b", ("postgres", "Version", " 16 "), at=5, confidence=0.7)
    assert windows(Facts([once])) == windows(Facts([once, again])) == [("16", 0, None)]
    row = Facts([again, once]).get_history("Postgres")[0]
    assert (row.source, row.sources, row.confidence) == ("a", ("a", "b"), 0.9)
    assert (row.recorded_at, row.confirmed_at) == (day(0), day(5))


def test_the_same_fact_of_a_predicate_with_many_is_one_row() -> None:
    entries = [
        said("a", ("project", "uses", "pytest"), at=0, until=4),
        said("b", ("project", "uses", "pytest"), at=2),
        said("c", ("project", "uses", "PyTest"), at=30, since=9, until=10),
    ]
    assert windows(Facts(entries), "project") == [("pytest", 0, None)]
    gap = [said("a", ("p", "uses", "x"), until=1), said("b", ("p", "uses", "x"), at=2)]
    assert windows(Facts(gap), "p") == [("x", 0, 1), ("x", 2, None)]


def test_a_value_that_comes_back_has_a_window_of_its_own() -> None:
    entries = [
        said(n, version(v), at=t) for n, v, t in [("a", "1", 0), ("b", "2", 1), ("c", "1", 2)]
    ]
    table = Facts(entries)
    assert windows(table) == [("1", 0, 1), ("2", 1, 2), ("1", 2, None)]
    assert table.get_valid_at(day(3))[0].source == "c"


def test_what_was_known_then() -> None:
    """Recorded later is not known yet, and neither is the end that it gave."""
    old = said("a", version("15"), at=0, until=2, superseded_by="b")
    new = said("b", version("16"), at=10, since=2)
    now, then = Facts([old, new]), Facts(as_known([old, new], day(5)))
    assert [row.object for row in now.get_valid_at(day(3))] == ["16"]
    assert [row.object for row in then.get_valid_at(day(3))] == ["15"]
    assert windows(then) == [("15", 0, None)]


def test_a_team_file_ends_nothing_that_was_said_here() -> None:
    mine = said("a", version("16"), at=0)
    theirs = said("t", version("9"), at=5, tier="team")
    rows = Facts([mine, theirs]).get_valid_at(day(6))
    assert [(row.object, row.tier) for row in rows] == [("16", "knowledge"), ("9", "team")]


def test_confidence_decays_on_read_only() -> None:
    entries = [
        said("a", version("16"), confidence=0.8),
        said("b", ("project", "current_task", "the parser"), confidence=0.8),
        said("c", ("main", "uses", "x"), confidence=0.8, tier="handoff"),
    ]
    fresh = Facts(entries).get_all_facts_with_windows()
    assert {row.confidence for row in fresh} == {0.8}
    by_predicate = {
        row.predicate: row.confidence
        for row in Facts(entries, now=day(30)).get_all_facts_with_windows()
    }
    assert by_predicate["version"] == pytest.approx(0.4)
    assert by_predicate["current_task"] < 0.001
    assert by_predicate["uses"] < 0.001
    assert Facts(entries, now=day(1)).get_valid_at(None, "project")[0].confidence == 0.4
    assert Facts(entries, now=day(-9)).get_history("Postgres")[0].confidence == 0.8


def test_a_user_names_predicates_of_their_own() -> None:
    entries = [said("a", ("api", "region", "eu")), said("b", ("api", "region", "us"), at=1)]
    assert len(Facts(entries).get_valid_at(day(2))) == 2
    assert [r.object for r in Facts(entries, with_own(["Region"], [])).get_valid_at(day(2))] == [
        "us"
    ]
    versions = [said("a", version("1")), said("b", version("2"), at=1)]
    assert len(Facts(versions, with_own([], ["version"])).get_valid_at(day(2))) == 2


def test_nonsense_is_left_out() -> None:
    entries = [
        said("a", ("", "uses", "x"), ("p", " ", "x"), ("p", "uses", "\n")),
        said("b", ("p", "uses", "x"), at=5, until=5),
        said("c", ("p", "uses", "x"), at=5, until=4),
    ]
    assert Facts(entries).get_all_facts_with_windows() == []


CLAIMS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3", " 1"]),
        st.integers(0, 8),  # recorded
        st.integers(0, 8),  # since
        st.one_of(st.none(), st.integers(0, 9)),
    ),
    max_size=9,
)


@settings(max_examples=100, deadline=None)
@given(CLAIMS, st.randoms(use_true_random=False), st.sampled_from(["version", "uses"]))
def test_a_replay_in_any_order_is_the_same_and_windows_fit(
    claims: list[tuple[str, int, int, int | None]], random: object, predicate: str
) -> None:
    entries = [
        said(f"e{n}", ("p", predicate, v), at=at, since=since, until=until)
        for n, (v, at, since, until) in enumerate(claims)
    ]
    rows = Facts(entries).get_all_facts_with_windows()
    random.shuffle(entries)  # type: ignore[attr-defined]
    assert Facts(entries).get_all_facts_with_windows() == rows
    history = Facts(entries).get_history("p")
    assert all(row.valid_to is None or row.valid_from < row.valid_to for row in history)
    if predicate == "version":
        for one, two in pairwise(history):
            assert one.valid_to is not None
            assert one.valid_to <= two.valid_from
            same = normal(one.object) == normal(two.object)
            assert not (same and one.valid_to == two.valid_from), "one window, not two"
    for moment in range(10):
        live = [
            (start, recorded, f"e{n}", v)
            for n, (v, recorded, start, until) in enumerate(claims)
            if start <= moment and (until is None or until > moment)
        ]
        found = {normal(r.object) for r in Facts(entries).get_valid_at(day(moment), "p")}
        wanted = live if predicate == "uses" else [max(live)] if live else []
        assert found == {normal(claim[3]) for claim in wanted}


# --- which facts a candidate states ---------------------------------------------------------------


def candidate(*signals: Signal, facts: tuple[tuple[str, str, str], ...] = ()) -> Candidate:
    return Candidate(kind="decision", summary="s", content="s", signals=signals, facts=facts)


def scored(*facts: tuple[str, str, str]) -> list[tuple[str, Score]]:
    return [("other-plugin", Score(value=0.5, weight=0, reason="", facts=facts))]


def test_facts_of_every_plugin_count_once() -> None:
    heard = candidate(Signal(kind="rule", text="x"), facts=(("project", "uses", "pytest"),))
    found = stated(heard, scored(("Project", "USES", "pytest"), ("api", "runs on", "k8s")), str)
    assert found == (("project", "uses", "pytest"), ("api", "runs_on", "k8s"))


@pytest.mark.parametrize(
    "signal",
    [
        Signal(kind="rule", text="x", trusted=False),
        Signal(kind="error", text="x"),
        Signal(kind="fix", text="x"),
    ],
)
def test_only_what_a_person_said_gives_facts(signal: Signal) -> None:
    mixed = candidate(Signal(kind="rule", text="x"), signal, facts=(("a", "b", "c"),))
    assert stated(mixed, scored(("a", "b", "c")), str) == ()


def test_a_fact_with_a_secret_is_none() -> None:
    def hide(text: str) -> str:
        return text.replace("hunter2", "[REDACTED:password]")

    facts = scored(("db", "password", "hunter2"), ("db", "port", "5432"), ("", "a", "b"))
    assert stated(candidate(), facts, hide) == (("db", "port", "5432"),)


def test_a_secret_that_only_the_whole_fact_shows_is_none() -> None:
    def hide(text: str) -> str:
        return text.replace("password: swordfish", "password: [REDACTED:password]")

    assert stated(candidate(), scored(("db", "password", "swordfish")), hide) == ()
    fine = ("db", "mascot", "swordfish")
    assert stated(candidate(), scored(fine), hide) == (fine,)


def test_facts_are_bounded() -> None:
    many = scored(*((f"s{n}", "uses", "x" * 500) for n in range(99)))
    found = stated(candidate(), many, str)
    assert len(found) == 16
    assert max(len(part) for fact in found for part in fact) <= 120


def test_the_data_file_names_no_predicate_twice() -> None:
    assert not built_in().one & built_in().many
