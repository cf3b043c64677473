"""What memory has to say to a prompt, looked up while the agent waits: modules written in C only.

`ijfw setup` copies this file beside the hook, which imports it where `recall.on_prompt` is on and a
project has an index. `ijfw_core.recall.prompt_index` writes that file ahead, of numbered blocks
with a keyed hash each: what is missing, torn, planted or older than its memory is silence.
"""

import _imp
import _json
import itertools
import marshal
import posix
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

INDEX = b"index/recall-prompts"  # in a project's private folder
MAGIC = b"ijfwpr1\n"
HEAD = 16  # bytes: the magic word, blocks, buckets
MOST_BYTES = 64 << 20  # of an index; a larger one is none of ours
MOST_BLOCK = 1 << 16  # bytes of a block
LONGEST = 8 << 10  # bytes of a prompt that are looked at: half at its start, half at its end
TERMS = 200  # of each half that are looked up, as they come
SHORT = 32  # terms; with each doubling of them, chance finds more, and more evidence is asked for
MORE = 0.35  # of the evidence, for each doubling
TERM = 96  # characters; a longer one is data
NEAR = 0.6  # of the best score; what is farther off is about something else
ID = 8  # bytes by which an entry is remembered as told
MOST_TOLD = 1 << 16  # bytes of what a session was told
SIGNED = (1 << 63) - 1  # keys of the hash are C longs
WORD, NAME, PAIR = 0, 1, 2  # kinds of terms: plain, an identifier or a path, two CJK characters

_READ = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOFOLLOW
_BETWEEN = str.maketrans(
    dict.fromkeys("\t\n\r\v\f\"'`()[]{}<>,;=|*?!~^$&…“”„‘’«»，。、；：？！（）【】《》「」", " ")
    | {"\\": "/"}
)
_PARTS = str.maketrans(dict.fromkeys("_.@#-+%", " "))
_EDGES = ".:-/#@%+_"
_CJK = "\u3040"


# --- terms, the same of a memory and of a prompt --------------------------------------------------


def terms(text: str, most: int = 1000, *, last: bool = False) -> "dict[str, int]":
    """The terms of a text with their kinds: about `most` of them, the first ones or the last."""
    found: dict[str, int] = {}
    tokens = text.translate(_BETWEEN).split()
    for token in reversed(tokens) if last else tokens:
        token = token.strip(_EDGES)
        if 1 < len(token) <= TERM:
            _add(token, found)
        if len(found) > most:
            break
    return found


def _add(token: str, found: "dict[str, int]") -> None:
    if token.isalpha() and token.islower() and token.isascii():
        found.setdefault(stem(token), WORD)
        return
    if max(token) >= _CJK:
        pairs = (a + b for a, b in itertools.pairwise(token) if min(a, b) >= _CJK)
        found.update(dict.fromkeys(pairs, PAIR))
        return
    if not _is_name(token):
        _add_words(token, found)
        return
    found[token.lower()] = NAME
    for piece in token.replace(":", "/").split("/"):
        if len(piece) > 1 and _is_name(piece):
            found[piece.lower()] = NAME
        for part in piece.translate(_PARTS).split():
            if len(part) > 2 and _is_name(part):
                found[part.lower()] = NAME
                _add_words(_humps(part), found)
            else:
                _add_words(part, found)


def _add_words(token: str, found: "dict[str, int]") -> None:
    for part in token.lower().replace("-", " ").split():
        if (len(part) > 1 and not part.isdigit()) or 2 < len(part) < 7:
            found.setdefault(stem(part), WORD)
    if "-" in token:
        found.setdefault(token.lower(), WORD)


def _is_name(token: str) -> bool:
    """Whether it looks like an identifier, a path, a code: nothing that is written by chance."""
    if token.isalpha():
        rest = token[1:]
        return not rest.islower() and not token.isupper()
    if not any(c.isalpha() for c in token):
        return False  # a number, a version, a time
    plain = token.replace("-", "")
    return not plain.isalpha() or (plain != token and not plain.islower() and _is_name(plain))


