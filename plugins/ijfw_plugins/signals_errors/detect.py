"""Which line of an output is the one worth remembering, and its signature.

Works on the output alone; what is known of the command and its exit status only says how much is
believed. Time is linear in the text: every rule looks at lines with one of its literals, at most
`HITS` of them, and at `WINDOW` characters from there.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ijfw_core.text import one_line
from ijfw_plugins.signals_errors import guards
from ijfw_plugins.signals_errors.commands import Command, words
from ijfw_plugins.signals_errors.tables import Rule, compiled, meanings, rules, word

HEAD = 64 * 1024  # characters looked at from the start of an output
TAIL = 512 * 1024  # and from its end, where errors stand
WINDOW = 8192
HITS = 2000
UNKNOWN = "ExitCode"  # signature of a failure that says nothing of its cause
KNOWN = 74  # rank from which a rule knows its tool
WEAK = 35  # rank of rules that only know words: they take no sums of a report
WRAPPER = 20  # rank of lines that only repeat that something failed
AROUND = 4000  # characters before and after a line in which its signature is looked for
FEW = 4  # lines of an output that can be a complaint and nothing else
SPECIFIC = 41  # rank from which a rule looks at more than words of failure
SHORT = 5  # lines of an output in which a complaint is believed without a status
LINE = 4096  # longer lines are cut at a blank

_ANSI = re.compile(
    r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?|"
    r"\x1b[@-Z\\^_=>78]|\x07|.\x08"
)
_BOX = re.compile(r"(?m)^[│┃╷╵] ?")
# What builders, composers and logs put in front of a tool's own line.
_LEAD = re.compile(
    r"#\d+ \d+\.\d+ |[\w.-]{1,40} +\| |\[\d\d:\d\d:\d\d[^\]\n]{0,12}\] |Error: (?=\S+: )|"
    r"[\w@/-]{1,40}:[\w-]{1,40}: +|(?:packages|apps|libs)/[\w/.-]{1,60} [\w:]{1,30}: |"
    r"\d{4}-\d\d-\d\d[T ][\d:.,]{5,15}(?:Z|[+-][\d:]{4,6})? "
)
_EXIT = re.compile(
    r"\s*(?:<error>)?(?:Error: )?(?:exit code:?|process exited with code) ?(\d{1,3})\b[^\n]*\n?",
    re.IGNORECASE,
)
_CLASS = re.compile(r"\b(?:[A-Za-z_]\w*(?:\.|::))*([A-Z]\w*(?:Error|Exception))\b(?!\()")
_CODE = re.compile(
    r"\[(ERR_\w+)\]|\b(E[A-Z]{4,15})\b(?<!ERROR)(?<!EXCEPTION)(?<!EXPECTED)|"
    r"\b([A-Z]{1,8}[-_]?\d{3,6})\b(?!\.)|[\[(]([A-Z]+(?:_[A-Z]+)+)\b|"
    r"(?:^|[(\s:])([A-Z][a-z]+(?:[A-Z][a-z]+)+)(?=\)|:(?!:))|(?:^|\s)(?!Failure/)([A-Z][a-z]+/[A-Z]\w+):|"
    r"(?:[\[(]|• )([a-z][a-z\d]+(?:[-_][a-z\d]+)*)[\])]?$|^[a-z]{3,12}\[([a-z][a-z-]+)\]:"
)
_CODE_FIELD = re.compile(r"\bcode: '([A-Z_\d]*[A-Z][A-Z_\d]*)'")
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


def plain(output: str) -> str:
    """An output as a reader sees it: bounded, one `\\n` a line, no colours, no frames."""
    if len(output) > HEAD + TAIL:
        head, tail = output[:HEAD], output[-TAIL:]
        output = head.rpartition("\n")[0] + "\n" + tail.partition("\n")[2]
    text = output.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text or "\x08" in text or "\x07" in text:
        text = _ANSI.sub("", text)
    return _BOX.sub("", text)


def find(output: str, command: Command, exit_code: int | None, failed: bool | None) -> Found | None:
    """The error in an output, or None.

    Args:
        output: what the tool printed, raw.
        command: the command line, parsed; empty where it is not known.
        exit_code: None where the platform does not say.
        failed: the platform's own word; None where it does not say.
    """
    text = plain(output)
    if exit_code is None and (told := _EXIT.match(text)):
        exit_code, text = int(told.group(1)), text[told.end() :]
    if exit_code is not None:
        failed = exit_code != 0
    if guards.unwanted(text, exit_code):
        return None
    if failed and guards.only_no(command, exit_code, text):
        if not text.strip() or guards.reads(command) or not command.stages:
            return None
        failed = False
    reader = guards.reads(command)
    if failed:
        return _spoken(text, command) if reader else _best(text, "failed") or _last(text, exit_code)
    if failed is None:
        return _untold(text, command, reader)
    return None if reader else _best(text, "always")


def _untold(text: str, command: Command, reader: bool) -> Found | None:
    """The error in an output of which nobody says whether the command failed."""
    if guards.like_document(text) and not command.stages:
        return None
    if reader or guards.asks(command):
        few = text.count("\n") <= FEW and not word("shrug").match(text)
        return _complaint(text, command) if few else None
    found = _best(text, "likely", floor=WRAPPER + 1)
    if found is None and _best(text, "likely"):  # it says that it failed, and not why
        return _best(text, "failed")
    return found or _complaint(text, command) or _alone(text)


def _alone(text: str) -> Found | None:
    """An output so short that its complaint is all there is, from a command that does not tell."""
    if sum(1 for line in text.split("\n", 3 * SHORT) if line.strip()) > SHORT:
        return None
    return None if guards.green_after(text, 0) else _best(text, "failed", floor=SPECIFIC)


def _best(text: str, least: str, *, own: bool = False, floor: int = 0) -> Found | None:
    best: _Hit | None = None
    for rule in rules():
        if rule.rank < (floor if best is None else best.rule.rank):
            break
        if _LEVEL[rule.sure] < _LEVEL[least] or (own and not rule.own):
            continue
        if rule.needs and not any(word in text for word in rule.needs):
            continue
        hit = _first(rule, text, least)
        if hit is not None and (best is None or hit.start < best.start):
            best = hit
    if best is None:
        return None
    return Found(best.line, _signature(best, text), _test(best.match))


def match_rule(rule: Rule, text: str) -> Found | None:
    """What one rule makes of an output of a command that failed; for tests of the tables."""
    hit = _first(rule, text, "failed")
    return hit and Found(hit.line, _signature(hit, text), _test(hit.match))


def _first(rule: Rule, text: str, least: str) -> _Hit | None:
    """The first, or for rules that pick the last the last, acceptable hit of a rule."""
    strict = least != "failed" or rule.rank <= 50
    for start, end in _lines(rule, text):
        match = _match(rule, text, start, end)
        if match is None:
            continue
        line = _line(match, text)
        if WRAPPER < rule.rank <= WEAK and word("counts").search(line):
            continue
        if not line or (
            strict and (guards.zero(line) or guards.like_source(line, whole=rule.rank < KNOWN))
        ):
            continue
        if rule.loggable and least != "failed" and guards.green_after(text, match.end()):
            continue
        return _Hit(rule, match, start, line)
    return None


def _lines(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
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
        match = pattern.match(text, start, end)
        if match is None and (lead := _LEAD.match(text, start, end)):
            match = pattern.match(text, lead.end(), end)
        return match
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
    if not told:
        told = literal(hit.line) or next(
            (name for phrase, name in rule.phrases if phrase in hit.line), rule.signature
        )
    if told not in ("", "Error", "Exception"):
        return told
    end = hit.match.end()
    return derive(hit.line, text[end : end + AROUND], told)


def literal(line: str) -> str:
    """The class or code that stands in a line, or ""."""
    if found := _CLASS.search(line):
        return found.group(1)
    if found := _CODE.search(line):
        return next(group for group in found.groups() if group)
    return ""


def derive(line: str, following: str = "", base: str = "") -> str:
    """A signature for a line of no known form: its class, its code, or what its words mean."""
    if told := literal(line):
        return told
    if found := _CODE_FIELD.search(following):
        return found.group(1)
    return base or next((name for phrase, name in meanings() if phrase in line), "Error")


def _spoken(text: str, command: Command) -> Found | None:
    """What a failing reader of files says itself, as against what it shows."""
    return _complaint(text, command) or _best(text, "likely", own=True)


def _complaint(text: str, command: Command) -> Found | None:
    """A line that one of the commands signs with its name."""
    names = {words(piece).partition(" ")[0] for stage in command.stages for piece in stage}
    for line in text.split("\n", 400)[:400]:
        name, colon, rest = line.strip().partition(": ")
        if (
            colon
            and name.rpartition("/")[2] in names
            and word("trouble").search(rest)
            and not word("fine").search(rest)
        ):
            return Found(_short(line.strip()), derive(rest))
    return None


def _last(text: str, exit_code: int | None) -> Found:
    """The last line that says something, for a failure of no known form."""
    lines = [line.strip() for line in text[-WINDOW:].split("\n") if one_line(line)]
    telling = [line for line in lines if not word("noise").match(line) and not guards.zero(line)]
    told = [line for line in telling if not word("counts").search(line)]
    line = told[-1] if told else telling[-1] if telling else lines[-1] if lines else ""
    if not line:
        line = "failed without output" if exit_code is None else f"exit code {exit_code}"
    signature = derive(line)
    return Found(_short(line), UNKNOWN if signature == "Error" else signature)
