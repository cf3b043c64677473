"""The hook `redact`: secrets by their prefix, structure, name, command, header or sentence.

A text is looked at in several views (`views`). In each a literal gate says which rules can match
at all, an anchored, bounded match reads the secret, and a validator tells it from names,
references and examples.
"""

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from ijfw_hookspecs import Context, Span, hookimpl
from ijfw_plugins.redact_secrets import rules
from ijfw_plugins.redact_secrets.assign import assignments
from ijfw_plugins.redact_secrets.forms import Forms
from ijfw_plugins.redact_secrets.keywords import present
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.lists import lists
from ijfw_plugins.redact_secrets.literals import reader
from ijfw_plugins.redact_secrets.matching import Matcher
from ijfw_plugins.redact_secrets.printed import opened, printed
from ijfw_plugins.redact_secrets.structure import structures
from ijfw_plugins.redact_secrets.tables import tables
from ijfw_plugins.redact_secrets.views import all_views, encoded

_QUOTE = lazy(r'\\.|"', re.S)
_HALF_ESCAPE = lazy(r"\\u[0-9a-fA-F]{0,3}\Z")

SHORTEST = 6  # characters of a text; nothing that any rule matches is shorter

Piece = tuple[int, int, str, str]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of this plugin."""

    rules: tuple[str, ...] = ()  # rule files of the user: ours or gitleaks'
    disable: tuple[str, ...] = ()  # ids of rules that are switched off


@hookimpl
def redact(text: str, context: Context) -> Sequence[Span]:
    """The secrets in a text."""
    settings = context.settings if isinstance(context.settings, Config) else Config()
    pieces = find(text)
    if settings.disable:
        pieces = [piece for piece in pieces if piece[3] not in settings.disable]
    if settings.rules:
        pieces += user_rules(settings.rules).spans(text)
    return [Span(start=s, end=e, kind=kind, rule=rule) for s, e, kind, rule in pieces]


@cache
def user_rules(paths: tuple[str, ...]) -> rules.UserRules:
    """The user's rule files, read once a process."""
    return rules.UserRules(paths)


def find(text: str) -> list[Piece]:
    """Start, end, kind and rule of every secret in a text, in any of its views."""
    if len(text) < SHORTEST:
        return []
    found: list[Piece] = []
    for view, whole in all_views(text):
        forms = Forms(view.text)
        for start, end, kind, rule in scan(forms, whole):
            if view.parent is None:
                found.append((*_aligned(text, start, end), kind, rule))
            else:
                found.append((*view.source(start, end), kind, rule))
        for start, end, plain in encoded(forms) if whole else ():
            inner = scan(Forms(plain), True)
            if inner:
                found.append((*view.source(start, end), inner[0][2], inner[0][3]))
    return [part for piece in found for part in _inside_strings(text, piece)]


def scan(forms: Forms, whole: bool) -> list[Piece]:
    """The secrets of one view; names and values only, unless it is `whole`."""
    text, lower = forms.text, forms.lower
    way = reader(len(text))
    words = way.words(lower)
    found: list[Piece] = []
    names = present(text, lower, words)
    if names:
        found += [(s, e, kind, "name-value") for s, e, kind in assignments(text, lower, names)]
    if words:
        found += [(s, e, kind, "column") for s, e, kind in tables(text, lower, words)]
        found += [(s, e, kind, "list") for s, e, kind in lists(text, lower, words)]
    if not whole:
        return found
    if words:
        found += [(s, e, kind, "printed") for s, e, kind in printed(text, lower, words)]
        found += [(s, e, kind, "printed") for s, e, kind in opened(text, lower, words)]
    entries = way.entries(words, forms)
    if entries:
        matcher = Matcher(text, forms.flat, lower)
        for literal, wanted, _ in entries:
            for rule in wanted:
                found += [(s, e, rule.name, rule.id) for s, e in matcher.hits(rule, literal)]
    if words or forms.runs:
        found += [(s, e, kind, kind) for s, e, kind in structures(forms, words)]
    return found


def _aligned(text: str, start: int, end: int) -> tuple[int, int]:
    """A range that cuts no backslash escape in two, so that JSON stays JSON."""
    if _odd_slashes(text, start):
        start -= 1
    if _odd_slashes(text, end) and end < len(text):
        end += 1
    half = _HALF_ESCAPE.search(text, max(start, end - 5), end)
    if half and end < len(text):
        end = min(len(text), half.start() + 6)
    return start, end


def _inside_strings(text: str, piece: Piece) -> list[Piece]:
    """A piece that runs over the quotes of a JSON document, cut so that the document stays one."""
    start, end, kind, rule = piece
    if not any(match.group() == '"' for match in _QUOTE.finditer(text, start, end)):
        return [piece]
    low, high = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    for at, document in ((low, text[low : high if high >= 0 else len(text)]), (0, text)):
        if _is_json(document):
            quotes = [m.start() + at for m in _QUOTE.finditer(document) if m.group() == '"']
            strings = zip(quotes[::2], quotes[1::2], strict=False)
            cuts = [(max(start, first + 1), min(end, last)) for first, last in strings]
            return [(first, last, kind, rule) for first, last in cuts if first < last]
    return [piece]


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[", '"')):
        return False
    try:
        msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return False
    return True


def _odd_slashes(text: str, at: int) -> bool:
    low = at
    while low > 0 and text[low - 1] == "\\":
        low -= 1
    return (at - low) % 2 == 1
