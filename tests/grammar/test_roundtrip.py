"""What is written can be read back, and a file is never more or less than its blocks."""

import string
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_core.grammar import Lesson, entry, journal, lessons, topic
from ijfw_hookspecs import Entry, Tier

# Pieces that are written by the grammars themselves, and what breaks naive ones.
PIECES = [
    "---", "---\r", "--- ", "\\---", "\n", "\n\n", "\r\n", "\r", "**Why:** ", "**How to apply:** ",
    "\\**Why:**", "type: decision", "type:", "summary: x", "stored: 2026-05-01T10:00:00Z",
    "tags: [a]", 'tags: ["\\x"]', "id: one", "sum: 0", "superseded: true", "- [2026-05-01] ",
    "**decision** ", "[a, b]: ", ": ", "  ", " <!-- ijfw ", " -->", "<!-- ijfw addendum -->",
    "<!-- /ijfw addendum -->", "id=x", 'sum="', "\ufeff", "\u2028", "\x85", "\x00", "\udce9",
    "\ud83d", "\ude00", "<<<<<<< HEAD", "```", '"', "[", "]", "{", "fact: [a, b, c]", "key: v",
    "é", "日本", " ", "x", "<!-- ijfw addendum id=a kind=pattern -->",
    "<!-- /ijfw addendum id=a -->",
    "name: n", "description: d", "kind: pattern", "metadata:", "  type: user", "- ", "'",
    "facts: [[",
]  # fmt: skip
# A text is drawn at once, which is ten times as quick as its pieces one by one: signs that nobody
# uses stand for the pieces until then.
SIGNS = {0xF0000 + nth: piece for nth, piece in enumerate(PIECES)}
TEXTS = st.text(st.characters(exclude_categories=()), max_size=25) | st.text(
    "".join(map(chr, SIGNS)) + string.printable, max_size=25
).map(lambda text: text.translate(SIGNS))
WORDS = st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True)
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9:._/#-]{0,20}", fullmatch=True)
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)).map(
    lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000, tzinfo=UTC)
)
NAMES = ["key", "near", "x-note", "Proposal", "of", "base", "name", "type", "x-type", "x-x-tier",
         "kind", "tier", "fact", "facts", "extra",
         "description", "summary", "metadata"]  # fmt: skip
EXTRA = st.tuples(st.sampled_from(NAMES[:6]), TEXTS)
TOPIC_EXTRA = st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=3).map(tuple)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    superseded_by = draw(st.just("") | IDS)
    return Entry(
        id=draw(IDS),
        kind=draw(st.sampled_from(["decision", "preference", "pattern", "observation", "my-Kind"])),
        summary=draw(TEXTS),
        stored=draw(TIMES),
        content=draw(TEXTS),
        why=draw(TEXTS),
        how_to_apply=draw(TEXTS),
        tags=tuple(draw(st.lists(TEXTS, max_size=3))),
        origin=draw(st.sampled_from(["auto", "user", "team", "import"])),
        session=draw(TEXTS),
        confidence=draw(st.floats(0, 1)),
        seen=tuple(draw(st.lists(TEXTS, max_size=3))),
        valid_from=draw(st.none() | TIMES),
        valid_to=draw(st.none() | TIMES),
        superseded_by=superseded_by,
        facts=tuple(draw(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=2))),
        extra=tuple(draw(st.lists(EXTRA, max_size=3))),
    )


def bare(found: Entry | None) -> Entry:
    assert found is not None
    return replace(found, digest="", path="", tier="knowledge")


def by_key(found: Entry | None) -> Entry:
    """Keys keep their places in an update, so new ones are in order for each name only."""
    one = bare(found)
    return replace(one, extra=tuple(sorted(one.extra, key=lambda pair: pair[0])))


@given(entries())
def test_an_entry_is_read_back(one: Entry) -> None:
    assert bare(entry.parse(entry.render(one))) == one


@given(entries())
def test_a_record_is_read_back(one: Entry) -> None:
    assert bare(journal.parse(journal.render(one))) == one


