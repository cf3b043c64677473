"""Known values and personal data."""

import json
import os
import random
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ijfw_hookspecs import Context
from ijfw_plugins import redact_known_values, redact_pii
from ijfw_plugins.redact_pii import luhn

Fill = Callable[[str, random.Random], str]


def context(
    project: str = "", env: Mapping[str, str] | None = None, settings: Any = None
) -> Context:
    memory: Any = None
    return Context(
        project=project,
        session="",
        now=datetime.now(UTC),
        memory=memory,
        env=env or {},
        settings=settings,
    )


def known(text: str, where: Context) -> list[str]:
    return [text[s.start : s.end] for s in redact_known_values.redact(text, where)]


def personal(text: str, settings: redact_pii.Config | None = None) -> list[str]:
    return [text[s.start : s.end] for s in redact_pii.redact(text, context(settings=settings))]


# --- known values --------------------------------------------------------------------------------


def test_a_value_of_the_environment_goes_in_every_form() -> None:
    value = 'pine"apple\\tree+42é'
    where = context(env={"ACME_SECRET": value, "PLAIN": "pine-apple-tree-43"})
    for text in (
        f"the value {value} here",
        json.dumps({"x": value}),
        json.dumps(json.dumps({"x": value})),
        quote(value, safe=""),
    ):
        assert known(text, where), text
    assert known("pine-apple-tree-43", where) == []


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", '{"k": "'])
def test_a_value_inside_any_base64_is_found(before: str) -> None:
    value = "plain words without shape 7"
    text = b64encode(f"{before}{value} and more".encode()).decode()
    found = known(text, context(env={"APP_PASSWORD": value}))
    assert found
    assert len(found[0]) >= 4 * len(value) // 3 - 4


def test_weak_values_and_other_names_are_left() -> None:
    where = context(
        env={
            "A_PASSWORD": "short1",
            "B_TOKEN": "production",
            "C_SECRET": "/run/secrets/db",
            "D_KEY_FILE": "abcdef123456",
            "MAX_TOKENS_LIMIT": "123456789012345678",
            "SSH_AUTH_SOCK": "agent.12345678",
            "HOME": "home-of-dev-1234",
        }
    )
    text = "short1 production /run/secrets/db abcdef123456 agent.12345678 home-of-dev-1234"
    assert known(text, where) == []


def test_only_the_password_of_a_url_counts() -> None:
    where = context(env={"DATABASE_URL": "postgres://app:orchid7violet@db.test/x"})
    assert known("db.test and app and orchid7violet", where) == ["orchid7violet"]


def test_env_files_of_the_project_are_read_and_read_again(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# c\nexport APP_SECRET='walnut9table'\nPORT=8080\n")
    (tmp_path / ".env.example").write_text("OTHER_SECRET=sample9value\n")
    where = context(str(tmp_path))
    assert known("walnut9table sample9value", where) == ["walnut9table"]
    (tmp_path / ".env.local").write_text("DB_PASSWORD: copper5kettle\n")
    assert known("copper5kettle", where) == ["copper5kettle"]


def test_links_pipes_and_big_files_do_no_harm(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("APP_SECRET=walnut9table\n")
    project = tmp_path / "p"
    project.mkdir()
    (project / ".env").symlink_to(outside)
    os.mkfifo(project / ".env.pipe")
    (project / ".env.big").write_bytes(b"x" * 200_000 + b"\nLATE_SECRET=maple4syrup\n")
    (project / ".env.bytes").write_bytes(b"\xff\xfeA_SECRET=\x00\xff\n")
    assert known("walnut9table maple4syrup", context(str(project))) == []
    assert known("x", context(str(tmp_path / "none"))) == []


# --- personal data -------------------------------------------------------------------------------


def card(prefix: str, size: int, rng: random.Random) -> str:
    body = prefix + "".join(rng.choice("0123456789") for _ in range(size - len(prefix) - 1))
    return next(body + digit for digit in "0123456789" if luhn(body + digit))


def test_social_security_numbers_by_the_area_rules() -> None:
    assert personal("ssn 426-21-7821.") == ["426-21-7821"]
    for text in ("000-12-3456", "666-12-3456", "912-12-3456", "123-00-4567", "123-45-0000"):
        assert personal(text) == []
    assert personal("id 1426-21-7821 426-21-78210 x-426-21-7821 426-21-7821-9") == []


@pytest.mark.parametrize(
    ("prefix", "size"),
    [("4", 16), ("51", 16), ("2221", 16), ("34", 15), ("36", 14), ("6011", 16), ("3530", 16)],
)
def test_cards_of_known_issuers_with_a_right_check_digit(prefix: str, size: int) -> None:
    rng = random.Random(prefix)
    number = card(prefix, size, rng)
    assert personal(f"card {number} exp 09/29") == [number]
    grouped = " ".join(number[i : i + 4] for i in range(0, size, 4))
    assert personal(f"card {grouped}, ok") == [grouped]
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert personal(f"card {wrong}") == []


def test_digits_inside_longer_runs_are_no_card() -> None:
    number = card("4", 16, random.Random(1))
    for text in (
        f"1{number}",
        f"{number}0",
        f"a{number}",
        f"{number}/x",
        f"id-{number}",
        f"0.{number}",
    ):
        assert personal(text) == []
    assert personal("1700000000000 1788888888888888 4444444444444444") == []


def test_the_rest_is_off_unless_wanted() -> None:
    number = "DE" + "55067680057882713570"
    text = f"iban {number} mail a.b@mail-x.com phone +49 30 1234567"
    assert personal(text) == []
    settings = redact_pii.Config(iban=True, email=True, phone=True)
    assert personal(text, settings) == [number, "a.b@mail-x.com", "+49 30 1234567"]
    assert personal(text.replace("DE55", "DE56"), settings)[0] == "a.b@mail-x.com"
    assert personal("git@github.com:a/b.git", settings) == []
    card_off = redact_pii.Config(card=False, ssn=False)
    assert personal(f"{card('4', 16, random.Random(2))} 426-21-7821", card_off) == []


@given(st.text(max_size=200))
def test_no_text_makes_them_raise(text: str) -> None:
    settings = redact_pii.Config(iban=True, email=True, phone=True)
    for found in personal(text, settings) + known(text, context(env={"A_KEY": "kiwi-77-plum"})):
        assert found in text
