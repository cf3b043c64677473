"""What changed inside a frame that two notes share: when, where, by whom, per what, who alone may.

A frame is what a clause of both notes says in front of a slot, with the subject in it: where
another subject stands, it is another fact. Every function answers why, "" without a change.
"""

from collections.abc import Iterable, Sequence

from ijfw_core.compare.changes import exclude
from ijfw_core.compare.note import Note
from ijfw_core.compare.slots import slot
from ijfw_core.compare.tables import units_of, words, words_of
from ijfw_core.compare.word import Word

VALUE = 3  # content words of a value that takes another's place
ITEMS = 4  # content words that a list may gain
SAID = 2  # clauses: what is the trouble, and what to do
KEPT = 4  # content words in front of a part that was written anew
MAX_WORDS = 400  # of each note
_CUTS = frozenset(",;.!?:\n—–()")


def reframed(a: Note, b: Note) -> str:
    """Why `b` replaces `a` by what stands in a frame of both, "" where nothing does."""
    if a.stems.isdisjoint(b.stems) or max(len(a.words), len(b.words)) > MAX_WORDS:
        return ""
    return _only(a, b) or _scoped(a, b) or _longer(a, b) or _displaced(a, b) or _part(a, b)


# --- clause by clause ----------------------------------------------------------------------------


def _clauses(note: Note) -> list[list[Word]]:
    """Its words between points and in front of reasons, without articles and "now"."""
    table, found = words_of("frame"), list[list[Word]]([[]])
    for word in note.words:
        if word.text in _CUTS or (word.text in table["reasons"] and found[-1]):
            found.append([])
        if word.text not in _CUTS and word.text not in table["passed"]:
            found[-1].append(word)
    return [clause for clause in found if clause]


def _part(a: Note, b: Note) -> str:
    """The first clause that differs says something else in the same frame."""
    if a.lead not in b.stems or (a.lead != b.lead and len(b.words) == len(b.plain)):
        return ""  # a frame begins both, or a later clause of the new one
    x, y = _clauses(a), _clauses(b)
    same = _common([*map(_texts, x)], [*map(_texts, y)])
    if same == min(len(x), len(y)):
        return ""
    rest = [[*map(_texts, side[same + 1 :])] for side in (x, y)]
    told = _clause(x[same], y[same])
    if not told and rest[0] == rest[1] and (same or rest[0]) and len(x[same]) > 1:
        told = slot(x[same], y[same])
    if told or len(x) == 1:
        return told or _later(x, y)
    kept = {w.stem for clause in x[:same] for w in clause if w.stem}
    if same == 1 and len(x) == len(y) == SAID and _is_trouble(x[0], len(kept)):
        return "another remedy"
    if rest[0] != rest[1] or len(kept) < KEPT:
        return ""
    if rest[0] or _same_head(x[same], y[same]):
        return "one of its parts was written anew"
    return ""


def _is_trouble(clause: list[Word], size: int) -> bool:
    """Whether a clause of so many content words names one error, by a code or by what it says."""
    kind = words_of("frame")["trouble"]
    told = any(w.text in kind or w.raw.endswith(("error", "exception")) for w in clause)
    return told and (size >= KEPT or any(w.name or w.number for w in clause))


def _later(x: list[list[Word]], y: list[list[Word]]) -> str:
    """A later clause of the new note says something else in the frame of the only old one."""
    if len(x) > 1 or len(y) > VALUE:
        return ""
    return next(filter(None, (_clause(x[0], clause) for clause in y[1:])), "")


def _texts(clause: Iterable[Word]) -> list[str]:
    return [word.text for word in clause]


def _same_head(x: list[Word], y: list[Word]) -> bool:
    """Whether two clauses begin with the same words, one of them with content."""
    size = _common(_texts(x), _texts(y))
    return any(w.stem for w in x[:size]) and size < min(len(x), len(y))


def _common(x: Sequence[object], y: Sequence[object]) -> int:
    """Of how many first members two sequences are alike."""
    pairs = zip(x, y, strict=False)
    return next((n for n, (v, w) in enumerate(pairs) if v != w), min(len(x), len(y)))


