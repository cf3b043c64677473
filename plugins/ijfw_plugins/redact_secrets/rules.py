"""Rules as data: TOML files, a subset of gitleaks' format, compiled only where a text needs them.

A built-in rule has literals of 3 or more characters and runs only where one of them stands. User
rules run on `regex` with a timeout, because nobody proved that they are linear.
"""

import os
import re
from functools import cache
from typing import Any

import msgspec

from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.validators import VALIDATORS
from ijfw_plugins.redact_secrets.values import entropy

FAMILIES = (
    "prefix",
    "prefix_more",
    "prefix_rest",
    "structure",
    "context",
    "commands",
    "calls",
    "tools",
)
FOLDER = os.path.dirname(__file__)
COPY = "built_in.json"  # parsing TOML costs more than starting the interpreter
USER_TIMEOUT = 0.5  # seconds a user rule may take on one text; then the text is withheld

_RUN = lazy(r"[A-Za-z0-9_-]+")
WORD = lazy(r"[a-z][a-z0-9]{2,}")  # what the words of a text are, which gates are looked for in


@cache
def words_of(literal: str) -> list[str]:
    """The words of a literal, by which it is gated."""
    return WORD.findall(literal.lower())


class Allowlist(msgspec.Struct, frozen=True, rename="camel"):
    """What a gitleaks rule leaves alone."""

    regexes: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()
    regex_target: str = "secret"
    condition: str = "OR"


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule. `literals` (gitleaks: `keywords`) say where it runs, `regex` what is secret there.

    The secret is the first group that took part, or the whole match; with `keep` it is the match
    without these groups. `before` and `window` are characters around a literal that are looked at.
    """

    id: str
    regex: str = ""
    kind: str = ""
    description: str = ""
    literals: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    gate: str = ""  # a common part of all literals that is looked for first
    nocase: bool = False
    short: bool = False  # the run of token characters around the literal may be under 14
    before: int = 0
    near: str = ""  # what has to stand before the literal, in the same command and at most 400 away
    window: int = 640
    validator: str = ""
    keep: tuple[int, ...] = ()
    entropy: float = 0.0
    secretGroup: int = 0
    allowlists: tuple[Allowlist, ...] = ()
    examples: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The kind in the marker."""
        return self.kind or re.sub(r"[^a-z0-9]+", "-", self.id.lower()).strip("-")

    def pieces(self, match: "re.Match[str]") -> list[tuple[int, int]]:
        """What of a match is secret."""
        if self.keep:
            return _without(match, self.keep)
        if self.secretGroup:
            return [match.span(self.secretGroup)]
        groups = range(1, (match.re.groups or 0) + 1)
        taken = next((n for n in groups if match.start(n) >= 0), 0)
        return [match.span(taken)]


def _without(match: "re.Match[str]", keep: tuple[int, ...]) -> list[tuple[int, int]]:
    pieces = []
    at = match.start()
    for start, end in sorted(match.span(n) for n in keep if match.start(n) >= 0):
        if at < start:
            pieces.append((at, start))
        at = max(at, end)
    if at < match.end():
        pieces.append((at, match.end()))
    return pieces


class RuleFile(msgspec.Struct, frozen=True):
    """A TOML rule file."""

    rules: tuple[Rule, ...] = ()
    allowlist: Allowlist = Allowlist()


@cache
def compiled(pattern: str, nocase: bool) -> re.Pattern[str]:
    """The pattern, compiled when it is needed for the first time."""
    return re.compile(pattern, re.I if nocase else 0)


def read(path: str) -> RuleFile:
    """A rule file. Raises ValueError naming the file where it is not one."""
    import tomllib

    try:
        with open(path, "rb") as file:
            return msgspec.convert(tomllib.load(file), RuleFile)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: not a rule file: {error}") from error


Table = dict[str, dict[str, list[Rule]]]


