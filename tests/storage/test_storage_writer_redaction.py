"""Texts are redacted before a plan, and what was planned is looked at again."""

import random
import string

import pytest

from ijfw_core.grammar.lessons import Lesson
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_hookspecs import Change, Edit, Receipt
from ijfw_tests.plainstore import (
    EPOCH,
    PlainStore,
    block,
    create,
    decision,
    knowledge,
    run_of,
    snapshot,
)

RUN = run_of("run")


@pytest.fixture
def secret() -> str:
    return "tok-" + "".join(random.Random(7).choices(string.ascii_letters, k=24))


def test_texts_are_redacted_before_the_store_plans(roots: Roots, secret: str) -> None:
    writer = Writer(roots, PlainStore(roots), lambda text: text.replace(secret, "[REDACTED:x]"))
    entry = decision("e1", f"use {secret}", tags=(secret,), extra=(("note", secret),))
    writer.apply(RUN, [Change(op="create", entry=entry, reason=f"said {secret}")])
    assert "use [REDACTED:x]" in knowledge(roots)
    writer.log(RUN, [Lesson(at=EPOCH, op="drop", reason=secret, slug=secret)])
    assert_nowhere(roots, secret)


def test_a_store_that_brings_a_secret_back_is_withheld(roots: Roots, secret: str) -> None:
    class Leaky(PlainStore):
        def plan(self, change: Change) -> Receipt:
            edit = Edit(path="knowledge.md", entry_id="e1", before=None, after=block("e1", secret))
            return Receipt(entry_id="e1", edits=(edit,))

    writer = Writer(roots, Leaky(roots), lambda text: text.replace(secret, "[REDACTED:x]"))
    assert writer.apply(RUN, [create("e1", "x")])[0].status == "withheld"
    assert_nowhere(roots, secret)
    assert snapshot(roots) == {}


def test_a_redactor_that_fails_withholds_everything(roots: Roots) -> None:
    writer = Writer(roots, PlainStore(roots), lambda text: "[REDACTED:redactor-error]")
    assert writer.apply(RUN, [create("e1", "x")])[0].status == "withheld"


def test_what_was_found_in_a_block_before_does_not_lock_it(roots: Roots, secret: str) -> None:
    store = PlainStore(roots)
    Writer(roots, store, lambda text: text).apply(RUN, [create("e1", f"{secret}")])

    class Keeping(PlainStore):
        def plan(self, change: Change) -> Receipt:
            old = block("e1", secret)
            edit = Edit(path="knowledge.md", entry_id="e1", before=old, after=old + "superseded\n")
            return Receipt(entry_id="e1", edits=(edit,))

    strict = Writer(roots, Keeping(roots), lambda text: text.replace(secret, "[REDACTED:x]"))
    change = Change(op="supersede", entry=decision("e1", "x"), target="e1")
    assert strict.apply(RUN, [change])[0].status == "written"


def test_identities_are_not_taken_for_secrets(roots: Roots) -> None:
    import re

    def redact(text: str) -> str:
        return re.sub(r"(key|sum): \S+", r"\1: [REDACTED:x]", text)

    class Headed(PlainStore):
        def plan(self, change: Change) -> Receipt:
            text = block("e1", f"key: {'a1' * 6}\nsum: {'b2' * 8}")
            edit = Edit(path="knowledge.md", entry_id="e1", before=None, after=text)
            return Receipt(entry_id="e1", edits=(edit,))

    writer = Writer(roots, Headed(roots), redact)
    assert writer.apply(RUN, [create("e1", "x")])[0].status == "written"


def assert_nowhere(roots: Roots, secret: str) -> None:
    for path in roots.project.rglob("*"):
        assert secret not in str(path)
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


# --- recovery -------------------------------------------------------------------------------------
