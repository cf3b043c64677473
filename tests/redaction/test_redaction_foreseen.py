"""Texts that are looked at together are redacted as if each had been looked at alone."""

import os
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from ijfw_core.errors import WithheldError
from ijfw_core.loading.hooks import Hooks
from ijfw_core.loading.plugin import Plugin
from ijfw_core.loading.redactors import BETWEEN
from ijfw_core.pipeline.redaction import WITHHELD, Redactor
from ijfw_hookspecs import Context, Span
from ijfw_plugins import redact_known_values, redact_pii, redact_secrets
from ijfw_tests.secrets.cases import Case

CONTEXT = Context(project="/p", session="s", now=datetime.now(UTC), memory=None)  # type: ignore[arg-type]


def hooks(*, builtin: bool = False, **redactors: Callable[..., Any]) -> Hooks:
    items = redactors.items()
    return Hooks([Plugin(name, "ijfw", builtin, {"redact": one}) for name, one in items])


def built_in() -> Hooks:
    modules = {"secrets": redact_secrets, "pii": redact_pii, "known": redact_known_values}
    return hooks(builtin=True, **{name: module.redact for name, module in modules.items()})


def test_the_labelled_texts(make_cases: Callable[..., list[Case]]) -> None:
    texts = [case.text for case in make_cases("open")][:400]
    alone, together = Redactor(built_in(), CONTEXT), Redactor(built_in(), CONTEXT)
    with together.remembering():
        for start in range(0, len(texts), 8):
            together.foresee(texts[start : start + 8])
        found = [together.text(text) for text in texts]
    assert found == [alone.text(text) for text in texts]
    assert together.counts == alone.counts
    assert sum(alone.counts.values()) > 50


def test_what_is_found_in_a_text_is_found_among_others(
    make_cases: Callable[..., list[Case]],
) -> None:
    """A text that is looked at below and above others is as surely told to hold something."""
    redacts = built_in()
    every = [case.text for case in make_cases("open") if len(case.text) < 4000]
    alone = {text: bool(redacts.redact(text, CONTEXT)) for text in every}
    clean = [text for text, found in alone.items() if not found]
    assert len(clean) > 50
    chance = random.Random(7)
    for text in [text for text, found in alone.items() if found][:600]:
        around = chance.sample(clean, 3)
        for place in (0, 1, 3):
            some = [*around[:place], text, *around[place:]]
            assert redacts.redact(BETWEEN.join(some), CONTEXT), text
            assert redacts.redact_each(some, CONTEXT)[place], text


def test_rules_of_the_user_see_each_text_by_itself() -> None:
    """They may look for the ends of a text."""
    seen: list[str] = []

    class Config(Struct, frozen=True):
        rules: tuple[str, ...] = ()

    def redact(text: str) -> Sequence[Span]:
        seen.append(text)
        return []

    def looked_at(*settings: Any) -> int:
        seen.clear()
        found = [
            Plugin(str(n), "ijfw", True, {"redact": redact}, one) for n, one in enumerate(settings)
        ]
        assert Hooks(found).redact_each(["one text", "another"], CONTEXT) == [[], []]
        return len(seen)

    assert looked_at(None) == looked_at(Config()) == 1
    assert looked_at(Config(("mine.toml",))) == 2
    assert looked_at(Config(("mine.toml",)), Config()) == 3


def test_a_redactor_is_asked_once_for_a_text_that_is_clean() -> None:
    seen: list[str] = []

    def redact(text: str) -> Sequence[Span]:
        seen.append(text)
        at = text.find("hunter")
        return [Span(start=at, end=at + 6, kind="x")] if at >= 0 else []

    redactor = Redactor(hooks(one=redact, two=redact_secrets.redact), CONTEXT)
    redactor.check()
    seen.clear()
    with redactor.remembering():
        redactor.foresee(["plain", "", "plain", "the hunter"])
        assert seen == ["plain", "the hunter"]
        assert redactor.text("plain") == "plain"
        assert seen == ["plain", "the hunter"]
        assert redactor.text("the hunter") == "the [REDACTED:x]"


def test_what_was_learned_is_found_in_foreseen_texts() -> None:
    redactor = Redactor(built_in(), CONTEXT)
    secret = "Zk8qWv3LrT6y" + "Bn1MxC9fHs4J"
    redactor.learn(f"API_SECRET={secret}")
    with redactor.remembering():
        redactor.foresee([f"it said {secret} there"])
        assert secret not in redactor.text(f"it said {secret} there")


def test_a_redactor_that_fails_withholds_what_was_foreseen() -> None:
    fail = False

    def redact(text: str) -> Sequence[Span]:
        if fail:
            raise ValueError("no")
        return [Span(start=0, end=len(text), kind="x")] if redact_secrets.find(text) else []

    redactor = Redactor(hooks(one=redact), CONTEXT)
    redactor.check()
    fail = True
    with redactor.remembering():
        with pytest.raises(WithheldError):
            redactor.foresee(["plain"])
        assert redactor.text("plain") == WITHHELD


def test_nonsense_among_the_answers_is_a_failure() -> None:
    def redact(text: str) -> Any:
        return [Span(start=0, end=99, kind="x")] if text == "short" else []

    with pytest.raises(WithheldError, match="nonsense"):
        hooks(one=redact).redact_each(["a text", "short"], CONTEXT)


def test_known_values_follow_the_environment_and_the_files(tmp_path: Path) -> None:
    def found(env: dict[str, str]) -> int:
        context = Context(project=str(tmp_path), session="", now=CONTEXT.now, memory=None, env=env)  # type: ignore[arg-type]
        text = "one-Zk8qWv3Lr two-Zk8qWv3Lr three-Zk8qWv3Lr"
        return len(redact_known_values.redact(text, context))

    env = {"ONE_SECRET": "one-Zk8qWv3Lr"}
    assert found(env) == 1
    env["TWO_SECRET"] = "two-Zk8qWv3Lr"
    assert found(env) == 2
    old = CONTEXT.now.timestamp() - 60
    os.utime(tmp_path, (old, old))
    assert found({}) == 0
    (tmp_path / ".env").write_text("THREE_SECRET=three-Zk8qWv3Lr\n")
    assert found({}) == 1
    (tmp_path / ".env").write_text("TWO_SECRET=two-Zk8qWv3Lr\nTHREE_SECRET=three-Zk8qWv3Lr\n")
    assert found({}) == 2
    (tmp_path / ".env").unlink()
    assert found(env) == 2
