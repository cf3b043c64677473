"""From text to terms: what the index stores and what a query asks for.

A term is a word without accents, lower case, stemmed where it is an English word; an identifier
gives itself and its parts. Stop words are no terms. Terms of a date begin with "@".
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from ijfw_core.text import CUT, tokens
from ijfw_hookspecs import Entry
from ijfw_plugins.search_bm25.forms import FORMS
from ijfw_plugins.search_bm25.stem import stem

MAX_CHARS = 64 << 10  # of one text; more says nothing about what the text is about
MAX_TERM = 64  # characters; a longer "word" is data

STOP_WORDS = """
    a about after again all also am an and any are as at be because been before being but by
    can can't could did didn't do does doesn't doing don't done for from get got had has have
    having he her here hers him his how i i'm if in into is isn't it it's its just let like me
    more most my no nor not of off on once only or other our ours out over own same she should
    so some such than that that's the their theirs them then there there's these they they're
    this those to too under until up us very was wasn't we we're were what what's when where
    which while who whom whose why will with won't would you your yours
"""
STOP = frozenset(STOP_WORDS.split())
ASKING_WORDS = """
    agree ask choose chose current currently decide decided decision exactly find happen happened
    kind know last latest like long look many mention much need new newest now old people please
    problem question recall recent recently remember rule said say see show tell thing time told
    type use used using want way work
"""
ASKING = frozenset(stem(FORMS.get(word, word)) for word in ASKING_WORDS.split())
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
          "october", "november", "december")  # fmt: skip
DATED = frozenset(stem(name[:n]) for name in MONTHS for n in (3, len(name)))
_MONTH = {name[:n]: at for at, name in enumerate(MONTHS, 1) for n in {3, len(name)}}
_ISO_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)(?:-(\d\d))?(?!\d)")
_YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d\d(?![\w-])")
_NAMED_DAY = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?({'|'.join(MONTHS)}|"
    rf"{'|'.join(m[:3] for m in MONTHS)})\b\.?(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?",
    re.I,
)
_DIGIT = re.compile(r"[0-9]")
_SHORT_MONTHS = tuple(name[:3] for name in MONTHS)
_AGO = re.compile(r"\b(\d{1,3}|a|an|one|two|three|four|five|six)\s+(day|week|month|year)s?\s+ago\b")
_LAST = re.compile(r"\b(?:last|this|past)\s+(week|month|year)\b")
_RUN = re.compile(r"[^\W_]+|[+#]+")
_NUMBER = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

# How much a word counts, by where it stands; a summary names the object of a memory.
SUMMARY, TAGS, CONTENT, REASON = 1.6, 1.2, 1.0, 0.5
ANSWERED = 2.0  # a word of the question that the entry before ends with: what is said is about it
LEAST_SHARE = 0.005  # of a question of stop words alone, such as "How was it?": not 0 in a byte
_LONGEST_QUESTION = 600  # characters
_LABEL = re.compile(r"[A-Z][\w'-]{0,30}(?: [A-Z][\w'-]{0,30})?: ")  # who speaks, or "Question: "
_SENTENCE_END = re.compile(r"[.!?…]\s|[。\n]")


class Doc(NamedTuple):
    """An entry as the index sees it."""

    weights: dict[str, float]  # term -> how often it stands there, weighted by field
    size: float  # sum of the weights, dates left out
    asks: tuple[str, ...]  # the terms of the question that it ends with
    share: float  # of its words that are in that question; some where it is one of stop words
    speaker: int  # mark of the name that it begins with ("Noor: Done."), 0 = of none


class Window(NamedTuple):
    """A span of time that a query names."""

    since: datetime
    until: datetime


@lru_cache(maxsize=1 << 15)
def _term(token: str) -> str:
    plain = token
    if not token.isascii():
        plain = unicodedata.normalize("NFKD", token)
        plain = "".join(c for c in plain if not unicodedata.combining(c))
        plain = unicodedata.normalize("NFKC", plain).casefold()
    if token in STOP or plain in STOP or len(plain) > MAX_TERM:
        return ""
    if plain.endswith(("'s", "’s")):
        plain = plain[:-2]
    return stem(FORMS.get(plain, plain))


def terms(text: str) -> list[str]:
    """The terms of a text in order, without dates."""
    return [term for token in tokens(text[:MAX_CHARS]) if (term := _term(token))]


@lru_cache(maxsize=1 << 12)
def word_terms(word: str) -> tuple[str, ...]:
    """The terms of one word of a query; people ask with the same words again."""
    return tuple(terms(word))


def doc(entry: Entry) -> Doc:
    """The weighted terms of an entry."""
    weights: dict[str, float] = {}
    facts = " ".join(" ".join(fact) for fact in entry.facts)
    # A content that begins with the summary must not count it twice.
    content, summary = entry.content, SUMMARY
    if content and content.startswith(entry.summary.removesuffix(CUT)):
        summary -= CONTENT
    for weight, text in (
        (summary, entry.summary),
        (TAGS, " ".join(tag for tag in entry.tags if tag != "auto-memorize")),
        (CONTENT, content),
        (CONTENT, facts),
        (REASON, entry.why),
        (REASON, entry.how_to_apply),
    ):
        for term in terms(text) if text else ():
            weights[term] = weights.get(term, 0.0) + weight
    size = sum(weights.values())
    for term in stamps(entry.stored):
        weights[term] = 1.0
    text = content or entry.summary
    label = _LABEL.match(text)
    asked = question(text)
    asks = terms(asked)
    share = len(asks) / max(len(terms(text[label.end() :] if label else text)), 1)
    named = terms(label[0])[:1] if label else ()
    share = max(min(share, 1.0), LEAST_SHARE) if asked else 0.0
    return Doc(weights, size, tuple(asks), share, mark(named[0]) if named else 0)


def mark(term: str) -> int:
    """A number of 1..65535 for a term, for what need not know terms apart for certain."""
    return crc32(term.encode("utf-8", "surrogatepass")) & 0xFFFF or 1


def answer(found: Doc, asked: Iterable[str]) -> dict[str, float]:
    """The weights of an entry's terms and of those of the question that it answers."""
    weights = dict(found.weights)
    for term in asked:
        weights[term] = weights.get(term, 0.0) + ANSWERED
    return weights


