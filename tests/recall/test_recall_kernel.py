"""Fusing, safety, explanation, import and export: what the kernel does around retrievers."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.errors import NotFoundError, UsageError
from ijfw_core.grammar import journal
from ijfw_core.loading.hooks import Hooks
from ijfw_core.loading.plugin import Plugin
from ijfw_core.project import Project
from ijfw_core.recall import search as recall
from ijfw_core.recall import transfer
from ijfw_hookspecs import Entry, Hit
from ijfw_tests.entries import NOW, memory

Ids = Callable[[Project, str], list[str]]


def hit(name: str, score: float, retriever: str = "x", **fields: Any) -> Hit:
    entry = memory(name, f"entry {name}", **fields)
    return Hit(entry=entry, score=score, snippet=entry.summary, retriever=retriever)


def test_fusing_keeps_the_order_of_one_list() -> None:
    assert [h.entry.id for h in recall.fuse([[hit("a", 3), hit("b", 1)], []])] == ["a", "b"]
    assert recall.fuse([]) == []


def test_fusing_sums_up_and_names_both() -> None:
    one = [hit("a", 0.9, "bm25"), hit("b", 0.8, "bm25"), hit("c", 0.1, "bm25")]
    two = [hit("b", 7.0, "dense"), hit("d", 1.0, "dense")]
    fused = recall.fuse([one, two])
    assert [h.entry.id for h in fused][:2] == ["b", "a"]
    assert fused[0].retriever == "bm25+dense"
    assert fused[0].parts["dense-score"] == 7.0


def add(project: Project, name: str, **functions: Any) -> None:
    """Load a plugin that is none."""
    plugins = [*project.hooks.plugins.values(), Plugin(name, "third", False, functions)]
    project.hooks = Hooks(plugins)


def test_a_retriever_of_others_cannot_bring_secrets_or_pass_filters(place: Any) -> None:
    secret = "ghp" + "_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d"
    place.write(memory("a", "use pytest"))
    project = place.open()
    found = [
        hit("s", 1.0, content=f"token {secret}"),
        hit("old", 1.0, superseded_by="a"),
        hit("staged", 1.0, tier="staged"),
        hit("kind", 1.0, kind="decision"),
    ]
    add(project, "others", search=lambda query: found)
    hits = recall.search(project, "type:observation pytest")
    assert {h.entry.id for h in hits} == {"a", "s"}
    assert secret not in repr(hits)


def test_a_reranker_has_the_last_word_and_may_fail(place: Any, ids: Ids) -> None:
    place.write(memory("a", "pytest pytest"), memory("b", "pytest and a lot of other words"))
    project = place.open()
    plain = ids(project, "pytest")
    add(project, "turns", rerank=lambda hits: list(reversed(hits)))
    assert ids(project, "pytest") == plain[::-1]
    project = place.open()
    add(project, "fails", rerank=lambda hits: 1 / 0)
    assert ids(project, "pytest") == plain


def test_why(place: Any) -> None:
    project = place.open()
    name = service.store(project, "use Postgres 16", kind="decision", session="s1").id
    reason = recall.why(project, "which postgres")
    assert (reason.entry.id, reason.rank, reason.retriever) == (name, 1, "bm25")
    assert reason.parts["words"] > 0
    assert reason.undo.startswith("ijfw memory revert --run ")
    assert [line.op for line in reason.evidence] == ["write"]
    by_id = recall.why(project, name)
    assert (by_id.rank, by_id.entry.id) == (0, name)
    assert recall.why(project, "postgres", name[:12]).rank == 1
    with pytest.raises(NotFoundError):
        recall.why(project, "zebra husbandry")


def lines(*rows: Any) -> list[bytes]:
    return [row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows]


def test_import_keeps_ids_and_puts_things_where_they_belong(place: Any, ids: Ids) -> None:
    project = place.open()
    done = transfer.import_lines(
        project,
        lines(
            {"id": "one", "type": "decision", "summary": "use Postgres", "stored": "2026-02-01"},
            {"id": "two", "type": "pattern", "summary": "deadlock in stock", "tags": ["error"],
             "session": "s9", "content": "sort the ids"},
            {"type": "preference", "summary": "use pytest"},
            {"id": "four", "type": "observation", "summary": "kept", "tier": "journal"},
        ),
    )  # fmt: skip
    assert (done.imported, done.updated, done.skipped, done.bad) == (4, 0, 0, ())
    entries = {e.id: e for e in project.memory.entries(*service.TIERS.values())}
    assert entries["one"].tier == "knowledge"
    assert entries["one"].stored.isoformat()[:10] == "2026-02-01"
    assert (entries["two"].tier, entries["two"].session) == ("journal", "s9")
    assert entries["four"].tier == "journal"
    assert {entry.origin for entry in entries.values()} == {"import"}
    assert ids(project, "deadlock") == ["two"]


def test_import_again_changes_nothing_and_other_text_updates(place: Any, ids: Ids) -> None:
    project = place.open()
    rows = [{"id": "one", "type": "decision", "summary": "use Postgres"},
            {"type": "decision", "summary": "no id"}]  # fmt: skip
    transfer.import_lines(project, lines(*rows))
    again = transfer.import_lines(place.open(), lines(*rows))
    assert (again.imported, again.updated, again.skipped, again.run) == (0, 0, 2, "")
    rows[0]["summary"] = "use Walrus"
    done = transfer.import_lines(place.open(), lines(*rows))
    assert (done.imported, done.updated, done.skipped) == (0, 1, 1)
    assert ids(place.open(), "walrus") == ["one"]


def test_bad_lines_are_told_and_stop_nothing(place: Any) -> None:
    project = place.open()
    done = transfer.import_lines(
        project,
        lines(
            b"not json\n", b"\n", b"[1]\n", b"\xff\xfe\n", {"type": "decision"},
            {"type": "poem", "summary": "x"}, {"id": "../up", "type": "decision", "summary": "x"},
            {"type": "decision", "summary": "x", "tier": "team"},
            {"type": "decision", "summary": "x", "stored": "soon"},
            {"type": "decision", "summary": "x", "tier": "global"},
            {"type": "decision", "summary": "the good one"},
            b'{"type": "decision", "summary": "' + b"x" * (2 << 20) + b'"}\n',
        ),
    )  # fmt: skip
    assert done.imported == 1
    assert [bad.line for bad in done.bad] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    assert all(bad.error for bad in done.bad)


def test_export_is_read_by_import(place: Any, tmp_path: Path) -> None:
    project = place.open()
    service.store(project, "use Postgres 16", kind="decision", content="two\u2028lines\nhere")
    service.store(project, "a pattern", kind="pattern", tags=["error"])
    text = list(transfer.export(project))
    assert all(len(line.splitlines()) == 1 for line in text)
    (tmp_path / "other" / ".git").mkdir(parents=True)
    other = type(place)(tmp_path / "other", place.env).open()
    done = transfer.import_lines(other, [line.encode() for line in text])
    assert (done.imported, done.bad) == (2, ())
    assert list(transfer.export(other)) == text


def test_an_import_is_one_run_that_can_be_undone(place: Any) -> None:
    from ijfw_core.storage import revert

    project = place.open()
    rows = [{"type": "decision", "summary": f"decision number {n}"} for n in range(300)]
    done = transfer.import_lines(project, lines(*rows))
    assert done.imported == 300
    assert [info.run for info in revert.runs(project.roots)] == [done.run]


def test_a_secret_is_not_imported(place: Any) -> None:
    secret = "ghp" + "_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d"
    project = place.open()
    transfer.import_lines(
        project, lines({"id": "s", "type": "decision", "summary": f"the token {secret} is mine"})
    )
    assert all(
        secret.encode() not in path.read_bytes()
        for path in (place.root / ".ijfw").rglob("*")
        if path.is_file()
    )


def test_reindex_makes_the_index_anew(place: Any, ids: Ids) -> None:
    place.write(memory("a", "use pytest"), memory("b", "use tox"))
    project = place.open()
    assert recall.reindex(project) == 2
    first = place.index.stat().st_ino
    assert recall.reindex(project) == 2
    assert place.index.stat().st_ino != first or place.index.exists()
    assert ids(project, "tox") == ["b"]


def test_reindex_says_where_no_index_can_be_written(
    place: Any, ids: Ids, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    place.write(memory("a", "use pytest"))
    project = place.open()
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(OSError, match="reads all of memory: Read-only file system"):
        recall.reindex(project)
    assert ids(project, "pytest") == ["a"]


def test_another_project_by_name(place: Any, tmp_path: Path, ids: Ids) -> None:
    (tmp_path / "blog" / ".git").mkdir(parents=True)
    other = type(place)(tmp_path / "blog", place.env).open()
    service.store(other, "the blog runs on Hugo", kind="decision")
    place.write(memory("a", "the blog is not ours"))
    project = place.open()
    assert [h.entry.summary for h in recall.search(project, "project:blog blog")] == [
        "the blog runs on Hugo"
    ]
    assert ids(project, "project:nowhere blog") == ["a"], "no such project: words"
    assert ids(project, "project:shop blog") == ["a"]


def test_limits(place: Any) -> None:
    place.write(*(memory(f"e{n}", f"pytest note {n} {'x' * n}") for n in range(30)))
    project = place.open()
    assert recall.search(project, "pytest", 0) == recall.search(project, "pytest", -3) == []
    assert len(recall.search(project, "pytest", 30)) == 30
    assert NOW is not None


def test_benchmarks_of_other_formats(tmp_path: Path) -> None:
    from ijfw_core.recall import bench_recall

    talk = {
        "sample_id": "c1",
        "conversation": {
            "speaker_a": "Ada", "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "Where did you park the van?"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Behind the bakery.",
                 "blip_caption": "a blue van"},
                {"speaker": "Ada", "dia_id": "D1:3", "text": "Good, I need the ladder."},
            ],
            "session_2_date_time": "9:00 am on 2 June, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I sold my old bicycle."}],
        },
        "qa": [
            {"question": "What did Bo sell?", "answer": "a bicycle", "evidence": ["D2:1"],
             "category": 4},
            {"question": "Where is the van parked?", "answer": "x", "evidence": ["D1:1; D1:2"],
             "category": 1},
            {"question": "No evidence", "answer": "x", "evidence": [], "category": 5},
        ],
    }  # fmt: skip
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([talk]))
    result = bench_recall.run(path)
    assert (result.format, result.entries, result.items.questions) == ("locomo", 4, 2)
    assert result.items.recall["5"] == result.sessions.recall["5"] == 1
    assert set(result.categories) == {"single-hop", "multi-hop"}
    memory_eval = {
        "question_id": "q1", "question_type": "single-session-user",
        "question": "Which instrument do I play?", "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["x_1", "x_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "How do I boil eggs?"}],
            [{"role": "user", "content": "I play the oboe, an instrument.", "has_answer": True}],
        ],
        "answer_session_ids": ["x_2"],
    }  # fmt: skip
    path.write_text(json.dumps([memory_eval]))
    result = bench_recall.run(path)
    assert result.format == "longmemeval"
    assert result.sessions.recall["1"] == result.items.hit["1"] == 1


@pytest.mark.parametrize("text", ["[]", "{}", '[{"conversation": 5}]', "nonsense", '{"entry": {}}'])
def test_a_set_of_no_format_is_told(tmp_path: Path, text: str) -> None:
    from ijfw_core.recall import bench_recall

    path = tmp_path / "set.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        bench_recall.run(path)
    with pytest.raises(NotFoundError):
        bench_recall.run(tmp_path / "none")


WORDS = ("deploy", "helm", "queue", "redis", "cart", "invoice", "flag", "token")
SCOPED = st.lists(
    st.builds(
        lambda n, text, over, tier: replace(
            memory(f"e{n}", " ".join(text), kind="decision", tier=tier),
            superseded_by="e1" if over else "",
        ),
        st.integers(0, 40),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        st.booleans(),
        st.sampled_from(["knowledge", "journal"]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda entry: entry.id,
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(SCOPED, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join))
def test_nothing_superseded_or_out_of_scope_stands_above_what_holds(
    place: Any, entries: list[Entry], query: str
) -> None:
    place.write(*(entry for entry in entries if entry.tier == "knowledge"))
    path = place.knowledge.with_name("project-journal.md")
    path.write_text("".join(journal.render(e) for e in entries if e.tier == "journal"))
    project = place.open()
    hits = recall.search(project, query, 50)
    assert not any(hit.entry.superseded_by for hit in hits)
    both = recall.search(project, f"superseded:yes {query}", 50)
    every = [bool(hit.entry.superseded_by) for hit in both]
    assert every == sorted(every)
    scoped = recall.search(project, query, 50, tiers=("journal",))
    assert {hit.entry.tier for hit in scoped} <= {"journal"}
    wanted = {e.id for e in entries if e.tier == "journal" and not e.superseded_by
              and set(e.summary.split()) & set(query.split())}  # fmt: skip
    assert wanted <= {hit.entry.id for hit in scoped}


def test_a_retriever_cannot_lift_what_is_superseded(place: Any) -> None:
    place.write(memory("live", "use pytest"))
    project = place.open()
    old = hit("old", 99.0, superseded_by="live")
    add(project, "others", search=lambda query: [old])
    hits = recall.search(project, "superseded:yes pytest")
    assert [h.entry.id for h in hits] == ["live", "old"]
