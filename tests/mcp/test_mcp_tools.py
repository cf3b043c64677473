"""The tools by what they do to memory and to its files."""

import json
from typing import Any

import pytest

from ijfw_core import service
from ijfw_core.pipeline import gate
from ijfw_core.project import open_project
from ijfw_core.storage import lessons_log, revert
from ijfw_core.text import format_time
from ijfw_tests.tools import Caller, ok, store, text_of


def test_what_one_server_stores_another_finds(desk: Any, call: Caller) -> None:
    done = store(
        call,
        desk.workspace(),
        "Webhooks are retried five times with jitter.",
        summary="Retry webhooks five times",
        why="two customers lost events",
        how_to_apply="when a webhook is added",
        tags=["webhooks", "", "x" * 80],
    )
    assert (done["tier"], done["outcome"]) == ("knowledge", "written")
    result = call(desk.workspace(), "ijfw_memory_search", query="webhooks retried")
    (hit,) = ok(result)["hits"]
    assert (hit["id"], hit["type"]) == (done["id"], "decision")
    assert hit["content"].startswith("Webhooks are retried")
    assert (hit["why"], hit["how_to_apply"]) == (
        "two customers lost events",
        "when a webhook is added",
    )
    assert len(hit["tags"]) == 2
    assert text_of(result).startswith("<ijfw-memory>\n[" + done["id"])
    again = store(
        call,
        desk.workspace(),
        "Webhooks are retried five times with jitter.",
        summary="Retry webhooks five times",
    )
    assert (again["outcome"], again["id"]) == ("duplicate", done["id"])


def test_an_edit_by_hand_is_found_by_the_next_search(desk: Any, call: Caller) -> None:
    work = desk.workspace()
    store(call, work, "The staging cluster is called kestrel.")
    assert not ok(call(work, "ijfw_memory_search", query="osprey"))["hits"]
    text = desk.knowledge.read_text()
    desk.knowledge.write_text(text.replace("kestrel", "osprey"))
    (hit,) = ok(call(work, "ijfw_memory_search", query="osprey"))["hits"]
    assert "osprey" in json.dumps(hit)


def test_a_persons_entry_is_not_replaced(desk: Any, call: Caller) -> None:
    project = open_project(desk.project, desk.env)
    mine = service.store(project, "The web server listens on port 8080", kind="decision")
    before = desk.knowledge.read_bytes()
    work = desk.workspace()
    done = store(call, work, "The web server listens on port 9090")
    assert done["outcome"] == "staged"
    assert desk.knowledge.read_bytes() == before
    (waiting,) = ok(call(work, "ijfw_memory_review"))["staged"]
    assert waiting["replaces"]["id"] == mine.id
    answer = ok(call(work, "ijfw_memory_review", action="accept", id=waiting["id"]))
    assert answer["done"].startswith("accepted as ")
    assert answer["staged"] == []
    hits = ok(call(work, "ijfw_memory_search", query="web server port"))["hits"]
    assert "9090" in hits[0]["summary"]


def test_an_agent_replaces_what_it_stored_itself(desk: Any, call: Caller) -> None:
    work = desk.workspace()
    first = store(call, work, "The web server listens on port 8080", type="decision")
    before = desk.knowledge.read_bytes()
    again = store(call, work, "The web server listens on port 9090", type="decision")
    assert again["outcome"] == "superseded"
    project = open_project(desk.project, desk.env)
    with project.writer.locked():
        pass  # what the answer did not wait for is done now
    old, new = (service.find(project, one["id"]) for one in (first, again))
    assert (old.origin, old.superseded_by, new.origin) == ("agent", new.id, "agent")
    revert.apply(project.writer, [revert.runs(project.roots)[-1].run])
    assert desk.knowledge.read_bytes() == before


def test_an_agents_note_that_a_hand_edited_is_a_persons(desk: Any, call: Caller) -> None:
    work = desk.workspace()
    store(call, work, "The web server listens on port 8080", type="decision")
    desk.knowledge.write_text(desk.knowledge.read_text().replace("8080", "8081"))
    done = store(call, desk.workspace(), "The web server listens on port 9090", type="decision")
    assert done["outcome"] == "staged"


def test_a_proposal_can_be_rejected(desk: Any, call: Caller) -> None:
    project = open_project(desk.project, desk.env)
    service.store(project, "The web server listens on port 8080", kind="decision")
    work = desk.workspace()
    name = store(call, work, "The web server listens on port 9090")["id"]
    assert "rejected" in ok(call(work, "ijfw_memory_review", action="reject", id=name))["done"]
    assert call(work, "ijfw_memory_review", action="accept", id=name)["isError"]
    assert call(work, "ijfw_memory_review", action="accept")["isError"]


def test_a_handoff_takes_the_place_of_the_one_before(desk: Any, call: Caller) -> None:
    work = desk.workspace()
    store(call, work, "### Status\nparser half done\n### Next Steps\nlexer", type="handoff")
    store(call, work, "### Status\nparser done", type="handoff")
    result = call(work, "ijfw_memory_recall", context_hint="handoff")
    (entry,) = ok(result)["entries"]
    assert entry["content"] == "### Status\nparser done"
    assert "\n" in text_of(result)
    assert "half done" in (desk.project / ".ijfw/memory/project-journal.md").read_text()


