"""Text as PostgreSQL's full text: our own words as lexemes, in the order in which they stand.

The parser of a text search configuration would cut `parseUrl` or `--no-verify` in its own way; so
words are made here, and the server stores and ranks them as `simple` does, as they are.
"""

from ijfw_core.text import tokens
from ijfw_hookspecs import Entry

MOST = 4000  # words of an entry; a memory has at most 4 KB of content
LONGEST = 200  # characters of a word
ASKED = 32  # words of a query


def vector(entry: Entry) -> str:
    """The tsvector of an entry: its summary counts most, then its tags, then the rest."""
    rest = "\n".join((entry.content, entry.why, entry.how_to_apply))
    weighed = (("A", entry.summary), ("B", " ".join(entry.tags)), ("D", rest))
    places: dict[str, list[str]] = {}
    place = 0
    for weight, text in weighed:
        for word in _words(text)[: MOST - place]:
            place += 1
            places.setdefault(word, []).append(f"{place}{weight}")
    # 256 positions of a word are kept by the server.
    return " ".join(f"{_quoted(word)}:{','.join(at[:255])}" for word, at in places.items())


def query(text: str) -> str:
    """The tsquery for any word of a text; "" where it has none."""
    return " | ".join(_quoted(word) for word in list(dict.fromkeys(_words(text)))[:ASKED])


def _words(text: str) -> list[str]:
    return [word for word in tokens(text) if len(word) <= LONGEST and "\0" not in word]


def _quoted(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"