class Index:
    """The built-in rules by literal, in tables by where the literal is looked for.

    A table is gate -> literal -> rules; the gate "" is always open. The gates of `in_text` and
    `in_lower` are words in lower case, those of `loose` stand for literals that hold no word.
    """

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.in_runs: Table = {}
        self.in_text: Table = {}
        self.in_lower: Table = {}
        self.loose: Table = {}
        for rule in rules:
            for literal in rule.literals:
                table, gate = self._place(rule, literal)
                table.setdefault(gate, {}).setdefault(literal, []).append(rule)

    def _place(self, rule: Rule, literal: str) -> tuple["Table", str]:
        if not (rule.nocase or rule.short) and _RUN.fullmatch(literal):
            return self.in_runs, rule.gate
        word = max(words_of(literal), key=len, default="")
        if rule.nocase:
            return self.in_lower, word
        return (self.in_text, word) if word else (self.loose, rule.gate)


@cache
def built_in() -> Index:
    """The rules of this folder, read once a process, from the copy that reads in no time."""
    with open(os.path.join(FOLDER, COPY), "rb") as file:
        return Index(msgspec.json.decode(file.read(), type=tuple[Rule, ...]))


def written() -> tuple[Rule, ...]:
    """The rules of this folder as they are written, with their examples."""
    files = [read(os.path.join(FOLDER, f"{family}.toml")) for family in FAMILIES]
    return tuple(rule for file in files for rule in file.rules)


def copy() -> bytes:
    """What `built_in.json` has to hold: the written rules without examples, one a line."""
    bare = (msgspec.structs.replace(rule, examples=(), negatives=()) for rule in written())
    return b"[\n" + b",\n".join(map(msgspec.json.encode, bare)) + b"\n]\n"


# --- user rules ---------------------------------------------------------------------------------


class UserRules:
    """Rule files of the user, gitleaks' own among them, checked by their examples when loaded."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        import regex  # type: ignore[import-untyped]

        self._regex: Any = regex
        self.rules: list[tuple[Rule, Any, Allowlist]] = []
        for path in paths:
            content = read(os.path.expanduser(path))
            for rule in content.rules:
                if rule.regex:
                    self.rules.append((rule, self._compile(rule, path), content.allowlist))
                    self._self_test(rule, path)

    def _compile(self, rule: Rule, path: str) -> Any:
        if rule.validator not in VALIDATORS:
            raise ValueError(f"{path}: rule {rule.id}: no validator {rule.validator!r}")
        try:
            pattern = rule.regex.replace(r"\z", r"\Z")
            return self._regex.compile(pattern, self._regex.I if rule.nocase else 0)
        except self._regex.error as error:
            raise ValueError(f"{path}: rule {rule.id}: {error}") from error

    def _self_test(self, rule: Rule, path: str) -> None:
        for example in rule.examples:
            if not self.spans(example, only=rule):
                raise ValueError(f"{path}: rule {rule.id} does not find its own example")
        for negative in rule.negatives:
            if self.spans(negative, only=rule):
                raise ValueError(f"{path}: rule {rule.id} finds its own negative")

    def spans(self, text: str, only: Rule | None = None) -> list[tuple[int, int, str, str]]:
        """Start, end, kind, rule id of everything the user's rules find. Raises TimeoutError."""
        lower = text.lower()
        found = []
        for rule, pattern, everywhere in self.rules:
            if only is not None and rule is not only:
                continue
            words = rule.literals or rule.keywords
            if words and not any(word.lower() in lower for word in words):
                continue
            for match in pattern.finditer(text, timeout=USER_TIMEOUT):
                pieces = rule.pieces(match)
                secret = text[pieces[0][0] : pieces[-1][1]]
                if not secret or not self._kept(rule, match.group(), secret, everywhere):
                    found += [(start, end, rule.name, rule.id) for start, end in pieces if secret]
        return found

    def _kept(self, rule: Rule, match: str, secret: str, everywhere: Allowlist) -> bool:
        if rule.entropy and entropy(secret) < rule.entropy:
            return True
        if not VALIDATORS[rule.validator](secret):
            return True
        return any(self._allowed(a, match, secret) for a in (*rule.allowlists, everywhere))

    def _allowed(self, allow: Allowlist, match: str, secret: str) -> bool:
        target = secret if allow.regex_target == "secret" else match
        tests = []
        if allow.regexes:
            tests.append(
                any(self._regex.search(r, target, timeout=USER_TIMEOUT) for r in allow.regexes)
            )
        if allow.stopwords:
            tests.append(secret.lower() in {word.lower() for word in allow.stopwords})
        return bool(tests) and (all(tests) if allow.condition == "AND" else any(tests))
