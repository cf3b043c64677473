"""Links that lead nowhere, in `MEMORY.md` and as `[[name]]` in entries, are told to the person.

Nothing is changed: each broken link is one line of the log (operation `orphan`), once.
"""

import os
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ijfw_core.curation import INDEX, LOCAL, index_text, is_error, living, note
from ijfw_core.text import cap, one_line, slug
from ijfw_hookspecs import Change, Context, DreamPass, Entry, Query, hookimpl

MOST = 50  # links that are told of in one night
_MD = re.compile(r"\[([^\[\]\n]{0,200})\]\(<?([^()<>\s]{1,255})>?\)")
# A name, not the brackets of code: no blank behind the first ones, nothing but a name inside.
_NAME = r"[^\s\[\]|#=<>(){}\"'`,;:$][^\[\]|#=<>(){}\"`;$\n]{0,119}"
_WIKI = re.compile(rf"(?<![\[\w])\[\[({_NAME})(?:\]\]|[|#])")
_SPAN = re.compile(r"`[^`\n]*`")
_TABLE = re.compile(r"(?m)^\[\[[\w.-]+\]\]$")  # a table of TOML


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass: the last one, when everything is where it stays."""
    return [
        DreamPass(
            name="orphans",
            stage=60,
            run=orphans,
            about="links that lead nowhere are told to the person, once",
        )
    ]


def orphans(context: Context) -> Iterator[Change]:
    """A note without an entry for each broken link."""
    night = context.night
    if night is None:
        return
    told: set[str] = set()
    for reason in _broken(context):
        if reason not in told and len(told) < MOST:
            told.add(reason)
            yield Change(op="note", reason=reason)


def _broken(context: Context) -> Iterator[str]:
    text = index_text(context.folder)
    for title, target in _MD.findall(text):
        if not _is_there(context, target):
            yield _reason(INDEX, f"[{title}]({target})")
    for name in _links(text):
        if not _resolves(context, name):
            yield _reason(INDEX, f"[[{name}]]")
    assert context.night is not None
    for entry in context.night.news(*LOCAL):
        if not living(entry, context.now) or is_error(entry):
            continue
        for name in _links(f"{entry.content}\n\n{entry.why}\n\n{entry.how_to_apply}"):
            if not _resolves(context, name):
                yield _reason(entry.id, f"[[{name}]]")


def _reason(where: str, link: str) -> str:
    return cap(one_line(f"{link} in {where} leads nowhere"), 200)


def _links(text: str) -> list[str]:
    if "[[" not in text:
        return []
    plain = _TABLE.sub(" ", _SPAN.sub(" ", _prose(text)))
    names = (name.strip() for name in _WIKI.findall(plain))
    return list(dict.fromkeys(name for name in names if any(c.isalpha() for c in name)))


def _prose(text: str) -> str:
    """A text without its blocks of code, fenced or indented."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.startswith(("    ", "\t")):
            lines.append(line)
    return "\n".join(lines)


def _is_there(context: Context, target: str) -> bool:
    """Whether a link of `MEMORY.md` leads to something. Only files beside it are looked for."""
    path = PurePosixPath(target.partition("#")[0])
    if not path.name or ":" in target or path.is_absolute() or ".." in path.parts:
        return True
    return os.path.lexists(os.path.join(context.folder, "memory", str(path)))


def _resolves(context: Context, name: str) -> bool:
    """Whether a name is the id, the title, or the file of an entry or of memory."""
    if context.memory.get(name) is not None:
        return True
    stem = name.removesuffix(".md")
    folder = os.path.join(context.folder, "memory")
    if "/" not in stem and os.path.lexists(os.path.join(folder, f"{stem}.md")):
        return True
    hits = context.memory.search(Query(text=name, limit=10, include_superseded=True))
    return any(_is_called(hit.entry, stem) for hit in hits)


def _is_called(entry: Entry, name: str) -> bool:
    wanted = name.casefold()
    names = {entry.summary.casefold(), slug(entry.summary), PurePosixPath(entry.path).stem}
    title = note(entry, "name") or note(entry, "title")
    return wanted in names | {title.casefold()} or slug(name) == slug(entry.summary)
