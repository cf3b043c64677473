"""What a note says beside its content: its topic, who said it, a ticket, a tag, a month.

An aside in one note alone leaves the two the same; different asides of one sort tell them apart.
So nothing is dropped here for good: the comparison asks for the note with it, then without.
"""

import re
from functools import cache
from typing import NamedTuple

from ijfw_core.compare.forms import stem_of
from ijfw_core.compare.tables import singular, words

HEAD = 80  # characters in which an aside in front of a note ends
TAIL = 100  # and in which one behind it begins
_WHO = (
    r"(?:(?:the |our )?(?:user|team|customer|maintainers?|reviewers?|code review|review|retro"
    r"|stand-?up|meeting)|@[\w.-]{1,30}|(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b)"
    r"(?-i:[A-Z][a-z]{1,15}(?: [A-Z][a-z]{1,15})?))"
)
_SAID = (
    r"(?:requested|asked|confirmed|reported|suggested|mentioned|approved|decided|told|said|noted)"
)
_SAYS = (
    r"(?:said|says|told (?:us|me)|mentioned|confirmed|noted|asked|reported|explained|stressed"
    r"|insists|insisted|pointed out|reminded (?:us|me))"
)
# "The user said that they want" is "the user wants".
_WISHES = r"(?:they|he|she) (?=want|prefer|like|need|would)"
# Standards and encodings are written like tickets.
_TICKET = (
    r"(?:#\d{1,7}|(?!(?:UTF|SHA|ISO|RFC|CVE|AES|RSA|TLS|PEP|GPT|HTTP|DIN|IEEE|UTC|GMT|CRC|ARM|WIN"
    r"|BASE|INT|ES|PY|MD|MP|H|X)-)(?-i:[A-Z][A-Z0-9]{1,9})-\d{1,7}"
    # What a store of notes numbers; "node-18" is what a note is about.
    r"|(?:mem|memory|note|entry|fact|item|record|lesson|obs|observation|id|kb)[-_#]?\d{1,7})"
)
_WHEN = (
    r"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? 20\d\d|20\d\d-\d\d"
    r"|20\d{6}|Q[1-4] 20\d\d|20\d\d[ -]?[WQ]\d{1,2})"
)
_TALK = (
    r"(?:chat|conversation|session|review|code review|retro|stand-?up|meeting|call|interview"
    r"|transcript|thread|slack|e-?mail)"
)
# What is learned from; a database or a queue may be where the thing itself comes from.
_NOTED = (
    rf"(?:{_TALK}|notes?|wiki|docs|documentation|reading|channel|discussion|comments?|mail|workshop"
    r"|kick-?off|post-?mortem|investigation|debugging|analysis|planning|onboarding|handbook|manual)"
)
_FROM = (
    r"(?:source|src|origin|from|see(?: also)?|refs?|reference|cf\.?|via|per|according to"
    r"|(?:details|more|documented|described) in)"
)
_PAGE = (
    r"https?://[^\s()\[\]]*(?:wiki|doc|handbook|guide|blog|issue|pull|git(?:hub|lab)|notion|jira)[^\s()\[\]]*|(?:[\w.-]+/)*[\w.-]+\.(?:md|rst|txt|adoc|pdf|html?)(?:#[\w-]+)?"
    r"|(?:the )?(?:readme|contributing|changelog|adr[- ]?\d+|wiki|handbook|docs|style guide)"
)
_LIMITED = r"(?![^()\[\]]*\b(?:only|not|except|unless|until|never|if|without)\b)"
_DAY = r"20\d\d-\d\d-\d\d"
_HEADS = (
    ("ticket", rf"(?:\[({_TICKET})\]:?|\(({_TICKET})\):?|({_TICKET}):)\s+"),
    ("ticket", r"(#\d{1,7})\s+(?=(?-i:[A-Z`]))"),
    ("when", rf"(?:[\[(]({_WHEN}|\d\d?:\d\d(?::\d\d)?)[\])]\s*[:–—-]?|({_WHEN})\s*[:–—-])\s+"),
    ("when", r"((?:session|sprint|day|week|turn) #?\d{1,4})\s*[:–—-]\s+"),
    ("place", r"((?:in|for) (?:this|our) (?:repo|repository|project|codebase|code base)),?\s+"),
    ("who", rf"(?:the )?({_WHO}) {_SAYS} (?:that (?:{_WISHES})?|{_WISHES})"),
    ("who", rf"(?:according to|(?:as )?per|as (?:told|said|requested) by) ({_WHO}),\s+"),
    ("who", r"(?:the )?(user|agent|assistant|human|bot|reviewer)\s*:\s+"),
)  # fmt: skip
_TAILS = (
    ("ticket", rf"(?:(?:see|ref|refs|cf|fixes|closes|issue|ticket|pr|mr|bug):? )*({_TICKET})"),
    ("who", rf"(?:(?:as )?per|according to|{_SAID} by|agreed with|source:|cc|thanks to) ({_WHO})"),
    (
        "source",
        r"(?:source|src|origin|from)\s*[:=]\s*"
        rf"((?:the )?{_TALK}(?: #?(?=[a-z]{{0,4}}\d)[\w-]{{1,12}})?)(?:,? {_DAY})?",
    ),
    (
        "source",
        rf"{_FROM}\s*[:=]\s*{_LIMITED}((?:[\w'-]+ ){{0,3}}{_NOTED}(?: page| entry)?"
        r" (?:with|of|on|in|about|by|from|between) [^()\[\]]{2,50})",
    ),
    ("source", rf"{_FROM}\s*[:=]?\s*({_PAGE})"),
    ("source", rf"according to\s*:\s*{_LIMITED}((?:the|our) [a-z]+(?: [a-z]+){{0,2}})"),
    ("source", rf"({_TALK},? (?:(?:of|on|from) )?{_DAY})"),
    ("state", r"(confidence:? (?:high|medium|low|[01]?\.\d{1,2}|\d{1,3}%))"),
    ("who", r"(@[\w.-]{1,30})"),
    ("who", r"(?:from|in) (?:the )?(user|team|code review|review|retro|stand-?up)|(code review)"),
    ("who", r"(?:the )?(user|team)(?:'s)? (?:preference|request|decision|wish|feedback)"),
    ("state", r"(confirmed|verified|agreed|important|reminder)"),
    ("when", rf"(?:(?:as of|updated|noted|added|decided) )?({_WHEN})"),
)  # in brackets
_SPOKEN = (" that ", " they ", " he ", " she ")
_STARTS = ("in t", "in o", "for ", "acco", "per ", "as p", "as t", "as s", "as r")
_AIMS = ("to", "in", "on", "at", "from", "of", "for", "the", "a", "our", "and", "or", "channel")
_HASHTAG = re.compile(r"\s+#([A-Za-z][\w/-]{0,30})\s*\Z")
_LABEL = re.compile(
    r"[*_]{0,3}([A-Za-z][A-Za-z0-9 /&'-]{1,39}?)[*_]{0,3}\s*(?::[*_]{0,3}(?=\s)|\n)\s*"
)
_LINK = re.compile(r"\[([^\[\]\n]{1,120})\]\(([^()\s]{1,300})\)")
_WORD = re.compile(r"[A-Za-z0-9][\w'-]*")


