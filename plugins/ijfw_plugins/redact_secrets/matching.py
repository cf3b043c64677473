"""What a rule finds around the places of its literals in one text.

Where literals crowd, their windows overlap. What was seen in one is kept for the next, so that a
place is looked at a few times, and not once for every literal near it.
"""

import re
from bisect import bisect_right
from collections.abc import Callable

from ijfw_plugins.redact_secrets.rules import Rule, compiled
from ijfw_plugins.redact_secrets.validators import VALIDATORS

NEAR = 24  # a rule that looks back so little is tried at each place: a search would look ahead, too
APART = 400  # characters between a command and its option
_DIGESTS = ("sha256", "sha512", "sha384", "sha1")  # what follows their name is no token
KNOWN = 1024  # strings whose validity is remembered within a text
AHEAD = 1024  # characters behind a window that are searched with it

Look = Callable[[int, int], "re.Match[str] | None"]


class Matcher:
    """Looks for rules in one text; `flat` and `lower` are its forms that literals are found in."""

    def __init__(self, text: str, flat: str, lower: str) -> None:
        self._text = text
        self._flat = flat
        self._lower = lower
        self._ends: dict[str, list[int]] = {}  # pattern of a command -> where it ends
        self._looks: dict[str, Look] = {}  # id of a rule that looks back -> how
        self._known: dict[tuple[str, str], bool] = {}

    def hits(self, rule: Rule, literal: str) -> list[tuple[int, int]]:
        """The secrets of one rule at one of its literals."""
        where = self._lower if rule.nocase else self._flat
        look = self._look(rule, literal)
        found: list[tuple[int, int]] = []
        at = where.find(literal) if look else -1
        while at >= 0 and look:
            after = at + len(literal)
            match = look(at, found[-1][1] if found else 0)
            if match:
                pieces = rule.pieces(match)
                if self._valid(rule.validator, match.string[pieces[0][0] : pieces[-1][1]]):
                    found += pieces
                    after = max(after, match.end())
            at = where.find(literal, after)
        return found

    def _valid(self, validator: str, secret: str) -> bool:
        """Whether a validator takes a string; asked once for strings that a text repeats."""
        key = validator, secret
        if key not in self._known:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[key] = VALIDATORS[validator](secret)
        return self._known[key]

    def _look(self, rule: Rule, literal: str) -> Look | None:
        """How the match for a literal is found, given where it stands and where the last one ended;
        None where there is none in this text."""
        if rule.before:
            look = self._looks.get(rule.id)
            if look is None:
                way = _Tries if rule.before <= NEAR else _Search
                look = self._looks[rule.id] = way(rule, self._text).look
            return look
        commands = self._commands(rule.near) if rule.near else None
        if commands == []:
            return None
        text, window = self._text, rule.window
        match = compiled(rule.regex, rule.nocase).match

        def at_literal(at: int, _: int) -> "re.Match[str] | None":
            if _bounded(text, at, literal) and (commands is None or _follows(commands, text, at)):
                return match(text, at, at + window)
            return None

        return at_literal

    def _commands(self, near: str) -> list[int]:
        """Where the commands end that a rule needs in front of its literal."""
        if near not in self._ends:
            self._ends[near] = [m.end() for m in compiled(near, False).finditer(self._text)]
        return self._ends[near]


class _Tries:
    """The first match that starts at most `before` in front of a literal, each place tried once."""

    def __init__(self, rule: Rule, text: str) -> None:
        self._match = compiled(rule.regex, rule.nocase).match
        self._text = text
        self._before = rule.before
        self._window = rule.window
        self._last: re.Match[str] | None = None
        self._tried = range(0)

    def look(self, at: int, floor: int) -> "re.Match[str] | None":
        low = max(at - self._before, floor, 0)
        tried = self._tried if low in self._tried else range(low, low)
        if self._last is None or tried.stop == low or self._last.start() < low:
            end = at + self._window
            self._last = None
            while self._last is None and tried.stop <= at:
                self._last = self._match(self._text, tried.stop, end)
                tried = range(low, tried.stop + 1)
            self._tried = tried
        return self._last


class _Search:
    """The first match that starts `before` in front of a literal or later and ends behind it."""

    def __init__(self, rule: Rule, text: str) -> None:
        self._search = compiled(rule.regex, rule.nocase).search
        self._text = text
        self._before = rule.before
        self._window = rule.window
        self._limit = -1  # up to where the searches below went
        self._low = 0
        self._first: re.Match[str] | None = None
        self._behind: dict[int, re.Match[str] | None] = {}  # where a match ended -> the next one

    def look(self, at: int, floor: int) -> "re.Match[str] | None":
        low, end = max(at - self._before, floor, 0), at + self._window
        match = self._from(low, end)
        while match and match.end() <= at:  # one in front of this literal
            if match.end() not in self._behind:
                self._behind[match.end()] = self._search(self._text, match.end(), self._limit)
            match = self._behind[match.end()]
        if match and match.end() > end:  # as if the text ended with the window
            match = self._search(self._text, low, end)
            while match and match.end() <= at:
                match = self._search(self._text, match.end(), end)
        return match

    def _from(self, low: int, end: int) -> "re.Match[str] | None":
        """The first match from `low` on; the text is searched at least up to `end`."""
        known = self._low <= low and end <= self._limit
        if not known or (self._first and self._first.start() < low):
            if end > self._limit:
                self._limit = end + AHEAD
                self._behind.clear()
            self._low, self._first = low, self._search(self._text, low, self._limit)
        return self._first


def _follows(commands: list[int], text: str, at: int) -> bool:
    """Whether one of the commands stands on the same line, at most 400 characters before."""
    nth = bisect_right(commands, at) - 1
    if nth < 0 or at - commands[nth] > APART:
        return False
    return all(text.find(end, commands[nth], at) < 0 for end in "\n|;")


def _bounded(text: str, at: int, literal: str) -> bool:
    """Whether a token may start here: not inside a word, unless that is the end of an escape."""
    if at == 0 or not literal[0].isalnum():
        return True
    before = text[at - 1]
    if before in "=-:" and text[max(0, at - 7) : at - 1].endswith(_DIGESTS):
        return False
    if before.isascii() and before.isalnum():
        return at > 1 and before in "nrtbf" and text[at - 2] == "\\"
    return not (before in "_-" and len(literal) <= 3)
