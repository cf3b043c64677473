"""Turn the words of a clause into a statement that a stranger understands, and into an identity."""

import re

from ijfw_core.text import cap, one_line
from ijfw_plugins.signals_feedback.tables import Table, regex, word_set

LONGEST = 300  # characters of a signal's text
ABOUT = 200
MOST_KEY_WORDS = 12

_EDGES = " \t\n,.;:!?-–—*_。，！；、"
_WORD = re.compile(r"[^\W_]+(?:[._'+#/-][^\W_]+)*[+#]*")
_CJK = re.compile("[\u4e00-\u9fff]")
_CJK_STOP = frozenset("用要都请請就吧的了使")


def tidy(text: str, table: Table) -> str:
    """A piece of a clause as one plain line: edges, courtesy and joining words cut.

    The first letter is lowered unless the word is a name. At most `LONGEST` characters.
    """
    text = one_line(text)
    for name, most in (("drop", 4), ("lead", 3), ("tail", 3)):
        pattern = table.clean.get(name)
        text = text.strip(_EDGES)
        for _ in range(most if pattern else 0):
            low = text.lower().replace("’", "'")
            found = (regex(pattern or "").match if name == "lead" else regex(pattern or "").search)(
                low
            )
            if not found or not found.group() or len(low) != len(text):
                break
            text = (text[: found.start()] + text[found.end() :]).strip(_EDGES)
    if re.match(r"[A-Z][a-z]+(?:'[a-z]+)?\b(?![./_-])", text) and not text.startswith("I "):
        text = text[0].lower() + text[1:]
    return cap(text, LONGEST)


def identity(text: str) -> str:
    """The words of an object that carry meaning, sorted, without plural endings; "" if none do."""
    if _CJK.search(text):
        return "".join(c for c in text.lower() if c.isalnum() and c not in _CJK_STOP)[:60]
    plain = text.lower().replace("’", "'").replace("won't", "will not").replace("can't", "can not")
    plain = re.sub(r"n't\b", " not", plain)
    plain = re.sub(r"'(?:s|d|ll|re|ve|m)\b", "", plain)
    words = []
    for word in _WORD.findall(plain):
        if word in word_set("negative"):
            words.append("!")
        elif word not in word_set("stop"):
            words.append(_stem(word))
    return " ".join(sorted(dict.fromkeys(words))[:MOST_KEY_WORDS])


def _stem(word: str) -> str:
    if len(word) > 4 and word.isascii() and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