def _humps(name: str) -> str:
    """`parseUrl` as `parse-Url`."""
    out = name[:1]
    for before, char in itertools.pairwise(name):
        out += "-" + char if char.isupper() and not before.isupper() else char
    return out


def stem(word: str) -> str:
    """A word without its commonest endings: never right for all, the same for both sides."""
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui":
        word = word[:-3] + "y" if word[-3:] == "ies" else word[:-1]
    for end in ("ing", "ion", "ed", "er"):
        if len(word) > len(end) + 3 and word.endswith(end):
            word = word[: -len(end)]
            break
    if len(word) > 3 and (word[-1] == "e" or word[-1] == word[-2]):
        word = word[:-1]
    return word


# --- the file -------------------------------------------------------------------------------------


def key_of(secret: bytes, folder: bytes) -> int:
    """The key of one project's index, out of the user's secret."""
    seed = int.from_bytes(secret[:8], "little") & SIGNED
    return int.from_bytes(_imp.source_hash(seed, secret[8:] + folder), "little") & SIGNED


def check(key: int, number: int, body: bytes) -> bytes:
    """The hash that a block must carry: of what it is, where it stands, and whose it is."""
    return _imp.source_hash(key ^ number, body)


def code(key: int, term: str) -> int:
    """What an index holds instead of a term: nobody reads a word, or a secret, in it."""
    return int.from_bytes(_imp.source_hash(key, term.encode("utf-8", "surrogatepass")), "little")


def read_own(path: bytes, most: int) -> bytes:
    """A small file of this user that nobody else may read; b"" for any other."""
    try:
        fd = posix.open(path, _READ)
        try:
            found = posix.fstat(fd)
            if found.st_uid == posix.geteuid() and not found.st_mode & 0o077:
                return posix.read(fd, most)
        finally:
            posix.close(fd)
    except OSError:
        pass
    return b""


class Index:
    """An index that is open. Raises OSError and ValueError where it cannot be ours."""

    def __init__(self, path: bytes, key: int) -> None:
        self.key = key
        self._fd = posix.open(path, _READ)
        found = posix.fstat(self._fd)
        head = posix.pread(self._fd, HEAD, 0)
        whole = found.st_mode & 0o170000 == 0o100000 and found.st_size <= MOST_BYTES
        mine = found.st_uid == posix.geteuid() and not found.st_mode & 0o022
        if not whole or not mine or head[:8] != MAGIC or len(head) < HEAD:
            raise ValueError
        self._blocks = int.from_bytes(head[8:12], "little")
        self.buckets = int.from_bytes(head[12:], "little")

    def block(self, number: int) -> "Any":
        """One block's value. Raises ValueError where it is not whole, or another's."""
        if not 0 <= number < self._blocks:
            raise ValueError
        place = posix.pread(self._fd, 8, HEAD + 4 * number)
        start, end = int.from_bytes(place[:4], "little"), int.from_bytes(place[4:], "little")
        if not 0 <= end - start <= MOST_BLOCK:
            raise ValueError
        data = posix.pread(self._fd, end - start, start)
        # Unmarshalling garbage can end the process, so the bytes are checked first.
        if data[:8] != check(self.key, number, data[8:]):
            raise ValueError
        return marshal.loads(data[8:])

    def close(self) -> None:
        """Let go of the file."""
        posix.close(self._fd)


