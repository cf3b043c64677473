"""A note as it is read: what marks up, encodes or replaces its words written out."""

import re

_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|ndash|mdash|hellip|#39|#x27);")
_ENTITIES = {
    "amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " ", "ndash": "–",
    "mdash": "—", "hellip": "...", "#39": "'", "#x27": "'",
}  # fmt: skip
_TAG = re.compile(r"<(b|i|u|em|strong|code|kbd|mark|sup|sub|span)>([^<>\n]{1,200})</\1>", re.I)
_AUTOLINK = re.compile(r"<(https?://[^\s<>]{1,500})>")
_LIT = re.compile(r"(?<![\w=])==(?=\S)([^=\n]{1,300})(?<=\S)==(?![\w=])")
_SHORTCODE = re.compile(r"(?<![\w:])(?::[a-z][a-z0-9_+-]{2,30}:)(?![\w:])")
_REFUSALS = re.compile("[\u274c\u2716\u2718\u2717\U0001f6ab\u26d4\U0001f44e]\ufe0f?")
_DENIAL = re.compile(
    r"\b(?:not?|never|avoid|without|forbidden|none|stop|nicht|kein\w*|nie|nunca|jamais|pas)\b"
    r"|n't\b|不|没|禁",
    re.IGNORECASE,
)
# "5–10", "5-10" and "5 to 10", but no date, no version and no part of a longer name.
_RANGE = re.compile(
    r"(?<![\w.,:/–-])(\d{1,6}(?:\.\d{1,3})?)\s?[-–]\s?(\d{1,6}(?:\.\d{1,3})?)(?![\w–-]|[.,:/]\d)"
    r"|(?<![\w.,:/–-])(\d{1,6}(?:\.\d{1,3})?)[-–](\d{1,6}(?:\.\d{1,3})?)(?=[a-z%]{1,7}\b)"
)
_BETWEEN = re.compile(r"[ ._]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:,\d{3})*(?!\d))")
# "50 000", "50_000" and, of what is counted, "50.000": "80 443" are two ports, "1.000 s" is 1 s.
_PARTED = re.compile(
    r"(?<![\w.,:/#-])(?:\d{1,3}(?: \d{3}){0,3} 000|\d{1,3}(?:_\d{3}){1,4})(?![\w/:-]|[.,]\d)"
    r"|(?<![\w.,:/#-])(?<!ersion )\d{2,3}\.000"
    r"(?= (?!sec|min|hour|day|week|month|year|percent|and\b|or\b|in\b|now\b)[a-z]{3})"
)
# Standards and formats, and what has versions, as they are mostly written.
_DIGIT = re.compile(r"\d")
_GLUED = re.compile(r"[A-Za-z]-?\d|[fFaAsScC] \d")  # the end of a standard's name
_STANDARD = re.compile(
    r"(?<![\w./@-])(?:(utf|sha|aes|crc)[ -]?(\d{1,3})|(rfc|iso|pep|ieee|din|python|java|php)-?"
    r"(\d{3,5}|\d{1,2}\.\d{1,2}|(?<=java)\d\d|(?<=java-)\d\d))(?![\w/-]|\.\w)",
    re.IGNORECASE,
)
_BITS = re.compile(r"(?<=[\d ][kKMG])b(?=(?:/s|ps)\b)")
_ROUGHLY = re.compile(r"(?<![\w/~])~ ?(?=\d)")
_WITH = re.compile(r"(?<![\w/.-])([wW])/(?= )")
_PERCENT = re.compile(r"(?<=\d) (?=%(?!\w))")
_COMPARED = re.compile(r"(?<![-=<>])([<>]=?) ?(?=\d(?!\d{3}-))")
_COMPARISONS = {"<": " under ", ">": " over ", "<=": " at most ", ">=": " at least "}
_DASH = re.compile(r"(?<=[^\W\d]) -{1,2} (?=[^\W\d])")
_SPACES = re.compile(r"[ \t]{2,}")
_EMOJI = "[\u2600-\u27bf\u2b50-\u2b55\U0001f000-\U0001faff\ufe0f\u200d]"
_FRAMING = re.compile(rf"\A(?:{_EMOJI}+\s*)+|(?:\s*{_EMOJI}+)+\s*\Z")
# What may stand around a whole note, and its other end.
_PAIRS = {
    '"': '"', "“": "”", "„": "“", "«": "»", "'": "'", "‘": "’", "「": "」", "(": ")", "*": "*",
    "_": "_",
}  # fmt: skip
_INNER_MARK = re.compile(r"(?<=\w)\*{1,3}(?=[-.]\w)|(?<=\w[-.])\*{1,3}(?=\w)")
_SIGNS = (("≤", "<="), ("≥", ">="), ("≠", "!="), ("‐", "-"), ("‑", "-"), ("−", "-"))


