"""A session from its transcript to memory: what is kept, what is not, and only once."""

import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_core import service
from ijfw_core.errors import IjfwError, NotFoundError, UsageError
from ijfw_core.project import Project
from ijfw_core.storage import forget

Open = Callable[[], Project]


def kept(opened: Open) -> list[str]:
    return [entry.summary for entry in opened().memory.entries("knowledge", "journal")]


def capture(opened: Open, path: object, **options: object) -> service.Captured:
    return service.capture(opened(), str(path), **options)[0]  # type: ignore[arg-type]


def test_a_failing_test_and_its_fix_become_one_memory(opened: Open, session: Any) -> None:
    session.user("The pagination test fails, please fix it.")
    session.failing_test()
    session.fixed_test()
    done = capture(opened, session.path)
    assert len(done.stored) == 1
    entry = service.find(opened(), done.stored[0])
    assert entry.kind == "observation"
    assert entry.tier == "journal"
    assert "start + size" in entry.content
    assert "auto-memorize" in entry.tags
    assert entry.session == session.session


def test_a_standing_wish_is_kept_with_its_object(opened: Open, session: Any) -> None:
    session.user("No, don't use unittest. From now on use pytest.")
    done = capture(opened, session.path)
    assert len(done.stored) == 1
    entry = service.find(opened(), done.stored[0])
    assert entry.kind == "preference"
    assert "pytest" in entry.summary
    assert "unittest" in entry.summary
    assert "from now on" not in entry.summary.lower()
    assert "From now on use pytest" in entry.why


def test_the_words_said_are_kept_without_the_rest_of_the_prompt(opened: Open, session: Any) -> None:
    token = "ghp_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
    session.user(f"The moon is full. From now on always deploy with {token}; never by hand.")
    done = capture(opened, session.path)
    (name,) = (*done.stored, *done.staged)
    why = service.find(opened(), name).why
    assert why.startswith(
        'The user gave a standing rule: "From now on always deploy with [REDACTED:'
    )
    assert "moon" not in why
    assert not any(
        token.encode() in path.read_bytes()
        for path in opened().roots.folder.rglob("*")
        if path.is_file()
    )


def test_capturing_twice_stores_nothing_twice(opened: Open, session: Any) -> None:
    session.user("From now on use pytest, never unittest.")
    session.failing_test()
    session.fixed_test()
    first = capture(opened, session.path)
    before = kept(opened)
    second = capture(opened, session.path)
    assert first.stored
    assert (second.events, second.stored, second.staged) == (0, (), ())
    assert kept(opened) == before


def test_losing_the_bookmark_stores_nothing_twice(opened: Open, session: Any) -> None:
    session.user("From now on use pytest, never unittest.")
    session.failing_test()
    session.fixed_test()
    capture(opened, session.path)
    before = kept(opened)
    for mark in (opened().roots.folder / "run").glob("*.cursor"):
        mark.unlink()
    again = capture(opened, session.path)
    assert again.stored == ()
    assert kept(opened) == before


def test_an_error_finds_its_fix_after_a_resume(opened: Open, session: Any) -> None:
    session.failing_test()
    assert capture(opened, session.path).stored == ()
    session.fixed_test()
    done = capture(opened, session.path)
    assert len(done.stored) == 1
    assert "start + size" in service.find(opened(), done.stored[0]).content


def test_a_wish_repeated_in_another_session_is_not_stored_again(
    opened: Open, session: Any, tmp_path: Path
) -> None:
    session.user("From now on use pytest, never unittest.")
    capture(opened, session.path)
    other = type(session)(tmp_path / "other.jsonl", session="99999999-aaaa")
    other.user("From now on use pytest, never unittest.")
    done = capture(opened, other.path)
    assert done.stored == ()
    assert len(opened().memory.entries("knowledge").__iter__().__next__().seen) >= 1


def test_ordinary_work_leaves_nothing(opened: Open, session: Any) -> None:
    session.user("Please add a column for the price to the orders table.")
    session.assistant("Done.")
    session.shell("ls", "README.md\nsrc\n")
    session.user("ok thanks, now show me the diff")
    done = capture(opened, session.path)
    assert (done.stored, done.staged) == ((), ())