def _clause(x: list[Word], y: list[Word]) -> str:
    """What changed between two clauses with the same subject."""
    size = _common(_texts(x), _texts(y))
    frame, gone, come = x[:size], x[size:], y[size:]
    if not any(w.stem for w in frame) or not gone or not come:
        return ""
    if _texts(gone) == _texts(come)[-len(gone) :] or _texts(come) == _texts(gone)[-len(come) :]:
        return ""  # one says more
    lead = frame[-1].text
    if _is_other_basis(frame, gone, come) or _is_other_place(frame, gone, come):
        return f"{' '.join(_texts(gone))} is now {' '.join(_texts(come))}"
    told = f"{' '.join(_texts(gone))} is now {' '.join(_texts(come))}"
    if lead == "per" and (gone[1:] == come[1:] or len(gone) + len(come) <= VALUE):
        return told
    alone = len(gone) == len(come) == 1 or lead in words()["auxiliary"]
    if alone and exclude(gone[0].text, come[0].text):
        return told
    head = frame[-1:] if lead in words_of("frame")["times"] | {"every"} else []
    timed = _is_time(head + gone), _is_time(head + come)
    if any(timed):
        # Two orders may hold side by side.
        ordered = frame[0].text in words()["orders"] or len(frame) == 1
        return told if all(timed) and (not ordered or gone[1:] == come[1:] != []) else ""
    if _is_complement(frame) and _is_value(gone) and _is_value(come):
        # "is in cents" and "is in the price table" are of two kinds.
        kinds = len(gone) != len(come) and frame[-2].text in words()["auxiliary"]
        return "" if kinds else told
    return ""


def _is_other_basis(frame: list[Word], gone: list[Word], come: list[Word]) -> bool:
    """Whether "is computed" goes on with "per line" in one note and "on the total" in the other."""
    table = words_of("frame")
    if len(gone) + len(come) > 2 * VALUE:
        return False
    leads = {gone[0].text, come[0].text}
    sorts = any(w.text in table["sorted"] for w in frame)
    if sorts and all(w.text in table["bases"] or w.raw.endswith("ly") for w in (gone[0], come[0])):
        return True
    return frame[-1].raw in table["computed"] and "per" in leads and leads <= table["bases"]


def _is_other_place(frame: list[Word], gone: list[Word], come: list[Word]) -> bool:
    """Whether a thing lives next to another in one note, and in another place in the other."""
    table = words_of("frame")
    if frame[-1].text == "from" and [w.text for w in frame[-2:-1]] == ["work"]:
        return len(gone) == len(come) == 1 and gone[0].name and come[0].name
    placed = {gone[0].text, come[0].text} <= table["places"] and gone[0].text != come[0].text
    return placed and len(frame) > 1 and frame[-1].text in ("live", "sit", "reside")


def _is_time(tail: list[Word]) -> bool:
    """Whether a clause ends in what says when: "at boot", "after 5 s", "every Monday"."""
    table = words_of("frame")
    first, rest = tail[0], tail[1:]
    if first.text in table["when"] or first.raw in table["when"]:
        return True
    if first.text == "at" and rest and rest[0].text in ("1", "one", "once"):
        return True
    if first.number and first.unit:
        return any(w.text in ("before", "after") for w in rest[:3])
    if first.text in ("every", "each"):
        return any(w.text in table["events"] or w.unit or w.raw in units_of() for w in rest)
    if first.text not in table["times"]:
        return False
    until = next((n for n, w in enumerate(rest) if w.text in ("and", "with", "for")), len(rest))
    rest = rest[:until]
    every = any(w.text == "every" for w in rest) and any(w.unit for w in rest)
    moments = table["events"] | {"before", "after"}
    return every or any(w.text.rpartition("-")[2] in moments for w in rest)


def _is_complement(frame: list[Word]) -> bool:
    """Whether "is in", "is stored in", "is done by" lead to the slot: one place, one agent."""
    table = words_of("frame")
    if len(frame) < 3 or frame[-1].text not in table["one"]:
        return False
    last, lead = frame[-2], frame[-1].text
    if lead == "as" or last.text in ("is", "are", "was", "live", "sit", "reside"):
        return True
    done = last.raw.endswith("ed") or last.raw in words()["participles"]
    often = last.raw in table["many"] and lead != "from"
    return done and not often and frame[-3].text in ("is", "are", "be", "was")


def _is_value(found: list[Word]) -> bool:
    """Whether a stretch is a thing: a few words, no preposition in front, no verb and no time."""
    apart = words()["auxiliary"] | words_of("frame")["when"] | {"every", "each"}
    if found[0].text in words()["binding"] or any(w.text in apart for w in found):
        return False
    return 0 < sum(bool(w.stem) for w in found) <= VALUE


# --- who alone may -------------------------------------------------------------------------------


def _only(a: Note, b: Note) -> str:
    """One note lets only some do what the other lets others do."""
    if ("only" in a.texts) == ("only" in b.texts):
        return ""
    limited, open_ = (a, b) if "only" in a.texts else (b, a)
    if limited.plain[0].text != "only":
        return ""
    who, does = _permitted(limited.plain[1:])
    others, do = _permitted(open_.plain)
    if does and does == do and who and others and who != others and others[-1] != "alone":
        return f"only {' '.join(who)} against {' '.join(others)}"
    return ""


