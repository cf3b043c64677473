"""Whether one memory repeats, replaces or resembles another: the rule that plugins share.

    compare, judge   what a new note is to a stored one
    Index            which of many entries are worth comparing with a text, and their verdicts
    living           the entries that hold now

It knows words, not kinds: what a verdict leads to is for the plugin to say. Importing this module
costs nothing heavy; the rule is loaded with the first comparison.
"""

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ijfw_core.compare.ranking import Index, expect, index_of, living, saved

__all__ = ["Index", "Verdict", "alike", "body", "compare", "expect", "index_of", "living"]
__all__ += ["saved", "strip_parts"]


class Verdict(NamedTuple):
    """What a new note is to a stored one, and why."""

    verdict: Literal["duplicate", "update", "near", "new"]
    reason: str


def compare(a: str, b: str) -> Verdict:
    """Compare a stored note `a` with a new one `b`; 6,000 characters of each count, none raises.

    duplicate: `b` says nothing new. update: both are of the same thing and `b` has another number,
    version, name, tool or a negation. near: same subject, keep both. new: nothing to do with `a`.
    """
    from ijfw_core.compare.note import Note
    from ijfw_core.compare.rule import judge

    return judge(Note(a), Note(b))


def alike(a: str, b: str) -> float:
    """How much two notes have in common: the share of their content words that both have, 0..1.

    0 where a number, a name, a denial or an opposite stands in one only, however like they are.
    """
    from ijfw_core.compare.rule import likeness

    return likeness(a, b)


def strip_parts(content: str) -> str:
    """A content without what merges and addenda put behind it: it speaks of what was."""
    return content.partition("\n\n<!-- ijfw addendum ")[0]


def body(summary: str, content: str) -> str:
    """What is compared of a memory: its content, with the summary where that says more."""
    content = strip_parts(content)
    bare = summary.strip().rstrip(".").casefold()
    if not content.strip():
        return summary
    return content if bare in content.casefold() else f"{summary}\n{content}"


def __getattr__(name: str) -> object:
    if name in ("Index", "expect", "index_of", "living", "saved"):
        from ijfw_core.compare import ranking

        return getattr(ranking, name)
    raise AttributeError(name)
