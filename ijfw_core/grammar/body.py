"""The text of a memory: content, why and how to apply, in one body that can be read back.

    body = content [LF LF "**Why:** " why] [LF "**How to apply:** " how]

The first label present is set off by an empty line. A line that would be taken for a label, for
the fence of a header or for one of our comments gets one backslash in front; reading takes it off.
"""

import re
from typing import NamedTuple

_ESCAPED = r"\\{}(?:---[ \t\r]*\Z|\*\*(?:Why|How to apply):\*\*|<!-- /?ijfw )"
_SENSITIVE = re.compile(_ESCAPED.format("*"))
_TAKE_OFF = re.compile(_ESCAPED.format("+"))
_LABEL = re.compile(r"^\*\*(Why|How to apply):\*\*", re.M)


class Body(NamedTuple):
    """The three texts of a memory."""

    content: str = ""
    why: str = ""
    how_to_apply: str = ""


def escape(text: str) -> str:
    """Text of which no line can be taken for a piece of a block."""
    return "\n".join("\\" + line if _SENSITIVE.match(line) else line for line in text.split("\n"))


def unescape(text: str) -> str:
    """Undo `escape`."""
    return "\n".join(line[1:] if _TAKE_OFF.match(line) else line for line in text.split("\n"))


def compose(body: Body) -> str:
    """A body as it is written, without the line end behind it."""
    text = escape(body.content)
    gap = "\n\n"
    for label, part in (("Why", body.why), ("How to apply", body.how_to_apply)):
        if part:
            text += f"{gap}**{label}:** {escape(part)}"
            gap = "\n"
    return text


def decompose(text: str) -> Body:
    """Read a body. A label counts once, and only in order; any text is a body."""
    labels: list[re.Match[str]] = []
    for match in _LABEL.finditer(text):
        if not labels or (match[1] == "How to apply" and labels[-1][1] == "Why"):
            labels.append(match)
        if match[1] == "How to apply" and labels:
            break
    if not labels:
        return Body(unescape(text))
    parts = {"Why": "", "How to apply": ""}
    for n, match in enumerate(labels):
        last = n + 1 == len(labels)
        part = text[match.end() :] if last else chop(text[match.end() : labels[n + 1].start()], 1)
        parts[match[1]] = unescape(part.removeprefix(" "))
    content = unescape(chop(text[: labels[0].start()], 2))
    return Body(content, parts["Why"], parts["How to apply"])


def chop(text: str, count: int) -> str:
    """`text` without up to `count` line ends at its end."""
    for _ in range(count):
        text = text.removesuffix("\n")
    return text
