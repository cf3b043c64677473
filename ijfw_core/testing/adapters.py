"""What every platform adapter must satisfy, on payloads and a transcript of its own client.

class TestMine(AdapterContract):
    data = Path(__file__).parent
    payloads = "mine_payloads.jsonl"  # lines {"event": name, "payload": {...}}
    transcript = "mine_chat.jsonl"  # of the same session; "" where there is none
    prompts = ["The page test fails, please fix it."]  # what a person typed in it, in order

    def make(self, folder):
        return MyAdapter(home=folder / "home", project=folder / "project")
"""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_core.author import probes
from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent, FileEdit, PlatformAdapter, Reply

COMMAND = ["/opt/my venv/bin/python", "-I", "-S", "/home/dev/.ijfw/hook.py"]
JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
GARBAGE = [b"", b"\x00\x00", b"// a comment", b'"a string"', b"[1, 2]", b"{", b'{"type": 3}',
           b'{"type": "user", "message": []}', b'{"payload": {"type": []}, "type": "event_msg"}',
           b"\xff\xfe", b'{"a": "\\ud800"}', b"[" * 5000]  # fmt: skip


def load(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The recorded payloads of a file, in order, with the names of their events."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [(row["event"], row["payload"]) for row in rows]


def read_all(adapter: PlatformAdapter, path: Path) -> tuple[list[AgentEvent], str, int]:
    """(all events, the last cursor, bad records) of a transcript."""
    events: list[AgentEvent] = []
    cursor, bad = "", 0
    for _ in range(1000):
        piece = adapter.read_transcript(str(path), cursor)
        events += piece.events
        bad += piece.bad_records
        cursor = piece.cursor
        if piece.done:
            return events, cursor, bad
    raise AssertionError("it comes to no end")


def carry_out(edits: Iterable[FileEdit]) -> None:
    """Make the edits, as setup does; a folder that is empty then goes, as setup made it."""
    for edit in edits:
        path = Path(edit.path)
        before = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else None
        assert before == edit.before
        if edit.after is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(edit.after.encode("utf-8", "surrogateescape"))
            continue
        path.unlink()
        while not any(path.parent.iterdir()):
            path = path.parent
            path.rmdir()


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def told(event: AgentEvent) -> tuple[Any, ...]:
    """What a hook and a transcript must tell alike, so that nothing counts twice."""
    tool = event.tool
    if tool is None:
        return event.kind, event.session, event.turn, event.text
    return event.kind, event.session, tool.call_id, tool.input, tool.output.strip()


class AdapterContract:
    """Tests that hold for every adapter.

    Attributes:
        data: the folder of the recordings.
        payloads: a file of hook payloads as the client sent them; "" where it runs no hooks.
        transcript: the transcript of the same session; "" where the client keeps none.
        prompts: what a person typed in the session, in order.
        injected: words of a memory that was injected into the session, in the recording; "" leaves
            the test out.
        private: words of the session that no cursor may hold.
    """

    data: ClassVar[Path]
    payloads: ClassVar[str] = ""
    transcript: ClassVar[str] = ""
    prompts: ClassVar[Sequence[str]]
    injected: ClassVar[str] = ""
    private: ClassVar[Sequence[str]] = ()

    def make(self, folder: Path) -> PlatformAdapter:
        """The adapter, with a home and a project below a folder."""
        raise NotImplementedError

    @pytest.fixture
    def adapter(self, tmp_path: Path) -> PlatformAdapter:
        (tmp_path / "home").mkdir()
        (tmp_path / "project").mkdir()
        return self.make(tmp_path)

    @pytest.fixture
    def chat(self, tmp_path: Path) -> Path:
        """A copy of the transcript that a test may change."""
        if not self.transcript:
            pytest.skip("the client keeps no transcript")
        path = tmp_path / self.transcript
        path.write_bytes((self.data / self.transcript).read_bytes())
        return path

    @pytest.fixture
    def sent(self) -> list[tuple[str, dict[str, Any]]]:
        """The recorded payloads."""
        if not self.payloads:
            pytest.skip("the client runs no hooks")
        return load(self.data / self.payloads)

    def test_it_answers_as_the_kernel_expects(self, adapter: PlatformAdapter) -> None:
        assert list(probes.of_adapter(adapter)) == []

    def heard(self, adapter: PlatformAdapter) -> list[AgentEvent]:
        """The events of the recorded payloads."""
        sent = load(self.data / self.payloads) if self.payloads else []
        every = [adapter.parse(name, json.dumps(payload).encode(), {}) for name, payload in sent]
        return [event for event in every if event is not None]

    def test_each_payload_is_an_event_of_its_kind(
        self, adapter: PlatformAdapter, sent: list[tuple[str, dict[str, Any]]]
    ) -> None:
        kinds = adapter.caps.event_names
        found = set()
        for name, payload in sent:
            event = adapter.parse(name, json.dumps(payload).encode(), {})
            if event is not None:
                assert event.platform == adapter.name
                assert event.kind == kinds[name]
                assert event.session
                assert event.cwd
                found.add(event.kind)
        assert "prompt" in found

    def test_unknown_fields_and_a_missing_name_change_nothing(
        self, adapter: PlatformAdapter, sent: list[tuple[str, dict[str, Any]]]
    ) -> None:
        for name, payload in sent:
            more = {**payload, "new_field": {"deep": [1, None]}, "": ""}
            more.pop("hook_event_name", None)
            first = adapter.parse(name, json.dumps(payload).encode(), {})
            second = adapter.parse(name, json.dumps(more).encode(), {})
            assert (first is None) == (second is None)
            if first is not None and second is not None:
                assert replace(first, at=second.at) == second

    def test_unknown_events_and_torn_payloads_are_none(
        self, adapter: PlatformAdapter, sent: list[tuple[str, dict[str, Any]]]
    ) -> None:
        assert adapter.parse("SomethingNew", b'{"session_id": "s", "cwd": "/x"}', {}) is None
        for name, payload in sent:
            data = json.dumps(payload).encode()
            assert adapter.parse(name, data[: len(data) // 2], {}) is None

    def test_no_payload_raises(
        self, adapter: PlatformAdapter, sent: list[tuple[str, dict[str, Any]]]
    ) -> None:
        @settings(max_examples=40, deadline=None)
        @given(st.data())
        def check(data: st.DataObject) -> None:
            name, payload = data.draw(st.sampled_from(sent))
            payload = dict(payload)
            for key in data.draw(st.lists(st.sampled_from(sorted(payload)), max_size=3)):
                payload[key] = data.draw(JSONISH)
            event = adapter.parse(name, json.dumps(payload).encode(), {})
            assert event is None or event.platform == adapter.name

        check()

    def test_a_reply_is_one_json_object_or_nothing(self, adapter: PlatformAdapter) -> None:
        memory = wrap_memory("Yarn, never npm: “yes”\nüñ")
        for name, kind in adapter.caps.event_names.items():
            assert adapter.render(name, Reply()) == ""
            shown = adapter.render(name, Reply(context=memory, user_note="stored 1 memory"))
            value = json.loads(shown) if shown else {}
            assert isinstance(value, dict)
            told_it = any(memory in text for text in _strings(value))
            assert told_it or kind not in adapter.caps.inject_at
        assert adapter.render("SomethingNew", Reply(context=memory)) == ""

    def test_hooks_and_transcript_tell_the_same(
        self, adapter: PlatformAdapter, chat: Path, sent: list[tuple[str, dict[str, Any]]]
    ) -> None:
        events, _, bad = read_all(adapter, chat)
        assert bad == 0

        def comparable(every: Iterable[AgentEvent]) -> set[tuple[Any, ...]]:
            shells = [e for e in every if e.tool is not None and e.tool.kind == "shell"]
            return {told(e) for e in (*shells, *(e for e in every if e.kind == "prompt"))}

        heard = comparable(self.heard(adapter))
        assert heard
        assert heard == comparable(events)

    def test_what_was_typed_is_heard_in_order(self, adapter: PlatformAdapter) -> None:
        sources = [self.heard(adapter)] if self.payloads else []
        if self.transcript:
            sources.append(read_all(adapter, self.data / self.transcript)[0])
        assert sources, "give a recording"
        for events in sources:
            typed = [e for e in events if e.kind == "prompt" and not e.synthetic]
            assert [e.text for e in typed] == list(self.prompts)
            assert len({e.session for e in events}) == 1
            assert all(e.at.tzinfo for e in events)

    def test_what_we_injected_is_not_heard(self, adapter: PlatformAdapter) -> None:
        if not self.injected:
            pytest.skip("no recording of an injected memory")
        names = [name for name in (self.payloads, self.transcript) if name]
        raw = "".join((self.data / name).read_text("utf-8") for name in names)
        assert self.injected in raw, "the recording has none: it shows nothing"
        events = read_all(adapter, self.data / self.transcript)[0] if self.transcript else []
        for event in (*events, *self.heard(adapter)):
            words = f"{event.text}{event.reply}{event.tool.output if event.tool else ''}"
            assert self.injected not in words
            assert "ijfw-memory" not in words

    def test_a_growing_file_gives_each_event_once(
        self, adapter: PlatformAdapter, chat: Path
    ) -> None:
        whole = chat.read_bytes()
        expected, _, _ = read_all(adapter, chat)
        step = max(len(whole) // 23, 1)
        events: list[AgentEvent] = []
        cursor = ""
        for end in (*range(step, len(whole), step), len(whole)):
            chat.write_bytes(whole[:end])
            try:
                piece = adapter.read_transcript(str(chat), cursor)
            except ValueError:
                assert not cursor  # nothing whole is there yet
                continue
            events += piece.events
            cursor = piece.cursor
        assert [told(e) for e in events] == [told(e) for e in expected]
        assert [e.reply for e in events] == [e.reply for e in expected]
        assert adapter.read_transcript(str(chat), cursor).events == ()

    def test_garbage_between_records_is_counted(self, adapter: PlatformAdapter, chat: Path) -> None:
        expected, _, _ = read_all(adapter, chat)
        lines = chat.read_bytes().split(b"\n")
        mixed = [lines[0]]
        for number, line in enumerate(lines[1:]):
            mixed += [GARBAGE[number % len(GARBAGE)], line]
        chat.write_bytes(b"\n".join(mixed))
        events, _, bad = read_all(adapter, chat)
        assert [told(e) for e in events] == [told(e) for e in expected]
        assert bad > 0

    def test_a_file_of_others_is_refused(self, adapter: PlatformAdapter, tmp_path: Path) -> None:
        if not self.transcript:
            pytest.skip("the client keeps no transcript")
        for number, text in enumerate(("", "hello\n" * 3, '{"a": 1}\n' * 100, "[]", "{}")):
            path = tmp_path / f"other{number}.jsonl"
            path.write_text(text)
            with pytest.raises(ValueError, match=r"^not "):
                adapter.read_transcript(str(path), "")
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ValueError, match=r"^not "):
            adapter.read_transcript(str(tmp_path / "pipe"), "")
        with pytest.raises(OSError, match="No such file"):
            adapter.read_transcript(str(tmp_path / "missing.jsonl"), "")

    def test_a_cursor_of_another_file_is_stale(self, adapter: PlatformAdapter, chat: Path) -> None:
        _, cursor, _ = read_all(adapter, chat)
        data = chat.read_bytes()
        for other in (data[: len(data) // 2], b"x" + data[1:]):
            chat.write_bytes(other)
            with pytest.raises(ValueError, match="stale cursor"):
                adapter.read_transcript(str(chat), cursor)
        for wrong in ("x", "{}x", "[]", '{"offset": -1}', '{"offset": "a"}'):
            with pytest.raises(ValueError, match="stale cursor"):
                adapter.read_transcript(str(chat), wrong)

    def test_a_cursor_holds_no_words(self, adapter: PlatformAdapter, chat: Path) -> None:
        _, cursor, _ = read_all(adapter, chat)
        for words in (*self.prompts, *self.private):
            assert words not in cursor
        assert len(cursor) < 16_384

    @pytest.mark.parametrize("scope", ["user", "project"])
    def test_setup_leaves_no_trace(
        self, adapter: PlatformAdapter, tmp_path: Path, scope: Any
    ) -> None:
        command = [*COMMAND, adapter.name]
        before = tree(tmp_path)
        assert adapter.status().state == "untouched"
        edits = adapter.install(scope, command)
        assert all(edit.before is None for edit in edits)
        if not edits:
            pytest.skip(f"nothing to install for this {scope}")
        carry_out(edits)
        assert adapter.install(scope, command) == []
        assert adapter.status().state == "standing by"
        installed = "".join(data.decode() for data in tree(tmp_path).values())
        for kind in ("session_start", "prompt"):
            names = [n for n, of in adapter.caps.event_names.items() if of == kind]
            assert not names or any(name in installed for name in names)
        carry_out(adapter.uninstall(scope))
        assert tree(tmp_path) == before
        assert adapter.uninstall(scope) == []
        assert adapter.status().state == "untouched"

    def test_a_changed_interpreter_replaces_the_lines(
        self, adapter: PlatformAdapter, tmp_path: Path
    ) -> None:
        first = adapter.install("user", [*COMMAND, adapter.name])
        if "/opt/my venv" not in "".join(edit.after or "" for edit in first):
            pytest.skip("no command of ours stands in the client's settings")
        carry_out(first)
        carry_out(adapter.install("user", ["/usr/bin/python3", *COMMAND[1:], adapter.name]))
        text = "".join(data.decode() for data in tree(tmp_path).values())
        assert "/opt/my venv" not in text
        assert "/usr/bin/python3" in text


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
