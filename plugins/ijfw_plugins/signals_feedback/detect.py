"""Find what a message says about the agent's work, clause by clause."""

import re
from collections import defaultdict
from typing import NamedTuple

from ijfw_plugins.signals_feedback.clauses import Clause, lower, split
from ijfw_plugins.signals_feedback.evidence import family
from ijfw_plugins.signals_feedback.rewrite import identity, tidy
from ijfw_plugins.signals_feedback.scope import scope
from ijfw_plugins.signals_feedback.tables import Part, Rule, Table, regex

MOST_OPENERS = 8
LONG = 120  # words; what is not said at the start of such a text is mostly part of a task
OPENING = 4  # clauses
FOREIGN = 8  # characters before which somebody else begins to speak: "the customer says ..."
REMEDY = 160  # characters of a clause that is told with the claim before it
REPLY = 4_000  # characters of the assistant's reply, from its end
PREF = frozenset({"rule", "preference", "correction"})


class Opened(NamedTuple):
    """How a clause opens, and where its body begins."""

    body: int
    said: frozenset[str] = frozenset()  # classes of the opening words, and "but"
    word: str = ""  # the last of them

    @property
    def yes(self) -> bool:
        """It opens with an approval."""
        return "yes" in self.said

    @property
    def no(self) -> bool:
        """It opens with a refusal."""
        return "no" in self.said

    @property
    def but(self) -> bool:
        """It opens with a contrast."""
        return "but" in self.said


class Around(NamedTuple):
    """What stands before and after a clause, in lower case."""

    reply: str  # the end of the assistant's reply
    next: str = ""  # the following clause, unless that is a question


class Finding(NamedTuple):
    """One piece of feedback in one clause."""

    kind: str
    strength: str
    text: str  # the statement; "" where the clause has no object
    clause: int
    want: str = ""
    avoid: str = ""
    opener: bool = False  # nothing but an opening word says so
    family: str = ""  # of the evidence of what is meant to last, see `evidence`
    also: tuple[int, ...] = ()  # the other clauses that `text` tells of

    @property
    def clauses(self) -> tuple[int, ...]:
        """The places of all clauses that it was found in."""
        return (self.clause, *self.also)


def opened(clause: Clause, table: Table) -> Opened:
    """Skip the opening words of a clause ("hmm, ok, no, ...") and tell what they say."""
    at, said, word = 0, set(), ""
    for _ in range(MOST_OPENERS):
        for name in table.openers:
            found = table.opener(name, clause.plain, at)
            if found and found.end() > at:
                said.add(name)
                word = found.group()
                if name == "filler" and guarded("contrast", word, table):
                    said.add("but")
                at = found.end()
                break
        else:
            break
    return Opened(at, frozenset(said), word)


def guarded(name: str, plain: str, table: Table) -> bool:
    """Whether a guard of the table holds for a text in lower case."""
    return table.guard(name, plain) is not None


def find(text: str, table: Table, reply: str = "") -> list[Finding]:
    """Every finding in an answer to `reply`, in order; what was taken back is left out."""
    reply = lower(reply[-REPLY:])
    found: list[Finding] = []
    heads: list[Opened] = []
    clauses = split(text)
    for clause, follower in zip(clauses, [*clauses[1:], None], strict=False):
        head = opened(clause, table)
        heads.append(head)
        if guarded("retraction", clause.plain, table):
            found.clear()
            continue
        around = Around(reply, follower.plain if follower and not follower.question else "")
        found.extend(_of_clause(clause, head, table, around))
    if sum(clause.plain.count(" ") for clause in clauses) > LONG:
        found = [f for f in found if f.clause < OPENING or f.strength == "marker"]
    found = _settle(found, clauses, heads, table)
    told = {f.clause for f in found}
    return [
        f._replace(family=family(f.kind, f.text, (f.want, f.avoid), f.clause, told, clauses, table))
        if f.strength == "marker" or (f.kind in PREF and f.strength == "object")
        else f
        for f in found
    ]


