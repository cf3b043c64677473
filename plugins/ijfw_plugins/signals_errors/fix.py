"""Which change made a failing command pass: the edits and commands between error and success."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ijfw_core.text import one_line
from ijfw_hookspecs import AgentEvent, Context, Signal, Tool
from ijfw_plugins.signals_errors import guards
from ijfw_plugins.signals_errors.commands import covers, parse, words
from ijfw_plugins.signals_errors.judge import here
from ijfw_plugins.signals_errors.tables import word

LIMIT = 1000  # characters of a fix
LINE = 240  # and of one changed line in it
EDITS = 4  # edits told in a fix
PAIRS = 20  # lines of an edit that are compared with each other

_NOTHING = re.compile(r"\s*(?:#.*|//.*|/\*.*|\*.*|[{}()\[\];,]*|pass|\"\"\"|''')\s*$")
_WORD = re.compile(r"\w+|[^\w\s]")
_TEST_FILE = re.compile(r"(?i)(?:^|[._-])(?:tests?|specs?)(?:[._-]|$)")
_BACKGROUND = re.compile(r"\s*Command running in background")
_ASSIGNED = re.compile(r"(?:^|&& |; |export )\s*((?:[A-Z_][A-Z0-9_]*=\S+ ?)+)")


def fixes(event: AgentEvent, context: Context) -> list[Signal]:
    """The fix signals of a tool result that passed: one for every error it shows to be gone."""
    tool = event.tool
    if tool is None or tool.kind != "shell" or not _passed(tool):
        return []
    mine = here(tool.input, event.cwd)
    if not mine or guards.reads(parse(tool.input)):
        return []
    earlier = [one for one in context.history if one.tool is not None and one.agent == event.agent]
    place = {
        one.tool.call_id: at
        for at, one in enumerate(earlier)
        if one.tool is not None and one.tool.call_id
    }
    found: list[Signal] = []
    for signal in _open(context.signals, place):
        at = place[signal.turn]
        failing = earlier[at].tool
        if failing is None or failing.kind != "shell":
            continue
        theirs, test = here(failing.input, earlier[at].cwd), _test(signal.key)
        if not covers(mine, theirs, test):
            continue
        between = _until_next_run(earlier[at + 1 :], theirs, test)
        text = _words(
            between,
            failing,
            tool,
            len(between) == len(earlier) - at - 1,
            signal.text,
            event.cwd or context.project,
        )
        if text:
            found.append(
                Signal(
                    kind="fix",
                    text=text,
                    about=one_line(tool.input),
                    key=signal.key,
                    signature=signal.signature,
                )
            )
    return found


def _passed(tool: Tool) -> bool:
    if tool.exit_code not in (0, None) or tool.failed or _BACKGROUND.match(tool.output):
        return False
    return not guards.unwanted(tool.output, tool.exit_code)


def _open(signals: Sequence[Signal], place: dict[str, int]) -> list[Signal]:
    """The last error of each key that has no fix yet, in the order in which they happened."""
    last: dict[str, Signal] = {}
    for signal in signals:
        if signal.kind == "error" and signal.turn in place:
            last.pop(signal.key, None)
            last[signal.key] = signal
        elif signal.kind == "fix":
            known = last.get(signal.key)
            if known is not None and place.get(signal.turn, len(place)) > place[known.turn]:
                del last[signal.key]
    return sorted(last.values(), key=lambda signal: place[signal.turn])


def _test(key: str) -> str:
    """The failing test that an error key names, or ""."""
    subject = key.split(":", 2)[-1]
    return subject if "::" in subject and " " not in subject.partition("[")[0] else ""


def _until_next_run(events: Sequence[AgentEvent], command: str, test: str) -> list[Tool]:
    tools: list[Tool] = []
    for event in events:
        if event.tool is None:
            continue
        if event.tool.kind == "shell" and covers(here(event.tool.input, event.cwd), command, test):
            tools.append(event.tool)
            break
        tools.append(event.tool)
    else:
        return tools
    return tools


def _words(
    between: Sequence[Tool], failing: Tool, passing: Tool, adjacent: bool, error: str, cwd: str
) -> str:
    """What was changed, as a colleague would write it; "" where nothing was."""
    edits = [_edit(tool, cwd) for tool in between if tool.kind == "edit" and not tool.failed]
    named = list(dict.fromkeys(text for text in edits if text))
    near = [one for one in named if _file(one) in error + failing.input]
    kept = [*near, *(one for one in reversed(named) if one not in near)][:EDITS]
    kept.sort(key=lambda one: bool(_TEST_FILE.search(_file(one))))
    shells = [tool for tool in between if tool.kind == "shell"]
    if adjacent:
        shells.append(passing)
    commands = list(dict.fromkeys(one for tool in shells for one in _ran(tool)))
    before = set(_ran(failing))
    parts = kept + [f"ran {one}" for one in commands if one not in before][-EDITS:]
    if adjacent and (setting := _settings(passing.input, failing.input)):
        parts.append(f"ran with {setting}")
    text = ""
    for part in parts:
        if len(text) + len(part) + 2 <= LIMIT:
            text = f"{text}; {part}" if text else part
    return text


def _file(edit: str) -> str:
    return PurePosixPath(edit.partition(": ")[0]).name or "\n"


def _ran(tool: Tool) -> Iterator[str]:
    """The simple commands of a successful call that change the surroundings."""
    if tool.failed or tool.exit_code not in (0, None):
        return
    for stage in parse(tool.input).stages:
        simple = words(stage[0])
        if word("changes").match(simple):
            yield _short(one_line(simple))


def _settings(passing: str, failing: str) -> str:
    mine = {one for group in _ASSIGNED.findall(passing) for one in group.split()}
    theirs = {one for group in _ASSIGNED.findall(failing) for one in group.split()}
    return " ".join(sorted(mine - theirs))[:LINE]


def _edit(tool: Tool, cwd: str) -> str:
    """One edit in words: the file, and the new line instead of the old one."""
    path, _, diff = tool.input.partition("\n")
    path = path.strip().removeprefix(cwd.rstrip("/") + "/" if len(cwd) > 1 else "")
    old = [
        line[1:]
        for line in diff.split("\n")
        if line.startswith("-") and not line.startswith("--- ")
    ]
    new = [
        line[1:]
        for line in diff.split("\n")
        if line.startswith("+") and not line.startswith("+++ ")
    ]
    gone = [line for line in old if line not in new and not _NOTHING.match(line)]
    came = [line for line in new if line not in old and not _NOTHING.match(line)]
    if not gone and not came:
        return ""
    if gone and came:
        old_line, new_line = (_short(line) for line in _closest(gone[:PAIRS], came[:PAIRS]))
        said = f"{new_line} instead of {_without_start(old_line, new_line)}"
    else:
        said = ("added " if came else "removed ") + " / ".join(
            _short(line) for line in (came or gone)[:3]
        )
    rest = max(len(gone), len(came)) - (1 if gone and came else min(3, len(came or gone)))
    return f"{path}: {said}" + (
        f" (and {rest} more line{'s' if rest > 1 else ''})" if rest > 0 else ""
    )


def _closest(old: Sequence[str], new: Sequence[str]) -> tuple[str, str]:
    """The old and new line that are most alike: there the change is told in the fewest words."""
    best, most = (old[0], new[0]), 0.0
    for before in old:
        mine = set(_WORD.findall(before))
        for after in new:
            theirs = set(_WORD.findall(after))
            alike = len(mine & theirs) / (len(mine | theirs) or 1)
            if alike > most:
                best, most = (before, after), alike
    return best


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= LINE else line[:LINE].rpartition(" ")[0] + " …"


def _without_start(old: str, new: str) -> str:
    """An old line without the words that it shares with the start of the new one."""
    mine, theirs = old.split(" "), new.split(" ")
    shared = 0
    while shared < min(len(mine), len(theirs)) - 1 and mine[shared] == theirs[shared]:
        shared += 1
    return " ".join(mine[shared:])
