"""Little words that say the same between equal words: "when" and "if", "and not", "instead of"."""

from itertools import pairwise

from ijfw_core.compare.tables import light_words, loose_form, loose_words, words
from ijfw_core.compare.word import POINT, Word

_TURNED = frozenset({"instead", "any", "if", "may", "の"})
_BEHIND = frozenset("前後中時際")  # "コミットの前" is "コミット前"


def strict(plain: list[Word], texts: frozenset[str]) -> list[Word]:
    """The words of a note that count where two notes should be the same, one for all that mean it;
    `texts` are those of `plain`."""
    light, filler = light_words(), words()["filler"]
    turned = not texts.isdisjoint(_TURNED) or (
        "not" in texts and ("and" in texts or "but" in texts)
    )
    found = [
        word
        for word in (_said(plain) if turned else plain)
        if word.text not in light or (word.name and word.text not in filler)
    ]
    return found if texts.isdisjoint(loose_words()) else _loose(found)


def _said(plain: list[Word]) -> list[Word]:
    """The words with one for all that say the same where they stand."""
    table, kept = words(), list[Word]()
    denials = sum(w.text in table["negators"] or w.text == "instead" for w in plain)
    asked = limited = False
    for word, after in pairwise([*plain, POINT]):
        last = kept[-1].text if kept else ""
        text = word.text
        if text in ("instead", "not") and denials == 1:
            if text == "instead" and after.text == "of":
                text = "not"
            if text == "not" and last in ("and", "but"):
                kept.pop()
        elif text == "any" and not denials and last in ("before", "after"):
            text = "every"
        elif text == "if" and not asked and last != "as":
            text = "when"
        elif text == "may" and limited and not denials:
            text = "can"
        elif text == "の" and after.text in _BEHIND:
            continue
        asked = asked or text in table["asking"] or word.raw in table["asking"]
        limited = limited or text == "only"
        kept.append(word if text == word.text else word._replace(text=text))
    return kept


def _loose(found: list[Word]) -> list[Word]:
    """Strict words with one for all that say the same between equal words, and no "always" but
    where it is denied or limited."""
    table, kept = words(), list[Word]()
    for word, after in pairwise([*found, POINT]):
        if word.text == "get" and after.raw.endswith("ed"):
            continue  # "get deleted" is "are deleted"
        text = loose_form().get(word.text, word.text)
        before = kept[-1].text if kept else ""
        if text in table["intensifiers"]:
            if before not in table["negators"] and before not in table["pointing"]:
                continue
        elif not text:
            continue
        elif text == "with" and word.raw == "using" and not kept:
            text = "use"
        kept.append(word if text == word.text else word._replace(text=text))
    return kept