def _of_clause(clause: Clause, head: Opened, table: Table, around: Around) -> list[Finding]:
    found: dict[str, Finding] = {}
    turned = False  # what it prefers or leaves alone is what was there before
    for rule, parts in table.candidates(clause.plain):
        if rule.kind in found or (rule.kind in PREF and PREF & found.keys()):
            continue
        if rule.after and not guarded(rule.after, around.reply, table):
            continue
        if rule.next and not guarded(rule.next, around.next, table):
            continue
        match = _match(rule, parts, clause, head, table)
        if match:
            finding = _finding(rule, match, clause, head, table)
            reaching = _reaching(finding, clause, head, around, table)
            if reaching is None:
                continue
            found[reaching.kind] = reaching
            turned = turned or (reaching is not finding and reaching.kind == "correction")
    if turned or (head.yes and head.but):  # "yes, but keep the old name" amends what was asked
        found.pop("decision", None)
    asks = clause.question and not guarded("angry", head.word, table)
    talk = guarded("self_talk", clause.plain[head.body :], table)
    if head.no and not asks and not talk and not PREF & found.keys():
        body = tidy(clause.text[head.body :], table)
        found["correction"] = Finding("correction", "claim", body, clause.place, opener=True)
    if head.yes and not head.no and _approves(clause, head, table):
        body = tidy(clause.text[head.body :], table)
        found["confirmation"] = Finding("confirmation", "bare", body, clause.place, opener=True)
    return list(found.values())


def _match(
    rule: Rule, parts: list[Part], clause: Clause, head: Opened, table: Table
) -> re.Match[str] | None:
    if clause.question and not rule.question:
        return None
    if clause.listed and rule.kind in {"rule", "preference"}:
        return None
    if rule.opened and not head.said.issuperset(rule.opened.split()):
        return None
    body = clause.plain[head.body :]
    text = body.rstrip(" ,.!") if rule.whole else body
    match = next(filter(None, (part.match(text, rule.whole) for part in parts)), None)
    if not match or any(guarded(name, body, table) for name in rule.guards):
        return None
    # "my boss says we never ..." is not the user's wish, "we never ..., my boss says so" is
    others = table.guard("foreign", body)
    return None if others and others.start() <= max(match.start(), FOREIGN) else match


def _finding(
    rule: Rule, match: re.Match[str], clause: Clause, head: Opened, table: Table
) -> Finding:
    body = clause.text[head.body :]
    groups = {
        name: tidy(body[slice(*match.span(name))], table)
        for name in match.re.groupindex
        if match.group(name) is not None
    }
    if rule.say:
        text = rule.say.format_map(defaultdict(str, groups))
    else:
        text = body
        if "cue" in groups:
            start, end = match.span("cue")
            text = body[:start] + " " + body[end:]
    want, avoid = groups.get("want", ""), groups.get("avoid", "")
    strength = rule.strength
    if rule.kind == "correction" and strength == "object":
        # "don't touch the config" is about this piece of work, "don't add comments" about all
        said = [want, avoid] if want or avoid else [text]
        if any(guarded("situated", lower(part), table) for part in said):
            strength = "claim"
    return Finding(rule.kind, strength, tidy(text, table), clause.place, want, avoid)


def _reaching(
    finding: Finding, clause: Clause, head: Opened, around: Around, table: Table
) -> Finding | None:
    """The finding as the kind that its clause makes of it, if any (see `scope`)."""
    if finding.kind not in PREF:
        return finding
    kind = scope(clause.plain[head.body :], around.next, table).kind(finding.kind)
    if kind == finding.kind or not kind:
        return finding if kind else None
    body = tidy(clause.text[head.body :], table)
    strength = "claim" if kind == "correction" else "marker"
    return Finding(kind, strength, body, clause.place)


