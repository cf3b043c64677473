"""The labelled outputs: errors found as a person would, harmless outputs flagged.

The bars are those of the project: signature and line right in 95 % of the failures, at most 2 % of
the harmless outputs flagged. A signature counts where it stands in the text.
"""

import tomllib
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from ijfw_hookspecs import Tool
from ijfw_plugins.signals_errors import judge

HERE = Path(__file__).parent
RIGHT = 0.95
FLAGGED = 0.02

Case = dict[str, Any]


def cases(*names: str) -> list[Case]:
    return [
        case
        for name in names
        for case in tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))["case"]
    ]


def is_held(case: Case) -> bool:
    """A third of the first set was not looked at while the rules were written."""
    return blake2b(case["id"].encode(), digest_size=2).digest()[0] % 3 == 0


def output(case: Case) -> str:
    text = str(case["out"]).removeprefix("\n")
    filler = "".join(f"cc -c src/u{n}.c -o build/u{n}.o\n" for n in range(case.get("pad", 0)))
    return filler + text + filler


def signal(case: Case, *, command: bool = True) -> tuple[str, str] | None:
    found = judge.error(
        Tool(
            name="Bash",
            kind="shell",
            input=case.get("run", "") if command else "",
            output=output(case),
            exit_code=case.get("exit"),
            failed=case.get("failed"),
        )
    )
    return None if found is None else (found.text, found.signature)


def is_right(case: Case, *, command: bool = True) -> bool:
    found = signal(case, command=command)
    if found is None:
        return False
    line, signature = found
    literal = case.get("sig") and case["sig"] in output(case)
    lines = [case["line"]] if isinstance(case["line"], str) else case["line"]
    return (line in lines or lines == [""]) and (not literal or signature == case["sig"])


FAILURES = cases(
    *("failures", "failures_more", "failures_third", "failures_fourth", "failures_fifth"),
    *("failures_sixth", "failures_seventh", "failures_eighth", "failures_ninth"),
    *("failures_tenth", "failures_eleventh", "failures_twelfth"),
)
BENIGN = cases(
    *("benign", "benign_more", "benign_third", "benign_fourth", "benign_fifth", "benign_sixth"),
    *("benign_seventh",),
)


@pytest.mark.parametrize("held", [False, True])
def test_right_line_and_signature(held: bool) -> None:
    mine = [case for case in FAILURES if is_held(case) is held]
    wrong = [case["id"] for case in mine if not is_right(case)]
    assert len(wrong) <= (1 - RIGHT) * len(mine), wrong


def test_the_exit_status_is_enough_where_the_command_is_not_known() -> None:
    mine = [case for case in FAILURES if case.get("exit")]
    wrong = [case["id"] for case in mine if not is_right(case, command=False)]
    assert len(wrong) <= (1 - RIGHT) * len(mine), wrong


def test_harmless_outputs_are_not_flagged() -> None:
    flagged = [case["id"] for case in BENIGN if signal(case)]
    assert len(flagged) <= FLAGGED * len(BENIGN), flagged


def test_the_sets_are_large_enough_to_mean_something() -> None:
    assert len(FAILURES) >= 150
    assert len(BENIGN) >= 90
    assert len({case["id"] for case in FAILURES}) == len(FAILURES)
