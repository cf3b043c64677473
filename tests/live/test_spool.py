"""The spool keeps each redacted signal once, and nothing that is torn or raw."""

import json
import random
import string
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ijfw_core.live import spool
from ijfw_core.pipeline.listen import signal_id
from ijfw_core.storage import roots
from ijfw_core.storage.roots import Roots
from ijfw_hookspecs import Signal

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


@pytest.fixture
def place(tmp_path: Path) -> Roots:
    """The roots of a prepared project."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    found = roots.find(tmp_path / "shop", {"HOME": str(tmp_path / "home")})
    roots.prepare(found)
    return found


def signal(kind: Any = "error", text: str = "x", session: str = "s", **more: Any) -> Signal:
    """A signal as the listener hands it on."""
    return Signal(kind=kind, text=text, session=session, at=NOW, plugin="p", **more)


def same(text: str) -> str:
    """A redactor that finds nothing."""
    return text


def hide(text: str) -> str:
    """A redactor that finds one word."""
    return text.replace("hunter2", "[REDACTED:test]")


signals = st.builds(
    Signal,
    kind=st.sampled_from(["error", "fix", "correction", "rule", "decision"]),
    text=TEXTS,
    about=TEXTS,
    key=TEXTS,
    signature=TEXTS,
    turn=TEXTS,
    session=st.sampled_from(["a", "b", "ü\u2028\n"]),
    plugin=TEXTS,
    at=st.just(NOW),
    trusted=st.booleans(),
    said=TEXTS,
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(signals, max_size=8))
def test_what_goes_in_comes_out_once_and_by_session(place: Roots, given: list[Signal]) -> None:
    for one in given:
        spool.append(place, [one], same)
    for session in ("a", "b", "ü\u2028\n"):
        claim = spool.claim(place, session, same)
        wanted = {signal_id(one): one for one in given if one.session == session}
        assert {signal_id(one): one for one in claim.signals} == wanted
        assert (len(claim.signals), claim.torn) == (len(wanted), 0)
        assert spool.claim(place, session, same).signals == claim.signals
        spool.release(place, claim)
        assert spool.claim(place, session, same).signals == []
    assert not (place.folder / spool.SIGNALS).exists()
    assert not (place.folder / spool.FEEDBACK).exists()


def test_errors_and_fixes_stand_apart_from_feedback_and_intents_in_neither(place: Roots) -> None:
    kinds = ["error", "fix", "correction", "intent"]
    spool.append(place, [signal(kind, text=kind) for kind in kinds], same)
    errors = (place.folder / spool.SIGNALS).read_text().splitlines()
    feedback = (place.folder / spool.FEEDBACK).read_text().splitlines()
    assert [json.loads(line)["kind"] for line in errors] == ["error", "fix"]
    assert [json.loads(line)["kind"] for line in feedback] == ["correction"]
    assert list(json.loads(errors[0])) == [
        *("v", "id", "at", "session", "turn", "plugin", "kind"),
        *("text", "about", "key", "signature", "trusted", "said"),
    ]
    assert (place.folder / spool.SIGNALS).stat().st_mode & 0o777 == 0o600


def test_a_torn_line_is_left_out_and_its_neighbours_are_not(place: Roots) -> None:
    spool.append(place, [signal(text="one")], same)
    path = place.folder / spool.SIGNALS
    with path.open("ab") as file:
        file.write(b'{"v":1,"id":"x","at":"2026')
    spool.append(place, [signal(text="two", turn="2")], same)
    with path.open("ab") as file:
        file.write(b"\0" * 300)
    claim = spool.claim(place, "s", same)
    assert [one.text for one in claim.signals] == ["one", "two"]
    assert claim.torn == 1


FOREIGN = [
    '{"ts":"2026-04-01T10:00:00Z","error":"Error: password hunter2","fail":null}',
    '{"ts":"2026-04-01T10:00:00Z","error":null,"fail":"2 tests failed"}',
    '{"ts":"2026-04-01T10:00:00Z","kind":"rule","phrase":"always","context":"always hunter2 tabs"}',
    '{"ts": 5, "error": {"a": 1}}',
    "hunter2, no JSON at all",
    "[1, 2]",
]


@pytest.mark.parametrize("touch", ["append", "claim", "take_in"])
def test_foreign_lines_are_redacted_at_the_first_touch(place: Roots, touch: str) -> None:
    for name in (spool.SIGNALS, spool.FEEDBACK):
        (place.folder / name).write_text("\n".join(FOREIGN) + "\n")
    assert spool.has_foreign(place)
    if touch == "append":
        spool.append(place, [signal(), signal("rule")], hide)
    elif touch == "claim":
        spool.claim(place, "s", hide)
    else:
        spool.take_in(place, hide)
    assert not spool.has_foreign(place)
    for path in place.folder.rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes(), path
    taken = spool.claim(place, spool.FOREIGN, hide).signals
    assert {(one.kind, one.text, one.trusted) for one in taken} == {
        ("error", "Error: password [REDACTED:test]", True),
        ("error", "2 tests failed", True),
        ("rule", "always [REDACTED:test] tabs", False),
    }


def test_a_session_is_bounded_and_its_oldest_errors_go_first(
    place: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "MOST_BYTES", 6000)
    spool.append(place, [signal("rule", text="keep me", turn="r")], same)
    spool.append(place, [signal(text="other", session="t")], same)
    dropped = sum(
        spool.append(place, [signal(text=f"{n} " + "x" * 200, turn=str(n))], same)
        for n in range(50)
    )
    claim = spool.claim(place, "s", same)
    kept = [one.text.split()[0] for one in claim.signals if one.kind == "error"]
    assert kept == [str(n) for n in range(50 - len(kept), 50)]
    assert dropped == 50 - len(kept)
    assert [one.text for one in claim.signals if one.kind == "rule"] == ["keep me"]
    assert [one.text for one in spool.claim(place, "t", same).signals] == ["other"]


def test_many_writers_lose_and_tear_nothing(place: Roots) -> None:
    def write(session: int) -> None:
        for n in range(6):
            text = "".join(random.Random(n).choices(string.ascii_letters, k=500))
            spool.append(place, [signal(text=text, turn=str(n), session=str(session))], same)
            if n == 3:
                spool.claim(place, str(session), same)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    for session in range(8):
        claim = spool.claim(place, str(session), same)
        assert (len(claim.signals), claim.torn) == (6, 0)


def test_the_state_of_the_last_prompt_of_each_session(place: Roots) -> None:
    spool.note_prompt(place, spool.Prompt(session="a", intent="fix", vague=("no-target",)))
    spool.note_prompt(place, spool.Prompt(session="b", intent="build"))
    spool.note_prompt(place, spool.Prompt(session="a", intent="test", kinds=("rule",)))
    assert [(p.session, p.intent) for p in spool.prompts(place)] == [("b", "build"), ("a", "test")]
    spool.forget_prompt(place, "a")
    spool.forget_prompt(place, "b")
    assert not (place.folder / spool.PROMPTS).exists()


def test_a_foreign_prompt_state_is_replaced(place: Roots) -> None:
    (place.folder / spool.PROMPTS).write_text('{"fired":true,"signals":[],"intent":"fix"}')
    spool.note_prompt(place, spool.Prompt(session="a", intent="fix"))
    assert [p.session for p in spool.prompts(place)] == ["a"]
    assert "fired" not in (place.folder / spool.PROMPTS).read_text()