class Parted(NamedTuple):
    """A note without an aside, and what the aside is: (sort, text)."""

    text: str
    aside: tuple[str, str]


@cache
def _topics() -> frozenset[str]:
    return frozenset(words()["topics"] + words()["areas"])


@cache
def _heads() -> list[tuple[str, re.Pattern[str]]]:
    topic = "|".join(map(re.escape, sorted(_topics(), key=len, reverse=True)))
    named = (
        rf"[*_ ]*(?:[\[(]({topic})[\])][*_]{{0,3}}:?"
        rf"|({topic})[*_]{{0,3}}\s*(?::[*_]{{0,3}}|\s[–—-])"
        rf"|({topic})[*_]{{0,3}}\s*\n|#({topic})(?=\s))\s*"
    )
    return [
        (sort, re.compile(pattern, re.IGNORECASE)) for sort, pattern in (*_HEADS, ("topic", named))
    ]


@cache
def _tails() -> list[tuple[str, re.Pattern[str]]]:
    topic = "|".join(map(re.escape, _topics()))
    found = (*_TAILS, ("topic", f"({topic})"))
    return [
        (sort, re.compile(rf"\s*[\[(](?:{pattern})[\])]\.?\s*\Z", re.IGNORECASE))
        for sort, pattern in found
    ]


