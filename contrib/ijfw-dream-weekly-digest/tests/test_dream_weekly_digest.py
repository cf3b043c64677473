"""The contract of dream passes, which weeks get a digest, and a person's no."""

from datetime import UTC, datetime, timedelta

import ijfw_dream_weekly_digest
from ijfw_dream_weekly_digest import TAG

from ijfw_core.testing import DreamPassContract, IjfwProject, an_entry
from ijfw_core.testing.project import START
from ijfw_hookspecs import Entry

LAST_WEEK = datetime(2026, 4, 22, 9, 0, tzinfo=UTC)  # a Wednesday; tests dream on a Friday


def memories(at: datetime, many: int, first: int = 0) -> tuple[Entry, ...]:
    """Decisions of one week, an hour between each."""
    return tuple(
        an_entry(
            f"01JTEST{n:019d}",
            summary=f"decision number {n}",
            content=f"the text of number {n}",
            stored=at + timedelta(hours=n - first),
            session=f"s-{n}",
            extra=(("key", f"{n:012x}"),),
        )
        for n in range(first, first + many)
    )


class TestContract(DreamPassContract):
    plugin = ijfw_dream_weekly_digest
    memory = (*memories(LAST_WEEK, 3), *memories(LAST_WEEK - timedelta(weeks=1), 4, 10))
    changes = 2


class TestTooFew(DreamPassContract):
    plugin = ijfw_dream_weekly_digest
    memory = (*memories(LAST_WEEK, 2), *memories(START - timedelta(hours=5), 4, 10))
    changes = 0


class TestLongAgo(DreamPassContract):
    plugin = ijfw_dream_weekly_digest
    memory = memories(LAST_WEEK - timedelta(weeks=30), 9)
    changes = 0


class TestMany(DreamPassContract):
    plugin = ijfw_dream_weekly_digest
    memory = memories(LAST_WEEK, 60)
    changes = 1


def digests(project: IjfwProject) -> list[Entry]:
    return [entry for entry in project.memories("journal") if TAG in entry.tags]


def test_a_week_is_told_in_the_journal(ijfw_project: IjfwProject) -> None:
    ijfw_project.use(ijfw_dream_weekly_digest)
    ijfw_project.keep(*memories(LAST_WEEK, 3))
    assert ijfw_project.dream(only=TAG) == {TAG: 1}
    (entry,) = digests(ijfw_project)
    assert entry.summary == "Week 2026-W17: 3 decisions"
    assert entry.content.splitlines()[0] == "- decision: decision number 0"
    ijfw_project.day = 1
    assert ijfw_project.dream(only=TAG) == {TAG: 0}


def test_what_a_person_took_out_does_not_come_back(ijfw_project: IjfwProject) -> None:
    ijfw_project.use(ijfw_dream_weekly_digest)
    ijfw_project.keep(*memories(LAST_WEEK, 3))
    ijfw_project.dream(only=TAG)
    (entry,) = digests(ijfw_project)
    done = ijfw_project.run("memory", "forget", entry.id, "--yes")
    assert done.status == 0, done.err
    ijfw_project.dream(only=TAG)
    assert digests(ijfw_project) == []


def test_an_empty_memory_has_no_digest(ijfw_project: IjfwProject) -> None:
    ijfw_project.use(ijfw_dream_weekly_digest, least=1)
    assert ijfw_project.dream() == {}
