"""Which change made a failing command pass: the edits and commands between error and success."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ijfw_core.text import one_line
from ijfw_hookspecs import AgentEvent, Context, Signal, Tool
from ijfw_plugins.signals_errors import guards
from ijfw_plugins.signals_errors.commands import covers, parse, words
from ijfw_plugins.signals_errors.judge import here, unread
from ijfw_plugins.signals_errors.tables import word

LIMIT = 1000  # bytes of a fix
LINE = 240  # and of one changed line in it
EDITS = 4  # edits told in a fix
SHOWN = 3  # lines shown of an edit that only adds or removes
PAIRS = 20  # lines of an edit that are compared with each other

_NOTHING = re.compile(r"\s*(?:#.*|//.*|/\*.*|\*.*|[{}()\[\];,]*|pass|\"\"\"|''')\s*$")
_WRITTEN = re.compile(r"(?:cat|tee|echo|printf)\b[^>]*(?:>{1,2}|tee(?: -a)?)\s*([\w./~-]+)")
_WORD = re.compile(r"\w+|[^\w\s]")
_SPOT = re.compile(
    r"\s*(?:\[ERROR\] )?[^\s:(]{1,300}(?:\(\d+,\d+\)|:\[\d+,\d+\]|:\d+(?::\d+)?)(?=[:\s])"
)
_QUOTES = re.compile(r"[\"'\\\s]+")
_IN_QUOTES = re.compile(r"'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"")
_TEST_FILE = re.compile(r"(?i)(?:^|[._-])(?:tests?|specs?)(?:[._-]|$)")
_BACKGROUND = re.compile(r"\s*Command running in background")
_ASSIGNED = re.compile(r"(?:^|&& |; |export )\s*((?:[A-Z_][A-Z0-9_]*=\S+ ?)+)")


def fixes(event: AgentEvent, context: Context) -> list[Signal]:
    """The fix signals of a tool result that passed: one for every error it shows to be gone."""
    tool = event.tool
    if tool is None or tool.kind != "shell" or not _passed(tool):
        return []
    mine = here(tool.input, event.cwd)
    reader = guards.reads(parse(tool.input))
    if not mine or (reader and not any(unread(signal.text) for signal in context.signals)):
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
        if _requoted(failing, tool, signal):
            found.append(_fix(f"put quotes around {_quoted(failing, tool)}", tool, signal))
        if reader or unread(signal.text):
            continue
        theirs, test = here(failing.input, earlier[at].cwd), _test(signal.key)
        if not covers(mine, theirs, test):
            continue
        between = _until_next_run(earlier[at + 1 :], theirs, test)
        last = tool if len(between) == len(earlier) - at - 1 else None
        text = _words(between, failing, last, signal.text, (event.cwd, context.project))
        if text:
            found.append(_fix(text, tool, signal))
    return found


def _fix(text: str, tool: Tool, error: Signal) -> Signal:
    return Signal(
        kind="fix",
        text=text,
        about=one_line(tool.input),
        key=error.key,
        signature=error.signature,
    )


def _requoted(failing: Tool, passing: Tool, error: Signal) -> bool:
    """Did a command that the shell could not read pass with other quotes?"""
    if not unread(error.text) or failing.input == passing.input:
        return False
    return _QUOTES.sub("", failing.input) == _QUOTES.sub("", passing.input)


def _quoted(failing: Tool, passing: Tool) -> str:
    """The first word that has quotes in one command and none in the other."""
    for match in _IN_QUOTES.finditer(passing.input[:LIMIT]):
        if match.group() not in failing.input and match.group()[1:-1] in failing.input:
            return match.group()
    return _short(one_line(passing.input))


def _passed(tool: Tool) -> bool:
    if tool.exit_code not in (0, None) or tool.failed or _BACKGROUND.match(tool.output):
        return False
    stopped = guards.before_stop(tool.output, tool.exit_code) is not None
    return not stopped and not guards.unwanted(tool.output)


def _open(signals: Sequence[Signal], place: dict[str, int]) -> list[Signal]:
    """The last error of each key that has no fix yet, in the order in which they happened."""
    last: dict[str, Signal] = {}
    for signal in signals:
        if signal.kind == "error" and signal.turn in place:
            for key in [key for key, one in last.items() if _same_spot(one, signal)]:
                del last[key]  # what was tried in between did not help: only the words changed
            last[signal.key] = signal
        elif signal.kind == "fix":
            known = last.get(signal.key)
            if known is not None and place.get(signal.turn, len(place)) > place[known.turn]:
                del last[signal.key]
    return sorted(last.values(), key=lambda signal: place[signal.turn])


def _same_spot(old: Signal, new: Signal) -> bool:
    """Is an error the other one again: by its key, or by its code at the same place of a file?"""
    if old.key == new.key:
        return True
    spots = [_SPOT.match(one.text) for one in (old, new)]
    return (
        old.signature == new.signature
        and all(spots)
        and len({found.group() for found in spots if found}) == 1
    )


def _test(key: str) -> str:
    """The failing test that an error key names, or ""."""
    subject = key.split(":", 2)[-1]
    return subject if "::" in subject and " " not in subject.partition("[")[0] else ""


def _until_next_run(events: Sequence[AgentEvent], command: str, test: str) -> list[Tool]:
    """The calls after an error up to the next run of its command, that run included."""
    tools: list[Tool] = []
    for event in events:
        if event.tool is None:
            continue
        tools.append(event.tool)
        if event.tool.kind == "shell" and covers(here(event.tool.input, event.cwd), command, test):
            break
    return tools


def _words(
    between: Sequence[Tool], failing: Tool, passing: Tool | None, error: str, folders: Sequence[str]
) -> str:
    """What was changed, as a colleague would write it; "" where nothing was.

    `passing` is None where the command was run in between: what came later did not fix this error.
    """
    edits = [_edit(tool, folders) for tool in between if tool.kind == "edit" and not tool.failed]
    named = list(dict.fromkeys(text for text in edits if text))
    near = [one for one in named if _file(one) in error + failing.input]
    kept = [*near, *(one for one in reversed(named) if one not in near)][:EDITS]
    kept.sort(key=lambda one: bool(_TEST_FILE.search(_file(one))))
    shells = [tool for tool in (*between, passing) if tool is not None and tool.kind == "shell"]
    before = set(_ran(failing, failed=True))
    commands = dict.fromkeys(one for tool in shells for one in _ran(tool) if one not in before)
    parts = [*kept, *list(commands)[-EDITS:]]
    if passing is not None:
        parts.extend(f"ran with {one}" for one in _settings(passing.input, failing.input))
    text = ""
    for part in parts:
        longer = f"{text}; {part}" if text else part
        if len(longer.encode("utf-8", "surrogatepass")) <= LIMIT:
            text = longer
    return text


def _file(edit: str) -> str:
    return PurePosixPath(edit.partition(": ")[0]).name or "\n"


def _ran(tool: Tool, *, failed: bool = False) -> Iterator[str]:
    """What a call changed in the surroundings, in words; of one that failed only when asked."""
    if not failed and (tool.failed or tool.exit_code not in (0, None)):
        return
    for stage in parse(tool.input).stages:
        simple = words(stage[0])
        if word("changes").match(simple):
            yield f"ran {_short(one_line(simple))}"
        elif written := _WRITTEN.match(stage[-1]):
            yield f"wrote {_short(written.group(1))}"


def _settings(passing: str, failing: str) -> list[str]:
    """Assignments of the environment that only the passing command has."""
    mine = {one for group in _ASSIGNED.findall(passing) for one in group.split()}
    theirs = {one for group in _ASSIGNED.findall(failing) for one in group.split()}
    return sorted(one for one in mine - theirs if len(one) <= LINE)


def _edit(tool: Tool, folders: Sequence[str]) -> str:
    """One edit in words: the file, and the new line instead of the old one."""
    path, _, diff = tool.input.partition("\n")
    old = [line[1:].strip() for line in diff.split("\n") if _is(line, "-")]
    new = [line[1:].strip() for line in diff.split("\n") if _is(line, "+")]
    gone = [line for line in old if line not in new and not _NOTHING.match(line)]
    came = [line for line in new if line not in old and not _NOTHING.match(line)]
    if not gone and not came:
        return ""
    if gone and came:
        old_line, new_line = (_short(line) for line in _closest(gone[:PAIRS], came[:PAIRS]))
        said = f"{new_line} instead of {_without_start(old_line, new_line)}"
        rest = max(len(gone), len(came)) - 1
    else:
        lines = (came or gone)[:SHOWN]
        said = ("added " if came else "removed ") + " / ".join(map(_short, lines))
        rest = len(came or gone) - len(lines)
    more = f" (and {rest} more line{'s' if rest > 1 else ''})" if rest > 0 else ""
    return f"{_path(path.strip(), folders)}: {said}{more}"


def _path(path: str, folders: Sequence[str]) -> str:
    """A path without the folder of the project; outside of it only its end."""
    for folder in folders:
        if len(folder) > 1 and path.startswith(folder.rstrip("/") + "/"):
            return path[len(folder.rstrip("/")) + 1 :]
    return "/".join(PurePosixPath(path).parts[-2:]) if path.startswith("/") else path


def _is(line: str, mark: str) -> bool:
    return line.startswith(mark) and not line.startswith(mark * 3 + " ")


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
    """An old line without the words it shares with the start of the new one, if it stays whole."""
    mine, theirs = old.split(" "), new.split(" ")
    shared = 0
    while shared < min(len(mine), len(theirs)) - 1 and mine[shared] == theirs[shared]:
        shared += 1
    rest = " ".join(mine[shared:])
    whole = all(rest.count(one) == rest.count(other) for one, other in ("()", "[]", "{}"))
    return rest if whole else old