def parted(text: str) -> Parted | None:
    """A note without the first aside that is found; None where it has none. Linear in the text."""
    head, tail = text[:HEAD], text[-TAIL:]
    return _in_front(text, head) or _behind(text, tail) or _linked(text)


def _in_front(text: str, head: str) -> Parted | None:
    start = head[:4].lower()
    signs = ":" in head or "\n" in head or " - " in head or any(v in head[:32] for v in _SPOKEN)
    dashes = not head.isascii() and ("–" in head or "—" in head)
    if not (signs or dashes or start[:1] in "[(#" or start in _STARTS):
        return None
    for sort, pattern in _heads():
        found = pattern.match(head)
        rest = text[found.end() :] if found else ""
        if found and _says(rest) and not (_value(found) in words()["areas"] and _orders(rest)):
            return Parted(rest, (sort, _value(found)))
    return _repeating(text, head)


def _repeating(text: str, head: str) -> Parted | None:
    """A note without a label of which every word stands in the note again."""
    found = _LABEL.match(head)
    if not found or not _says(text[found.end() :]):
        return None
    rest = {stem_of(singular(w)) for w in _WORD.findall(text[found.end() : 1000].lower())}
    label = [stem_of(singular(word)) for word in _WORD.findall(found[1].lower())]
    if not rest.issuperset(label):
        return None
    return Parted(text[found.end() :], ("topic", found[1].lower()))


def _behind(text: str, tail: str) -> Parted | None:
    if tail.rstrip().endswith((")", "]", ").", "].")):
        for sort, pattern in _tails():
            found = pattern.search(tail)
            rest = text[: len(text) - len(tail) + found.start()] if found else ""
            if found and _says(rest):
                return Parted(rest, (sort, _value(found)))
    found = _HASHTAG.search(tail) if "#" in tail else None
    if not found:
        return None
    rest = text[: len(text) - len(tail) + found.start()]
    tag, last = found[1].lower(), rest.split()[-1].lower() if rest.strip() else ""
    known = tag.replace("-", " ") in _topics() and last not in _AIMS
    ended = last[-1:] in (*".!?)",) or last[:1] == "#"
    if not known and (not ended or tag in words()["scopes"]):
        return None  # "alerts go to #ops": what the note is about
    return Parted(rest, ("topic", tag)) if _says(rest) else None


def _linked(text: str) -> Parted | None:
    """A note with the words of its links alone; where they lead is aside."""
    if "](" not in text:
        return None
    found = _LINK.findall(text)
    if not found:
        return None
    return Parted(_LINK.sub(r"\1", text), ("link", " ".join(target for _, target in found)))


def _orders(text: str) -> bool:
    """Whether a text begins as an order, that may hold for what its label names alone."""
    return text.split(None, 1)[0].strip("*_`").lower() in words()["orders"]


def _value(found: re.Match[str]) -> str:
    return next((group for group in found.groups() if group), "").lower()


def _says(text: str) -> bool:
    """Whether enough is left to be a note: two words, or what is no ASCII."""
    return len(text.split(None, 2)) > 1 or not text.isascii()