def _permitted(found: list[Word]) -> tuple[list[str], set[str]]:
    """Who may, and what: the words in front of "may", and the content behind it."""
    table = words_of("frame")
    place = next((n for n, w in enumerate(found) if w.text in ("may", "can")), 0)
    who = [w.text for w in found[:place] if w.text not in table["passed"]]
    if not words()["negators"].isdisjoint(_texts(found)):
        return [], set()
    return who, {w.stem for w in found[place:] if w.stem} if place else set()


# --- for whom, and how often ---------------------------------------------------------------------


def _scoped(a: Note, b: Note) -> str:
    """One note holds for every one, or each time; the other for some only, or all but some."""
    x, y = ([w for w in n.plain if w.text not in words_of("frame")["passed"]] for n in (a, b))
    size = _common(_texts(x), _texts(y))
    if not any(w.stem for w in x[:size]):
        return ""
    wide, few = sorted((x[size:], y[size:]), key=len)
    if not few:
        return ""
    every = not {"every", "all", "always"}.isdisjoint(_texts(x[:size]))
    if few[0].text == "only" and _texts(wide) in (["everywhere"], ["always"]):
        return f"{wide[0].text} or only there"
    if not wide and every and few[0].text in ("except", "unless"):
        return "one of them excepts some"
    second = few[0].text in ("2", "second", "other", "third") and x[size - 1].text == "every"
    if second and _texts(few[1:]) == _texts(wide):
        return f"every or every {few[0].text}"
    limited = few[-1].text == "only" or few[0].text == "only"
    if (
        limited
        and 1 < len(wide) <= VALUE
        and wide[0].text in ("every", "all")
        and wide[-1].text in _texts(few)
    ):
        return f"every {wide[-1].text} or some only"
    return ""


# --- a list that holds more ----------------------------------------------------------------------


def _longer(a: Note, b: Note) -> str:
    """The list of the old note has something more in the new one, and all it had."""
    if not a.texts <= b.texts or not 0 < len(b.stems) - len(a.stems) <= ITEMS:
        return ""
    x, y = ([w for w in n.words if w.text not in words_of("frame")["passed"]] for n in (a, b))
    if not any(w.text in (",", "and") for w in x):
        return ""
    x, y = ([w for w in side if w.text not in (",", "and", ".")] for side in (x, y))
    start = _common(_texts(x), _texts(y))
    end = len(x) - start
    more = y[start : len(y) - end]
    if start < 2 or _texts(x[start:]) != _texts(y[len(y) - end :]) or not more:
        return ""
    listed = not any(w.text in words()["auxiliary"] | words()["binding"] for w in more)
    if listed and any(w.stem for w in more):
        return f"{' '.join(_texts(more))} more in the list"
    return ""


# --- what took the place of another --------------------------------------------------------------


def _displaced(a: Note, b: Note) -> str:
    """The new note says what took the place of something in the old one, or that it is gone."""
    table = words_of("frame")
    if (table["replaces"] | table["gone"] | {"instead"}).isdisjoint(b.texts):
        return ""
    for clause in _clauses(b):
        for n in range(len(clause) - 1):
            old = [w for w in _exchanged(a, clause, n) if w.stem in a.stems]
            if old and _is_over(a, b, old[0]):
                return f"{old[0].text} is replaced"
        last = clause[-1].text
        what = [w.stem for w in clause if w.stem and not w.number and w.text not in table["gone"]]
        named = last in table["gone"] and len(what) == 1 and what[0] in a.stems - {a.lead}
        if named and a.stems & b.stems - set(what):
            return f"{clause[0].text} is gone"
    return ""


def _exchanged(a: Note, clause: list[Word], place: int) -> list[Word]:
    """What something else takes the place of, by the word there: "replaces", "instead of"."""
    word, after = clause[place], clause[place + 1]
    before, behind = (
        [w for w in side if w.stem and not w.number]
        for side in (clause[:place], clause[place + 1 :])
    )
    if word.text == "instead" and after.text == "of":
        kept = {w.stem for w in before}  # "npm ci instead of npm install"
        most = 2 * len(a.stems & {w.stem for w in before + behind}) >= len(a.stems)
        return [w for w in behind[:1] if most and w.stem not in kept]
    if word.text not in words_of("frame")["replaces"] or not before or not behind:
        return []
    if after.text == "by":
        return before
    end = clause.index(behind[0]) + 1
    goes_on = end < len(clause) and clause[end].text == "with"  # "the importer replaces X with Y"
    return [] if goes_on or any(w.stem in a.stems for w in before) else behind[:1]


def _is_over(a: Note, b: Note, old: Word) -> bool:
    """Whether the old note speaks of the same besides, and did not deny it already."""
    shared = a.stems & b.stems - {old.stem}
    return bool(shared) and not any(p.denied and old.stem in p.stems for p in a.parts)
