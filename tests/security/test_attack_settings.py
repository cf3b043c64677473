"""Settings files of others that are odd: nothing in them is lost, and nothing makes setup fail."""

import tomllib
from pathlib import Path

import pytest

from ijfw_core import edits

TABLE = edits.TomlTable(
    path=Path("/home/dev/config.toml"),
    keys=("mcp_servers", "ijfw"),
    value={"command": "/py", "args": ["-m", "ijfw_core.mcp"]},
    ours=edits.is_mcp_server,
)
BLOCK = f"{edits.HASH.begin}\nkeep me\n{edits.HASH.end}\n"


@pytest.mark.parametrize(
    "text", ['[[mcp_servers]]\nname = "x"\n', "mcp_servers = 3\n", 'mcp_servers = ["x"]\n']
)
def test_a_place_that_is_no_table_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"config\.toml, line 1: mcp_servers is no table"):
        TABLE.put(text)
    assert TABLE.take(text) == text


@pytest.mark.parametrize("quote", ['"""', "'''"])
def test_our_marks_in_a_text_of_another_are_left_in_it(quote: str) -> None:
    text = f"note = {quote}\n{BLOCK}{quote}\n\n[later]\nz = 1\n"
    after = TABLE.put(text)
    assert TABLE.put(after) == after
    left = TABLE.take(after)
    assert left is not None
    assert tomllib.loads(left) == tomllib.loads(text)


@pytest.mark.parametrize("text", ["a" + ".a" * 3000 + " = 1\n", "a = " + "[" * 3000 + "]" * 3000])
def test_depth_is_refused_or_kept(text: str) -> None:
    try:
        after = TABLE.put(text)
    except ValueError as error:
        said = str(error)
    else:
        said = str(TABLE.path) if TABLE.take(after) == text else "changed"
    assert said.startswith(str(TABLE.path))


def test_a_long_file_takes_its_block_without_the_slow_parser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """tomlkit takes quadratic time for many tables: a minute for 360 KB."""
    from ijfw_core.edits import toml

    def slow(*_: object) -> object:
        raise AssertionError("the slow parser was asked")

    monkeypatch.setattr(toml, "_parsed", slow)
    text = "".join(f'[projects."/srv/{n}"]\ntrust_level = "trusted"\n' for n in range(500))
    after = TABLE.put(text)
    assert TABLE.put(after) == after
    assert TABLE.take(after) == text
