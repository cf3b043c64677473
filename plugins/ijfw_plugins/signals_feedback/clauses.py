"""Cut a message into clauses, with everything masked that the user did not say in their own words.

A clause keeps two texts of equal length: `text` as typed, and `plain` in lower case with straight
apostrophes, in which code, quotes and pasted blocks are mask characters. Rules match on `plain`,
objects are taken from `text`, so offsets need no mapping.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ijfw_core.text import CUT, cap_words, one_line

BLOCK = "\ue000"  # fenced code, pasted lines, quoted lines, tagged blocks
CODE = "\ue001"  # inline code, tags and addresses: may be an object
QUOTE = "\ue002"  # quoted words: may be an object

LIMIT = 16_384  # characters of a prompt that are read
MOST_CLAUSES = 60
SAID = 600  # characters of the words of a signal

_FENCE = re.compile(r"(?:```|~~~)(?:(?!```|~~~)[\s\S])*(?:```|~~~|\Z)")
_TAGGED = re.compile(
    r"<([A-Za-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>(?:(?!</\1>)[\s\S]){0,4000}</\1>"
)
_INLINE = re.compile(
    r"`[^`\n]{1,300}`|https?://[^\s<>\"')]{1,300}|</?[A-Za-z][\w-]{0,40}/?>|\[image[^\]\n]{0,80}\]",
    re.I,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]"
    r"|「[^」\n]{1,400}」|『[^』\n]{1,400}』|《[^》\n]{1,400}》"
    r"|(?<![\w'])'[^'\n]{2,200}'(?![\w'])|(?<!\w)‘[^’\n]{2,200}’(?!\w)"
)
# Lines that nobody types: quotes, tables, stack frames, log lines, diffs, compiler output, prompts.
_PASTED = re.compile(
    r"^[ \t]*(?:>|\||at\s[\w$.<>]{1,200}[ (]|File \"|Traceback|\$ |[+-]{3} |@@ |⎿|⏺|✓|✗"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Za-z]*(?:Error|Exception)\b[:(]"
    r"|(?:ERROR|FATAL|WARN(?:ING)?|INFO|DEBUG)\b|npm ERR|error(?:\[|:)|_\*\*).*$",
    re.M,
)
# "here is what the reviewer wrote:", "the spec below": what follows is not the user's own voice.
_HANDOVER = re.compile(
    r"^(?=.{0,300}\b(?:below|following|here(?:'s|’s| is| are)|wrote|writes|said|says"
    r"|feedback|output|logs?|report|review|spec|ticket|issue|prompt|unten|folgende\w*|siguiente\w*|suivant\w*)\b)"
    r".{0,300}[:.][ \t]*\n",
    re.I | re.M,
)
# "From the style guide of the client: never ..." in one line.
_CITED = re.compile(
    r"(?:^|(?<=[.!?\n] ))(?:from|in|per|quoting|according to) (?:the|our|their|my|this) "
    r"[^:\n.?!]{0,60}\b(?:style ?guide|docs?|documentation|readme|guidelines?|handbook|spec|wiki"
    r"|ticket|issue|e?mail|review|manual|article|post|contract|policy|checklist)\b"
    r"[^:\n.?!]{0,40}: (?=\S)",
    re.I,
)
# "translate this to french", "summarize the thread: ...": a text that the agent is to work on.
_ORDER = (
    r"(?:please |pls |can you |could you ){0,3}"
    r"(?:translate|convert|summari[sz]e|proofread|reformat|rephrase|spell-?check|transcribe"
    r"|make minutes of|turn(?= (?:this|the above)\b[^:.\n]{0,20} into\b))"
)
_MATERIAL = re.compile(rf"\A\s*{_ORDER} (?:this|these|the|following)\b[^:.\n]{{0,60}}:\s", re.I)
_WORKED_ON = re.compile(
    rf"(?:\n|-- |— ){_ORDER} (?:this|these|the above|it|that)\b[^\n]{{0,120}}\Z", re.I
)
_LISTED = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)]|\[[ x]\])[ \t]+", re.M)
_NUMBER = re.compile(r"[ \t]*\d{1,2}\.")
_HEADING = re.compile(r"^#{1,6} ", re.M)
_END = re.compile(
    r";(?= (?:what|how|why|can|could|is|should|do|does|where|which)\b)|[.!?]+(?=[\s\"')\]*_]|$)"
    r"|[。！？；]+|(?:\.{2,}|…)+|\n+|(?:^|(?<=\s))(?:[-–—]{1,3})(?=\s)|(?<=\w)—(?=\w)"
)
# "..., no?" and "..., right?" ask for assent, not for an answer.
_TAG = re.compile(r",\s*(?:no|right|yeah|ok|okay|correct|eh|huh|yes|oder|ne|verdad|non|hein)\s*$")
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'", "，": ",", "：": ":", "\t": " "})


class Clause(NamedTuple):
    """One sentence or part of one."""

    text: str  # as typed
    plain: str  # lower case, straight apostrophes, masked; as long as `text`
    place: int  # in the message
    question: bool = False
    listed: bool = False  # an item of a list
    opens_line: bool = False
    start: int = 0  # where it stands in the message
    stop: int = 0


def lower(text: str) -> str:
    """Lower case of equal length, with straight apostrophes."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return low.translate(_STRAIGHT)