def test_the_header_of_a_topic_is_plain_yaml() -> None:
    one = Entry(
        id="01JTEST", kind="decision", summary="a: b # c", stored=datetime(2026, 5, 1, tzinfo=UTC),
        origin="auto", confidence=0.9, facts=(("a", "b", "c"), ("d", "e", "f")),
        extra=(("key", "0123456789ab"), ("evidence", "01A"), ("evidence", "01B"), ("note", "no")),
    )  # fmt: skip
    header = topic.render(one).split("---\n")[1].splitlines()
    names = [line.partition(":")[0] for line in header]
    assert len(set(names)) == len(names)
    assert 'description: "a: b # c"' in header
    assert "stored: 2026-05-01T00:00:00Z" in header
    assert "confidence: 0.9" in header
    assert 'facts: [["a", "b", "c"], ["d", "e", "f"]]' in header
    assert "extra: [[evidence, 01A], [evidence, 01B], [note, no]]" in header


@given(entries(), TOPIC_EXTRA, st.sampled_from(["knowledge", "journal"]))
def test_a_topic_is_read_back(one: Entry, extra: tuple[tuple[str, str], ...], tier: Tier) -> None:
    one = replace(one, extra=extra, tier=tier)
    for block in (topic.render(one), topic.render_addendum(one)):
        assert topic.split(block) == [block]
        found = topic.parse(block)
        assert found is not None
        assert replace(found, digest="") == one
        assert topic.update(block, one) == block


@given(entries(), entries(), st.booleans(), TOPIC_EXTRA)
def test_an_update_of_a_topic_gives_the_wanted_state(
    old: Entry, new: Entry, crlf: bool, extra: tuple[tuple[str, str], ...]
) -> None:
    new = replace(new, id=old.id, extra=extra, tier="journal")
    for render in (topic.render, topic.render_addendum):
        block = render(old)
        if crlf and "\r" not in block:
            block = block.replace("\n", "\r\n")
            new = replace(new, content="a\nb", why="", how_to_apply="")
        found = topic.parse(topic.update(block, new))
        assert found is not None
        assert replace(by_key(found), tier=found.tier) == replace(by_key(new), tier="journal")


@given(st.lists(entries(), max_size=3))
def test_rendered_blocks_stay_apart(many: list[Entry]) -> None:
    raws = [entry.render(one) for one in many]
    assert entry.split("".join(raws)) == raws
    records = [journal.render(one) for one in many]
    assert journal.split("".join(records)) == records
    topics = [(topic.render if n == 0 else topic.render_addendum)(e) for n, e in enumerate(many)]
    assert topic.split("".join(topics)) == topics


@given(TEXTS)
@example("")
@example("\ufeff---\ntype: decision\n---\n")
@example("---\ntype: a\n---\ntype: b\n---\n")
def test_any_text_is_its_blocks(text: str) -> None:
    for cut in (entry.split, journal.split, lessons.split, topic.split):
        parts = cut(text)
        assert "".join(parts) == text
        assert all(parts)


@given(TEXTS)
def test_no_parser_raises(text: str) -> None:
    marks = "<!-- ijfw addendum id=a kind=pattern -->\n"
    for prefix in (
        "",
        "---\ntype: decision\n",
        "---\ntype: a\n---\n",
        "- [t] **decision** ",
        marks,
    ):
        whole = prefix + text
        list(entry.read(entry.split(whole)))
        list(journal.read(journal.split(whole)))
        list(topic.read(topic.split(whole)))
        lessons.read(whole)
        lessons.parse("- [2026-05-01] **write** run=" + text)
        entry.parse(whole)
        journal.parse(whole)


@given(entries(), entries(), st.booleans())
def test_an_update_gives_the_wanted_state(old: Entry, new: Entry, crlf: bool) -> None:
    new = replace(new, id=old.id)
    block = entry.render(old)
    if crlf and "\r" not in block:
        block = block.replace("\n", "\r\n")
        new = replace(new, content="a\nb", why="", how_to_apply="")
    if entry.parse(block) is not None:
        assert by_key(entry.parse(entry.update(block, new))) == by_key(new)
    assert by_key(journal.parse(journal.update(journal.render(old), new))) == by_key(new)


