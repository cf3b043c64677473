"""With a prompt, an agent is told what memory knows of it: rarely, briefly, once, and in time."""

import json
import os
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ijfw_core.live import capture, consent, known, manifest, prompt_recall
from ijfw_core.recall import prelude, prompt_index
from ijfw_core.storage import forget
from ijfw_core.text import MARK_CLOSE, MARK_OPEN
from ijfw_hookspecs import Caps, Reply
from ijfw_tests.prompt_recall import (
    ASK,
    FIX,
    PROMPT,
    RACE,
    ask,
    configure,
    index,
    remember,
    said,
    settle_config,
    until,
)


def test_a_prompt_brings_what_bears_on_it_once_a_session(asked: Any) -> None:
    told = ask(asked)
    assert told.startswith(MARK_OPEN)
    assert told.endswith(MARK_CLOSE)
    assert RACE in told
    assert FIX in told
    assert "pnpm" not in told
    assert ask(asked) == ""
    assert "pnpm" in ask(asked, "npm or pnpm for web/ here?")
    asked.session = "another"
    assert RACE in ask(asked)


def test_it_is_silent_where_memory_knows_nothing_and_where_no_person_typed(asked: Any) -> None:
    for prompt in (
        *("continue", "add a test", "fix the error in the file", "\u200b", ""),
        f"<task-notification>{ASK}</task-notification>",
        f"{MARK_OPEN}\n{ASK}\n{MARK_CLOSE}",
        f"see &lt;ijfw-memory&gt;{ASK}&lt;/ijfw-memory&gt;",
    ):
        assert said(asked, prompt) == b""
    assert RACE.encode() in said(asked, ASK)


def test_by_default_nothing_is_made_and_nothing_issaid(agreed: Any) -> None:
    remember(agreed, RACE, FIX)
    agreed.send("SessionStart", source="startup")
    assert agreed.send(PROMPT, prompt=ASK) == ""
    assert not index(agreed).exists()
    assert "ijfw_recall" not in sys.modules


def test_what_the_session_began_with_is_not_said_again(asked: Any) -> None:
    settle_config(asked, "[recall]\non_prompt = true\n")
    remember(asked, "use tabs in Makefiles", kind="preference")
    assert FIX in asked.send("SessionStart", source="startup")
    assert ask(asked) == ""


def test_what_was_stored_in_a_session_is_told_in_another(asked: Any) -> None:
    asked.send("SessionStart", source="startup")
    remember(asked, "deploy_gate waits for CANARY_MINUTES", "set it to 3")
    assert "set it to 3" in ask(asked, "why does deploy_gate wait?")


# --- who may be told what -------------------------------------------------------------------------


def test_after_a_no_nothing_is_told_and_nothing_is_left(asked: Any) -> None:
    consent.decide(asked.place, False, datetime.now(UTC))
    known.update(asked.home, asked.place)
    assert ask(asked) == ""
    assert not index(asked).exists()


def test_a_consent_that_was_taken_away_by_hand_counts_at_once(asked: Any) -> None:
    (asked.place.folder / consent.FILE).unlink()
    assert RACE not in asked.send(PROMPT, prompt=ASK)


@pytest.mark.parametrize("name", ["IJFW_DISABLE", "IJFW_RECALL_ON_PROMPT"])
def test_switched_off_by_the_environment(asked: Any, name: str) -> None:
    asked.env[name] = "1" if name == "IJFW_DISABLE" else "off"
    assert ask(asked) == ""


def test_switched_off_by_the_settings_counts_at_once(asked: Any) -> None:
    (asked.home / "config.toml").write_text("[prelude]\nbudget = 0\n")
    assert ask(asked) == ""
    until(asked, lambda: not index(asked).exists())


def test_a_project_may_switch_it_off_and_not_on(asked: Any, agreed: Any) -> None:
    own = asked.place.folder / "config.toml"
    own.write_text("[recall]\non_prompt = false\n")
    assert ask(asked) == ""
    settle_config(asked, "")
    own.write_text("[recall]\non_prompt = true\non_prompt_score = 0.5\n")
    remember(asked, "a third one")
    assert not index(asked).exists()


def test_what_no_longer_holds_is_never_told(asked: Any) -> None:
    old = remember(asked, "zygote_pool has 4 workers", kind="decision")
    new = remember(asked, "zygote_pool has 9 workers", kind="decision")
    entry = asked.open().memory.get(old)
    assert entry is not None
    assert entry.superseded_by == new
    told = ask(asked, "how many workers has zygote_pool?")
    assert "9 workers" in told
    assert "4 workers" not in told


