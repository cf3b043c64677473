"""The user's projects, and one question to all of them: nothing bleeds."""

import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ijfw_core import service
from ijfw_core.errors import NotFoundError
from ijfw_core.live import consent
from ijfw_core.project import Project
from ijfw_core.recall import registry
from ijfw_core.recall import search as recall
from ijfw_plugins.search_bm25 import database, guest

Open = Any
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def store(project: Project, text: str) -> str:
    return service.store(project, text, kind="decision").id


def found(project: Project, text: str = "NEBULA") -> list[str]:
    return [row.name for row in registry.search(project, text)]


def test_a_question_to_the_other_projects(open_at: Open) -> None:
    shop, blog, api = open_at("shop"), open_at("blog"), open_at("api")
    store(shop, "NEBULA is the name of the shop's cache")
    wanted = store(blog, "NEBULA-2287 is mended by pinning zlib")
    store(api, "one log line a request")
    rows = registry.search(api, "NEBULA-2287 zlib")
    assert [row.name for row in rows][:1] == ["blog"]
    assert rows[0].hit.entry.id == wanted
    assert found(shop) == ["blog"], "not its own memory"
    assert registry.search(api, "") == registry.search(api, "NEBULA", 0) == []
    assert len(registry.search(api, "NEBULA", 1)) == 1


def test_a_search_writes_nothing_in_the_others(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "NEBULA one")
    store(blog, "NEBULA two")
    before = _files(blog.roots.memory)
    found(shop)
    assert _files(blog.roots.memory) == before
    assert [e.summary for e in shop.memory.entries()] == ["NEBULA one"]
    assert [h.entry.summary for h in recall.search(shop, "NEBULA")] == ["NEBULA one"]


@pytest.mark.parametrize("ask", ["others", "project:blog"])
def test_no_index_is_made_in_a_project_that_is_only_asked(open_at: Open, ask: str) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "the cache is warm")
    wanted = store(blog, "NEBULA-2287 is mended by pinning zlib")
    before = _files(blog.roots.folder)
    if ask == "others":
        ids = [row.hit.entry.id for row in registry.search(shop, "NEBULA-2287 zlib")]
    else:
        ids = [hit.entry.id for hit in recall.search(shop, "NEBULA-2287 project:blog")]
    assert ids == [wanted]
    assert _files(blog.roots.folder) == before
    assert recall.search(blog, "zlib")  # asked at home, it has one
    assert _files(blog.roots.folder) != before


def test_an_index_that_is_there_is_read_and_not_written(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "the cache is warm")
    first = store(blog, "NEBULA keys are rotated monthly")
    assert recall.search(blog, "NEBULA")
    before = _files(blog.roots.folder)
    rows = registry.search(shop, "how is the key for NEBULA rotated")
    assert [(row.hit.entry.id, row.hit.retriever) for row in rows] == [(first, "bm25")]
    assert _files(blog.roots.folder) == before
    second = store(blog, "GALAXY-17 is mended by pinning zlib")
    before = _files(blog.roots.folder)
    for _ in range(2):
        rows = registry.search(shop, "GALAXY-17")
        assert [(row.hit.entry.id, row.hit.retriever) for row in rows] == [(second, "bm25")]
        hits = recall.search(shop, "pin GALAXY-17 project:blog")
        assert [(hit.entry.id, hit.retriever) for hit in hits] == [(second, "bm25")]
    assert _files(blog.roots.folder) == before, "not brought up to date by those who visit"
    assert recall.search(blog, "GALAXY-17")
    third = store(blog, "QUASAR is off")
    assert recall.search(blog, "QUASAR")
    assert [row.hit.entry.id for row in registry.search(shop, "QUASAR")] == [third]


