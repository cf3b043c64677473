"""Text of one entry inside another's content: an addendum, or what a merge took over.

    <!-- ijfw addendum id=.. at=.. -->
    ## title
    text
    <!-- /ijfw addendum id=.. -->

The marks tell which entry a part came from, so that the part can be taken out again.
"""

import re

_MARK_LINE = re.compile(r"^(?=\\*<!-- /?ijfw )", re.M)
_MARK = re.compile(r"<!-- (/?)ijfw addendum id=(\S+)( [^\n]*)?-->\Z")


def add(content: str, part_id: str, title: str, text: str, note: str = "") -> str:
    """`content` with a marked part behind it; unchanged where it has a part of that id already.

    Args:
        content: of the entry that takes the part in.
        part_id: id of the entry that the part comes from.
        title: one line.
        text: of the part; a line in it that looks like a mark gets a backslash.
        note: more `key=value` items of the opening mark.
    """
    close = f"<!-- /ijfw addendum id={part_id} -->"
    if close in content.split("\n"):
        return content
    opening = f"<!-- ijfw addendum id={part_id}{' ' + note if note else ''} -->"
    inner = _MARK_LINE.sub(lambda _: "\\", text)
    return f"{content}\n\n{opening}\n## {title}\n{inner}\n{close}"


def drop(content: str, part_id: str) -> str:
    """`content` without the part of that id and the empty line in front of it."""
    name = re.escape(part_id)
    opening = re.search(rf"^<!-- ijfw addendum id={name}(?: [^\n]*)?-->$", content, re.M)
    close = f"\n<!-- /ijfw addendum id={part_id} -->"
    end = content.find(close, opening.end()) if opening else -1
    if opening is None or end < 0:
        return content
    return content[: opening.start()].removesuffix("\n\n") + content[end + len(close) :]


def plain(content: str) -> str:
    """`content` as a reader wants it: without what a merge took over, and addenda without marks."""
    if "<!-- ijfw addendum" not in content:
        return content
    kept: list[str] = []
    inside = ""  # id of the historical part that the lines stand in
    for line in content.split("\n"):
        mark = _MARK.match(line) if line.endswith("-->") else None
        if mark is None:
            kept += [] if inside else [line]
        elif mark[1]:
            inside = "" if mark[2] == inside else inside
        elif not inside and "kind=historical" in (mark[3] or "").split():
            inside = mark[2]
    return "\n".join(kept).rstrip("\n")
