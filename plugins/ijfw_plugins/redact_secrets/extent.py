"""Where a value begins and ends: in quotes of any depth, added up of strings, or without quotes."""

import re

from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.notation import CLOSING
from ijfw_plugins.redact_secrets.values import mixed

LONGEST = 4096  # characters of a quoted value that are looked at
RUN = 1024  # of one without quotes; a longer one goes on as long as it looks encoded

_PLAIN = lazy(r"[^\s\\\"'`<>“”]*+(?:\\(?![nrtbf\"'\\/u])[^\s\\\"'`<>“”]*+)*+")
# What ends a value without quotes although no blank follows, and the signs it begins with.
_SIGN = lazy(r"[，。；、,.;:!)\]+&%\[|-]")
_NEXT = lazy(
    r"(?=[，。；、,.;:!)\]+&%\[|-])(?:[，。；、]|[,.;:!)]+(?=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])|\]\(|\],(?=\w)|\)\]"
    r"|-\](?=\{\+|\s|\Z)|\+\}|&(?=[\w.\[\]-]{1,60}=)|&amp;|&quot;"
    r"|%26(?=\w)|\[REDACTED|\]\[REDACTED"
    r"|;(?=[\w .-]{1,40}=|\s|$|(?:return|var|let|const)\b|[\w$]{1,30}[.({\[])"
    r"|[,;|](?=\\*[\"']?[\w.-]{1,40}\\*[\"']?[ ]?[=:]))"
)
_AHEAD = 128  # characters behind the start of a value that are read first; most end there
_SEEN = 48  # characters that are read behind an end
_TRAILING = ".,;:)]}>"
# A string that is added to the one before it, as long secrets are written in code.
_ADDED = lazy(r"([\"'])\s{0,40}[+.]\s{0,40}\1([^\"'\\\n]{1,400})(?=\1)")
STRINGS = 20  # that are added up


def quoted(text: str, quote: re.Match[str]) -> tuple[int, int]:
    """From behind an opening quote to its closing one; as without quotes where there is none."""
    mark = quote.group(1)
    start = quote.end()
    if mark[-1] in "\"'":
        if text.startswith(mark * 2, start) and len(mark) == 1:
            start += 2
            mark = mark * 3
            end = text.find(mark, start, start + LONGEST)
            return (start, end) if end >= 0 else plain(text, start)
        return _until_quote(text, start, mark)
    end = text.find(CLOSING.get(mark, mark), start, start + LONGEST)
    line = text.find("\n", start, start + LONGEST)
    if end < 0 or 0 <= line < end:
        return plain(text, start)
    return start, end


def _until_quote(text: str, start: int, mark: str) -> tuple[int, int]:
    """Up to the quote of the same depth of escaping as `mark`."""
    char, depth = mark[-1], len(mark) - 1
    end = start
    while True:
        end = text.find(char, end, start + LONGEST)
        if end < 0:
            return plain(text, start)
        slashes = 0
        while slashes < end - start and text[end - 1 - slashes] == "\\":
            slashes += 1
        if slashes == depth or (slashes > depth and (slashes - depth) % (2 * (depth + 1)) == 0):
            break
        if slashes < depth:
            return plain(text, start)
        end += 1
    value_end = end - depth
    line = text.find("\n", start, value_end)
    return (start, value_end) if line < 0 else plain(text, start)


def plain(text: str, at: int) -> tuple[int, int]:
    """A value without quotes."""
    for size in (_AHEAD, RUN):
        match = _PLAIN.match(text, at, at + size)
        end = match.end() if match else at
        sign = _SIGN.search(text, at, end)
        if sign:
            following = _NEXT.search(text[sign.start() : end + _SEEN])
            if following and sign.start() + following.start() < end:
                end = sign.start() + following.start()
        if end < at + size - _SEEN:
            break
    while end > at and text[end - 1] in _TRAILING:
        end -= 1
    return at, end


def added(text: str, end: int) -> int:
    """Where the last of the strings ends that are added to the one that ends at `end`."""
    for _ in range(STRINGS):
        following = _ADDED.match(text, end)
        if following is None or not mixed(following.group(2)):
            break
        end = following.end()
    return end