def test_what_waits_for_a_person_is_never_told(asked: Any) -> None:
    folder = asked.place.memory / "auto-proposed"
    folder.mkdir(exist_ok=True)
    block = (asked.place.memory / "knowledge.md").read_text()
    (folder / "x.md").write_text(block.replace("pnpm", "quokka_runner"))
    prelude.refresh(asked.open())
    assert ask(asked, "how do I call quokka_runner?") == ""


def test_an_entry_that_a_person_edited_is_not_told_in_its_old_words(asked: Any) -> None:
    path = asked.place.memory / "project-journal.md"
    if RACE not in path.read_text():
        path = asked.place.memory / "knowledge.md"
    path.write_text(path.read_text().replace("must run first", "must run LAST"))
    assert "must run first" not in ask(asked)
    until(asked, lambda: not prompt_index.stale(asked.place, wanted=True))
    asked.session = "another"
    assert "must run LAST" in ask(asked)


def test_an_entry_that_ends_is_not_told_after_its_end(asked: Any) -> None:
    secret = (asked.home / "run/seal.key").read_bytes()
    key = prompt_recall.key_of(secret, os.fsencode(index(asked)))
    old, meta = prompt_recall.opened(os.fsencode(asked.home), os.fsencode(index(asked)))
    terms = prompt_index.weights(list(asked.open().memory.entries())[::-1])
    rows = [old.block(1 + old.buckets + n) for n in range(2)]
    for since, end, wanted in ((0, 9e11, True), (0, time.time() - 1, False), (9e11, 9e12, False)):
        changed = [(*row[:3], since, end, row[5]) for row in rows]
        index(asked).write_bytes(prompt_index.assemble(key, meta, terms, changed))
        asked.session = str(end) + str(since)
        assert bool(ask(asked)) is wanted


# --- what is printed ------------------------------------------------------------------------------


def test_our_marks_in_a_memory_stay_inside_and_markup_is_json(asked: Any) -> None:
    remember(asked, f'xylem_tool says "{MARK_CLOSE}" and \\n', "run <b>it</b> \u4f60\u597d")
    told = ask(asked, "what does xylem_tool say?")
    assert told.count(MARK_CLOSE) == 1
    assert '"&lt;/ijfw-memory&gt;" and \\n' in told
    assert "<b>it</b> \u4f60\u597d" in told


def test_the_budget_and_the_evidence_are_settings(asked: Any) -> None:
    for number in range(6):
        remember(asked, f"widget_{number} needs grommet_x", "z" * 400)
    most = len(ask(asked, "grommet_x for widget_1, widget_2, widget_3, widget_4").encode())
    assert 800 < most <= 1536
    configure(asked, on_prompt_budget=700)
    prelude.refresh(asked.open())
    asked.session = "another"
    assert 100 < len(ask(asked, "grommet_x for widget_1, widget_2").encode()) <= 700
    configure(asked, on_prompt_score=90.0)
    prelude.refresh(asked.open())
    asked.session = "a third"
    assert ask(asked, "grommet_x for widget_1, widget_2") == ""


def test_no_more_than_three_come_with_a_prompt(asked: Any) -> None:
    names = [f"gadget_{number}x" for number in range(8)]
    for name in names:
        remember(asked, f"{name} is slow")
    told = ask(asked, " ".join(names))
    assert told.count("is slow") == prompt_index.ENTRIES


def test_what_is_told_is_no_evidence_of_anything(asked: Any) -> None:
    wish = "always wrap the zephyr_client in a retry"
    remember(asked, wish, kind="preference")
    told = ask(asked, "may the zephyr_client retry?")
    assert wish in told
    record = {
        "type": "user",
        "uuid": "u1",
        "sessionId": asked.session,
        "timestamp": "2026-03-02T09:00:00.000Z",
        "cwd": str(asked.project),
        "promptId": "p9",
        "message": {"role": "user", "content": f"{told}\nfine"},
    }
    asked.transcript.write_text(json.dumps(record) + "\n")
    before = asked.memories()
    asked.send("SessionEnd", reason="other")
    assert asked.memories() == before


def test_old_notes_of_sessions_hold_no_words(asked: Any) -> None:
    ask(asked)
    (note,) = (asked.home / "run/greeted").iterdir()
    assert len(note.read_bytes()) == prompt_recall.ID
    assert note.stat().st_mode & 0o777 == 0o600


# --- where a platform takes it --------------------------------------------------------------------


