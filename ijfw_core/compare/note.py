"""A note taken apart: its words in order, its content, its numbers, and what it denies."""

import re
import unicodedata
from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ijfw_core.compare.asides import parted
from ijfw_core.compare.forms import BRITISH_FROM, american, formed, number_of, parts_of, stem_of
from ijfw_core.compare.lazily import cached_property
from ijfw_core.compare.little import strict
from ijfw_core.compare.markup import readable
from ijfw_core.compare.scripts import written
from ijfw_core.compare.stamps import unstamped
from ijfw_core.compare.tables import (
    counters,
    label_pattern,
    phrase_leads,
    singular,
    turning_words,
    unit_names,
    units_of,
    variants,
    words,
)
from ijfw_core.compare.word import POINT_WORDS, POINTS, Word
from ijfw_core.text import strip_redactions

MAX_CHARS = 6000  # of a note that are compared: a summary, 4 KB of content and some room

_TOKEN = re.compile(
    r"[A-Za-z]+(?=[ ,;\n])"  # what the third line finds too, and much of most texts
    r"|ません|ない|なく"  # denials of Japanese
    r"|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"  # one CJK character
    r"|(?:--?|[.~^/#@]{1,3})?[^\W_](?:\w|[.:/@+'’#-](?=\w))*(?:[+#]{1,2}|%)?"
    r"|(?:(?<=[\w)%:(] )|(?<=\()|(?<![\s\S]))(?:[<>]=?|!=|==|[≤≥])(?= ?[\w$.-])"
    r"|(?<=\w)[<>]=?(?=\d)|[$€£¥](?![A-Za-z_{(])"
    r"|[,;.!?():=\n—–]|->|=>"
)
_MARK = re.compile('[*`"“”«»_]')
# The underscores of "app/__main__.py" are none.
_MARKS = re.compile(r"[*`\"“”«»]+|(?<![^\W_])(?<!\w/)(?<!/_)_+|_+(?!\w|(?<=__)\.[a-z])")
_SPACES = re.compile(" {2,}")
_CODE = re.compile(r"(`{1,3})([^`\n]{1,200})\1")
_CODE_WORD = re.compile(r"\w+")
_HYPHEN = re.compile(r"(?<=[a-z0-9])-(?=[a-z])")


class Part(NamedTuple):
    """A stretch of a note that says or denies one thing."""

    stems: frozenset[str]
    denied: bool


_NO_WORDS: frozenset[str] = frozenset()


