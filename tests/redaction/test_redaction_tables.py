"""Secrets in columns, in words of letters alone, and below their names."""

import random
from collections.abc import Callable

import pytest

from ijfw_plugins.redact_secrets import find
from ijfw_plugins.redact_secrets.names import name_kind
from ijfw_plugins.redact_secrets.tables import GATE, ROWS, tables
from ijfw_plugins.redact_secrets.values import short_strong, words_alone

Fill = Callable[[str, random.Random], str]


def cut(text: str) -> str:
    """A text without its secrets."""
    for start, end, _, _ in sorted(find(text), reverse=True):
        text = text[:start] + "#" + text[end:]
    return text


@pytest.mark.parametrize(
    ("shape", "left"),
    [
        ("user,password\nlena,<an:14>\nbot,<an:14>\n", "user,password\nlena,#\nbot,#\n"),
        ('"user","token"\n"lena","<an:32>"\n', '"user","token"\n"lena","#"\n'),
        ("id;passwort;x\n1;<an:14>;a\n", "id;passwort;x\n1;#;a\n"),
        (
            "| a | api_key |\n|---|---|\n| b | <hex:32> |\n",
            "| a | api_key |\n|---|---|\n| b | # |\n",
        ),
        (
            " a | secret\n---+---------\n b | <an:30>\n(1 row)\n",
            " a | secret\n---+---------\n b | #\n(1 row)\n",
        ),
        (
            "NAME    TOKEN     AGE\nci      <an:32>   3d\n",
            "NAME    TOKEN     AGE\nci      #   3d\n",
        ),
        (
            "INSERT INTO u (name, password) VALUES ('a', '<an:14>'), ('b', '<an:14>');",
            "INSERT INTO u (name, password) VALUES ('a', '#'), ('b', '#');",
        ),
        (
            'REPLACE INTO `u` (`id`, `api_token`) VALUES (1, "<an:32>");',
            'REPLACE INTO `u` (`id`, `api_token`) VALUES (1, "#");',
        ),
        ("ACME_API_KEY\n<an:40>\nREGION\neu\n", "ACME_API_KEY\n#\nREGION\neu\n"),
        ("Your new token (once):\n\n<an:40>\n", "Your new token (once):\n\n#\n"),
    ],
)
def test_values_in_columns_and_below_names(shape: str, left: str, make_value: Fill) -> None:
    rng = random.Random(shape)
    parts = shape.split("<")
    text = parts[0] + "".join(
        make_value("<" + part.partition(">")[0] + ">", rng) + part.partition(">")[2]
        for part in parts[1:]
    )
    assert cut(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "field,text\npassword,chosen by the user\ntoken,issued by the server\n",
        " Column   | Type | Null\n----------+------+----------\n password | text | not null\n",
        "INSERT INTO kinds (key, label) VALUES ('token', 'Zeichen');",
        "INSERT INTO u (name, password) VALUES (:name, :password);",
        "insert_user(name, password)\ninsert_user(other, secret)\n",
        "user,password\nlena,changeme\nbot,$BOT_PASSWORD\n",
        "API key\nThe name of the key, shown in the console.\n",
        "Token\nPassword\nSecret\n",
    ],
)
def test_columns_that_hold_no_secret(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize("word", ["harboranchor", "walnutfeather", "gardenmarble"])
@pytest.mark.parametrize(
    "shape",
    [
        'password = "{}"\n',
        "MAIL_PASSWORD={}\n",
        "  adminPassword: {}\n",
        "<password>{}</password>",
        "Uid=app;Pwd={};Name=x",
        "--db-password {} --x",
        "JWT_SECRET={}\n",
    ],
)
def test_letters_alone_where_settings_are_joined(shape: str, word: str) -> None:
    assert cut(shape.format(word)) == shape.format("#")


@pytest.mark.parametrize(
    "value", ["description", "authentication", "placeholder", "required", "Kennwort", "something"]
)
@pytest.mark.parametrize("shape", ['password: "{}"', "password = {}\n", "password: {}\n"])
def test_words_of_code_and_prose_are_no_passwords(shape: str, value: str) -> None:
    assert find(shape.format(value)) == []


def test_limits_of_weak_values() -> None:
    assert words_alone("harboranchor", 10)
    assert not words_alone("harboranchor", 13)
    assert not words_alone("harbor-anchor", 8)
    assert short_strong("timb751")
    assert not short_strong("int32")
    assert not short_strong("uint64")
    assert not short_strong("123456")


def test_glued_names() -> None:
    assert name_kind("Vendorpat") == name_kind("Vendorkey") == "key"
    assert name_kind("smtppass") == name_kind("userpw") == "password"
    for name in ("monkey", "cachekey", "hotkey", "bypass", "publickey", "spat"):
        assert name_kind(name) == "", name


@pytest.mark.parametrize(
    "piece",
    [
        "key,a\n",
        "a | key\n",
        "insert into a (key) values (",
        "('a',",
        "key  a\n",
        "token\n\n",
        "'a', ",
    ],
)
def test_a_repeated_piece_is_read_to_its_end(piece: str) -> None:
    """A reader that is not linear would hang here."""
    text = "insert into t (key, b) values (" + piece * (200_000 // len(piece))
    assert len(list(tables(text, text.lower(), set(GATE)))) <= ROWS * 400
