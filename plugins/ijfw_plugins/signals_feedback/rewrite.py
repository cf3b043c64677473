"""Turn the words of a clause into a statement that a stranger understands, and into an identity."""

import re

from ijfw_core.text import cap, one_line, tokens
from ijfw_plugins.signals_feedback.tables import Table, word_set

LONGEST = 300  # characters of a signal's text
ABOUT = 200
MOST_KEY_WORDS = 12

_EDGES = " \t\n,.;:!?-–—*_。，！；、"
_CJK = re.compile("[\u4e00-\u9fff]")
_CJK_STOP = frozenset("用要都请請就吧的了使")


def tidy(text: str, table: Table) -> str:
    """A piece of a clause as one plain line: edges, courtesy and joining words cut.

    The first letter is lowered unless the word is a name or an acronym.
    """
    text = one_line(text).strip(_EDGES)
    for name in ("lead", "tail"):
        pattern = table.clean.get(name)
        if not pattern:
            continue
        regex = table.regex(pattern)
        for _ in range(3):
            low = text.lower().replace("’", "'")
            match = regex.match(low) if name == "lead" else regex.search(low)
            if not match or not match.group() or len(low) != len(text):
                break
            text = text[match.end() :] if name == "lead" else text[: match.start()]
            text = text.strip(_EDGES)
    if re.match(r"[A-Z][a-z]+(?:'[a-z]+)?\b(?![./_-])", text) and not text.startswith("I "):
        text = text[0].lower() + text[1:]
    return cap(text, LONGEST)


def identity(text: str) -> str:
    """The words of an object that carry meaning, sorted, without plural endings; "" if none do."""
    if _CJK.search(text):
        return "".join(c for c in text.lower() if c.isalnum() and c not in _CJK_STOP)[:60]
    words = []
    text = re.sub(r"(?i)n['’]t\b", " not", text)
    text = re.sub(r"(?i)['’](?:s|d|ll|re|ve|m)\b", "", text)
    for word in tokens(text.replace("dont", "not")):
        if word in word_set("negative"):
            words.append("!")
        elif word not in word_set("stop"):
            words.append(_stem(word))
    return " ".join(sorted(dict.fromkeys(words))[:MOST_KEY_WORDS])


def _stem(word: str) -> str:
    if len(word) > 4 and word.isascii() and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
