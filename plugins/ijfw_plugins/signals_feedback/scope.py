"""Whether a statement is about the work at hand or about all work to come.

"Always", "never", "remember" and "I don't like" serve both. A deed of the agent, the past or what
the clause points at make it a correction, whatever its words; without them, a word of scope makes a
refusal a rule. The words are the guards `at_hand`, `lasting` and `insisted` of a language's table.
"""

from typing import NamedTuple

from ijfw_plugins.signals_feedback.tables import Table


class Scope(NamedTuple):
    """What a clause says of how far its statement reaches."""

    at_hand: bool  # it names what was just done, or points at it
    lasting: bool  # it says from when on, how often or for whom it holds
    insists: bool = False  # it says nothing but that what stands before is to last

    def kind(self, kind: str) -> str:
        """The kind of a finding of a clause of this scope; refusals, rules and tastes change.

        "" where it is none.
        """
        if kind == "correction" and self.insists:
            return ""
        if kind == "correction" and self.lasting and not self.at_hand:
            return "rule"
        if kind in {"rule", "preference"} and self.at_hand and not self.lasting:
            return "correction"
        return kind


def scope(plain: str, following: str, table: Table) -> Scope:
    """The scope of a clause in lower case; `following` is the clause after it ("... ever.")."""
    return Scope(
        table.guard("at_hand", plain) is not None,
        table.guard("lasting", plain) is not None or table.guard("insisted", following) is not None,
        table.guard("insisted", plain) is not None,
    )
