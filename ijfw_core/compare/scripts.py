"""One form for letters and signs of other scripts: accents, Chinese numerals, polite Japanese."""

import re
import unicodedata

_HIDDEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_BRACKETS = {ord("【"): "[", ord("】"): "] "}
_UMLAUT = "\u0308"
_RING = "\u030a"  # "få" is not "fa"
_KANA, _HAN = r"\u3040-\u30ff", r"\u3400-\u4dbf\u4e00-\u9fff"
_GLUED = re.compile(rf"(?<=[A-Za-z0-9%])(?=[{_KANA}{_HAN}\uac00-\ud7af])")
_COUNTRY = re.compile(r"\b([Tt]he) us\b")
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
# Of two signs or more: one alone is part of many words.
_NUMERAL = re.compile(
    "(?:[一二三四五六七八九两][十百千万][零〇]?){1,4}[一二三四五六七八九]?|十[一二三四五六七八九]"
)
_PLEASE = re.compile(r"(?:\A|(?<=[。,;]))\s*请(?!求|假)")
# Plain and polite forms of Japanese lose what tells them apart: the vowel in front, and the ending.
_END = r"(?=[。.!?,、」』)\]\n]|\Z)"
_DENIED = re.compile("(?:あり|[わかがさたなばまらいきぎしちにびみり])?(?:ません|ない)")
_ENDING = re.compile(
    "(?:です|である|だ|する|します|[いきぎちにびみり]?ます|[うくぐすつぬぶむる])" + _END
)


def _folded() -> dict[int, str]:
    """Latin letters with a mark -> what is typed where the mark is missing."""
    found = {ord("ß"): "ss"}
    for code in range(0xC0, 0x180):
        parts = unicodedata.normalize("NFD", chr(code)) + "  "
        base, mark = parts[0], parts[1]
        if base.isascii() and not mark.isspace() and mark != _RING:
            found[code] = base + "e" if mark == _UMLAUT and base in "aouAOU" else base
    return found


_PLAIN = _HIDDEN | _BRACKETS | _folded()


def folded(text: str) -> str:
    """A text without hidden characters and accents; umlauts as two letters."""
    return text if text.isascii() else text.translate(_PLAIN)


def written(text: str) -> str:
    """A text in one form of its script, numbers apart from CJK signs, "the US" no pronoun."""
    if "he us " in text:
        text = _COUNTRY.sub(r"\1 US", text)
    if text.isascii():
        return text
    text = _NUMERAL.sub(_value, _PLEASE.sub("", folded(text)))
    return _GLUED.sub(" ", _ENDING.sub("", _DENIED.sub("ない", text))).strip()


def _value(found: re.Match[str]) -> str:
    """A Chinese numeral in digits: 三十五 is 35."""
    value, digit = 0, 1
    for sign in found[0]:
        if sign in _POWERS:
            value, digit = value + digit * _POWERS[sign], 0
        else:
            digit = _DIGITS[sign]
    return str(value + digit)
