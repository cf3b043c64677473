"""What stands around a note and is no part of what it says: bullets, dates, labels, tags."""

import re
from collections.abc import Iterable

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_ISO = (
    r"20\d\d[-/]\d\d[-/]\d\d"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?"
    r"(?:Z|[+-]\d\d:?\d\d| (?:UTC|GMT|CES?T|[ECMP][SD]T)\b)?(?![-./]?\w)"
)
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?"
_LOCAL = (
    rf"{_WEEKDAY}(?:\d\d?[./]\d\d?[./]20\d\d|{_MONTH} \d\d?(?:st|nd|rd|th)?,? 20\d\d"
    rf"|\d\d?(?:st|nd|rd|th|\.)? {_MONTH},? 20\d\d)(?!\w)"
)
_DAY = rf"(?:{_ISO}|{_LOCAL})"
_SAID = (
    r"(?i:(?:last )?(?:noted|added|recorded|seen|updated|edited|created|written|decided|agreed"
    r"|learned|confirmed|verified|checked|reviewed|as of|date:|on):?(?: on)? )?"
)
_BULLET = re.compile(
    r"\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\[[ xX]\]\s+|#{1,6}\s+|\d{1,3}[.)]\s+"
    r"|>\s+(?!\d+(?:\.\d+)?(?:\s|[a-z%])))"  # "> 5 errors" compares
)
_SET = r"(?:(?:on|session|date:?|updated?|added|noted) )"
# A bare date of which something is said ("2026-05-01 is the freeze") is no stamp.
_STAMP = re.compile(
    rf"\s*[*_]{{0,3}}(?:[\[(<]{_DAY}(?: [A-Z][a-z]{{1,8}})?[\])>]"
    rf"|{_SET}?{_LOCAL}(?=[*_]{{0,3}}\s*[:–—-]|\s+(?-i:[A-Z`*]))|{_SET}{_ISO}(?=:)"
    rf"|{_ISO}(?!\s+(?:is|was|will|marks|ist|war)\b))[*_]{{0,3}}\s*[:,–—-]?[*_]{{0,3}}\s*",
    re.IGNORECASE,
)
_BY = r"(?:@?[A-Z][a-z]{1,14}|(?:the )?(?:user|team|agent)|@[\w.-]{1,20}|(?:PR |MR )?#\d{1,7})"
_END_STAMP = re.compile(
    rf"\s*(?:[\[(<](?:{_BY}, )?{_SAID}(?P<set>{_DAY})(?:,? {_BY})?[\])>]"
    rf"|,\s*(?P<listed>{_ISO})|\s[–—-]{{1,2}}\s*(?:{_BY}, )?{_SAID}(?P<dashed>{_DAY}))"
    r"[*_]{0,3}\s*[.!]?\s*\Z"
)
_WRAPPED = re.compile(r"<(b|i|u|em|strong|code|mark|p|li|span)>(.*)</\1>\s*\Z", re.DOTALL | re.I)
_THANKS = re.compile(
    r"\s*[,.;!?–—-]\s*(?:(?:many )?thanks|thank you|cheers|please)(?: in advance)?[.!]*\s*\Z", re.I
)
_POLITE = ("thanks", "nk you", "cheers", "please", "dvance")  # the last six letters
# "The user prefers" says who speaks, "user ids" what of; "the user said" is an aside.
_OF_USERS = (
    r"ids?|names?|data|tables?|accounts?|inputs?|stor(?:y|ies)|sessions?|roles?|content|interface"
    r"|uploads?|agents?|settings|profiles?|lists?|services?|models?|e?-?mails?|groups?|permissions?"
    r"|tests?|guides?|docs|research|feedback|facing|types?|objects?|records?|rows?|and|or"
    r"|said|says|told|mentioned|confirmed|noted"
)
_WE_DO = (
    r"uses?|prefers?|wants?|needs?|requires?|follows?|relies|targets|avoids?|decided|chose|agreed"
)
_ASIDE = (
    r"by the way|btw|fyi|ok|okay|so|also|hey|hi|hello|for the record|to be clear"
    r"|just so (?:you|we) know"
)
_AS_SAID = (
    r"as (?:discussed|agreed|mentioned|said|noted|decided|requested|promised|always|usual"
    r"|a reminder)(?: (?:in|at|on|with|by|last) [\w' -]{2,24}| (?:yesterday|today|before|earlier))?"
)
_OPENING = re.compile(
    r"(?:(?:please|kindly) )?(?:(?:remember|note|keep in mind|bear in mind|be aware),? that"
    r"|(?:remember|don't forget|do not forget|be sure|make sure|ensure) to"
    r"|(?:make|be) sure that|ensure that|it is important (?:to|that)|important is that"
    rf"|(?:{_ASIDE}|{_AS_SAID}),|let's|lets|let us"
    r"|(?:we|it was|the team) (?:(?:have|has) )?(?:agreed|decided|confirmed|learned|found(?: out)?)"
    r" that|(?:it )?turns out(?: that|,)"
    r"|it (?:seems|appears)(?: that|,)?(?! (?:to|like|as|not)\b)|it looks like"
    r"|(?:apparently|presumably|seemingly|probably),?|i (?:think|believe|guess)(?: that)?"
    r"|(?:(?:the|this|our|my) )?(?:project|repo|repository|codebase|code base|team)"
    rf"(?=\s+(?:{_WE_DO})\b)"
    rf"|(?:(?:the|our) ){{0,2}}[*_`]*user[*_`]*(?!\s+[*_`]*(?:{_OF_USERS})\b)"
    r")\s+(?=\S)",
    re.IGNORECASE,
)
_OPENERS = (
    "by ",
    "btw",
    "fyi",
    "ok",
    "so",
    "also",
    "he",
    "hi",
    "for ",
    "just",
    "as ",
    "let",
    "turns",
    "it ",
    "apparently",
    "presumably",
    "seemingly",
    "probably",
    "i ",
)
_SUBJECTS = ("user", "project", "repo ", "reposi", "code b", "codeb", "team ")  # of what "we" do
HEAD = 64  # characters in which a date or a label in front of a note begins to end


