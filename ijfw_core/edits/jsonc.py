"""JSON settings edited as text: what is not ours keeps its bytes, its order and its comments."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

FRESH = "{\n}\n"  # what we start from where there is no file
MISSING = object()
BLANK = "\ufeff \t\r\n"

_STRING = r'"(?:[^"\\\n]|\\.)*"?'  # an unclosed one is taken whole, so that scanning stays linear
_COMMENT = re.compile(_STRING + r"|(//[^\n]*|/\*(?:.*?\*/|.*))", re.S)
_TRAILING = re.compile(_STRING + r"|(,(?=[ \t\r\n]*[}\]]))", re.S)
_SPACE = re.compile(r"[ \t\r\n]*")
_INK = re.compile(r"[^\n\r]")
_decoder = json.JSONDecoder()


class Item(NamedTuple):
    """A member of an object or an item of a list, by its place in the text."""

    key: str
    start: int  # of the key or the item
    value: int  # of the value
    end: int


class Json:
    """A JSON object in a file, changed piece by piece. `text` is the file as it then reads.

    Args:
        text: what stands in the file; blank counts as an object without members.
        path: of the file, for messages.
        comments: whether the file's owner allows comments and trailing commas.

    Raises ValueError, with file and line, where the text is no JSON object.
    """

    def __init__(self, text: str, path: str, *, comments: bool = False) -> None:
        self._path = path
        self._comments = comments
        self._change(text if text.strip(BLANK) else FRESH)
        try:
            value = json.loads(self._flat.removeprefix("\ufeff"))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {error.lineno}: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: {error}") from error
        self._root = _skip(text, 1) if text.startswith("\ufeff") else _skip(self._flat, 0)
        if not isinstance(value, dict):
            raise ValueError(f"{path}, line {self._line(self._root)}: not an object")

    def get(self, keys: Sequence[str]) -> Any:
        """The value at a path of keys; MISSING where there is none."""
        item = self._find(keys)
        return MISSING if item is None else self._value(item)

    def set(self, keys: Sequence[str], value: object) -> None:
        """Put a value there, with the objects around it; where another stands, in its place."""
        item = self._find(keys)
        if item is None:
            self._create(keys, value)
        elif self._value(item) != value:
            shown = _dump(value, len(keys))
            self._change(self.text[: item.value] + shown + self.text[item.end :])

    def append(self, keys: Sequence[str], value: object) -> None:
        """Add an item at the end of the list there, which is made where there is none."""
        item = self._list(keys)
        if item is None:
            self._create(keys, [value])
        else:
            self._insert(item.value, _dump(value, len(keys) + 1), len(keys) + 1)

    def items(self, keys: Sequence[str]) -> list[Any]:
        """The values of the list there; none where there is none."""
        item = self._list(keys)
        return [] if item is None else [self._value(i) for i in _items(self._flat, item.value)]

    def drop(self, keys: Sequence[str]) -> None:
        """Take out what stands there, and the objects around it that we made and that are empty."""
        item = self._find(keys)
        if item is not None:
            container = self._container(keys[:-1])
            number = [i.start for i in _items(self._flat, container)].index(item.start)
            self._drop(keys[:-1], container, number)

    def drop_item(self, keys: Sequence[str], number: int, inner: Sequence[int] = ()) -> None:
        """Take one item out of the list there; with `inner`, of the list that stands in it at
        key `within`, see `drop_within`."""
        item = self._list(keys)
        if item is not None:
            self._drop(keys, item.value, number)

    def drop_within(self, keys: Sequence[str], number: int, within: str, place: int) -> None:
        """Take item `place` out of the list under `within` of item `number` of the list there."""
        item = self._list(keys)
        if item is None:
            return
        outer = _items(self._flat, item.value)[number]
        members = _items(self._flat, outer.value)
        inner = next((i for i in reversed(members) if i.key == within), None)
        if inner is not None:
            self._cut(inner.value, place)

    def line_of(self, keys: Sequence[str]) -> int:
        """The line at which a member stands, from 1; that of the object where it is missing."""
        item = self._find(keys)
        return self._line(self._root if item is None else item.start)

    def _change(self, text: str) -> None:
        self.text = text
        self._bare = _COMMENT.sub(_blank, text) if self._comments else text
        self._flat = _TRAILING.sub(_blank, self._bare) if self._comments else text

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _value(self, item: Item) -> Any:
        return _decoder.raw_decode(self._flat, item.value)[0]

    def _container(self, keys: Sequence[str]) -> int:
        if not keys:
            return self._root
        item = self._find(keys)
        return self._root if item is None else item.value

    def _find(self, keys: Sequence[str]) -> Item | None:
        at, item = self._root, None
        for number, key in enumerate(keys):
            if self._flat[at] != "{":
                where = ".".join(keys[:number])
                raise ValueError(f"{self._path}, line {self._line(at)}: {where} is not an object")
            # Of two members with one name, readers take the last.
            found = (i for i in reversed(_items(self._flat, at)) if i.key == key)
            item = next(found, None)
            if item is None:
                return None
            at = item.value
        return item

    def _list(self, keys: Sequence[str]) -> Item | None:
        item = self._find(keys)
        if item is not None and self._flat[item.value] != "[":
            line = self._line(item.start)
            raise ValueError(f"{self._path}, line {line}: {'.'.join(keys)} is not a list")
        return item

    def _create(self, keys: Sequence[str], value: object) -> None:
        depth = next(n for n in range(len(keys)) if self._find(keys[: n + 1]) is None)
        for key in reversed(keys[depth + 1 :]):
            value = {key: value}
        shown = f"{json.dumps(keys[depth], ensure_ascii=False)}: {_dump(value, depth + 1)}"
        self._insert(self._container(keys[:depth]), shown, depth + 1)

    def _insert(self, start: int, shown: str, depth: int) -> None:
        """Add an item at the end of the object or list at `start`, on lines of its own.

        In one that was there and empty it stands right behind the bracket: so `_made` can tell.
        """
        text, indent = self.text, "\n" + "  " * depth
        items = _items(self._flat, start)
        if not items:
            shown = (indent if depth == 1 else "") + shown
            self._change(text[: start + 1] + shown + text[start + 1 :])
            return
        end = items[-1].end
        close = _skip(self._flat, end)
        comma = self._bare.find(",", end, close)  # a trailing one stays the last sign
        behind = end + len(text[end:close].rstrip(" \t\r\n")) if self._comments else end
        if comma >= 0:
            self._change(text[:behind] + indent + shown + "," + text[behind:])
        else:
            self._change(text[:end] + "," + text[end:behind] + indent + shown + text[behind:])

    def _drop(self, keys: Sequence[str], start: int, number: int) -> None:
        made = bool(keys) and self._made(start) and len(_items(self._flat, start)) == 1
        self._cut(start, number)
        if made:
            self.drop(keys)

    def _made(self, start: int) -> bool:
        return self.text[start + 1 : start + 3].lstrip("\r").startswith("\n")

    def _cut(self, start: int, number: int) -> None:
        """Take one item out of an object or list, with the comma that joined it."""
        text, items = self.text, _items(self._flat, start)
        item = items[number]
        begin = len(text[: item.start].rstrip(" \t\r\n"))
        after = _skip(self._bare, item.end)
        if self._bare[after] == ",":
            keep = text[item.end : after].rstrip(" \t\r\n")
            if number:
                self._change(text[:begin] + keep + text[after + 1 :])
            else:  # the next one takes its place, so that `_made` still tells
                self._change(text[: item.start] + keep + text[after + 1 :].lstrip(" \t\r\n"))
            return
        head = text[:begin]
        if number:
            comma = self._bare.find(",", items[number - 1].end, begin)
            head = text[:comma] + text[comma + 1 : begin]
        self._change(head + text[item.end :])


def _blank(match: "re.Match[str]") -> str:
    return _INK.sub(" ", match.group()) if match.group(1) else match.group()


def _dump(value: object, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def _items(text: str, start: int) -> list[Item]:
    """The members of the object, or items of the list, at `start`; the text is valid JSON."""
    found: list[Item] = []
    keyed = text[start] == "{"
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        key, begin = "", at
        if keyed:
            key, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _decoder.raw_decode(text, at)
        found.append(Item(key, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    """The next place that is not white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at
