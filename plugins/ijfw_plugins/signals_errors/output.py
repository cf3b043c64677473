"""An output as the rules see it: bounded, one `\\n` a line, no colours, no frames."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Self

from ijfw_core.text import one_line
from ijfw_plugins.signals_errors import guards
from ijfw_plugins.signals_errors.tables import Rule, rules, word

HEAD = 64 * 1024  # characters looked at from the start of an output
TAIL = 512 * 1024  # and from its end, where errors stand
WINDOW = 8192
LINE = 4096  # longer lines are cut at a blank
EDGE = 3  # lines at the start and at the end of an output in which a tool speaks for itself
_ANSI = re.compile(
    r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?|"
    r"\x1b[@-Z\\^_=>78]|\x07|.\x08"
)
_BOX = re.compile(r"(?m)^[│┃╷╵] ?")
# What builders, composers, runners and logs put in front of a tool's own line.
_LEAD = re.compile(
    r"#\d+ \d+\.\d+ |"
    r"(?:\d\d:\d\d:\d\d )?[\w.@-]{1,60} +\| |\[\d\d:\d\d:\d\d[^\]\n]{0,12}\] |"
    r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,6})?(?: [AP]M)? +|Error: (?=\S+: )|[\w@/-]{1,40}:[\w-]{1,40}: +|"
    r"(?:packages|apps|libs)/[\w/.-]{1,60} [\w:]{1,30}: |"
    r"\[?\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}(?:Z|[+-][\d:]{4,6})?\]? (?:\d\d[OE] )?|##\[\w+\]|"
    r"remote: {2,}|(?:==> |    )[\w.-]{1,40}: +|[EWFI]\d{4} [\d:.]+ +\d+ \S+\] |Output: |"
    r"\[[\w@/.-]{1,90}\] +|[|│] |\s?NX {2,}|STD(?:ERR|OUT) (?:[\w-]{1,30}: ?)?|"
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} [\w.@/-]{1,60}(?:\[\d+\])?: |"
    r"[^\t\n]{1,80}+\t[^\t\n]{1,120}+\t(?=\ufeff?\d{4}-\d\d-\d\dT)"
)
LEADS = 3  # of these that can stand in front of one line
WRAPPED = 0.6  # share of lines with a lead from which all of them are taken off


class Output(str):
    """The text of an output. Whether a rule has anything to look for in it is found out once."""

    @classmethod
    def read(cls, output: str) -> Self:
        """An output as it was printed, as a reader of a terminal sees it."""
        if len(output) > HEAD + TAIL:
            head, tail = output[:HEAD], output[-TAIL:]
            output = head.rpartition("\n")[0] + "\n" + tail.partition("\n")[2]
        text = output.replace("\r\n", "\n").replace("\r", "\n")
        if "\x1b" in text or "\x08" in text or "\x07" in text:
            text = _ANSI.sub("", text)
        return cls(_BOX.sub("", text))

    @cached_property
    def _invited(self) -> dict[str, bool]:
        return {}

    def invites(self, rule: Rule) -> bool:
        """Whether a literal of a rule stands in it, and one of those that the rule needs."""
        known = self._invited.get(rule.name)
        if known is None:
            known = any(map(self.__contains__, rule.literals))
            if known and rule.needs:
                known = any(map(self.__contains__, rule.needs))
            self._invited[rule.name] = known
        return known

    @cached_property
    def edges(self) -> "Output":
        """The lines at both ends."""
        lines = self._plain
        return Output("\n".join(lines[:EDGE] + lines[EDGE:][-EDGE:]))

    @cached_property
    def closing(self) -> str:
        """The lines at its end."""
        return "\n".join(self._plain[-EDGE:])

    @cached_property
    def _plain(self) -> list[str]:
        """The lines without those that only show how far a command is, or give advice."""
        chatter = word("chatter")
        return [line for line in self.strip("\n").split("\n") if not chatter.match(line)]

    @cached_property
    def unwrapped(self) -> "Output":
        """The text without what a runner put in front of most lines; empty where none did."""
        lines = [line for line in self[-WINDOW:].split("\n") if line][1:]
        if len(lines) < EDGE or sum(map(bool, map(_LEAD.match, lines))) < WRAPPED * len(lines):
            return Output()
        bare = Output("\n".join([line[lead(line) :] for line in self.split("\n")]))
        # What is not in the whole is in no part of it, but for what spans lines.
        for rule in rules():
            if self._invited.get(rule.name) is False and "\n" not in "".join(rule.literals):
                bare._invited[rule.name] = False
        return bare

    def lines(self) -> Iterator[str]:
        """The lines at the end that show something, the last one first."""
        return filter(one_line, map(str.strip, reversed(self[-WINDOW:].split("\n"))))

    def telling(self) -> Iterator[str]:
        """Those of them that can be the reason of a failure."""
        for line in self.lines():
            if not word("noise").match(line) and not guards.zero(line):
                yield line


def lead(text: str, start: int = 0, end: int = LINE, most: int = LEADS) -> int:
    """Where a tool's own line starts behind what runners put in front; 0 where nothing stands."""
    place = 0
    for _ in range(most):
        match = _LEAD.match(text, place or start, end)
        if match is None:
            break
        place = match.end()
    return place
