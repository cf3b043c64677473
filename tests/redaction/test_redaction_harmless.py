"""Texts of real kinds without a secret stay as they are."""

import random
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_plugins.redact_secrets import find

TEXTS = [
    (kind, text)
    for kind, texts in tomllib.loads(
        Path(__file__).with_name("harmless.toml").read_text(encoding="utf-8")
    ).items()
    for text in texts
]


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_a_text_without_a_secret_is_left_alone(
    kind: str, text: str, make_value: Callable[[str, random.Random], str]
) -> None:
    rng = random.Random(text)
    for _ in range(3):
        filled = make_value(text, rng)
        assert [filled[start:end] for start, end, _, _ in find(f"{filled}\n")] == []