def _fill(pattern: re.Pattern[str], mark: str, text: str) -> str:
    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return (
            "".join("\n" if c == "\n" else mark for c in found)
            if mark == BLOCK
            else mark * len(found)
        )

    return pattern.sub(blank, text)


def mask(text: str) -> str:
    """The text with code, quotes and pasted blocks as mask characters; same length."""
    masked = _fill(_FENCE, BLOCK, text)
    if "</" in masked:
        masked = _fill(_TAGGED, BLOCK, masked)
    masked = _fill(_PASTED, BLOCK, masked)
    masked = _fill(_INLINE, CODE, masked)
    masked = _fill(_QUOTED, QUOTE, masked)
    return _mask_documents(masked)


def _mask_documents(masked: str) -> str:
    """Mask what follows a hand-over line, and all but the edges of a long or structured text."""
    handed = _HANDOVER.search(masked)
    if handed and ("\n" in masked[handed.end() :] or handed.group().rstrip().endswith(":")):
        return masked[: handed.end()] + _blank(masked[handed.end() :])
    cited = _CITED.search(masked) if ": " in masked else None
    if cited:
        return masked[: cited.end()] + _blank(masked[cited.end() :])
    order = _MATERIAL.match(masked)
    if order:
        return masked[: order.end()] + _blank(masked[order.end() :])
    order = _WORKED_ON.search(masked) if masked.lstrip()[:1] in ("#", "-", "*") else None
    if order:
        return _blank(masked[: order.start()]) + masked[order.start() :]
    headings = len(_HEADING.findall(masked))
    items = len(_LISTED.findall(masked))
    outlined = headings >= 2 or (headings and items >= 2) or items >= 8
    if outlined or len(masked.replace(BLOCK, "").strip()) > 2_500:
        first = masked.find("\n\n")
        first = min(first if first >= 0 else 600, 600)
        last = masked.rfind("\n\n")
        last = last if last > first and len(masked) - last <= 400 else len(masked)
        return masked[:first] + _blank(masked[first:last]) + masked[last:]
    return masked


def _blank(text: str) -> str:
    return "".join("\n" if c == "\n" else BLOCK for c in text)


def split(text: str) -> list[Clause]:
    """The clauses of a message, masked blocks left out; at most `MOST_CLAUSES`.

    Ends of sentences, lines, dashes and dots end a clause; a semicolon does not: "never X; do Y"
    is one thing to remember.
    """
    text = text[:LIMIT]
    masked = mask(text)
    clauses: list[Clause] = []
    start = 0
    for end in [*_END.finditer(masked), None]:
        if end and _NUMBER.fullmatch(masked, masked.rfind("\n", 0, end.start()) + 1, end.end()):
            continue  # the number of a list item
        stop = end.start() if end else len(masked)
        mark = end.group() if end else ""
        asks = ("?" in mark or "？" in mark) and "!" not in mark  # "two buttons?!" tells
        clause = _clause(text, masked, start, stop, asks, len(clauses))
        if clause is not None:
            clauses.append(clause)
        elif "?" in mark and clauses and stop == start:
            clauses[-1] = clauses[-1]._replace(question=True)
        start = end.end() if end else len(masked)
        if len(clauses) >= MOST_CLAUSES:
            break
    return clauses


def _clause(
    text: str, masked: str, start: int, stop: int, question: bool, index: int
) -> Clause | None:
    line = masked.rfind("\n", 0, start) + 1
    opens = not masked[line:start].strip()
    while start < stop and (masked[start].isspace() or masked[start] in BLOCK + ")]*_"):
        start += 1
    while stop > start and (masked[stop - 1].isspace() or masked[stop - 1] in BLOCK + "*_"):
        stop -= 1
    if start >= stop:
        return None
    item = _LISTED.match(masked, start) if opens else None
    if item and item.end() < stop:
        start = item.end()
    kept = [
        i
        for i in range(start, stop)
        if not (text[i].isspace() and text[i - 1].isspace() and i > start)
    ]
    typed = "".join(" " if text[i].isspace() else text[i] for i in kept)
    plain = lower("".join(" " if masked[i].isspace() else masked[i] for i in kept))
    if not any(c.isalnum() or c in CODE + QUOTE + "👍" for c in plain):
        return None
    question = question and not _TAG.search(plain)
    return Clause(typed, plain, index, question, item is not None, opens, start, stop)


def verbatim(typed: str, read: str, places: Iterable[int]) -> str:
    """The clauses at these places as they were typed, on one line, and nothing else of the message.

    What stands between two that follow each other is told with them; pasted blocks and clauses
    left out are a visible mark. At most `SAID` characters, cut between words.

    Args:
        typed: the message.
        read: the message in the spellings in which its clauses were counted.
        places: of the clauses (`Clause.place`).
    """
    clauses, text = split(read), read
    if typed != read:
        known = split(typed)
        clauses, text = (known, typed) if len(known) == len(clauses) else (clauses, read)
    masked = mask(text[:LIMIT])
    shown = "".join(
        BLOCK if mark == BLOCK else char for char, mark in zip(text, masked, strict=False)
    )
    said, last = "", -1
    for place in sorted({place for place in places if place < len(clauses)}):
        clause = clauses[place]
        start = clauses[last].stop if last >= 0 and place == last + 1 else clause.start
        said += (f" {CUT} " if said and start == clause.start else "") + shown[start : clause.stop]
        last = place
    return cap_words(one_line(re.sub(f"{BLOCK}[{BLOCK}\\s]*", f" {CUT} ", said)), SAID)
