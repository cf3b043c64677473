"""Many processes at once: nothing that was acknowledged is lost, nothing is torn or doubled."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from ijfw_core.grammar import lessons
from ijfw_core.storage import ledger, roots
from ijfw_core.storage.writer import Writer
from ijfw_tests.plainstore import PlainStore

SCRIPT = Path(__file__).with_name("storage_op.py")
WRITERS = 16
EACH = 4


def start(project: Path, verb: str, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, str(SCRIPT), str(project), verb, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def prepared(tmp_path: Path) -> tuple[Path, Writer]:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    place = roots.find(project, {"HOME": f"{project}-home"})
    return project, Writer(place, PlainStore(place), lambda text: text)


def check(writer: Writer, acknowledged: set[str]) -> set[str]:
    """Each entry once, in knowledge and journal, with whole text; the ledger and the log agree."""
    writer.recover()
    found = writer.blocks_of("knowledge", "knowledge.md")
    names = Counter(name for name, _ in found)
    assert set(names.values()) == {1}
    assert all(
        raw == f"@{n}\nstore {n.rpartition('-')[0]} {n.rpartition('-')[2]}\n" for n, raw in found
    )
    journal = [name for name, _ in writer.blocks_of("knowledge", "project-journal.md")]
    assert sorted(journal) == sorted(f"j-{name}" for name in names)
    assert acknowledged <= names.keys()
    told = ledger.lessons_text(writer.roots)
    assert all(ledger.logged(r, told) for r in ledger.read(writer.roots) if r.main)
    assert len(lessons.read(told)) == len(told.splitlines()) == len(names)
    return set(names)


def test_sixteen_processes_storing_at_once_lose_nothing(tmp_path: Path) -> None:
    project, writer = prepared(tmp_path)
    running = [start(project, "store", f"w{n}", EACH) for n in range(WRITERS)]
    acknowledged = {name for child in running for name in child.communicate(timeout=120)[0].split()}
    assert [child.returncode for child in running] == [0] * WRITERS
    wanted = {f"w{n}-{nth}" for n in range(WRITERS) for nth in range(EACH)}
    assert acknowledged == wanted
    assert check(writer, acknowledged) == wanted


def test_processes_rewriting_one_file_lose_no_update(tmp_path: Path) -> None:
    project, writer = prepared(tmp_path)
    start(project, "store", "e", 8).communicate(timeout=60)
    running = [start(project, "update", f"e-{n}", 1) for n in range(8)]
    for child in running:
        child.communicate(timeout=120)
    texts = [raw for _, raw in writer.blocks_of("knowledge", "knowledge.md")]
    assert texts == [f"@e-{n}\nupdate e-{n} 0\n" for n in range(8)]


def test_killed_at_random_times_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    project, writer = prepared(tmp_path)
    running = [start(project, "store", f"w{n}", 40) for n in range(6)]
    acknowledged: set[str] = set()
    for child in running:
        time.sleep(chance.uniform(0.0, 0.25))
        child.kill()
        acknowledged |= set(child.communicate(timeout=60)[0].split())
    acknowledged |= set(start(project, "store", "last", 2).communicate(timeout=60)[0].split())
    assert {"last-0", "last-1"} <= acknowledged
    check(writer, acknowledged)
