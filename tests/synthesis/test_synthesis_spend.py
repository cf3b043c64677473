"""What may be spent, and when a model is left alone."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ijfw_core.loading.settings import Automem
from ijfw_core.models import egress, spend
from ijfw_core.models.egress import Call, Status
from ijfw_core.models.spend import Refusal, Wanted
from ijfw_core.text import format_time

NOW = datetime(2026, 5, 10, 12, 0, tzinfo=UTC)
WANTED = Wanted("claude-haiku-4-5", "/shop", "s1", "extract")
LIMITS = Automem(model="claude-haiku-4-5")


def call(status: Status = "answered", *, ago: float = 3600, **fields: object) -> Call:
    values: dict[str, object] = {
        "id": "x",
        "at": format_time(NOW - timedelta(seconds=ago)),
        "project": "/shop",
        "session": "other",
        "purpose": "extract",
        "model": "claude-haiku-4-5",
        "host": "h",
        "bytes": 10,
        "input": 100,
        "output": 10,
        "dollars": 0.001,
        "status": status,
    }
    return Call(**(values | fields))  # type: ignore[arg-type]


def topic(calls: list[Call], limits: Automem = LIMITS, wanted: Wanted = WANTED) -> str:
    found = spend.refusal(calls, limits, wanted, NOW)
    return found.topic if found else ""


def test_one_answered_call_a_session() -> None:
    assert topic([]) == ""
    assert topic([call(session="s1")]) == "session"
    assert topic([call(session="s1", project="/other")]) == ""
    assert topic([call(session="s1")], Automem(calls_per_session=2)) == ""
    assert topic([], Automem(calls_per_session=0)) == "session"


def test_three_tries_a_session() -> None:
    tries = [call(s, session="s1", ago=90_000) for s in ("failed", "rejected", "sent")]
    assert topic(tries[:2]) == ""
    assert topic(tries) == "tries"


def test_tokens_of_a_utc_day() -> None:
    day = [call(input=19_000, output=900)]
    assert topic(day) == ""
    assert topic(day, wanted=WANTED._replace(tokens=101)) == "tokens"
    assert topic([call(input=19_990, output=10)]) == "tokens"
    assert topic([call(input=30_000, ago=13 * 3600)]) == ""
    assert topic([call("sent", input=20_000)]) == "tokens", "a killed call counts as reserved"


def test_dollars_of_a_month() -> None:
    limits = Automem(dollars_per_month=1.0, tokens_per_day=1_000_000)
    assert topic([call(dollars=0.99)], limits) == ""
    assert topic([call(dollars=1.0)], limits) == "dollars"
    assert topic([call(dollars=0.99)], limits, WANTED._replace(tokens=20_000)) == "dollars"
    assert topic([call(dollars=5.0, ago=11 * 86400)], limits) == ""
    unknown = WANTED._replace(model="claude-nobody-knows")
    assert topic([], limits, unknown) == "price"
    own = Automem(dollars_per_month=1.0, prices={"claude-nobody-knows": (1.0, 2.0)})
    assert topic([], own, unknown) == ""


def test_calls_of_a_night() -> None:
    wanted = WANTED._replace(session="", purpose="promote")
    night = [call(session="", purpose="dedupe", ago=n) for n in (10, 20, 30)]
    assert topic(night[:2], wanted=wanted) == ""
    assert topic(night, wanted=wanted) == "night"


def test_the_breaker_opens_and_closes() -> None:
    bad: list[Status] = ["failed", "timeout", "rejected"]
    three = [call(status, ago=60) for status in bad]
    assert topic(three[:2]) == ""
    assert topic(three) == "breaker"
    assert topic([call(s, ago=31 * 60) for s in bad]) == "", "half open: one call tries it"
    four = [*[call(s, ago=7000) for s in bad], call("failed", ago=31 * 60)]
    assert topic(four) == "breaker", "each further failure doubles the rest"
    assert topic([*four, call("answered", ago=5)]) == "", "an answer closes it"
    assert topic([*three[:2], call("sent", ago=60), three[2]]) == "breaker"
    assert topic(three, wanted=WANTED._replace(model="ollama:x")) == ""
    assert topic([call(s, ago=-86400) for s in bad]) == "", "a clock that was put back"


def test_prices() -> None:
    table = spend.table()
    assert datetime.fromisoformat(table["date"])
    assert table["source"].startswith("https://")
    for low, high in table["prices"].values():
        assert 0 <= low <= high < 1000
    assert spend.price("claude-haiku-4-5", {}) == (1.0, 5.0)
    assert spend.price("claude-haiku-4-5-20251001", {}) == (1.0, 5.0)
    assert spend.price("claude-opus-5-5", {}) == (4.0, 20.0), "the longest name counts"
    assert spend.price("claude-opus-5", {}) == (5.0, 25.0)
    assert spend.price("ollama:anything", {}) == (0.0, 0.0)
    assert spend.price("gpt-x", {}) is None
    assert spend.price("claude-haiku-4-5", {"claude-*": (9.0, 9.0)}) == (9.0, 9.0)
    assert spend.cost((1.0, 5.0), 1_000_000, 200_000) == 2.0
    assert spend.cost(None, 1, 1) is None


def test_the_log_keeps_what_cannot_be_read_and_skips_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = egress.reserve(home, call(), NOW, lambda calls: None)
    assert isinstance(first, Call)
    path = home / "egress.log"
    path.write_text(path.read_text() + "torn {\n" + "[" * 10_000 + "\n")
    egress.closed(home, call("answered", id=first.id, input=7), NOW)
    assert [(c.status, c.input) for c in egress.read(home)] == [("answered", 7)]


def test_what_is_refused_is_not_logged(tmp_path: Path) -> None:
    done = egress.reserve(tmp_path, call(), NOW, lambda calls: Refusal("no", "no"))
    assert isinstance(done, Refusal)
    assert not (tmp_path / "egress.log").exists()


def test_a_full_log_is_put_aside_and_still_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "FULL_BYTES", 1000)
    for n in range(12):
        egress.reserve(tmp_path, call(), NOW + timedelta(seconds=n), lambda calls: None)
    assert len(list(tmp_path.glob("egress-*.log"))) >= 2
    assert len(egress.read(tmp_path, everything=True)) == 12


def test_a_log_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "egress.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="link"):
        egress.reserve(tmp_path, call(), NOW, lambda calls: None)