@given(entries())
def test_an_update_without_a_change_is_the_block(one: Entry) -> None:
    for grammar in (entry, journal):
        block = grammar.render(one)
        assert grammar.update(block, one) == block


@given(TEXTS, WORDS)
def test_a_hand_written_block_keeps_its_bytes(text: str, word: str) -> None:
    block = f"---\ntype: {word}\n{text}"
    found = entry.parse(block)
    if found is not None and len(entry.split(block)) == 1:
        after = entry.update(block, replace(found, seen=(*found.seen, "s")))
        again = entry.parse(after)
        assert again is not None
        assert again.seen[-1] == "s"
        assert (again.content, again.why, again.summary) == (
            found.content, found.why, found.summary,
        )  # fmt: skip


LESSONS = st.builds(
    Lesson,
    at=TIMES,
    op=st.sampled_from(["write", "stage", "drop"]),
    confidence=st.floats(0, 1),
    **{name: TEXTS | st.just("-") for name in
       ("run", "session", "entry", "slug", "key", "target", "change", "plugin", "before", "after",
        "reason")},
)  # fmt: skip


@given(st.lists(LESSONS, max_size=3))
def test_lessons_are_read_back(many: list[Lesson]) -> None:
    text = "".join(lessons.render(one) for one in many)
    assert text.count("\n") == len(many)
    assert lessons.read(text) == many


HOSTILE = [
    "---\n" * 100_000,
    "---\ntype: a\n" * 25_000,
    "---\ntype: a\n" + "k: v\n" * 200_000,
    "---\ntype: a\ntags: [" + "x," * 500_000,
    "---\ntype: a\ntags: [" + " " * 1_000_000,
    "---\ntype: a\ntags: [" + '"a", ' * 200_000 + "]\n---\n",
    "---\ntype: a\nfact: " + "[" * 1_000_000 + "\n---\n",
    "---\ntype: a\nconfidence: " + "9" * 1_000_000 + "\n---\n",
    "---\ntype: a\n---\n" + "**Why:**\n" * 100_000,
    "---" + " " * 1_000_000 + "\ntype: a\n",
    "---\ntype: a\n---\n" + "\\" * 1_000_000,
    "---\ntype: a\nsummary: s\n---\n\n" * 20_000,
    "- [" * 300_000,
    "- [t] **decision** [" + " " * 1_000_000,
    "- [t] **decision** []: x <!-- ijfw " + "a" * 1_000_000 + " -->",
    "- [t] **decision** []: x" + " <!-- ijfw " * 100_000 + " -->",
    "- [t] **decision** []: " + "x" * 500_000 + "\n" + "  y\n" * 200_000,
    '- [t] **decision** []: x <!-- ijfw a="' + "\\" * 1_000_000 + " -->",
    "- [2026-05-01] **write** " + "run=x " * 200_000,
    "- [2026-05-01] **write** run=" + "x" * 1_000_000,
    "<!-- ijfw addendum id=a kind=b -->\n" * 15_000,
    "<!-- ijfw addendum id=" + "a --> " * 200_000,
    "---\nname: n\n" + "  folded\n" * 100_000,
    "---\nname: n\nfacts: [" + "[a, " * 200_000 + "\n---\n",
    "---\nname: " + "'" * 500_000 + "\n---\n" + "\n" * 500_000,
]


@pytest.mark.parametrize("nth", range(len(HOSTILE)))
def test_hostile_text_is_read_to_its_end(nth: int) -> None:
    """A quadratic parser needs minutes or more here; no time is asserted."""
    text = HOSTILE[nth]
    assert "".join(raw for raw, _ in entry.read(entry.split(text))) == text
    assert "".join(raw for raw, _ in journal.read(journal.split(text))) == text
    assert "".join(raw for raw, _ in topic.read(topic.split(text))) == text
    lessons.read(text)