def readable(text: str) -> str:
    """A text with entities, paired tags, links in brackets, emoji codes, signs and ranges written
    out, without what stands around all of it. A sign that refuses is a "not", unless the words deny
    already."""
    if "  " in text:
        text = _SPACES.sub(" ", text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: _ENTITIES[found[1]], text) if ";" in text else text
        text = text.replace(" & ", " and ")
    if "<" in text and ">" in text:
        text = _AUTOLINK.sub(r"\1", _TAG.sub(_untagged, text))
    if ":" in text:
        text = _SHORTCODE.sub(" ", text).strip()
    if not text.isascii():
        text = _plain_signs(text)
    if text[:1] in _PAIRS:
        text = _unframed(text)
    if "==" in text:
        text = _LIT.sub(r"\1", text)
    if "<" in text or ">" in text:
        text = _COMPARED.sub(lambda found: _COMPARISONS[found[1]], text)
    if " -" in text:
        text = _DASH.sub(" – ", text)
    if "w/" in text or "W/" in text:
        text = _WITH.sub(r"\1ith", text)
    if "*" in text:
        text = _INNER_MARK.sub("", text)
    return _numerals(text)


def _plain_signs(text: str) -> str:
    for sign, written in _SIGNS:
        text = text.replace(sign, written)
    if _REFUSALS.search(text):
        text = _REFUSALS.sub(" " if _DENIAL.search(text) else " not ", text).strip()
    return _FRAMING.sub("", text)


def _numerals(text: str) -> str:
    """A text whose numbers, rates and ranges are written in one way."""
    if "b/s" in text or "bps" in text:
        text = _BITS.sub("bit", text)  # "Mb/s" is not "MB/s"
    if not _DIGIT.search(text):
        return text
    if "," in text:
        text = _THOUSANDS.sub("", text)
    if "000" in text or "_" in text:
        text = _PARTED.sub(lambda found: _BETWEEN.sub("", found[0]), text)
    if _GLUED.search(text):
        text = _STANDARD.sub(_named, text)
    if "~" in text:
        text = _ROUGHLY.sub("about ", text)
    if "%" in text:
        text = _PERCENT.sub("", text)
    return _RANGE.sub(_spread, text) if "-" in text or "–" in text else text


def _named(found: re.Match[str]) -> str:
    return f"{found[1]}-{found[2]}" if found[1] else f"{found[3]} {found[4]}"


def _unframed(text: str) -> str:
    """A text without the quotes, brackets or emphasis that stand around all of it."""
    for _ in range(3):
        start, end = text[:1], _PAIRS.get(text[:1], "")
        inner = text[1:].rstrip()
        stop = inner[-1:] if inner[-2:-1] == end and inner[-1:] in ".!" else ""
        inner = inner[: len(inner) - len(stop)]
        if not end or inner[-1:] != end or len(inner) < 3:
            return text
        marks = start in "*_" and inner[:1] == inner[-2:-1] == start  # ** around, not *
        body = inner[:-1]
        if not marks and (start in body or end in body):
            return text
        text = body.strip() + stop
    return text


def _untagged(found: re.Match[str]) -> str:
    return f"`{found[2]}`" if found[1].lower() in ("code", "kbd") else found[2]


def _spread(found: re.Match[str]) -> str:
    low, high = found[1] or found[3], found[2] or found[4]
    return f"{low} to {high}" if float(low) < float(high) else found[0]
