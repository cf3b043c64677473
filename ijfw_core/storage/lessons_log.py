"""LESSONS.md as a source: what was settled, and in which sessions a key was seen before."""

from collections.abc import Iterable, Sequence

from ijfw_core.grammar import lessons
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.pipeline.listen import key_digest
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots

UNREJECT = "unreject"  # a person took a rejection back
SIGHTINGS = frozenset({"write", "stage", "duplicate", "drop", "supersede"})


def read(roots: Roots) -> list[Lesson]:
    """Every line of the audit log that can be read, oldest first."""
    return lessons.read(files.read_text(roots.memory / "LESSONS.md"))


def sightings(
    log: Sequence[Lesson], keys: Iterable[str], session: str
) -> dict[str, tuple[str, ...]]:
    """For each signal key the other sessions in which the log saw it, oldest first."""
    wanted = {key_digest(key): key for key in keys}
    found: dict[str, list[str]] = {}
    for lesson in log:
        key = wanted.get(lesson.key)
        if key is None or lesson.op not in SIGHTINGS or lesson.session in ("", "-", session):
            continue
        sessions = found.setdefault(key, [])
        if lesson.session not in sessions:
            sessions.append(lesson.session)
    return {key: tuple(sessions) for key, sessions in found.items()}


def refused(past: Iterable[Lesson]) -> bool:
    """Whether a person forgot or rejected what these lines tell of, and did not take it back."""
    no = False
    for lesson in past:
        if lesson.op == "forget":
            return True
        if lesson.op in ("reject", UNREJECT):
            no = lesson.op == "reject"
    return no