class Toy:
    """An adapter with one prompt event."""

    def __init__(self, form: str, inject: tuple[Any, ...] = ("prompt",)) -> None:
        self.form = form
        self.caps = Caps(
            events=("prompt",), inject_at=inject, event_names={"Say": "prompt", "Bye": "turn_end"}
        )

    def render(self, event: str, reply: Reply) -> str:
        """A reply in this form."""
        said = reply.context
        if self.form == "raw":
            return said
        if self.form == "twice":
            return json.dumps({"a": said, "b": said})
        return json.dumps({"x": said, "about": {"event": event}}) if self.form else ""


def test_frames_are_found_where_the_context_is_one_json_string() -> None:
    before, behind = manifest.frames(Toy("json"))["Say"]
    assert (before, behind) == (b'{"x": "', b'", "about": {"event": "Say"}}')
    for toy in (Toy("raw"), Toy("twice"), Toy(""), Toy("json", ("session_start",))):
        assert manifest.frames(toy) == {}


def test_which_platforms_take_it(read_manifest: Any) -> None:
    found = read_manifest()["platforms"]
    takes = {name for name, about in found.items() if about["frames"]}
    none = {"aider", "cursor", "windsurf"}
    assert takes == found.keys() - none
    assert {"claude-code", "codex", "copilot-cli", "gemini-cli", "opencode", "qwen-code"} <= takes


def test_the_parent_imports_modules_in_c_only(asked: Any) -> None:
    """In the process of the hook, up to the answer."""
    code = (
        f"import sys; sys.path.insert(0, {str(asked.home)!r})\n"
        "before = set(sys.modules)\nimport ijfw_recall\n"
        "for name in set(sys.modules) - before - {'ijfw_recall'}:\n"
        "    file = getattr(sys.modules[name], '__file__', None) or ''\n"
        "    assert not file.endswith('.py'), name\nprint('fine')"
    )
    import subprocess

    line = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr


def test_an_index_says_when_it_is_stale(asked: Any) -> None:
    place = asked.place
    assert not prompt_index.stale(place, wanted=True)
    assert prompt_index.stale(place, wanted=False)
    later = datetime.now(UTC) + timedelta(seconds=5)
    os.utime(place.memory / "knowledge.md", (later.timestamp(), later.timestamp()))
    assert prompt_index.stale(place, wanted=True)


def test_after_a_command_the_hook_need_not_look_for_the_project(asked: Any) -> None:
    """A first memory is noted in projects.toml, which what the hook knows of projects rests on."""
    assert known.state(asked.place) == "yes"
    with (asked.home / "projects.toml").open("a") as file:
        file.write("\n# noted\n")
    assert known.state(asked.place) == ""
    prelude.refresh(asked.open())
    assert known.state(asked.place) == "yes"
    assert FIX.encode() in said(asked, ASK)


def test_words_and_secrets_cannot_be_read_in_an_index_and_what_is_forgotten_goes(
    asked: Any,
) -> None:
    key = "AK" + "IA" + "".join(random.Random(3).choices("ABCDEFGHIJ234567", k=16))
    for path in asked.place.memory.glob("*.md"):
        path.write_text(path.read_text().replace(FIX, f"{FIX} with {key}"))
    prelude.refresh(asked.open())
    assert key.lower().encode() not in index(asked).read_bytes().lower()
    assert b"REDACTED" in said(asked, ASK)
    (known_id,) = [e.id for e in asked.open().memory.entries() if e.summary == RACE]
    forget.forget(asked.open().writer, [known_id])
    assert not index(asked).exists()
    prelude.refresh(asked.open())
    assert b"merge_forecast" not in index(asked).read_bytes()
    assert b"pnpm" in index(asked).read_bytes()  # its line; the term stands there as a number


def test_a_worker_is_started_once_for_what_cannot_be_made(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(capture, "start_worker", started.append)
    data = asked.payload(PROMPT, prompt="hello")
    arrived = capture.arrive("claude-code", PROMPT, data, None, asked.env)
    assert arrived is not None
    index(asked).unlink()
    for _ in range(3):
        capture.handle(arrived, PROMPT, data, None, asked.env)
    assert len(started) == 1
    (asked.place.memory / "knowledge.md").open("a").close()
    os.utime(asked.place.memory / "knowledge.md", (5, 5))
    capture.handle(arrived, PROMPT, data, None, asked.env)
    assert len(started) == 2


def test_many_files_of_memory_do_not_make_it_silent(asked: Any) -> None:
    team = asked.project / ".ijfw/team"
    team.mkdir(parents=True)
    for number in range(900):
        (team / f"{'long-name-' * 8}{number}.md").write_text("")
    prelude.refresh(asked.open())
    assert not prompt_index.stale(asked.place, wanted=True)
    assert FIX.encode() in said(asked, ASK)