def _approves(clause: Clause, head: Opened, table: Table) -> bool:
    """Whether a yes at the start of a clause approves something, rather than answers a question."""
    if "hedge" in head.said or (clause.question and clause.plain.count(",") == 0):
        return False
    answer = table.guard("answer", clause.plain[head.body :])
    return not (answer and not answer.start())


def _settle(
    found: list[Finding], clauses: list[Clause], heads: list[Opened], table: Table
) -> list[Finding]:
    """Give a bare rejection its object, join both halves of a pair, drop what is no approval."""
    if guarded("sarcasm", " ".join(clause.plain for clause in clauses), table):
        found = [f for f in found if f.kind != "confirmation"]
    found = [f for f in found if not _seconds(f, found, clauses, table)]
    wrong = {f.clause for f in found if f.kind == "correction"}
    found = [
        f for f in found if f.kind != "confirmation" or _stands(f, wrong, clauses, heads, table)
    ]
    if len(clauses) > 2:  # a lone "2" in a longer text is hardly a choice
        found = [f for f in found if f.strength != "option" or len(f.text) > 2]
    picked = {f.clause: f.text for f in found if f.kind == "decision" and f.strength == "option"}
    found = [  # "yes, B", "the second one is fine": the choice says it all
        f
        for f in found
        if f.kind != "confirmation"
        or f.clause not in picked
        or not (f.opener or f.text.startswith(picked[f.clause]))
    ]
    wrong = {f.clause for f in found if f.kind == "correction"}
    found = [  # "you broke the flags. keep the old ones": a remedy, told with its claim
        f
        for f in found
        if f.kind != "decision"
        or f.clause - 1 not in wrong
        or not guarded("restored", lower(f.text), table)
    ]
    chosen = {f.clause for f in found if f.kind == "decision" and f.strength != "option"}
    marked = {f.clause for f in found if f.kind == "decision" and f.strength == "marker"}
    found = [  # "we'll use sqlite, redis is overkill" decides; the rest is its reason
        f
        for f in found
        if f.kind != "correction"
        or heads[f.clause].no
        or not (
            (f.strength == "claim" and f.clause in chosen)
            or (f.strength == "fact" and f.clause in marked)
            or (f.clause - 1 in chosen and guarded("reason", lower(f.text), table))
        )
    ]
    wishes = {f.clause for f in found if f.kind in PREF}
    found = [  # "No. Use X": the wish says it all
        f for f in found if not (f.kind == "correction" and not f.text and f.clause + 1 in wishes)
    ]
    found = [_with_object(f, found, clauses, heads, table) for f in found]
    found = [_with_remedy(f, found, clauses, heads, table) for f in found]
    found = [_with_cause(f, found, clauses, heads, table) for f in found]
    return _pairs(found, table)


def _seconds(finding: Finding, found: list[Finding], clauses: list[Clause], table: Table) -> bool:
    """ "Agreed, that's dead code" seconds the assistant; "nice! no more flicker" is its reason."""
    if finding.kind not in {"correction", "decision"}:
        return False
    praised = {f.clause for f in found if f.kind == "confirmation"}
    here = clauses[finding.clause : finding.clause + 2]
    said = ". ".join(clause.plain for clause in here)
    if finding.clause in praised and finding.kind == "correction":
        return guarded("agrees", said, table) or guarded("relief", lower(finding.text), table)
    return finding.clause - 1 in praised and guarded("relief", here[0].plain, table)


def _stands(
    praise: Finding, wrong: set[int], clauses: list[Clause], heads: list[Opened], table: Table
) -> bool:
    """Whether an approval is not taken back at once ("good, but ...", "yes. This is wrong")."""
    if praise.clause in wrong:
        return False
    follower = praise.clause + 1
    after = clauses[follower] if follower < len(clauses) else None
    plain = clauses[praise.clause].plain
    late = after is not None and (
        heads[follower].but or guarded("contrast", after.plain[:9], table)
    )
    contrast = late or guarded("contrast", plain, table)
    if not praise.opener:
        return not contrast
    if contrast and wrong:
        return False
    if praise.text or after is None:
        return True
    if follower in wrong or late:
        return False
    weak = guarded("weak_yes", heads[praise.clause].word, table)
    return not weak and not after.question