class Note:
    """A note for comparison. Linear in the text, of which at most `MAX_CHARS` count."""

    def __init__(self, text: str) -> None:
        text = unicodedata.normalize("NFKC", strip_redactions(text[:MAX_CHARS])).strip()
        text = written(readable(text.replace("’", "'").replace("‘", "'")))
        text, self.stamp = unstamped(text, label_pattern())
        self._parted = parted(text)
        self.spans = _spans(text) if "`" in text else _NO_WORDS
        self.code = _code(self.spans) if self.spans else _NO_WORDS
        if _MARK.search(text):
            text = _SPACES.sub(" ", _MARKS.sub(" ", text)).strip(" ")
        tokens = [
            word
            for token in _TOKEN.findall(text)
            for word in (_known_parts(token) if len(token) <= _ORDINARY else (token,))
        ]
        self.words = _words(*formed(tokens))

    @cached_property
    def bare(self) -> "Note":
        """The note without its asides."""
        if self._parted is None:
            return self
        found = Note(self._parted.text).bare
        found.stamp = found.stamp or self.stamp
        return found

    @cached_property
    def asides(self) -> dict[str, set[str]]:
        """What it says beside its content, by sort."""
        found: dict[str, set[str]] = {}
        note: Note = self
        while note._parted is not None:
            sort, text = note._parted.aside
            found.setdefault(sort, set()).add(text)
            note = Note(note._parted.text)
        return found

    @cached_property
    def plain(self) -> list[Word]:
        """The words without punctuation."""
        return [word for word in self.words if word.text not in POINTS]

    @cached_property
    def strict(self) -> list[Word]:
        """The words that count where two notes should be the same, one for all that mean it."""
        return strict(self.plain, self.texts)

    @cached_property
    def joined(self) -> str:
        """Its words as written, where "read-only" is "read only"."""
        text = " ".join([word.raw or word.text for word in self.plain])
        return _HYPHEN.sub(" ", text) if "-" in text else text

    @cached_property
    def strict_texts(self) -> list[str]:
        """The texts of the strict words."""
        return [word.text for word in self.strict]

    @cached_property
    def tight(self) -> str:
        """The strict words without spaces: "file names" and "filenames" are one here."""
        text = self.spelled.replace(" ", "")
        return _HYPHEN.sub("", text) if "-" in text else text

    @cached_property
    def apart(self) -> list[str]:
        """The strict words that are no part of a compound: "not able" is not "notable"."""
        table = words()
        whole = table["negators"] | table["limits"] | table["cues"]
        return [t for t in self.strict_texts if t in whole or not t.replace("-", "").isalpha()]

    @cached_property
    def sounds(self) -> str:
        """Its words, with one for all that sound alike."""
        alike = words()["homophones"]
        text = " ".join([alike.get(word.raw, word.text) for word in self.plain])
        return text.replace("you are ", "your ").replace("they are ", "there ")

    @cached_property
    def owners(self) -> frozenset[str]:
        """Whose things it speaks of: "my", "their"."""
        return frozenset([word.raw for word in self.plain if word.raw in words()["owners"]])

    @cached_property
    def fused(self) -> frozenset[str]:
        """Its hyphened words in one: "acme-assets" is "acme assets", and is not "acmeassets"."""
        return frozenset([text.replace("-", "") for text in self.texts if "-" in text])

    @cached_property
    def core(self) -> list[str]:
        """The words that make its meaning, in order: content, denials, and what binds it."""
        kept, tie = turning_words(), words()["tie"]
        return [
            w.text
            for w in self.plain
            if w.number or w.text in kept or (w.stem and w.text not in tie)
        ] + self.rates

    @cached_property
    def core_words(self) -> frozenset[str]:
        """The words of its core that cannot be units of a rate: a note of this core has them."""
        return frozenset(self.core) - unit_names()

    @cached_property
    def rates(self) -> list[str]:
        """The units without a number: of "100 per minute", "every hour" and "in seconds"."""
        pairs = pairwise(self.plain)
        return [units_of()[w.raw] for lead, w in pairs if w.raw in units_of() and not lead.number]

    @cached_property
    def per(self) -> frozenset[str]:
        """For each of what something is counted: "user" of "5 GB per user"."""
        pairs = pairwise(self.plain)
        return frozenset([w.text for lead, w in pairs if lead.text == "per"])

    @cached_property
    def lead(self) -> str:
        """Its first word of content, "" where it has none."""
        return next((word.stem for word in self.plain if word.stem), "")

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content, numbers left out."""
        return frozenset([w.stem for w in self.plain if w.stem and not w.number])

    @cached_property
    def all_stems(self) -> frozenset[str]:
        """Its content with the numbers."""
        return frozenset([w.stem for w in self.plain if w.stem])

    @cached_property
    def texts(self) -> frozenset[str]:
        """Every word."""
        return frozenset([word.text for word in self.plain])

    @cached_property
    def parts(self) -> list[Part]:
        """What it says and what it denies, in order."""
        return [part for part in _parts(self.words) if part.stems]

    @cached_property
    def clauses(self) -> list[list[Word]]:
        """The words of each sentence or half of one, without punctuation."""
        found: list[list[Word]] = [[]]
        for word in self.words:
            if word.text in ";.!?\n" and found[-1]:
                found.append([])
            elif word.text not in POINTS:
                found[-1].append(word)
        return [clause for clause in found if clause]

    @cached_property
    def spelled(self) -> str:
        """The strict words as one text."""
        return " ".join(self.strict_texts)

    @cached_property
    def shingles(self) -> frozenset[str]:
        """Runs of five characters of its content."""
        text = self.spelled
        return frozenset([text[i : i + 5] for i in range(max(len(text) - 4, 1))])

    @cached_property
    def fours(self) -> set[int]:
        """Runs of four bytes of its content, as numbers."""
        return runs_of_four(self.spelled.encode("utf-8", "surrogatepass"))

    @cached_property
    def half(self) -> set[int]:
        """Every second of these runs."""
        data = self.spelled.encode("utf-8", "surrogatepass")
        starts = [array("I", data[at : len(data) - (len(data) - at) % 4]) for at in (0, 2)]
        return set[int]().union(*starts)


def runs_of_four(data: bytes) -> set[int]:
    """Every run of four bytes, as a number."""
    starts = [array("I", data[at : len(data) - (len(data) - at) % 4]) for at in range(4)]
    return set[int]().union(*starts)


def _spans(text: str) -> frozenset[str]:
    """What stands between backticks, as written."""
    return frozenset([" ".join(code.split()) for _, code in _CODE.findall(text)])


def _code(spans: Iterable[str]) -> frozenset[str]:
    """The words of code."""
    return frozenset(_CODE_WORD.findall(" ".join(spans).lower()))


_known_parts = lru_cache(maxsize=1 << 14)(parts_of)


_ONE = ("a", "an")


def _words(tokens: list[str], lower: list[str]) -> list[Word]:
    units = counters()
    found: list[Word] = []
    first = True
    unit = False  # of the number in front, and part of it: "25 MB" is "25MB"
    following = [*lower[1:], ""]
    for token, after in zip(tokens, following, strict=False):
        if token in POINTS:
            first = first or token in ".!?\n:;"
            found.append(POINT_WORDS[token])
            continue
        if unit:
            unit = False
            continue
        make = _known_word if len(token) <= _ORDINARY else _word
        if after in units and token.lower() in _ONE and any(w.number for w in found[-2:]):
            # "20 requests a minute" is "20 requests per min"
            found += [_known_word("per", "", first), _known_word(units[after], "", False)]
            unit = True
        elif after in units:
            found.append(make(token, after, first))
            unit = found[-1].unit == units[after]
        else:
            found.append(make(token, "", first))
        first = False
    return found


_NO_LITTLE_WORDS = {"May": "may-month", "US": "usa"}  # the month, the country


def _word(token: str, following: str, first: bool) -> Word:
    """A word as it is compared; of what follows it, only a unit counts."""
    lower = token.lower()
    value, unit = number_of(lower, following)
    if value:
        return Word(value + unit, value + unit, False, first, value, unit)
    if token in _NO_LITTLE_WORDS and not (first and token == "May"):
        lower = _NO_LITTLE_WORDS[token]
    name = _is_name(token, first)
    exact = name and any(c in "._/:@#" or c.isdigit() for c in token)  # MAX_CONN is no MAX_CONNS
    bare = lower.removesuffix("'s")
    text = variants().get(lower, "") or (bare if exact else singular(bare))
    text = variants().get(text, text)
    if not exact and len(text) >= BRITISH_FROM:
        text = american(text, name=name and not token.isupper())
        text = variants().get(text, text)
    table = words()
    empty = text in table["stop"] or lower in table["stop"] or lower in units_of()
    stem = "" if empty or lower in table["negators"] else stem_of(text)
    return Word(text, stem, name, first and token[0].isupper(), "", "", lower)


_ORDINARY = 64  # characters; a longer "word" is data, and is not kept
_known_word = lru_cache(maxsize=1 << 14)(_word)  # notes of one project use the same words


def _is_name(token: str, first: bool) -> bool:
    """Whether it is written like a name: a capital inside, digits, or the points of a path."""
    body = token[1:] if first else token
    if token.isascii() and token.isalpha():
        return body != body.lower()
    if not token.isascii() and not any(c.isupper() for c in token):
        return False
    if any(c.isupper() for c in body) or any(c.isdigit() for c in token):
        return True
    return any(c in "./:@#_" for c in token.rstrip("."))


_SPLITS = frozenset({"and", "but", "because", "so", "since", "or"})
_AGAINST = frozenset({"over", "than"})
_IFS = frozenset({"if", "when", "unless", "whether", "while"})


def _parts(found: list[Word]) -> Iterable[Part]:
    """Cut at punctuation, conjunctions and at what turns to the thing that is not meant.

    What stands behind an "if" says and denies nothing: it is left out.
    """
    table, leads = words(), phrase_leads()
    pairs = zip(found, [*found[1:], None], strict=True)
    last = ""
    stems: list[str] = []
    denied = supposed = preferred = False
    for word, after in pairs:
        text = word.text
        phrase = f"{text} {after.text}" if after and text in leads else ""
        turns = (phrase and phrase in table["turns"]) or (
            (text in _AGAINST or (preferred and text == "to")) and stems and not denied
        )
        preferred = preferred or text.startswith("prefer")
        if text in POINTS or text in _SPLITS or text in _IFS or turns:
            if not supposed:
                yield Part(frozenset(stems), denied)
            supposed = text in _IFS or (supposed and text in _SPLITS)
            stems, denied = [], bool(turns)
        elif phrase == "out of" or (
            text in table["negators"]
            and not (word.name and text == "none")
            and (text != "against" or last in table["opposing"])
        ):
            denied = not denied
        elif word.stem:
            stems.append(word.stem)
        last = text
    if not supposed:
        yield Part(frozenset(stems), denied)
