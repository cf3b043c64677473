"""What a shell command line says: its simple commands, its normal form, the tests that it runs.

Not a shell parser: quotes are honoured, everything else is cut where a shell would cut it.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from ijfw_plugins.signals_errors.tables import command_word, compiled, word

LIMIT = 4000  # characters of a command line that are looked at

_PIECE = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')|(?P<cut>&&|\|\||;|\n|\|&?)|"""
    r"""(?P<other>\\.|[^"'&|;\n\\]+|.)""",
    re.DOTALL,
)
_DOCUMENT = re.compile(r"(?<!<)<<-?\s*[\"']?([A-Za-z_]\w*)")
_ENV = re.compile(r"(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*)\s+)+(?=\S)")
_ASSIGN = re.compile(r"[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*)$")
_REDIRECT = re.compile(r"\s?(?:\d|&)?>{1,2}\s?(?:&\d|[^\s&|;]+)")
_PYTHON = re.compile(r"(?:\S*/)?(python|pip)(?:3(?:\.\d+)?)?(?:\.exe)?(?=\s|$)")
_MODULE = re.compile(r"python -m (pytest|pip|mypy|ruff|black|tox|flake8|pylint)\b")
_BIN = re.compile(r"\S*/(?:bin|\.bin|Scripts)/([\w.-]+)(?=\s|$)")
_VALUED = frozenset(
    {"-k", "-m", "-t", "-c", "-p", "--config", "--project", "-run", "--filter", "--test"}
    | {"--testNamePattern"}
)  # options of runners that take the next word
_ALL = frozenset({"", ".", "...", "--"})  # targets that leave nothing out


class Command(NamedTuple):
    """A command line, in pieces: `stages` are its pipelines, each a list of simple commands.

    `loose`: more commands follow whatever became of one of them.
    """

    stages: tuple[tuple[str, ...], ...]
    loose: bool = False

    @property
    def last(self) -> str:
        """The simple command whose exit status the shell reports, or ""."""
        return self.stages[-1][-1] if self.stages else ""


@lru_cache(maxsize=512)
def parse(line: str) -> Command:
    """Cut a command line at `;`, `&&`, `||` and line ends into pipelines, and those at `|`."""
    stages: list[tuple[str, ...]] = []
    pipe: list[str] = []
    piece: list[str] = []
    loose = ended = False

    def end_piece() -> None:
        text = "".join(piece).strip()
        piece.clear()
        if text:
            pipe.append(text)

    def end_pipe() -> None:
        end_piece()
        if pipe:
            stages.append(tuple(pipe))
        pipe.clear()

    for match in _PIECE.finditer(_without_documents(line[:LIMIT])):
        cut = match.group("cut")
        if cut is None:
            piece.append(match.group())
        elif cut.startswith("|") and cut != "||":
            end_piece()
        else:
            before = len(stages)
            end_pipe()
            loose = loose or (ended and len(stages) > before)
            ended = cut != "&&" and bool(stages)
    before = len(stages)
    end_pipe()
    return Command(tuple(stages), loose or (ended and len(stages) > before))


def _without_documents(line: str) -> str:
    """A command line without the here-documents that it feeds to its commands."""
    if "<<" not in line:
        return line
    kept: list[str] = []
    end = ""
    for one in line.split("\n"):
        if end:
            end = "" if one.strip() == end else end
            continue
        kept.append(one)
        if found := _DOCUMENT.search(one):
            end = found.group(1)
    return "\n".join(kept)


@lru_cache(maxsize=2048)
def words(simple: str) -> str:
    """A simple command without assignments, wrappers, redirections and interpreter paths."""
    text = _REDIRECT.sub("", simple).strip().lstrip("({! ").rstrip(")} ")
    for _ in range(4):
        front = _ENV.match(text) or command_word("wrappers").match(text)
        if front is None or text[front.end() :] in ("", "test"):  # `hatch run test` is no `test`
            break
        text = text[front.end() :]
    if found := _PYTHON.match(text):
        text = found.group(1) + text[found.end() :]
    text = _MODULE.sub(r"\1", text, count=1)
    if found := _BIN.match(text):
        text = found.group(1) + text[found.end() :]
    return " ".join(text.split())


@lru_cache(maxsize=512)
def normal(line: str) -> str:
    """A command line as it is compared with others: the same work gives the same text.

    Folder changes, assignments, redirections, output filters, wrappers and verbosity are left out.
    """
    kept: list[str] = []
    for stage in parse(line).stages:
        first = words(stage[0])
        if not first or word("setup").match(first) or _ASSIGN.match(first):
            continue
        rest = [words(piece) for piece in stage[1:]]
        rest = [piece for piece in rest if piece and not command_word("filters").match(piece)]
        if command_word("runners").match(first):
            first = _without_quiet(first)
        kept.append(" | ".join([first, *rest]))
    return " && ".join(kept)[:300]


def _without_quiet(simple: str) -> str:
    first, *rest = simple.split(" ")
    text = " ".join(rest)
    while True:
        kept = compiled(rf"(?:^|(?<=\s))(?:{word('quiet').pattern})(?=\s|$)").sub("", text)
        if kept == text:
            return " ".join([first, *kept.split()])
        text = kept


def targets(simple: str) -> tuple[str, tuple[str, ...]] | None:
    """The runner of a normal test or check command and what it tests; None for other commands."""
    match = command_word("runners").match(simple)
    if match is None:
        return None
    found: list[str] = []
    skip = False
    for one in simple[match.end() :].split():
        if skip:
            found.append("=" + one)  # a selection: compared whole
            skip = False
        elif one in _VALUED:
            skip = True
        elif not one.startswith("-"):
            found.append(one.strip("\"'").removeprefix("./").rstrip("/"))
    runner = match.group("word").removesuffix(" run")
    return runner, tuple(one for one in found if one not in _ALL)


def covers(passed: str, failed: str, test: str = "") -> bool:
    """Does the success of one normal command show that another, or its failing test, passes?

    Where the other one has several parts, it is not known which of them failed: all must be
    covered, but for those that only prepare (an installation).
    """
    if passed == failed:
        return True
    mine, theirs = passed.split(" && "), failed.split(" && ")
    telling = [one for one in theirs if not word("changes").match(one)] or theirs
    covered = (any(_covers_one(one, other, test) for one in mine) for other in telling)
    return any(covered) if test else all(covered)


def _covers_one(passed: str, failed: str, test: str) -> bool:
    if passed == failed:
        return True
    mine, theirs = targets(passed), targets(failed)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return False
    if not mine[1]:
        return True
    wanted = (test,) if test else theirs[1]
    return bool(wanted) and all(any(_inside(one, scope) for scope in mine[1]) for one in wanted)


def _inside(target: str, scope: str) -> bool:
    scope = scope.removesuffix("/...")
    if target == scope:
        return True
    return not scope.startswith("=") and target.startswith((scope + "/", scope + "::"))
