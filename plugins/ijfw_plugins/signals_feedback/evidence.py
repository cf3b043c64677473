"""Which kind of evidence proves that a statement is meant to last.

The families are what confidence is measured by: how often what they say was right and useful. The
words of a family are guards of the table of a language, `proof_<family>`; what speaks against a
lasting lesson is the guard `proof_doubt`, a task beside it `proof_task`.
"""

from collections.abc import Collection, Sequence

from ijfw_plugins.signals_feedback.clauses import Clause, lower
from ijfw_plugins.signals_feedback.tables import Table

# The first that holds names the family: an explicit scope proves more than a lone "every".
FAMILIES = ("scope", "consent", "noted", "place", "habit", "always", "address")
OF_WORK = frozenset({"scope", "place", "habit", "always"})  # a product may have these as well
SHORT_IS_WEAK = frozenset({"preference", "correction"})  # "from now on use uv" says it all
ASIDE = "aside"  # said beside other things, in jest, of other people or of the product
WISH = "wish"  # meant to last, but maybe by the product: no word is of an agent's work
SHAPE = "shape"  # nothing but the shape of the clause
MOST_WORDS = 60  # of a message; what stands in a longer one is mostly part of a task
MOST_CLAUSES = 6
LEAST_WORDS = 3  # of a statement; "prefer pizza" says nothing of the work


def family(
    kind: str,
    statement: str,
    halves: tuple[str, str],
    place: int,
    told: Collection[int],
    clauses: Sequence[Clause],
    table: Table,
) -> str:
    """The family of the evidence of a statement of `kind` that stands in clause `place`.

    `halves`: what it wants and what it rejects, "" where it does not say. `told`: the clauses that
    hold a finding; a task in another one makes the statement one `ASIDE`.
    """
    if _aside(kind, statement, place, told, clauses, table):
        return ASIDE
    if kind == "decision":
        return "decided"
    if kind == "correction":  # "don't use X" alone does not say what to do
        if any(halves):
            return "pair" if all(halves) else "ban"
        return "ban" if table.guard("proof_ban", lower(statement)) else SHAPE
    plain = clauses[place].plain
    if kind == "preference":
        if table.guard("proof_address", plain):
            return "address"
        return ASIDE if table.guard("proof_thing", plain) else "taste"
    for name in FAMILIES:
        if table.guard(f"proof_{name}", plain):
            return WISH if name in OF_WORK and _of_product(plain, table) else name
    return SHAPE


def _of_product(plain: str, table: Table) -> bool:
    """Whether a clause names nothing of an agent's work, and so may be a requirement."""
    return "proof_work" in table.guards and table.guard("proof_work", plain) is None


def _aside(
    kind: str,
    statement: str,
    place: int,
    told: Collection[int],
    clauses: Sequence[Clause],
    table: Table,
) -> bool:
    words = sum(clause.plain.count(" ") + 1 for clause in clauses)
    if words > MOST_WORDS or len(clauses) > MOST_CLAUSES:
        return True
    if kind in SHORT_IS_WEAK and statement.isascii() and len(statement.split()) < LEAST_WORDS:
        return True
    plain = clauses[place].plain
    if table.guard("proof_doubt", plain) or _ends_in_task(plain, table):
        return True
    others = (clause.plain for clause in clauses if clause.place not in told)
    return any(table.guard("proof_task", plain) for plain in others)


def _ends_in_task(plain: str, table: Table) -> bool:
    """Whether work to do now ends the clause; after "whenever you ..." that is the rule itself."""
    if table.guard("proof_habit", plain):
        return False
    scope = table.guard("proof_scope", plain[:40])
    rest = plain[scope.end() + 1 :] if scope else plain
    return any(table.guard(name, rest) for name in ("tasked", "proof_tail"))
