"""One form for what is written in several: spelling, compounds, numbers, units, phrases."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from ijfw_core.compare.tables import counters, units_of, words

_NUMBER = re.compile(r"v?(\d[\d.,:]*)([a-z%]*)\Z")
_TIMES = ("s", "sec", "second", "min", "minute", "h", "hour", "day", "week", "month", "year")
_SPLITS = (
    re.compile(r"(\d{1,2}(?::\d\d)?)(am|pm)\Z"),  # "3am"
    re.compile(rf"(\d[\d.,]{{0,8}}k?|[a-z]{{2,20}})/({'|'.join(_TIMES)})\Z"),  # "20/min"
    re.compile(r"(\d[\d.,]{0,8}|[a-z]{3,6})-([a-z]{1,12})\Z"),  # "30-second", "two-week"
)
_MAGNITUDES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
# In front of a number, "more than" and "above" are "over".
_THAN = {
    "below": "under",
    "above": "over",
    "less": "under",
    "fewer": "under",
    "more": "over",
    "greater": "over",
}
_SHORT = {"'re": "are", "'ll": "will", "'ve": "have", "'m": "am"}
_BRITISH = (
    (re.compile(r"(?<=[a-z]{3})our(?=(?:s|ed|ing|al|able|ite|ful|less|y|ally)?\Z)"), "or"),
    (re.compile(r"(?<=[a-z]{3})is(?=(?:e|es|ed|er|ers|ing|ation|ations|able)\Z)"), "iz"),
    (re.compile(r"(?<=[a-z]{3})ys(?=(?:e|es|ed|er|ers|ing)\Z)"), "yz"),
    (re.compile(r"(?<=[a-z]{3})ogue(?=s?\Z)"), "og"),
    (re.compile(r"(?<=[a-z]{3}[aeiou])ll(?=(?:ed|er|ers|ing)\Z)"), "l"),
)
_BRITISH_PARTS = ("our", "is", "ys", "ogue", "ll")  # of which each pattern needs one
# Not from Greek: "promise" and "advise" have no form in z.
_NATIVE = re.compile(
    r"(?:adv|rev|dev|superv|comprom|exerc|surpr|prom|prec|conc|prem|expert|advert|other|like"
    r"|enterpr|franch|disgu|improv|telev|desp|compr|pra|appra|upra|no|ra)w?is"
)
BRITISH_FROM = 6  # letters


def formed(tokens: list[str]) -> tuple[list[str], list[str]]:
    """The tokens of a note with phrases and large numbers in one form; and all in lower case."""
    table = _table()
    lower = [token.lower() for token in tokens]
    if "\n" in lower:
        tokens = _unwrapped(tokens, lower)
        lower = [token.lower() for token in tokens]
    if table.gates.isdisjoint(lower):
        return tokens, lower
    found: list[str] = []
    place = 0
    while place < len(tokens):
        taken = _phrase(lower, place, found) if lower[place] in table.leads else None
        if taken is None:
            found.append(tokens[place])
            place += 1
        else:
            found += taken[0]
            place += taken[1]
    return found, [token.lower() for token in found]


def _unwrapped(tokens: list[str], lower: list[str]) -> list[str]:
    """The tokens without line breaks behind a number or what counts: a wrapped line."""
    counting = words()["numbers"].keys() | {"per", "a", "an", "one"}
    pairs = zip(tokens, ["", *lower], strict=False)
    return [
        token
        for token, last in pairs
        if token != "\n" or not (last[:1].isdecimal() or last in counting)
    ]


class _Table:
    """Phrases by their first word."""

    def __init__(self) -> None:
        self.phrases: dict[str, list[tuple[list[str], list[str]]]] = {}
        for phrase, form in words()["phrases"].items():
            first, *rest = phrase.split()
            self.phrases.setdefault(first, []).append((rest, form.split()))
        single = frozenset({"one", "once", "all", "per", "after", *_MAGNITUDES, *_THAN})
        self.leads = single | self.phrases.keys()
        # The longest word of each phrase: most notes have none of these.
        self.gates = single | {max(phrase.split(), key=len) for phrase in words()["phrases"]}


@cache
def _table() -> _Table:
    return _Table()


def _phrase(lower: Sequence[str], place: int, before: list[str]) -> tuple[list[str], int] | None:
    """The form of the phrase that begins at a place, and of how many tokens it is."""
    word = lower[place]
    after = lower[place + 1] if place + 1 < len(lower) else ""
    last = before[-1].lower() if before else ""
    if word in _MAGNITUDES:
        return _large(word, last, before)
    if word == "per" and after in units_of():
        return ["per", units_of()[after]], 2
    if word == "one":
        counted = after.isalpha() and after not in words()["stop"]
        return (["1"], 1) if counted and last not in words()["pointing"] else None
    if word == "after":
        ended = place + 2 >= len(lower) or lower[place + 2] in ".,;!?)"
        return (["afterwards"], 2) if ended and after in ("it", "that", "this", "them") else None
    if word == "once":
        unit = lower[place + 2] if place + 2 < len(lower) else ""
        often = after in ("a", "an", "per", "every") and unit in units_of()
        return (["1"], 1) if often else None
    if word in _THAN:
        size = 1 + (after in ("than", "then"))
        number = lower[place + size] if place + size < len(lower) else ""
        bare = (after in ("than", "then")) == (word not in ("below", "above"))
        return ([_THAN[word]], size) if bare and number[:1].isdecimal() else None
    if word == "all":
        return _each(lower, place, last)
    for rest, form in _table().phrases.get(word, ()):
        if lower[place + 1 : place + 1 + len(rest)] != rest:
            continue
        if form == ["must"] and last in words()["negators"]:
            return None  # what one does not have to do is not what one must not
        return form, 1 + len(rest)
    return None


def _each(lower: Sequence[str], place: int, last: str) -> tuple[list[str], int] | None:
    """ "every" for "all", "all the" and "all of the" in front of a noun."""
    table, size = words(), 1
    while lower[place + size : place + size + 1] in (["of"], ["the"]):
        size += 1
    noun = lower[place + size] if place + size < len(lower) else ""
    each = (
        noun.isalpha()
        and noun not in table["stop"]
        and (last == "that" or last not in table["pointing"])
    )
    return (["every"], size) if each and table["collective"].isdisjoint(lower) else None


def _large(word: str, last: str, before: list[str]) -> tuple[list[str], int] | None:
    """A number with "thousand" behind it, of which the first part is taken back."""
    number = "1" if last in ("a", "an") else words()["numbers"].get(last, last).replace(",", "")
    if not number.isdecimal() or len(number) > 9:
        return None
    before.pop()
    return [str(int(number) * _MAGNITUDES[word])], 1


def parts_of(token: str) -> tuple[str, ...]:
    """A token as words: "case-insensitive" and "isn't" are two words, to meet "case sensitive"
    and "is not"; so is "n'accepte", to meet "accepte", and "30-second", to meet "30 s"."""
    lower = token.lower()
    if token.isalpha():
        verb = words()["contractions"].get(lower)
        return (verb, "not") if verb else (token,)
    if "'" in token:
        if token[1:2] == "'" and token[0] in "nldNLD" and len(token) > 4:
            return (token[2:],)
        head, quote, tail = token.rpartition("'")
        verb = _SHORT.get((quote + tail).lower())
        if verb and head:
            return (head, verb)
    verb = words()["contractions"].get(lower.replace("'", ""))
    if verb:
        return (verb, "not")
    counted = _counted(lower)
    if counted:
        return counted
    if token.isupper() and len(token) == 2 * token.count(".") + 1 > 1:
        return (token.replace(".", ""),)  # "U.S" is "US"
    head, dash, tail = token.rpartition("-")
    if not dash or not head.isalpha():
        return (token,)
    if base_of(tail.lower()):
        return (head, tail)
    table = words()
    joined = tail.isalpha() and (head.lower() in table["heads"] or tail.lower() in table["tails"])
    return (head + tail.lower(),) if joined else (token,)


# With the fewest letters that are left: "design" denies nothing.
_PREFIXES = {"un": 4, "in": 4, "dis": 4, "non": 4, "im": 4, "ir": 4, "des": 5, "de": 6}


def base_of(text: str) -> str:
    """The word without a prefix that denies it: "supported" of "unsupported"; "" without one."""
    for prefix, least in _PREFIXES.items():
        rest = text.removeprefix(prefix).lstrip("-")
        if rest != text and len(rest) >= least:
            return rest
    return ""


def _counted(lower: str) -> tuple[str, ...]:
    """A number glued to what it counts, taken apart; () for another token."""
    for pattern in _SPLITS:
        found = pattern.match(lower)
        if not found:
            continue
        head, tail = found[1], found[2]
        if "/" in lower:
            return head, "per", tail
        numeral = head[0].isdecimal() or head in words()["numbers"]
        if tail in ("am", "pm") or (numeral and tail.isalpha()):
            return head, tail
    return ()


@lru_cache(maxsize=1 << 13)
def american(word: str, *, name: bool = False) -> str:
    """A word of `BRITISH_FROM` letters or more in American spelling; symmetrical, so that a word
    which has but one spelling may change, too. A name keeps its "ll"."""
    if len(word) < BRITISH_FROM or not any(part in word for part in _BRITISH_PARTS):
        return word
    if _NATIVE.match(word):
        return word
    for pattern, form in _BRITISH[: -1 if name else None]:
        word = pattern.sub(form, word)
    return word


def number_of(lower: str, following: str) -> tuple[str, str]:
    """The value and the unit of a word, by what follows it; both "" where it is no number."""
    digit = lower[0] == "v" or lower[0].isdecimal()
    match = _NUMBER.match(lower) if digit else None
    if match and (not match.group(2) or match.group(2) in units_of() or match.group(2) == "k"):
        value = match.group(1).replace(",", ".").rstrip(".:")
        if match.group(2) == "k":
            value = _in_full(value)
        elif ":" in value and value[0] == "0":
            value = value[1:]  # 03:00 is 3:00
        return value, counters().get(match.group(2) or following, "")
    value = words()["numbers"].get(lower, "")
    one = lower in ("one", "a", "an") and len(following) > 2
    if not value and one and following in counters():
        value = "1"
    return value, counters().get(following, "") if value else ""


def _in_full(value: str) -> str:
    """So many thousands."""
    whole, _, part = value.partition(".")
    return str(int(whole + f"{part:0<3}")) if whole.isdecimal() and len(part) <= 3 else value + "k"


_LAST = frozenset("degnly")  # letters of the suffixes
_SUFFIXES = ("ability", "ation", "able", "ible", "ally", "ing", "ed", "ly", "ion", "al")


def stem_of(word: str) -> str:
    """A crude stem, for overlap only."""
    if "-" in word and word.replace("-", "").isalpha():
        return "-".join(map(stem_of, word.split("-")))
    if not word.isascii() or not word.isalpha():
        return word
    for suffix in _SUFFIXES if word[-1:] in _LAST else ():
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith(("e", "y")) else word
