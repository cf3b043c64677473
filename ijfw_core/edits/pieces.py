"""What an adapter puts into a settings file, and how it is found again and taken out.

A piece is told by what it is, never by what setup remembers: so a lost record loses nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from ijfw_core.edits.jsonc import BLANK, FRESH, MISSING, Json
from ijfw_core.edits.marked import HASH, Marks, put, take
from ijfw_core.text import digest


class Piece(Protocol):
    """A part of ours in one file. `text` is the file as it is, None where there is none."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def about(self) -> str:
        """What it is, in a word or two for a person."""
        ...

    def put(self, text: str | None) -> str:
        """The text with our part as it should be. Raises ValueError with file and line."""
        ...

    def take(self, text: str) -> str | None:
        """The text without our part; None where nothing is left. Raises ValueError as `put`."""
        ...


class JsonMember(msgspec.Struct, frozen=True, kw_only=True):
    """A value at a path of keys in a JSON file: an MCP server, say.

    `ours` tells whether a value that stands there already is one of ours; a foreign one is refused.
    """

    path: Path
    keys: tuple[str, ...]
    value: object
    ours: Callable[[Any], bool]
    about: str = "MCP server"
    comments: bool = False  # whether the file may hold comments and trailing commas
    start: Mapping[str, Any] = {}  # members of a file that is made for this

    def put(self, text: str | None) -> str:
        """See Piece."""
        doc = _json(self, text)
        found = doc.get(self.keys)
        if found is not MISSING and not self.ours(found):
            raise ValueError(
                f"{self.path}, line {doc.line_of(self.keys)}: "
                f"{'.'.join(self.keys)} is there and not ours"
            )
        doc.set(self.keys, self.value)
        return doc.text

    def take(self, text: str) -> str | None:
        """See Piece."""
        doc = Json(text, str(self.path), comments=self.comments)
        found = doc.get(self.keys)
        if found is MISSING or not self.ours(found):
            return text
        doc.drop(self.keys)
        return _left(self, doc.text)


class JsonItems(msgspec.Struct, frozen=True, kw_only=True):
    """Items in the list at a path of keys in a JSON file: the hooks of one event, say.

    Clients that group hooks keep ours in a list under `within` of an item; a person may have added
    theirs to it. `ours` is asked about what stands in that list, or about the item where `within`
    is "".
    """

    path: Path
    keys: tuple[str, ...]
    items: tuple[Any, ...]
    ours: Callable[[Any], bool]
    within: str = ""
    about: str = "hooks"
    comments: bool = False
    start: Mapping[str, Any] = {}

    def put(self, text: str | None) -> str:
        """See Piece."""
        doc = _json(self, text)
        found = [item for item in doc.items(self.keys) if any(map(self.ours, self._inner(item)))]
        if self._same(found):
            return doc.text
        self._clean(doc)
        for item in self.items:
            doc.append(self.keys, item)
        return doc.text

    def take(self, text: str) -> str | None:
        """See Piece."""
        if not text.strip(BLANK):
            return text
        doc = Json(text, str(self.path), comments=self.comments)
        self._clean(doc)
        return text if doc.text == text else _left(self, doc.text)

    def _same(self, found: Sequence[Any]) -> bool:
        """Whether these are our items already; of one that is shared, our part counts."""
        if len(found) != len(self.items):
            return False
        for there, wanted in zip(found, self.items, strict=True):
            inner = self._inner(there)
            shared = not all(map(self.ours, inner))
            if shared and [i for i in inner if self.ours(i)] == self._inner(wanted):
                continue
            if there != wanted:
                return False
        return True

    def _inner(self, item: Any) -> list[Any]:
        if not self.within:
            return [item]
        inner = item.get(self.within) if isinstance(item, dict) else None
        return inner if isinstance(inner, list) else []

    def _clean(self, doc: Json) -> None:
        for number, item in reversed(list(enumerate(doc.items(self.keys)))):
            inner = self._inner(item)
            if inner and all(map(self.ours, inner)):
                doc.drop_item(self.keys, number)
                continue
            for place in reversed(range(len(inner))):
                if self.ours(inner[place]):
                    doc.drop_within(self.keys, number, self.within, place)


class TomlTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of ours in a TOML file, between two comment lines where the file allows it."""

    path: Path
    keys: tuple[str, ...]
    value: Mapping[str, Any]
    ours: Callable[[Any], bool]
    about: str = "MCP server"

    def put(self, text: str | None) -> str:
        """See Piece."""
        from ijfw_core.edits import toml

        return toml.put(text or "", self.keys, self.value, self.ours, str(self.path))

    def take(self, text: str) -> str | None:
        """See Piece."""
        from ijfw_core.edits import toml

        left = toml.take(text, self.keys, self.ours, str(self.path))
        return left if left == text or left.strip() else None


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of ours in a text file of others, between two comment lines.

    `check` may look at the whole text that would be written: it raises ValueError to refuse it.
    """

    path: Path
    text: str
    marks: Marks = HASH
    about: str = "rules"
    check: Callable[[str, str], None] | None = None  # (text, path)

    def put(self, text: str | None) -> str:
        """See Piece."""
        after = put(text or "", self.text, self.marks, str(self.path))
        if self.check is not None:
            self.check(after, str(self.path))
        return after

    def take(self, text: str) -> str | None:
        """See Piece."""
        left = take(text, self.marks, str(self.path))
        return left if left == text or left.strip() else None


class WholeFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is all ours. Its last line says so, with a sum: one that a person edited is
    theirs, neither rewritten nor removed."""

    path: Path
    text: str
    marks: Marks = HASH
    about: str = "skill"
    executable: bool = False

    def put(self, text: str | None) -> str:
        """See Piece."""
        body = self.text.rstrip("\n") + "\n"
        if text is None or self._sound(text):
            return body + self._seal(body)
        if self._seal("").partition(",")[0] in text:
            return text
        raise ValueError(f"{self.path}, line 1: this file is not ours; it has the name of one")

    def take(self, text: str) -> str | None:
        """See Piece."""
        return None if self._sound(text) else text

    def _seal(self, body: str) -> str:
        mark = digest(body, 16)
        return f"{self.marks.open}ijfw setup wrote this file, sum {mark}{self.marks.close}\n"

    def _sound(self, text: str) -> bool:
        body = text[: text.rstrip("\n").rfind("\n") + 1]
        return text == body + self._seal(body)


def _json(piece: JsonMember | JsonItems, text: str | None) -> Json:
    if piece.start and (text is None or not text.strip(BLANK)):
        text = _begun(piece)
    return Json(text or "", str(piece.path), comments=piece.comments)


def _begun(piece: JsonMember | JsonItems) -> str:
    return json.dumps(piece.start, indent=2, ensure_ascii=False) + "\n"


def _left(piece: JsonMember | JsonItems, text: str) -> str | None:
    return None if text == (_begun(piece) if piece.start else FRESH) else text
