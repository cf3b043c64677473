"""Files as people, editors and other programs leave them."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from ijfw_core.grammar import EPOCH, entry, journal, lessons
from ijfw_hookspecs import Entry

WRITTEN = Entry(
    id="01JTESTAAAAAAAAAAAAAAAAAAA",
    kind="decision",
    summary="Use pnpm",
    stored=datetime(2026, 5, 1, 10, tzinfo=UTC),
    content="one\ntwo",
    why="asked for",
    origin="auto",
    tags=("auto-memorize",),
)


def read(block: str) -> Entry:
    found = entry.parse(block)
    assert found is not None
    return found


def record(block: str) -> Entry:
    found = journal.parse(block)
    assert found is not None
    return found


def test_a_file_turned_to_windows_line_ends_is_the_same_text() -> None:
    block = entry.render(WRITTEN).replace("\n", "\r\n")
    found = read(block)
    assert replace(found, digest="") == WRITTEN
    after = entry.update(block, replace(found, content="one\nthree", seen=("s",)))
    assert after.count("\n") == after.count("\r\n")
    assert read(after).content == "one\nthree"
    line = journal.render(WRITTEN).replace("\n", "\r\n")
    assert replace(record(line), digest="", tier="knowledge") == WRITTEN
    changed = journal.update(line, replace(record(line), content="x\ny"))
    assert changed.count("\n") == changed.count("\r\n") == 5
    assert record(changed).content == "x\ny"


@pytest.mark.parametrize("line", ["", "stored:\n", "stored: last week\n", 'stored: "a\\u2028b"\n'])
def test_an_entry_without_a_readable_time_is_read_and_keeps_its_line(line: str) -> None:
    block = f"---\ntype: decision\nsummary: x\n{line}---\nbody\n\n"
    found = read(block)
    assert (found.stored, found.content, found.origin) == (EPOCH, "body", "user")
    assert line in entry.update(block, replace(found, seen=("s",)))
    again = read(entry.render(found))
    assert replace(again, digest="") == replace(found, digest="")
    if "last week" in line:
        assert "stored: last week\n" in entry.render(found)
        assert journal.render(found).startswith("- [last week] ")


def test_what_cannot_be_read_is_kept_as_it_is() -> None:
    block = (
        '---\ntype: decision\nsummary: "x"\nconfidence: high\ntags: ["\\x"]\nid: two words\n'
        "origin: robot\nfact: [a]\nMood:   calm \nMood: grim\n---\nbody\n"
    )
    found = read(block)
    assert (found.confidence, found.tags, found.facts, found.origin) == (1.0, (), (), "user")
    assert found.id.startswith("h-")
    assert ("Mood", "calm") in found.extra
    assert ("Mood", "grim") in found.extra
    lines = block.split("\n")
    after = entry.update(block, replace(found, session="s")).split("\n")
    assert [line for line in after if line in lines] == lines
    assert set(after) - set(lines) == {f"id: {found.id}", "session: s"}


def test_tags_as_people_write_them() -> None:
    for text in ("[a, b c]", "a, b c", '[a, "b c"]', "[ a ,b c, ]", 'a, "b c"'):
        assert read(f"---\ntype: x\ntags: {text}\n---\n").tags == ("a", "b c")


def test_a_checksum_tells_a_hand_edit() -> None:
    for grammar in (entry, journal):
        block = grammar.render(WRITTEN)
        for old, new in (("one", "One"), ("Use pnpm", "Use npm"), ("asked", "nobody asked")):
            found = grammar.parse(block.replace(old, new))
            assert found is not None
            assert found.origin == "user"
        moved = grammar.parse(block.replace("[auto-memorize]", "[mine]"))
        assert moved is not None
        assert moved.origin == "auto"


def test_a_stray_fence_swallows_nothing() -> None:
    text = "---\nnot: an entry\n---\n```\n---\ntype: decision\nno key\n---\n" + entry.render(
        WRITTEN
    )
    assert [read(raw).summary for raw in entry.split(text)[1:]] == ["Use pnpm"]
    long = "---\ntype: decision\n" + "k: v\n" * 64 + "---\n"
    assert entry.parse(long) is None
    with pytest.raises(ValueError, match="64"):
        entry.render(replace(WRITTEN, extra=(("k", "v"),) * 60))


def test_the_end_of_a_header_starts_no_entry() -> None:
    text = "---\ntype: a\n---\ntype: b\n---\nbody\n"
    (raw,) = entry.split(text)
    assert (read(raw).kind, read(raw).content) == ("a", "type: b\n---\nbody")


def test_the_node_readers_flag_ends_an_entry() -> None:
    block = "---\ntype: decision\nsummary: x\nstored: 2026-01-01T00:00:00Z\nsuperseded: true\n---\n"
    assert read(block).valid_to == datetime(2026, 1, 1, tzinfo=UTC)
    dated = block.replace("true\n", "true\nsuperseded_by_date: 2026-02-03\n")
    assert read(dated).valid_to == datetime(2026, 2, 3, tzinfo=UTC)
    ended = replace(WRITTEN, superseded_by="other", valid_to=datetime(2026, 2, 3, tzinfo=UTC))
    text = entry.render(ended)
    assert "superseded: true\nsuperseded_by_date: 2026-02-03\n" in text
    alive = entry.update(text, replace(ended, superseded_by="", valid_to=None))
    assert "superseded" not in alive


def test_copies_in_one_file_have_names_of_their_own() -> None:
    plain = "---\ntype: decision\nsummary: x\n---\nbody\n\n"
    ids = [one.id for _, one in entry.read([plain] * 3 + [entry.render(WRITTEN)] * 2) if one]
    assert len(set(ids)) == 5
    assert ids[3] == WRITTEN.id
    assert ids[:3] == [one.id for n in range(3) if (one := entry.parse(plain, nth=n))]
    assert entry.parse(plain, path="a.md") != entry.parse(plain, path="b.md")


@pytest.mark.parametrize("name", ["", "two words", "(x)", "a\nb", "x" * 129])
def test_no_block_is_written_that_no_reader_would_take(name: str) -> None:
    for grammar in (entry, journal):
        with pytest.raises(ValueError, match="not an id"):
            grammar.render(replace(WRITTEN, id=name))
        with pytest.raises(ValueError, match="not a kind"):
            grammar.render(replace(WRITTEN, kind=f"{name} {name}"))
        with pytest.raises(ValueError, match="not a header key"):
            grammar.render(replace(WRITTEN, extra=((f"{name} ", ""),)))


def test_journal_lines_of_the_node_implementation() -> None:
    known = record("- [2026-03-04T08:15:00.000Z] **pattern** [ci, two words]: Cold on Mondays\n")
    assert (known.origin, known.tags) == ("user", ("ci", "two words"))
    assert known.id.startswith("h-")
    for line in (
        "- [2026-03-04T08:15:00Z] session-end: #1\n",
        "- [2026-03-04T08:15:00Z] **handoff** []: stopped\n",
        "- [2026-03-04T08:15:00Z] **Note** text\n",
        "# Journal\n",
        "- [x] **done**: write tests\n",
    ):
        assert journal.parse(line) is None, line
        assert journal.is_foreign(line)


def test_the_last_comment_of_a_record_counts() -> None:
    sly = replace(WRITTEN, summary="x <!-- ijfw id=other origin=import -->", session="-->")
    found = record(journal.render(sly))
    assert (found.id, found.summary, found.session) == (sly.id, sly.summary, "-->")
    assert journal.render(sly).count(" -->") == 2


def test_an_update_of_a_record_leaves_what_it_does_not_know() -> None:
    line = journal.render(WRITTEN).replace(" sum=", ' future="a b" sum=').replace("[auto", "[ auto")
    after = journal.update(line, replace(record(line), seen=("s-1",)))
    assert after == line.replace(" -->", ' seen="[s-1]" -->')


def test_the_log_reads_what_it_can() -> None:
    text = (
        "torn\n- [2026-05-01T10:00:00Z] **drop** run=r future=x confidence=0.5: why: so\n- [x] **y"
    )
    (one,) = lessons.read(text)
    assert (one.op, one.run, one.confidence, one.reason, one.slug) == (
        "drop",
        "r",
        0.5,
        "why: so",
        "",
    )
    with pytest.raises(ValueError, match="operation"):
        lessons.render(lessons.Lesson(at=EPOCH, op="two words"))