def test_at_most_five_writes_a_session(opened: Open, session: Any) -> None:
    for name in ("lodash", "moment", "request", "bluebird", "underscore", "jquery", "backbone"):
        session.user(f"From now on never use {name} in this repo.")
    done = capture(opened, session.path)
    assert len(done.stored) == 5
    assert len(done.staged) == 2


def test_a_dry_run_writes_nothing(opened: Open, session: Any) -> None:
    session.user("From now on use pytest, never unittest.")
    _, report = service.capture(opened(), str(session.path), dry_run=True)
    assert report.judged
    assert not opened().roots.folder.exists()


def test_what_a_person_forgot_is_not_learned_again(opened: Open, session: Any) -> None:
    session.user("From now on use pytest, never unittest.")
    done = capture(opened, session.path)
    forget.forget(opened().writer, list(done.stored))
    for mark in (opened().roots.folder / "run").glob("*.cursor"):
        mark.unlink()
    again = capture(opened, session.path)
    assert (again.stored, again.staged) == ((), ())
    assert kept(opened) == []


def test_a_file_that_no_adapter_knows_is_refused(opened: Open, tmp_path: Path) -> None:
    strange = tmp_path / "notes.txt"
    strange.write_text("nothing of an agent\n" * 20)
    with pytest.raises(IjfwError, match="no adapter knows"):
        capture(opened, strange)
    assert not opened().roots.folder.exists()


def test_missing_file_and_unknown_platform_are_told(
    opened: Open, session: Any, tmp_path: Path
) -> None:
    session.user("hello")
    with pytest.raises(NotFoundError):
        capture(opened, tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="known: "):
        capture(opened, session.path, platform="emacs")


@pytest.mark.parametrize(
    "bad",
    [
        b"{not json\n",
        b"# a comment line\n",
        b'"a bare string"\n',
        b"\xef\xbb\xbf{}\n",
        b'{"type":"user"}\r\n',
        b'{"type":"user","message":{"content":"\x00"}}\n',
        b'{"type":"user","message":{"content":"\xff\xfe"}}\n',
        b"[" * 5000 + b"\n",
        b'{"type":"user","message":{"content":12345678901234567890123456789}}\n',
        b"\n\n\n",
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":7}]}}\n',
        b'{"type":"user","message":null}\n',
        b"x" * 3_000_000 + b"\n",
    ],
)
def test_a_bad_record_costs_only_itself(opened: Open, session: Any, bad: bytes) -> None:
    session.user("From now on use pytest, never unittest.")
    session.raw(bad)
    session.failing_test()
    session.raw(bad)
    session.fixed_test()
    session.raw(bad[:-1])
    assert len(capture(opened, session.path).stored) == 2


def test_what_a_started_agent_learned_counts_for_the_session(opened: Open, session: Any) -> None:
    session.user("Please fix the pagination.")
    helper = type(session)(session.path.with_suffix("") / "subagents" / "agent-1.jsonl")
    helper.path.parent.mkdir(parents=True)
    helper.user("From now on use tabs, never spaces.")  # typed by an agent, not by a person
    helper.failing_test()
    helper.fixed_test()
    done = capture(opened, session.path)
    assert len(done.stored) == 1
    assert "start + size" in service.find(opened(), done.stored[0]).content
    assert capture(opened, session.path).events == 0


def test_a_secret_in_a_tag_that_a_hand_added_does_not_leave(opened: Open, session: Any) -> None:
    session.user("From now on use pytest, never unittest.")
    capture(opened, session.path)
    knowledge = opened().roots.memory / "knowledge.md"
    token = "gh" + "p_" + "".join(random.Random(5).choices(string.ascii_letters, k=36))
    text = knowledge.read_text()
    knowledge.write_text(
        text.replace("tags: [auto-memorize", f"owner: {token}\ntags: [{token}, auto-memorize")
    )
    (entry,) = opened().memory.entries("knowledge")
    assert token not in repr(entry)
    assert any("REDACTED" in tag for tag in entry.tags)
