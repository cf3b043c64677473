"""Errors: the right line and signature of failures, harmless outputs left alone."""

from collections.abc import Iterable

from ijfw_hookspecs import Tool
from ijfw_plugins.signals_errors import judge
from ijfw_tests.judge.sets import Case, parts, tables, toml
from ijfw_tests.judge.table import Row, excess, share, without_bar

STAGE = "errors"
RIGHT, ALONE, FLAGGED = "line and signature right", "right, text alone", "harmless flagged"
# What these sets gave at the first look, before any rule met them. What they showed became rules
# since: they guard against steps back now.
FIRST = {
    "seventh": {RIGHT: 0.981, ALONE: 0.981, FLAGGED: 0.0},
    "eighth": {RIGHT: 0.973, ALONE: 0.953, FLAGGED: 0.0},
    "ninth": {RIGHT: 0.909, ALONE: 0.909, FLAGGED: 0.0, f"{FLAGGED}, text alone": 0.014},
    "tenth": {RIGHT: 0.974, ALONE: 0.974, FLAGGED: 0.0, f"{FLAGGED}, text alone": 0.0},
}


def _list(value: object) -> list[str]:
    if value is None:
        return []
    return [str(x) for x in value] if isinstance(value, list) else [str(value)]


def judge_failures() -> list[Case]:
    """The judge's outputs of commands that failed."""
    return _failures(
        ("errors_failures", ""),
        ("errors_failures_second", "second-"),
        ("errors_failures_third", "third-"),
        ("errors_failures_fourth", "fourth-"),
        ("errors_failures_fifth", "fifth-"),
        ("errors_failures_sixth", "sixth-"),
    )


def _failures(*sets: tuple[str, str]) -> list[Case]:
    return [
        {"name": f"{mark}failure-{n}", "failed": None, **case}
        for part, mark in sets
        for n, case in enumerate(toml(part)["case"])
    ]


def judge_benign() -> list[Case]:
    """The judge's outputs that report no failure."""
    return _benign(
        ("errors_benign", ""),
        ("errors_benign_third", "third-"),
        ("errors_benign_fourth", "fourth-"),
        ("errors_benign_sixth", "sixth-"),
    )


def _benign(*sets: tuple[str, str]) -> list[Case]:
    return [
        {"name": f"{mark}benign-{n}-{k}", "command": case["command"], "exit": case.get("exit")}
        | {"text": text}
        for part, mark in sets
        for n, case in enumerate(toml(part)["case"])
        for k, text in enumerate(case["texts"])
    ]


def _own(pattern: str) -> Iterable[Case]:
    for case in tables(pattern):
        filler = "".join(f"cc -c src/u{n}.c -o build/u{n}.o\n" for n in range(case.get("pad", 0)))
        text = filler + str(case["out"]).removeprefix("\n") + filler
        yield {"name": case["id"], "command": case.get("run", ""), "exit": case.get("exit")} | {
            "text": text,
            "failed": case.get("failed"),
            "line": case.get("line") or None,
            "signature": case.get("sig") or None,
        }


def found(case: Case, *, status: bool = True) -> tuple[str, str] | None:
    """(line, signature) that the plugin finds; without `status` from the text alone."""
    code = case.get("exit") if status else None
    tool = Tool(
        name="Bash",
        kind="shell",
        input=case["command"],
        output=case["text"],
        exit_code=code,
        failed=case.get("failed") if status else None,
    )
    signal = judge.error(tool)
    return None if signal is None else (signal.text, signal.signature)


def is_right(case: Case, *, status: bool = True) -> bool:
    """Whether line and signature are those of the label; where it names none, any is right."""
    answer = found(case, status=status)
    if answer is None:
        return False
    line, signature = answer
    lines, signatures = _list(case.get("line")), _list(case.get("signature"))
    known = [sig for sig in signatures if sig in case["text"]]
    return (not lines or _same(line, lines)) and (not known or signature in known)


def _same(line: str, wanted: list[str]) -> bool:
    """Equal but for white space, the mark of a test runner in front and the side of a box."""
    return _plain(line) in map(_plain, wanted)


def _plain(line: str) -> str:
    return " ".join(line.lstrip("│┃ ").removeprefix("E ").split())


def rows(shown: list[str]) -> list[Row]:
    """The figures of every set; what was missed in the open part is added to `shown`."""
    result: list[Row] = []
    for name, cases in parts(judge_failures()):
        result += _of_failures(name, cases, shown if "open" in name else [])
    for name, cases in parts(judge_benign()):
        result += _of_benign(name, cases, shown if "open" in name else [])
    for name in FIRST:
        label = f"{name}, seen since"
        failed = _of_failures(label, _failures((f"errors_failures_{name}", f"{name}-")), [])
        harmless = _of_benign(label, _benign((f"errors_benign_{name}", f"{name}-")), [])
        result += [_with_first(name, row) for row in (*failed, *harmless)]
    # No rule was made for these: what they give is shown, and held to no bar.
    for name in ("last", "eleventh"):
        label = f"{name}, unseen"
        failed = _of_failures(label, _failures((f"errors_failures_{name}", f"{name}-")), [])
        harmless = _of_benign(label, _benign((f"errors_benign_{name}", f"{name}-")), [])
        result += [without_bar(row) for row in (*failed, *harmless)]
    failures = list(_own("errors/failures*.toml"))
    result.append(_right("own", len(failures), sum(not is_right(case) for case in failures)))
    benign = list(_own("errors/benign*.toml"))
    result.append(_flagged("own", len(benign), sum(found(case) is not None for case in benign)))
    return result


def _of_failures(name: str, cases: list[Case], shown: list[str]) -> list[Row]:
    wrong = [case for case in cases if not is_right(case)]
    alone = [case for case in cases if not is_right(case, status=False)]
    shown += [f"error {c['name']} ({c['command']}): {found(c)}" for c in wrong]
    return [
        _right(name, len(cases), len(wrong)),
        _right(name, len(cases), len(alone), ALONE),
    ]


def _of_benign(name: str, cases: list[Case], shown: list[str]) -> list[Row]:
    flagged = [case for case in cases if found(case)]
    alone = sum(found(case, status=False) is not None for case in cases)
    shown += [f"error flagged {c['name']} ({c['command']}): {found(c)}" for c in flagged]
    return [
        _flagged(name, len(cases), len(flagged)),
        _flagged(name, len(cases), alone, f"{FLAGGED}, text alone"),
    ]


def _with_first(name: str, row: Row) -> Row:
    first = FIRST[name].get(row.measure)
    return row if first is None else row._replace(others=f"{first:.3f} (first look)")


def _right(name: str, n: int, wrong: int, measure: str = RIGHT) -> Row:
    return Row(STAGE, name, n, measure, share(n - wrong, n), low=0.95, others="0.12 (upstream)")


def _flagged(name: str, n: int, flagged: int, measure: str = FLAGGED) -> Row:
    figure = excess(flagged, n)
    return Row(STAGE, name, n, measure, figure, high=0.02, others="0.78 (upstream)")