def _with_object(
    finding: Finding, found: list[Finding], clauses: list[Clause], heads: list[Opened], table: Table
) -> Finding:
    """ "That's wrong. The port is 8443": the next clause is what the user means."""
    if finding.text or finding.kind != "correction":
        return finding
    follower = finding.clause + 1
    if follower >= len(clauses) or any(f.clause == follower for f in found):
        return finding
    clause = clauses[follower]
    if clause.question or clause.opens_line:
        return finding
    text = tidy(clause.text[heads[follower].body :], table)
    return finding._replace(text=text, also=(*finding.also, follower))


def _with_remedy(
    finding: Finding, found: list[Finding], clauses: list[Clause], heads: list[Opened], table: Table
) -> Finding:
    """ "The name is misleading. Rename it to X": what to do about it belongs to the claim."""
    follower = finding.clause + 1
    if finding.kind != "correction" or finding.strength != "claim" or follower >= len(clauses):
        return finding
    clause, head = clauses[follower], heads[follower]
    plain = clause.plain[head.body :]
    if clause.question or clause.opens_line or any(f.clause == follower for f in found):
        return finding
    if finding.text == tidy(clause.text[head.body :], table):
        return finding
    if not finding.text or len(plain) > REMEDY or guarded("onward", plain, table):
        return finding
    if not identity(plain):
        return finding
    text = f"{finding.text}; {tidy(clause.text[head.body :], table)}"
    return finding._replace(text=text, also=(*finding.also, follower))


def _with_cause(
    finding: Finding, found: list[Finding], clauses: list[Clause], heads: list[Opened], table: Table
) -> Finding:
    """ "The header is sticky now. That's not what I asked for": what "that" is stands before."""
    before = finding.clause - 1
    if finding.kind != "correction" or before < 0 or any(f.clause == before for f in found):
        return finding
    clause, head = clauses[before], heads[before]
    plain = clause.plain[head.body :]
    if clause.question or clauses[finding.clause].opens_line or len(plain) > REMEDY:
        return finding
    if not guarded("anaphor", lower(finding.text), table) or not identity(plain):
        return finding
    text = f"{tidy(clause.text[head.body :], table)}; {finding.text}"
    return finding._replace(text=text, also=(*finding.also, before))


def _halves(finding: Finding, table: Table) -> tuple[str, str]:
    """What a finding wants used and what not, of "use X" or "don't use Y"."""
    if finding.want or finding.avoid:
        return finding.want, finding.avoid
    found = []
    for name in ("want", "avoid"):
        pattern = table.pair.get(name)
        match = regex(pattern).match(finding.text) if pattern else None
        found.append(match["x"] if match else "")
    return found[0], found[1]


def _pairs(found: list[Finding], table: Table) -> list[Finding]:
    """Join "don't use X" and "use Y" next to each other into one finding."""
    strong = ("rule", "preference", "correction")
    result: list[Finding] = []
    for finding in found:
        last = next((f for f in reversed(result) if f.kind in PREF), None)
        if last and finding.kind in PREF and finding.clause - last.clause <= 1:
            one, two = _halves(last, table), _halves(finding, table)
            want, avoid = one[0] or two[0], one[1] or two[1]
            if want and avoid and all(sum(map(bool, half)) == 1 for half in (one, two)):
                best = min(last, finding, key=lambda f: strong.index(f.kind))
                text = table.pair.get("say", "use {want}, not {avoid}")
                text = text.format(want=want, avoid=avoid)
                result[result.index(last)] = best._replace(
                    text=text, want=want, avoid=avoid, also=(*last.clauses, *finding.clauses)
                )
                continue
        result.append(finding)
    return result
