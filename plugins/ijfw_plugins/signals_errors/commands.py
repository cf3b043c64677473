"""What a shell command line says: its simple commands, its normal form, the tests that it runs.

Not a shell parser: quotes are honoured, everything else is cut where a shell would cut it.
"""

import re
from functools import lru_cache
from typing import NamedTuple

LIMIT = 4000  # characters of a command line that are looked at

_PIECE = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')|(?P<cut>&&|\|\||;|\n|\|&?)|(?P<other>\\.|[^"'&|;\n\\]+|.)""",
    re.DOTALL,
)
_ENV = re.compile(r"(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*)\s+)+(?=\S)")
_ASSIGN = re.compile(r"[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*)$")
_REDIRECT = re.compile(r"\s*(?:\d|&)?>{1,2}\s*(?:&\d|[^\s&|;]+)")
_PREFIX = re.compile(
    r"(?:sudo|time|command(?! -[vV])|exec|nohup|env|nice|ionice|stdbuf(?: -\S+)*|timeout(?: -\S+)*(?: [\d.]+[smh]?)|"
    r"uv run(?: --\S+)*|poetry run|pipenv run|hatch run|pdm run|rye run|npx(?: --?\w[\w-]*)*|bunx|"
    r"pnpm (?:exec|dlx)|yarn (?:exec|dlx)|bundle exec|xvfb-run)\s+(?=\S)"
)
_PYTHON = re.compile(r"(?:\S*/)?(python|pip)(?:3(?:\.\d+)?)?(?:\.exe)?(?=\s|$)")
_MODULE = re.compile(
    r"python(?: -[WX]\s?\S+| -[a-zA-Z]\b(?<!-m))* -m (pytest|pip|mypy|ruff|black|tox|flake8|pylint)\b"
)
_BIN = re.compile(r"\S*/(?:bin|\.bin|Scripts)/([\w.-]+)(?=\s|$)")
_FOLDER = re.compile(r"(?:cd|pushd)\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*$")
_SETUP = re.compile(
    r"(?:cd|pushd|popd|source|\.|set|export|unset|true|:|echo|printf|sleep|clear|exit)\b|#"
)
_FILTER = re.compile(
    r"(?:head|tail|grep|egrep|rg|cat|tee|less|more|sed|awk|sort|uniq|wc|cut|tr|column|jq|xargs echo)\b"
)
_QUIET = re.compile(
    r"(?<=\s)(?:-v{1,3}|-q{1,3}|-s|-x|-l|--verbose|--quiet|--silent|--tb[= ]\w+|--no-header|--no-cov|--lf|--ff|"
    r"-r[a-zA-Z]+|--color(?:=\w+)?|--colors|--no-color|--maxfail[= ]\d+|--run|--nocapture|--ci|"
    r"--reporter[= ]\S+|-p no:\S+|-W\s?\S+|-n\s?(?:auto|\d+)|-count=\d+|--stacktrace|--info)(?=\s|$)"
)
_RUNNER = re.compile(
    r"(?P<runner>pytest|py\.test|jest|vitest(?: run)?|mocha|ava|go test|cargo (?:test|nextest run)|rspec|phpunit|"
    r"mix test|dotnet test|python -m unittest|(?:npm|pnpm|yarn|bun)(?: run)? test(?::\S+)?|flutter test|dart test|"
    r"node --test|playwright test|cypress run|mypy|ruff(?: check)?|eslint|tsc|pyright|flake8|pylint)(?:\s|$)"
)
_OPTION_VALUE = frozenset(
    {
        "-k",
        "-m",
        "-t",
        "-c",
        "-p",
        "--config",
        "--project",
        "-run",
        "--testNamePattern",
        "--filter",
        "--test",
    }
)


class Command(NamedTuple):
    """A command line, in pieces: `stages` are its pipelines, each a list of simple commands."""

    stages: tuple[tuple[str, ...], ...]

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

    for match in _PIECE.finditer(line[:LIMIT]):
        cut = match.group("cut")
        if cut is None:
            piece.append(match.group())
        elif cut.startswith("|") and cut != "||":
            end_piece()
        else:
            end_pipe()
    end_pipe()
    return Command(tuple(stages))


def words(simple: str) -> str:
    """A simple command without assignments, wrappers, redirections and interpreter paths."""
    text = _REDIRECT.sub("", simple).strip().lstrip("({! ").rstrip(")} ")
    for _ in range(4):
        shorter = (
            _PREFIX.sub("", _ENV.sub("", text, count=1) if _ENV.match(text) else text, count=1)
            if _starts(text)
            else text
        )
        if shorter == text:
            break
        text = shorter
    text = _PYTHON.sub(r"\1", text, count=1) if _PYTHON.match(text) else text
    text = _MODULE.sub(r"\1", text, count=1)
    text = _BIN.sub(r"\1", text, count=1) if _BIN.match(text) else text
    return " ".join(text.split())


def _starts(text: str) -> bool:
    return bool(_ENV.match(text) or _PREFIX.match(text))


@lru_cache(maxsize=512)
def normal(line: str) -> str:
    """A command line as it is compared with others: the same work gives the same text.

    Folder changes, assignments, redirections, output filters, wrappers and verbosity are left out.
    """
    kept: list[str] = []
    for stage in parse(line).stages:
        first = words(stage[0])
        if not first or _SETUP.match(first) or _ASSIGN.match(first):
            continue
        rest = [words(piece) for piece in stage[1:]]
        rest = [piece for piece in rest if piece and not _FILTER.match(piece)]
        first = " ".join(_QUIET.sub("", first).split()) if _RUNNER.match(first) else first
        kept.append(" | ".join([first, *rest]))
    return " && ".join(kept)[:300]


def targets(simple: str) -> tuple[str, tuple[str, ...]] | None:
    """The runner of a normal test or check command and what it is pointed at; None for other commands."""
    match = _RUNNER.match(simple)
    if match is None:
        return None
    found: list[str] = []
    skip = False
    for word in simple[match.end() :].split():
        if skip:
            found.append("=" + word)  # a selection: compared whole
            skip = False
        elif word in _OPTION_VALUE:
            skip = True
        elif not word.startswith("-"):
            found.append(word.strip("\"'").removeprefix("./").rstrip("/"))
    everything = {"", ".", "...", "--"}
    return match.group("runner").removesuffix(" run"), tuple(
        t for t in found if t not in everything
    )


def covers(passed: str, failed: str, test: str = "") -> bool:
    """Does the success of one normal command mean that another one, or its failing test, passes now?"""
    if passed == failed:
        return True
    return any(
        _covers_one(one, other, test)
        for one in passed.split(" && ")
        for other in failed.split(" && ")
    )


def _covers_one(passed: str, failed: str, test: str) -> bool:
    if passed == failed:
        return True
    mine, theirs = targets(passed), targets(failed)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return False
    if not mine[1]:
        return True
    wanted = (test,) if test else theirs[1]
    return bool(wanted) and all(any(_inside(one, target) for target in mine[1]) for one in wanted)


def _inside(target: str, scope: str) -> bool:
    scope = scope.removesuffix("/...")
    return target == scope or (
        not scope.startswith("=") and target.startswith((scope + "/", scope + "::"))
    )
