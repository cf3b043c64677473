"""Importing much: by portions, each one commit; whole after a crash, and undone as one."""

import json
import os
from typing import Any

import pytest

from ijfw_core import service
from ijfw_core.project import Project
from ijfw_core.recall import transfer
from ijfw_core.storage import ledger, lessons_log, revert
from ijfw_core.storage.batch import BatchWriter

KINDS = ("decision", "preference", "pattern", "observation")
TOKEN = "ghp" + "_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PORTION", 20)


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"n{nth}", "type": KINDS[nth % 4], "summary": f"rule {nth} of the shop",
         "content": f"because of {nth}", "tags": ["shop"]}
        for nth in range(count)
    ]  # fmt: skip


def lines(*found: dict[str, Any]) -> list[bytes]:
    return [json.dumps(row).encode() + b"\n" for row in found]


def entries(project: Project) -> dict[str, Any]:
    project.memory.refresh()
    return {one.id: one for one in project.memory.entries(*service.TIERS.values())}


def test_a_portion_is_one_commit(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    project = place.open()
    transfer.import_lines(project, lines({"type": "decision", "summary": "the first"}))
    calls: list[int] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        calls.append(fd)
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    told: list[int] = []
    done = transfer.import_lines(project, lines(*rows(100)), told.append)
    assert (done.imported, done.bad, told) == (100, (), [20, 40, 60, 80, 100])
    assert len(calls) < 40  # was three and more an entry
    assert len({record.batch for record in ledger.read(project.roots)}) == 6
    found = entries(project)
    assert [found[f"n{nth}"].kind for nth in range(4)] == list(KINDS)


def test_one_revert_takes_all_of_it_back(place: Any) -> None:
    project = place.open()
    service.store(project, "stays", kind="decision")
    before = place.knowledge.read_bytes()
    done = transfer.import_lines(project, lines(*rows(50)))
    revert.apply(place.open().writer, [done.run])
    assert place.knowledge.read_bytes() == before
    assert [one.summary for one in entries(place.open()).values()] == ["stays"]


def test_the_same_as_one_by_one(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets, updates of what came before in the file, promotions, twice the same."""
    wanted = [
        *rows(6),
        {"id": "n1", "type": "preference", "summary": "said anew"},
        {"id": "n1", "type": "preference", "summary": "and anew"},
        {"id": "p", "type": "pattern", "summary": "it was promoted", "tier": "knowledge"},
        {"type": "decision", "summary": f"token {TOKEN}", "tags": [TOKEN],
         "facts": [["shop", "uses", TOKEN]]},
        {"type": "pattern", "summary": "it was promoted"},
    ]  # fmt: skip
    done = transfer.import_lines(place.open(), lines(*wanted))
    assert (done.imported, done.updated, done.skipped, done.bad) == (8, 2, 1, ())
    found = entries(place.open())
    assert (found["n1"].summary, found["p"].tier) == ("and anew", "knowledge")
    everything = b"".join(p.read_bytes() for p in place.root.rglob("*") if p.is_file())
    assert TOKEN.encode() not in everything
    assert b"[REDACTED:github" in everything


def test_a_redactor_that_fails_keeps_all_of_it_out(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = place.open()
    project.check_redaction()

    def fail(*_: object) -> Any:
        from ijfw_core.errors import WithheldError

        raise WithheldError("no")

    monkeypatch.setattr(project.hooks, "redact", fail)
    monkeypatch.setattr(project.hooks, "redact_each", fail)
    monkeypatch.setattr(project, "check_redaction", lambda: None)
    done = transfer.import_lines(project, lines(*rows(3)))
    assert done.imported == 0
    assert len(done.bad) == 3
    assert entries(place.open()) == {}


@pytest.mark.parametrize("cut", ["append", "write_file"])
def test_killed_in_the_middle(place: Any, monkeypatch: pytest.MonkeyPatch, cut: str) -> None:
    """What a portion had in the ledger comes whole with the next command, and is undone by run."""

    class KilledError(BaseException):
        pass

    project = place.open()
    first = service.store(project, "stays", kind="decision").id
    real = BatchWriter._write_file
    written: list[str] = []

    def write_file(self: BatchWriter, tier: str, path: str, group: Any) -> None:
        if len(written) == 3:  # the second portion, one of its two files
            if cut == "write_file":
                real(self, tier, path, group)
            raise KilledError
        real(self, tier, path, group)
        written.append(path)

    monkeypatch.setattr(BatchWriter, "_write_file", write_file)
    with pytest.raises(KilledError):
        transfer.import_lines(project, lines(*rows(100)))
    monkeypatch.undo()
    again = place.open()
    again.writer.recover()
    found = entries(again)
    del found[first]
    assert sorted(found, key=lambda name: int(name[1:])) == [f"n{nth}" for nth in range(40)]
    assert all(one.content == f"because of {name[1:]}" for name, one in found.items())
    told = {line.entry for line in lessons_log.read(again.roots)}
    assert told == {first, *found}
    (run,) = {record.run for record in ledger.read(again.roots) if record.entry == "n0"}
    more = transfer.import_lines(place.open(), lines(*rows(100)))
    assert (more.imported, more.skipped) == (60, 40)
    revert.apply(place.open().writer, [more.run])
    revert.apply(place.open().writer, [run])
    assert set(entries(place.open())) == {first}