@pytest.mark.parametrize("harm", ["older", "newer", "broken"])
def test_where_an_index_cannot_be_used_one_is_made_in_memory(open_at: Open, harm: str) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "the cache is warm")
    wanted = store(blog, "NEBULA one")
    assert recall.search(blog, "NEBULA")
    file = blog.roots.folder / "index" / "recall.db"
    if harm == "broken":
        file.write_bytes(b"not a database " * 500)
    else:
        with sqlite3.connect(file) as db:
            change = 1 if harm == "newer" else -1
            db.execute(f"PRAGMA user_version = {database.SCHEMA + change}")
        db.close()
    before = _files(blog.roots.folder)
    rows = registry.search(shop, "NEBULA")
    assert [(row.hit.entry.id, row.hit.retriever) for row in rows] == [(wanted, "bm25")]
    assert _files(blog.roots.folder) == before


@pytest.mark.parametrize(("limit", "indexed"), [("LARGEST", True), ("NEW", False)])
def test_a_memory_too_large_to_be_indexed_in_passing_is_scanned(
    open_at: Open, limit: str, indexed: bool, monkeypatch: Any
) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "the cache is warm")
    store(blog, "NEBULA one")
    if indexed:
        assert recall.search(blog, "NEBULA")
    wanted = store(blog, "GALAXY-17 is mended")
    monkeypatch.setattr(guest, limit, 100)
    before = _files(blog.roots.folder)
    rows = registry.search(shop, "GALAXY-17")
    assert [(row.hit.entry.id, row.hit.retriever) for row in rows] == [(wanted, "scan")]
    assert _files(blog.roots.folder) == before


def test_few_indexes_of_others_are_kept_open(open_at: Open, monkeypatch: Any) -> None:
    shop = open_at("shop")
    store(shop, "the cache is warm")
    for name in ("blog", "api", "docs"):
        store(open_at(name), f"NEBULA of {name}")
    monkeypatch.setattr(guest, "MOST", 2)
    assert sorted(found(shop)) == ["api", "blog", "docs"]
    assert len(guest._open) == 2


def test_projects_are_compared_by_what_answers_the_question(open_at: Open) -> None:
    """With an index or without one; common words of the question do not outweigh its point."""
    shop, blog, api = open_at("shop"), open_at("blog"), open_at("api")
    store(shop, "the cache is warm")
    wanted = store(blog, "Rotate signing keys monthly")
    store(blog, "the colour of the door is teal")
    store(api, "do we need the door in the wall, and how do we open it")
    store(api, "one log line a request")
    store(api, "the wall is what we do first")
    for asked in ((), (blog,), (blog, api)):
        for project in asked:
            recall.search(project, "door")
        rows = registry.search(shop, "how do we rotate the signing keys")
        assert rows[0].hit.entry.id == wanted, asked


def test_the_order_of_a_project_stays(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "the cache is warm")
    for text in ("deploy with Helm on Mondays", "deploy by hand", "Helm is pinned", "deploy Helm"):
        store(blog, text)
    recall.search(blog, "x")
    own = [hit.entry.id for hit in recall.search(blog, "deploy with Helm")]
    assert [row.hit.entry.id for row in registry.search(shop, "deploy with Helm")] == own


def test_an_index_that_came_with_a_copy_says_nothing(open_at: Open, tmp_path: Path) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "the cache is warm")
    planted = store(blog, "NEBULA is kept in s3")
    assert recall.search(blog, "NEBULA")
    index = (blog.roots.folder / "index" / "recall.db").read_bytes()
    copy = open_at("copy")
    store(copy, "the blog is static")
    (copy.roots.folder / "index").mkdir()
    (copy.roots.folder / "index" / "recall.db").write_bytes(index)
    (copy.roots.folder / "memory").touch()
    for ask in ("NEBULA s3", "NEBULA project:copy"):
        hits = [row.hit for row in registry.search(shop, ask) if row.name == "copy"]
        hits += recall.search(shop, ask) if "project:" in ask else []
        assert planted not in [hit.entry.id for hit in hits]


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_project_opts_out_by_its_record(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "NEBULA one")
    store(blog, "NEBULA two")
    registry.set_private(blog, True)
    assert found(shop) == []
    assert found(blog) == ["shop"]
    store(open_at("blog"), "more of it")
    assert found(shop) == [], "a later write keeps the record"
    registry.set_private(blog, False)
    assert found(shop) == ["blog"]


