"""The index follows the files, equals a rebuild, and is never needed."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.grammar import entry as blocks
from ijfw_core.project import Project
from ijfw_core.recall import search as recall
from ijfw_hookspecs import Entry, Query
from ijfw_plugins.search_bm25 import engine, watch
from ijfw_tests.entries import memory
from ijfw_tests.indexes import dump, rebuilt

Ids = Callable[[Project, str], list[str]]


def test_nothing_is_written_where_there_is_no_memory(tmp_path: Path, place: Any, ids: Ids) -> None:
    (place.root / ".ijfw" / "memory").rmdir()
    assert ids(place.open(), "anything") == []
    assert not place.index.exists()


def test_it_is_private_and_out_of_git(place: Any, ids: Ids) -> None:
    place.write(memory("a", "use pytest"))
    assert ids(place.open(), "pytest") == ["a"]
    assert place.index.stat().st_mode & 0o077 == 0
    assert (place.index.parent / ".gitignore").read_text() == "*\n"


def test_a_hand_edit_is_found_by_the_next_search(place: Any, ids: Ids) -> None:
    place.write(memory("a", "use pytest"), memory("b", "use Postgres"))
    project = place.open()
    assert ids(project, "walrus") == []
    text = place.knowledge.read_text()
    place.knowledge.write_text(text.replace("use Postgres", "use Walrus"))
    assert ids(project, "walrus") == ["b"], "in the same process"
    assert ids(project, "Postgres") == []
    place.knowledge.write_text(text + "---\ntype: decision\nsummary: keep the zebra\n---\n\n\n")
    assert ids(place.open(), "walrus") == []
    assert len(ids(place.open(), "zebra")) == 1


def test_an_entry_deleted_by_hand_is_gone(place: Any, ids: Ids) -> None:
    a, b = memory("a", "use pytest"), memory("b", "use Postgres")
    place.write(a, b)
    project = place.open()
    assert ids(project, "pytest") == ["a"]
    place.write(b)
    assert ids(project, "pytest") == []
    assert dump(place.index) == rebuilt(place)
    place.knowledge.unlink()
    assert ids(project, "Postgres") == []


def test_an_edit_of_the_same_size_at_the_same_time_is_seen(
    place: Any, ids: Ids, monkeypatch: Any
) -> None:
    monkeypatch.setattr(watch, "RACY", 60 * 10**9)  # a slow machine must not matter
    place.write(memory("a", "use abcd"))
    project = place.open()
    assert ids(project, "abcd") == ["a"]
    before = place.knowledge.stat()
    place.write(memory("a", "use wxyz"))
    os.utime(place.knowledge, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ids(project, "wxyz") == ["a"], "young files are looked at again"


def test_an_editor_that_puts_a_new_file_in_place(place: Any, ids: Ids) -> None:
    place.write(memory("a", "use pytest"))
    project = place.open()
    assert ids(project, "walrus") == []
    new = place.knowledge.with_suffix(".tmp")
    new.write_text(blocks.render(memory("a", "use Walrus")))
    os.replace(new, place.knowledge)
    assert ids(project, "walrus") == ["a"]


def test_a_touched_file_is_not_read_again(place: Any, ids: Ids, monkeypatch: Any) -> None:
    place.write(memory("a", "use pytest"))
    project = place.open()
    assert ids(project, "pytest") == ["a"]
    os.utime(place.knowledge, ns=(1, 1))
    monkeypatch.setattr(type(project.memory), "changed", _never)
    assert ids(project, "pytest") == ["a"]


def _never(*_: Any) -> None:
    raise AssertionError("read")


def test_what_the_writer_writes_is_found(place: Any, ids: Ids) -> None:
    project = place.open()
    first = service.store(project, "use Postgres 16", kind="decision").id
    assert ids(project, "postgres") == [first]
    second = service.store(project, "use Postgres 17", kind="decision").id
    assert ids(project, "postgres") == [second]
    assert dump(place.index) == rebuilt(place)


def test_of_one_id_in_two_tiers_the_first_tiers_is_shown(place: Any, ids: Ids) -> None:
    project = place.open()
    name = service.store(
        project, "use Postgres 16", kind="decision", content="for row level security"
    ).id
    assert ids(project, "row level security") == [name]
    text = place.knowledge.read_text()
    team = project.roots.team / "decisions.md"
    team.parent.mkdir()
    team.write_text(text.replace("row level security", "logical replication"))
    assert ids(project, "replication") == []
    place.knowledge.write_text("")
    assert ids(project, "replication") == [name]
    team.unlink()
    assert ids(project, "Postgres") == [], "the line in the journal is no memory"
    place.knowledge.write_text(text)
    assert ids(project, "security") == [name]
    assert dump(place.index) == rebuilt(place)


WORDS = ["alpha", "beta", "gamma", "delta", "use", "never", "NEBULA-12", "café", "c++", "retry"]
TEXT = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.sampled_from(["", "", "?", ". Retry alpha?", "? [a picture]"]),
)
ENTRY = st.builds(
    lambda n, text, content, session, tags, over: replace(
        memory(f"e{n}", text, content), session=session, tags=tags, superseded_by=over
    ),
    st.integers(0, 11), TEXT, TEXT, st.sampled_from(["", "s1", "s2"]),
    st.lists(st.sampled_from(["a", "a/b", "B"]), max_size=2).map(tuple),
    st.sampled_from(["", "", "e1"]),
)  # fmt: skip
STATES = st.lists(
    st.lists(ENTRY, max_size=8, unique_by=lambda entry: entry.id), min_size=2, max_size=5
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STATES)
def test_an_index_that_grew_equals_one_made_at_once(place: Any, states: list[list[Entry]]) -> None:
    project = place.open()
    for entries in states:
        place.write(*entries)
        recall.search(project, "alpha")
    assert dump(place.index) == rebuilt(place)


def test_a_large_index_that_grew_equals_one_made_at_once(place: Any) -> None:
    """More than one part, and entries that leave the middle of them."""
    chance = random.Random(5)
    entries = [
        memory(f"e{n}", " ".join(chance.choices(WORDS, k=3)) + "?" * (n % 3), session=f"s{n // 7}")
        for n in range(4300)
    ]
    project = place.open()
    place.write(*entries[:4000])
    recall.search(project, "alpha")
    kept = [entry for n, entry in enumerate(entries) if n % 5]
    place.write(*kept)
    recall.search(project, "alpha")
    assert dump(place.index) == rebuilt(place)


def test_a_scan_ranks_by_bm25(place: Any) -> None:
    place.write(
        memory("a", "the queue is drained by a worker, and the queue is bounded"),
        memory("b", "the queue of the mailer: set LIMIT_41"),
        memory("c", "the queue " + "and much beside it " * 30 + "with LIMIT_41"),
        memory("d", "tabs, not spaces"),
    )
    view = place.open().memory
    hits = view.search(Query(text="queue LIMIT_41", limit=5))
    assert [hit.entry.id for hit in hits] == ["b", "c", "a"]
    assert all(0 < hit.score <= 1 for hit in hits)
    assert view.search(Query(text="queue LIMIT_41", limit=1))[0].entry.id == "b"
    assert not view.search(Query(text="?!"))


def test_sqlite_is_imported_by_those_who_search_only() -> None:
    code = (
        "import sys, ijfw_plugins.search_bm25, ijfw_plugins.rerank_vectors;"
        "print(sorted({'sqlite3', 'wordllama', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_a_process_knows_of_its_index_others_may_change(place: Any, ids: Ids) -> None:
    project = place.open()
    folder = place.index.parent
    place.write(memory("a", "use pytest"), memory("b", "use Postgres"))
    assert ids(project, "pytest") == ["a"]
    place.write(memory("a", "use pytest"), memory("b", "use Walrus"), memory("c", "use tox"))
    assert ids(project, "walrus") == ["b"]
    mine = engine._open.pop(folder)
    place.write(memory("b", "use Walrus"), memory("c", "use nox"))
    assert ids(place.open(), "nox") == ["c"]
    engine._open.pop(folder).close()
    engine._open[folder] = mine
    place.write(memory("a", "use pytest"), memory("b", "use Walrus"), memory("c", "use tox"))
    assert ids(project, "pytest") == ["a"]
    assert dump(place.index) == rebuilt(place)


def test_a_forgotten_memory_leaves_the_index(place: Any, ids: Ids) -> None:
    from ijfw_core.storage.forget import forget

    project = place.open()
    name = service.store(project, "the walrus is named Tusk", kind="decision").id
    assert ids(project, "walrus") == [name]
    forget(project.writer, [name])
    project.memory.refresh()
    assert ids(project, "walrus") == []
    files = [path for path in place.index.parent.rglob("*") if path.is_file()]
    assert not any(b"Tusk" in path.read_bytes() for path in files)


def test_a_secret_that_a_person_wrote_is_in_no_index(place: Any, ids: Ids) -> None:
    secret = "ghp" + "_" + "".join(random.Random(3).choices("abcDEF0123456789xyzQRS", k=36))
    place.knowledge.write_text(
        f"---\ntype: decision\nsummary: the token is {secret}\n---\nIt is {secret}, walrus.\n\n"
    )
    project = place.open()
    hits = recall.search(project, "walrus token")
    assert len(hits) == 1
    assert secret not in repr(hits)
    assert secret.encode() not in place.index.read_bytes()
    assert secret[:12].lower().encode() not in place.index.read_bytes().lower()