def labels(names: Iterable[str]) -> re.Pattern[str]:
    """The pattern of a label in front of a note: "Note:", "[decision]", "Please remember -"."""
    found = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    before = "please|kindly|bitte|por favor|quick|small|short|side|friendly|final"
    name = rf"(?:(?:{before}) [*_]{{0,3}})?(?:{found})"
    name += rf"(?: #?\d{{1,4}})?(?:[*_]{{0,3}} [\[(]{_DAY}[\])])?"
    return re.compile(
        rf"[*_ ]*(?:[\[(]{name}[\])][*_ ]*:?|{name}[*_ ]*(?::| [-–—](?= )|(?=\n)))[*_\s]*"
        r"(?=[^*_\s])",
        re.IGNORECASE,
    )


def _likely(head: str, label: re.Pattern[str]) -> list[re.Pattern[str]]:
    """The patterns of which something stands in the first characters of a note."""
    found = [] if head[:1].isalpha() else [_BULLET]
    if "20" in head:
        found.append(_STAMP)
    if ":" in head or "\n" in head or " -" in head or " –" in head or " —" in head or found:
        found.append(label)
    start = head[:12].lower()
    opens = " that " in head or " to " in head or start.startswith(_OPENERS)
    if opens or any(w in start for w in _SUBJECTS):
        found.append(_OPENING)
    return found


def unstamped(text: str, label: re.Pattern[str]) -> tuple[str, str]:
    """A note without what stands around it; (text, the date at its end, "" without one)."""
    wrapped = _WRAPPED.match(text) if text[:1] == "<" else None
    if wrapped:
        text = wrapped.group(2)
    for _ in range(4):
        before = text
        for pattern in _likely(text[:HEAD], label):
            match = pattern.match(text)
            if match and match.end() < len(text):
                text = text[match.end() :]
        if text == before:
            break
    tail = max(len(text) - 80, 0)
    thanks = _THANKS.search(text, tail) if text.rstrip(".! ")[-6:].lower() in _POLITE else None
    text = text[: thanks.start()] if thanks and thanks.start() else text
    end = _END_STAMP.search(text, tail) if text.find("20", tail) >= 0 else None
    if end and end.start():
        return text[: end.start()], end["set"] or end["listed"] or end["dashed"]
    return text, ""