def ranked(index: Index, meta: "Any", text: str) -> "list[tuple[float, int]]":
    """(score, number) of the entries with enough evidence, best first; `meta` is block 0."""
    wanted: dict[int, list[int]] = {}
    half = max(len(text) // 2, LONGEST // 2)  # a question stands at the start or at the end
    found = terms(text[:half], TERMS) | terms(text[half:], TERMS, last=True)
    for term in found:
        name = code(index.key, term)
        wanted.setdefault(1 + name % index.buckets, []).append(name)
    scores: dict[int, float] = {}
    for number, some in wanted.items():
        held = index.block(number)
        for name in some:
            row = held.get(name, ())
            for at in range(0, len(row), 2):
                scores[row[at]] = scores.get(row[at], 0.0) + row[at + 1]
    doubled = (len(found) // SHORT).bit_length()
    needed = meta["score"] * 100 * (1 + MORE * doubled)
    best = max(scores.values(), default=0.0)
    least = max(needed, best * NEAR)
    return sorted(((score, n) for n, score in scores.items() if score >= least), reverse=True)


# --- an answer ------------------------------------------------------------------------------------


def prompt_of(data: bytes) -> str:
    """What a person typed, from a hook's payload; "" where there is none, or it is a machine's."""
    at = data.find(b'"prompt"')
    while at >= 0:
        colon, quote, _ = data[at + 8 : at + 16].partition(b'"')
        if quote and colon.strip() == b":":
            start = at + 9 + len(colon)
            break
        at = data.find(b'"prompt"', at + 8)
    else:
        return ""
    text, _ = _json.scanstring(data[start:].decode("utf-8", "replace"), 0, False)
    text = str(text).strip()
    # A client's own message, or what somebody was told before.
    if text.startswith("<") or "ijfw-memory" in text:
        return ""
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + " " + text[-LONGEST // 2 :]
    return text


def mark(path: bytes) -> "tuple[int, int, int] | None":
    """What tells a file from its former self; None where there is none.

    The time of its last change, which nobody sets: that of its last writing may be put back.
    """
    try:
        found = posix.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_ctime_ns, found.st_size, found.st_ino)


def opened(home: bytes, path: bytes) -> "tuple[Index, Any]":
    """An index and its first block. Raises OSError and ValueError where it does not count."""
    secret = read_own(home + b"/run/seal.key", 64)
    if len(secret) != 32:
        raise ValueError
    index = Index(path, key_of(secret, path))
    meta = index.block(0)
    if any(mark(name) != seen for name, seen in meta["settings"]):
        raise ValueError
    return index, meta


def told(path: bytes) -> "set[bytes]":
    """What a session was told."""
    data = read_own(path, MOST_TOLD)
    return {data[at : at + ID] for at in range(0, len(data), ID)}


def note(path: bytes, names: "list[bytes]") -> None:
    """Remember what a session was told; whoever cannot is told nothing."""
    flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW
    fd = posix.open(path, flags, 0o600)
    try:
        posix.write(fd, b"".join(names))
    finally:
        posix.close(fd)


def begin(home: bytes, path: bytes, session: bytes) -> None:
    """A session was given its memory: remember which entries stood in it."""
    index, meta = opened(home, path)
    index.close()
    if meta["greeted"]:
        note(session, [meta["greeted"]])


def answer(home: bytes, path: bytes, session: bytes, data: bytes) -> bytes:
    """What to tell an agent with a prompt, as the inside of a JSON string; b"" for nothing.

    Args:
        home: the user's folder.
        path: the project's index.
        session: the file that keeps what this session was told.
        data: the payload of the prompt.

    Raises OSError, ValueError and whatever damaged values cause: the hook is silent then.
    """
    text = prompt_of(data)
    if not text:
        return b""
    index, meta = opened(home, path)
    before = told(session)
    lines: list[bytes] = []
    names: list[bytes] = []
    left = meta["budget"] - len(meta["open"]) - len(meta["close"])
    for name, line in _holding(index, ranked(index, meta, text)):
        if name not in before and len(line) + 2 <= left:
            lines.append(line)
            names.append(name)
            left -= len(line) + 2
        if len(lines) == meta["entries"]:
            break
    index.close()
    if not lines:
        return b""
    note(session, names)
    return bytes(meta["open"] + b"\\n".join(lines) + meta["close"])


def _holding(index: Index, rows: "list[tuple[float, int]]") -> "Iterator[tuple[bytes, bytes]]":
    """(name, line) of the entries that still are as they were, and hold now."""
    now = time.time()
    for _, number in rows[:50]:
        name, file, seen, since, until, line = index.block(1 + index.buckets + number)
        if since <= now < until and mark(file) == seen:
            yield name, line
