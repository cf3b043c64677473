"""Which line of an output is the one worth remembering, and its signature.

Works on the output alone; what is known of the command and its exit status only says how much is
believed. Time is linear in the text: every rule looks at lines with one of its literals, at most
`HITS` of them, and at `WINDOW` characters from there.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ijfw_plugins.signals_errors import guards
from ijfw_plugins.signals_errors.commands import Command, words
from ijfw_plugins.signals_errors.output import LEADS, LINE, WINDOW, Output, lead
from ijfw_plugins.signals_errors.tables import Rule, compiled, meanings, rules, word

HITS = 2000
UNKNOWN = "ExitCode"  # signature of a failure that says nothing of its cause
KNOWN = 74  # rank from which a rule knows its tool
WEAK = 35  # rank of rules that only know words: they take no sums of a report
WRAPPER = 20  # rank of lines that only repeat that something failed
AROUND = 4000  # characters before and after a line in which its signature is looked for
SPECIFIC = 41  # rank from which a rule looks at more than words of failure
STOPPED = 70  # rank of rules that are believed of a command that a person stopped
SIGNALLED = 124  # status from which something else ended a command (timeout, 128 + signal)
SHORT = 5  # lines of an output in which a complaint is believed without a status

_EXIT = re.compile(
    r"\s*(?:<error>)?(?:Error: )?(?:exit code:?|process exited with code) ?(\d{1,3})\b[^\n]*\n?",
    re.IGNORECASE,
)
_SHELL = re.compile(r"(?:\S*/)?(?:ba|z|da|fi|k)?sh: (?:(?:(?:eval: )?line )?\d+: )?(?=\S+: )")
_CLASS = re.compile(r"\b(?:[A-Za-z_]\w*(?:\.|::))*([A-Z]\w*(?:Error|Exception))\b(?!\()")
_CODE = re.compile(
    r"\b(ERR_[A-Z_\d]+)\b|\b(E[A-Z]{4,15})\b(?<!ERROR)(?<!EXCEPTION)(?<!EXPECTED)|"
    r"\b(CVE-\d{4}-\d{4,7}|[A-Z]{1,8}[-_]?\d{3,8})\b(?!\.)|[\[(]([A-Z]+(?:_[A-Z]+)+)\b|\[([A-Z][A-Za-z]+-\d{2,6})\]|"
    r"(?:^|[(\s:])(?!StatusCode)([A-Z][a-z]+(?:[A-Z][a-z]+)+)(?=\)|:(?!:))|(?:^|\s)(?!Failure/)([A-Z][a-z]+/[A-Z]\w+):|"
    r"(?:[\[(]|• )([a-z][a-z\d]+(?:[-_][a-z\d]+)*)[\])]?$|^[a-z]{3,12}\[([a-z][a-z_-]+)\]:|"
    r": ([A-Z][a-z]+(?:[A-Z][a-z]+)+)$|"
    r"(?:\b[Cc]ode|\b[Rr]eason|\b[Ss]tatus)(?:\"?: ?\"?| ?= ?\"?)"
    r"([A-Z][A-Za-z]*(?:_[A-Z\d]+)*)\b(?! (?!desc\b)[a-z])|"
    r"(?:\b[Ee]rror|\bERROR|\bFATAL|due to|failed):? ([A-Z]+(?:_[A-Z\d]+)+)(?=[:,\s]|$)"
)
_QUALIFIED = re.compile(r"\b(?:[A-Za-z_]\w*(?:\.|::))+(?:[Ee]rror|Exception)(?=: |\)|$)")
_CODE_FIELD = re.compile(r"\bcode: '([A-Z_\d]*[A-Z][A-Z_\d]*|\d{5})'")
_STACK = re.compile(r"\n {4}at ")
_LEVEL = {"failed": 0, "likely": 1, "always": 2}


class Found(NamedTuple):
    """An error: the line, its class or code, and the failing test where the line names one."""

    line: str
    signature: str
    test: str = ""


class _Hit(NamedTuple):
    rule: Rule
    match: re.Match[str]
    start: int
    line: str


def find(output: str, command: Command, exit_code: int | None, failed: bool | None) -> Found | None:
    """The error in an output, or None.

    Args:
        output: what the tool printed, raw.
        command: the command line, parsed; empty where it is not known.
        exit_code: None where the platform does not say.
        failed: the platform's own word; None where it does not say.
    """
    text, exit_code = _read(output, exit_code)
    if exit_code is not None:
        failed = exit_code != 0
    if failed is False and guards.hidden(command):
        failed = None
    if guards.unwanted(text) or guards.stands(command, text):
        return None
    if (shown := guards.before_stop(text, exit_code)) is not None:
        return _best(Output(shown), "likely", floor=STOPPED)
    if failed and guards.only_no(command, exit_code, text):
        if not text.strip() or guards.reads(command) or not command.stages:
            return None
        if not guards.asks(command):
            return _best(text, "likely", floor=SPECIFIC)
        failed = False
    if failed and (stopped := guards.timed_out(text)):
        failed, text = None, Output(text[stopped:])
    return _told(text, command, exit_code, failed)


def _told(
    text: Output, command: Command, exit_code: int | None, failed: bool | None
) -> Found | None:
    """The error in an output of which it is known whether the command failed, or nobody says."""
    reader = guards.reads(command)
    if reader and guards.job_failed(command, text, text.closing):
        return _why(text)
    if failed:
        if reader:
            ended = exit_code is not None and exit_code >= SIGNALLED
            return _spoken(text, command) or (None if ended else _best(text.edges, "likely"))
        return _why(text) or _last(text, exit_code)
    if failed is None:
        return _untold(text, command, reader)
    return None if reader else _best(text, "always")


def _read(output: str, exit_code: int | None) -> tuple[Output, int | None]:
    """An output and the exit status, which some platforms print in front of it."""
    text = Output.read(output)
    if exit_code is None and (told := _EXIT.match(text)):
        return Output(text[told.end() :]), int(told.group(1))
    return text, exit_code


def _untold(text: Output, command: Command, reader: bool) -> Found | None:
    """The error in an output of which nobody says whether the command failed."""
    if guards.like_document(text) and not command.stages:
        return None
    if reader or guards.asks(command):
        return None if word("shrug").match(text) else _signed(Output(text.edges), command)
    found = _best(text, "likely", floor=WRAPPER + 1)
    if found is None and _best(text, "likely"):  # it says that it failed, and not why
        return _why(text)
    if found is None:
        found = _complaint(text, command)
    if found is None and not guards.queries(command) and (found := _alone(text) or _ending(text)):
        own = any(found.line in piece for stage in command.stages for piece in stage)
        if own or guards.like_source(found.line, whole=False):
            return None  # words of the command line that it only echoes, or of a listing
    return found


def _why(text: Output) -> Found | None:
    """The best line of an output that failed; where only a runner says so, a complaint before."""
    known = _best(text, "failed", floor=WRAPPER + 1)
    if known is not None or (told := _best(text, "failed")) is None:
        return known
    before = Output(text[: text.find(told.line)])
    complaint = (line for line in before.telling() if word("complaint").match(line))
    line = next(complaint, "")
    return Found(_short(line), derive(line[lead(line) :])) if line else told


def _signed(text: Output, command: Command) -> Found | None:
    """What a reader of files says itself: under its name, or in words that are its own."""
    said = _complaint(text, command)
    if said is None or said.line.endswith(":"):  # a heading: what it is of stands below
        said = _best(text, "likely", tools=_names(command) | {"*"}) or said
    return said


def _alone(text: Output) -> Found | None:
    """An output so short that its complaint is all there is, from a command that does not tell."""
    if sum(1 for line in text.split("\n", 3 * SHORT) if line.strip()) > SHORT:
        return None
    return None if guards.green_after(text, 0) else _best(text, "failed", floor=WEAK)


def _ending(text: Output) -> Found | None:
    """The last telling line of an output, where it is a complaint and no line of a log."""
    line = next(text.telling(), "")
    if not line or guards.green_after(text, 0):
        return None
    return _best(Output(line), "failed", floor=SPECIFIC, logs=False)


def _best(
    text: Output,
    least: str,
    *,
    own: bool = False,
    floor: int = 0,
    tools: frozenset[str] | None = None,
    logs: bool = True,
) -> Found | None:
    """The best line by the rules that are believed, and that are of `own` or one of `tools`."""
    usable = _usable(least, own, floor, logs)
    if tools is not None:
        usable = tuple(rule for rule in usable if not tools.isdisjoint(rule.tools))
    best = _highest(usable, text, least)
    if (best is None or best.rule.rank < KNOWN) and (bare := text.unwrapped):
        inner = _highest(usable, bare, least, floor=KNOWN)
        if inner is not None:
            at = inner.match.start("line") if inner.match.groupdict().get("line") else inner.start
            whole = text.split("\n")[bare.count("\n", 0, at)].strip()
            best, text = inner._replace(line=_short(whole)), bare
    if best is None:
        return None
    return Found(best.line, _signature(best, text), _test(best.match))


@cache
def _usable(least: str, own: bool, floor: int, logs: bool) -> tuple[Rule, ...]:
    return tuple(
        rule
        for rule in rules()
        if rule.rank >= floor
        and _LEVEL[rule.sure] >= _LEVEL[least]
        and (rule.own or not own)
        and (logs or not rule.loggable)
    )


def _highest(usable: Sequence[Rule], text: Output, least: str, floor: int = 0) -> _Hit | None:
    best: _Hit | None = None
    for rule in usable:
        if rule.rank < (floor if best is None else best.rule.rank):
            break
        if not text.invites(rule):
            continue
        hit = _first(rule, text, least)
        if hit is not None and (best is None or hit.start < best.start):
            best = hit
    return best


def match_rule(rule: Rule, text: str) -> Found | None:
    """What one rule makes of an output of a command that failed; for tests of the tables."""
    hit = _first(rule, Output(text), "failed")
    return hit and Found(hit.line, _signature(hit, text), _test(hit.match))


def _first(rule: Rule, text: Output, least: str) -> _Hit | None:
    """The first, or for rules that pick the last the last, acceptable hit of a rule."""
    strict = least != "failed" or rule.rank <= 50
    for start, end in _lines(rule, text):
        match = _match(rule, text, start, end)
        if match is None:
            continue
        line = _line(match, text)
        if WRAPPER < rule.rank <= WEAK and word("counts").search(line):
            continue
        weak = rule.rank < KNOWN
        if not line or (
            strict and ((weak and guards.zero(line)) or guards.like_source(line, whole=weak))
        ):
            continue
        if rule.loggable and least != "failed" and guards.green_after(text, match.end()):
            continue
        return _Hit(rule, match, start, line)
    return None


def _lines(rule: Rule, text: Output) -> Iterator[tuple[int, int]]:
    """Bounds of the lines that hold a literal of the rule, in the order in which the rule picks."""
    backwards = rule.pick == "last"
    spots: set[tuple[int, int]] = set()
    begin = max(text.find(rule.after), 0) if rule.after else 0
    for literal in rule.literals:
        at = text.rfind(literal) if backwards else text.find(literal, begin)
        for _ in range(HITS):
            if at < 0:
                break
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at + literal.count("\n"))
            end = len(text) if end < 0 else end
            spots.add((start, end))
            at = text.rfind(literal, 0, start) if backwards else text.find(literal, end)
    yield from sorted(spots, reverse=backwards)


def _match(rule: Rule, text: str, start: int, end: int) -> re.Match[str] | None:
    pattern = compiled(rule.pattern)
    if not rule.block:
        end = min(end, start + LINE)
        for _ in range(LEADS + 1):
            match = pattern.match(text, start, end)
            front = 0 if match else lead(text, start, end, most=1)
            if not front:
                return match
            start = front
        return None
    limit = start + WINDOW
    for _ in range(rule.back + 1):
        match = pattern.match(text, start, limit)
        if match is not None or start == 0:
            return match
        start = text.rfind("\n", max(start - LINE, 0), start - 1) + 1
    return None


def _line(match: re.Match[str], text: str) -> str:
    groups = match.groupdict()
    if groups.get("line") is not None:
        line = groups["line"]
    else:
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        line = text[start : len(text) if end < 0 else end]
    return _short(line.strip())


def _short(line: str) -> str:
    return line if len(line) <= LINE else line[:LINE].rpartition(" ")[0]


def _test(match: re.Match[str]) -> str:
    return match.groupdict().get("test") or ""


def _signature(hit: _Hit, text: str) -> str:
    rule, groups = hit.rule, hit.match.groupdict()
    told = groups.get("sig") or groups.get("code") or ""
    if not told and rule.sig and (found := compiled(rule.sig).search(hit.line)):
        told = found.group("sig")
    if not told and rule.seek:
        seek, end = compiled(rule.seek), hit.match.end()
        after = seek.search(text, end, end + AROUND)
        if around := after or seek.search(text, max(hit.start - AROUND, 0), end):
            told = around.group("sig")
    if told:
        told = rule.map.get(told) or rule.map.get("*") or told
    if not told and _STACK.match(text, hit.match.end()):
        told = _field(text[hit.match.end() : hit.match.end() + AROUND])
    if not told:
        told = literal(hit.line[lead(hit.line) :]) or next(
            (name for phrase, name in rule.phrases if phrase in hit.line), rule.signature
        )
    if told not in ("", "Error", "Exception", "error"):
        return told
    if named := _QUALIFIED.search(hit.line):  # the module tells whose error it is
        return named.group()
    end = hit.match.end()
    return derive(hit.line, text[end : end + AROUND], told)


def literal(line: str) -> str:
    """The class or code that stands in a line, or ""."""
    if found := _CLASS.search(line):
        return found.group(1)
    if found := _CODE.search(line):
        return next(group for group in found.groups() if group)
    return ""


def _field(text: str) -> str:
    """The code in what a runtime of JavaScript shows of an error object, or ""."""
    found = _CODE_FIELD.search(text)
    return found.group(1) if found else ""


def derive(line: str, following: str = "", base: str = "") -> str:
    """A signature for a line of no known form: its class, its code, or what its words mean."""
    if told := literal(line):
        return told
    if code := _field(following):
        return code
    return base or next((name for phrase, name in meanings() if phrase in line), "Error")


def _spoken(text: Output, command: Command) -> Found | None:
    """What a failing reader of files says itself, as against what it shows."""
    said = _signed(text, command) or _best(text, "likely", own=True)
    return said or _complaint(text.edges, command, doubted=False)


def _names(command: Command) -> frozenset[str]:
    """The first words of its simple commands, and of what wraps them."""
    pieces = [piece for stage in command.stages for piece in stage]
    first = (text.partition(" ")[0] for one in pieces for text in (one, words(one)))
    return frozenset(name for one in first for name in (one, one.rpartition("/")[2]))


def _complaint(text: str, command: Command, *, doubted: bool = True) -> Found | None:
    """A line that one of the commands signs with its name, or the shell in its place.

    `doubted`: it has to say what is wrong, in words that are known.
    """
    names = _names(command)
    for line in map(str.strip, text.split("\n", 400)[:400]):
        front = _SHELL.match(line)
        name, colon, rest = line[front.end() if front else 0 :].partition(": ")
        if (
            colon
            and name.partition(" ")[0].rpartition("/")[2] in names
            and (not doubted or word("trouble").search(rest))
            and not word("fine").search(rest)
        ):
            return Found(_short(line), derive(rest))
    return None


def _last(text: Output, exit_code: int | None) -> Found:
    """The last line that says something, for a failure of no known form."""
    telling = list(text.telling())
    told = (line for line in telling if not word("counts").search(line))
    line = next((line for found in (told, telling, text.lines()) for line in found), "")
    if not line:
        line = "failed without output" if exit_code is None else f"exit code {exit_code}"
    signature = derive(line)
    return Found(_short(line), UNKNOWN if signature == "Error" else signature)