def question(text: str) -> str:
    """The last sentence of a text where it is a question, without who asks; "" where it is none.

    Marks behind it, such as `[Image #1]`, quotes and emoji are passed over.

    >>> question("Noor: All done. Which port shall it have? [Image #1]")
    'Which port shall it have'
    """
    last = unicodedata.normalize("NFKC", text[-_LONGEST_QUESTION:]).rstrip()
    while last.endswith("]") and "[" in last:
        last = last[: last.rfind("[")].rstrip()
    while last and not (last[-1].isalnum() or last[-1] in "?.!`"):
        last = last[:-1]
    if not last.endswith("?"):
        return ""
    last = _SENTENCE_END.split(last.rstrip("?!"))[-1].strip()
    return _LABEL.sub("", last, count=1)


def stamps(moment: datetime) -> list[str]:
    """The terms of a time: its month, its day in the month, its day; the year alone says little."""
    return [f"@m{moment.month}", f"@{moment.year}-{moment.month:02}", f"@{moment:%m-%d}"]


def dates(text: str) -> list[str]:
    """The terms of the dates that a query names."""
    found: list[str] = []
    lowered = text.lower()
    if not _DIGIT.search(lowered) and not any(name in lowered for name in _SHORT_MONTHS):
        return found
    years = _YEAR.findall(lowered)
    for year, month, day in _ISO_DAY.findall(lowered):
        found += [f"@{year}-{month}", f"@m{int(month)}"]
        found += [f"@{month}-{day}"] if day else []
    for first, name, last in _NAMED_DAY.findall(text):
        if name.lower() in ("may", "mar") and not (first or last or years or name[0].isupper()):
            continue  # a modal verb
        month = _MONTH[name.lower()]
        found.append(f"@m{month}")
        found += [f"@{year}-{month:02}" for year in years]
        day = first or last
        if day and 1 <= int(day) <= 31:
            found.append(f"@{month:02}-{int(day):02}")
    return list(dict.fromkeys(found))


def window(text: str, now: datetime) -> Window | None:
    """The span that "yesterday", "last week" or "three days ago" names; None where there is none.

    Spans are generous: people do not count days.
    """
    lowered = text.lower()
    day = timedelta(days=1)
    if "yesterday" in lowered:
        return Window(now - 2 * day, now)
    if "today" in lowered:
        return Window(now - day, now + day)
    ago = _AGO.search(lowered)
    if ago:
        count = _NUMBER.get(ago[1]) or int(ago[1])
        unit = _DAYS[ago[2]] * day
        try:
            return Window(now - count * unit - unit, now - count * unit + unit)
        except OverflowError:
            return None
    last = _LAST.search(lowered)
    if last:
        return Window(now - 2 * _DAYS[last[1]] * day, now)
    return None


def plain_words(text: str) -> list[str]:
    """The words of a text in order, whole, lower case, without accents and stop words kept."""
    text = unicodedata.normalize("NFKD", text[:MAX_CHARS])
    text = "".join(c for c in text if not unicodedata.combining(c))
    return _RUN.findall(unicodedata.normalize("NFKC", text).casefold())