def test_handoffs_go_by_branch(desk: Any, call: Caller) -> None:
    work = desk.workspace()
    for branch in ("main", "feature"):
        (desk.project / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        store(call, work, f"Stopped on {branch}", type="handoff")
    (desk.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (entry,) = ok(call(work, "ijfw_memory_recall", context_hint="handoff"))["entries"]
    assert entry["summary"] == "Stopped on main"


def test_forgetting_asks_first(desk: Any, call: Caller) -> None:
    work = desk.workspace()
    name = store(call, work, "The office plant is called Norbert.")["id"]
    shown = ok(call(work, "ijfw_memory_forget", id=name))
    assert (shown["forgotten"], shown["entries"][0]["id"]) == ([], name)
    assert "Norbert" in desk.knowledge.read_text()
    assert ok(call(work, "ijfw_memory_forget", id=name, confirm=True))["forgotten"] == [name]
    left = "".join(p.read_text() for p in (desk.project / ".ijfw").rglob("*") if p.is_file())
    assert "Norbert" not in left
    assert call(work, "ijfw_memory_forget", id=name, confirm=True)["isError"]
    assert call(work, "ijfw_memory_forget", id="", confirm=True)["isError"]


def test_facts_have_windows(desk: Any, call: Caller) -> None:
    work = desk.workspace()
    store(call, work, "The web server listens on port 8080.")
    text = desk.knowledge.read_text()
    head = "stored: 2026-01-05T10:00:00Z\ntags: []\n"
    desk.knowledge.write_text(
        text + f"\n---\ntype: decision\nsummary: old owner\n{head}"
        "valid_to: 2026-03-01T00:00:00Z\nfact: [api, owner, ann]\n---\nold\n"
        f"\n---\ntype: decision\nsummary: new owner\n{head}"
        "valid_from: 2026-03-01T00:00:00Z\nfact: [api, owner, bob]\n---\nnew\n"
    )
    asked = {"subject": "api", "predicate": "owner"}
    now = ok(call(work, "ijfw_memory_facts", **asked))["facts"]
    assert [row["object"] for row in now] == ["bob"]
    then = ok(call(work, "ijfw_memory_facts", **asked, valid_at="2026-02-01"))["facts"]
    assert [row["object"] for row in then] == ["ann"]
    past = ok(call(work, "ijfw_memory_facts", **asked, history=True))["facts"]
    assert [row["object"] for row in past] == ["ann", "bob"]
    hint = "facts:history:api/owner"
    same = ok(call(work, "ijfw_memory_recall", context_hint=hint))["facts"]
    assert [row["object"] for row in same] == ["ann", "bob"]
    assert call(work, "ijfw_memory_facts", **asked, valid_at="soon")["isError"]


def test_other_projects_are_searched_and_nothing_bleeds(desk: Any, call: Caller) -> None:
    work, other = desk.workspace(), desk.workspace(desk.other("billing"))
    store(call, other, "Invoices are rounded half to even.")
    store(call, work, "Invoices are sent as PDF.")
    here = ok(call(work, "ijfw_memory_search", query="invoices"))["hits"]
    assert ["PDF" in hit["summary"] for hit in here] == [True]
    (found,) = ok(call(work, "ijfw_cross_project_search", pattern="invoices rounded"))["hits"]
    assert (found["project"], found["summary"]) == (
        "billing",
        "Invoices are rounded half to even.",
    )
    both = ok(call(work, "ijfw_memory_search", query="invoices", scope="all"))["hits"]
    assert {hit.get("project") for hit in both} == {None, "billing"}
    recalled = call(work, "ijfw_memory_recall", context_hint="decisions", from_project="billing")
    assert "half to even" in text_of(recalled)
    assert call(work, "ijfw_memory_recall", context_hint="x", from_project="no")["isError"]


@pytest.mark.parametrize("name", ["CLAUDE_CODE_SESSION_ID", "IJFW_SESSION_ID", "CODEX_SESSION_ID"])
def test_what_an_agent_stores_names_its_session(name: str, desk: Any, call: Caller) -> None:
    work = desk.workspace(**{name: "s-17"})
    done = store(call, work, "Deploys go through staging.")
    project = work.project()
    assert service.find(project, done["id"]).session == "s-17"
    (line,) = [one for one in lessons_log.read(project.roots) if one.entry == done["id"]]
    assert line.session == "s-17"


def test_what_an_agent_was_asked_to_store_takes_nothing_of_the_sessions_budget(
    desk: Any, call: Caller
) -> None:
    work = desk.workspace(CLAUDE_CODE_SESSION_ID="s-17")
    for nth in range(6):
        store(call, work, f"Service number {nth} is owned by team {'abcdef'[nth]}.")
    call(work, "ijfw_memory_store", type="handoff", content="Stopped at the login page.")
    project = work.project()
    log = lessons_log.read(project.roots)
    day = format_time(project.now)[:10]
    limit = project.config.gate
    assert sum(line.session == "s-17" for line in log) >= 7
    assert gate.writes_left(log, "s-17", day, limit) == limit.writes_per_session