def test_a_project_opts_out_by_its_settings_and_cannot_opt_in(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "NEBULA one")
    store(blog, "NEBULA two")
    config = blog.roots.folder / "config.toml"
    config.write_text("[project]\nprivate = true\n")
    assert found(shop) == []
    assert [row.private for row in registry.projects(shop)] == [True, False]
    config.write_text("[project]\nprivate = false\n")
    registry.set_private(blog, True)
    assert found(shop) == []


def test_a_user_who_said_no_is_not_searched(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "NEBULA one")
    store(blog, "NEBULA two")
    consent.decide(blog.roots, False, NOW)
    assert found(shop) == []
    consent.decide(blog.roots, True, NOW)
    assert found(shop) == ["blog"]


def test_projects_that_are_gone_or_broken_are_passed_over(open_at: Open) -> None:
    shop, blog, api = open_at("shop"), open_at("blog"), open_at("api")
    for project in (shop, blog, api):
        store(project, "NEBULA " + project.roots.project.name)
    shutil.rmtree(blog.roots.project)
    shutil.rmtree(api.roots.folder)
    (api.roots.project / ".ijfw").symlink_to(shop.roots.folder)
    assert found(shop) == []
    assert {row.name: row.exists for row in registry.projects(shop)}["blog"] is False


def test_a_record_that_names_a_folder_of_secrets_or_home_is_not_read(
    open_at: Open, tmp_path: Path
) -> None:
    shop = open_at("shop")
    store(shop, "NEBULA one")
    home = tmp_path / "home"
    inner = home / ".ssh"
    (inner / ".ijfw" / "memory").mkdir(parents=True)
    knowledge = shop.roots.memory / "knowledge.md"
    shutil.copy(knowledge, inner / ".ijfw" / "memory" / "knowledge.md")
    path = shop.roots.home / "projects.toml"
    path.write_text(path.read_text() + f'\n[projects."{home}"]\nat = "x"\n[projects."{inner}"]\n')
    path.chmod(0o600)
    assert found(open_at("blog")) == ["shop"]


def test_secrets_of_another_project_do_not_leave_it(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "NEBULA one")
    store(blog, "NEBULA two")
    secret = ("ghp_" + "a1B2c3D4e5F6g7H8i9J0"[::-1] * 2)[:40]
    path = blog.roots.memory / "knowledge.md"
    path.write_text(path.read_text() + f"NEBULA {secret}\n")
    rows = registry.search(shop, "NEBULA two")
    assert [row.name for row in rows] == ["blog"]
    assert "REDACTED" in rows[0].hit.entry.content
    assert secret not in repr(rows)
    assert secret not in repr(registry.search(shop, secret))


def test_staged_handed_over_and_global_memory_is_no_projects(open_at: Open, tmp_path: Path) -> None:
    on = {"IJFW_RECALL_GLOBAL_MEMORY": "on"}
    shop, blog = open_at("shop", **on), open_at("blog", **on)
    store(shop, "one log line a request")
    store(blog, "one log line a minute")
    text = (blog.roots.memory / "knowledge.md").read_text().replace("one log line", "NEBULA")
    for folder in (blog.roots.memory / "auto-proposed", tmp_path / "home/.ijfw/memory/global"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "x.md").write_text(text)
    (blog.roots.memory / "handoff.md").write_text(text)
    assert found(shop) == []


def test_a_project_by_name(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "NEBULA one")
    store(blog, "NEBULA two")
    assert registry.named(shop, "blog").roots == blog.roots
    assert registry.named(shop, str(blog.roots.project)).roots == blog.roots
    registry.set_private(blog, True)
    for name in ("blog", "shop", "nothing", "../blog"):
        with pytest.raises(NotFoundError):
            registry.named(shop, name)


def test_a_record_of_others_counts_for_nothing(open_at: Open) -> None:
    shop, blog = open_at("shop"), open_at("blog")
    store(shop, "NEBULA one")
    store(blog, "NEBULA two")
    (shop.roots.home / "projects.toml").chmod(0o666)
    assert found(shop) == []
