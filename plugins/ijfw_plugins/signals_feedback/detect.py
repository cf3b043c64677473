"""Find what a message says about the agent's work, clause by clause."""

import re
from typing import NamedTuple

from ijfw_plugins.signals_feedback.clauses import Clause, split
from ijfw_plugins.signals_feedback.rewrite import tidy
from ijfw_plugins.signals_feedback.tables import Rule, Table

MOST_OPENERS = 8
PREF = frozenset({"rule", "preference", "correction"})


class Opened(NamedTuple):
    """How a clause opens, and where its body begins."""

    body: int
    yes: bool = False
    no: bool = False


class Finding(NamedTuple):
    """One piece of feedback in one clause."""

    kind: str
    strength: str
    text: str  # the statement; "" where the clause has no object
    clause: int
    want: str = ""
    avoid: str = ""
    opener: bool = False  # nothing but an opening word says so


def opened(clause: Clause, table: Table) -> Opened:
    """Skip the opening words of a clause ("hmm, ok, no, ...") and tell what they say."""
    at, yes, no = 0, False, False
    for _ in range(MOST_OPENERS):
        for name in ("filler", "no", "yes"):
            found = table.regex(table.openers[name]).match(clause.plain, at)
            if found and found.end() > at:
                yes |= name == "yes"
                no |= name == "no"
                at = found.end()
                break
        else:
            break
    return Opened(at, yes, no)


def guarded(name: str, clause: Clause, table: Table, start: int = 0) -> bool:
    """Whether a guard of the table holds for a clause from `start` on."""
    pattern = table.guards.get(name)
    return bool(pattern and table.regex(pattern).search(clause.plain[start:]))


def find(text: str, table: Table) -> list[Finding]:
    """Every finding in a message, in order; what was taken back is left out."""
    found: list[Finding] = []
    heads: list[Opened] = []
    clauses = split(text)
    for clause in clauses:
        head = opened(clause, table)
        heads.append(head)
        if guarded("retraction", clause, table):
            found.clear()
            continue
        found.extend(_of_clause(clause, head, table))
    return _settle(found, clauses, heads, table)


def _of_clause(clause: Clause, head: Opened, table: Table) -> list[Finding]:
    found: dict[str, Finding] = {}
    if guarded("foreign", clause, table):
        return []
    for rule in table.rules:
        if rule.kind in found or (rule.kind in PREF and PREF & found.keys()):
            continue
        match = _match(rule, clause, head, table)
        if match:
            found[rule.kind] = _finding(rule, match, clause, head, table)
    if head.no and not clause.question and not PREF & found.keys():
        body = tidy(clause.text[head.body :], table)
        found["correction"] = Finding("correction", "claim", body, clause.index, opener=True)
    if head.yes and not head.no and _approves(clause, head, table):
        body = tidy(clause.text[head.body :], table)
        found["confirmation"] = Finding("confirmation", "bare", body, clause.index, opener=True)
    return list(found.values())


def _match(rule: Rule, clause: Clause, head: Opened, table: Table) -> re.Match[str] | None:
    if clause.question and not rule.question:
        return None
    if clause.listed and rule.kind in {"rule", "preference"}:
        return None
    if rule.opened and not getattr(head, rule.opened):
        return None
    if rule.literals and not any(word in clause.plain for word in rule.literals):
        return None
    pattern = table.regex(rule.pattern)
    body = clause.plain[head.body :]
    match = pattern.fullmatch(body.rstrip(" ,.!")) if rule.whole else pattern.search(body)
    if match and any(guarded(name, clause, table, head.body) for name in rule.guards):
        return None
    return match


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
        text = rule.say.format_map({"want": "", "avoid": "", "x": "", **groups})
    else:
        text = body
        if "cue" in groups:
            start, end = match.span("cue")
            text = body[:start] + " " + body[end:]
    want, avoid = groups.get("want", ""), groups.get("avoid", "")
    return Finding(rule.kind, rule.strength, tidy(text, table), clause.index, want, avoid)


def _approves(clause: Clause, head: Opened, table: Table) -> bool:
    """Whether a yes at the start of a clause approves something, rather than answers a question."""
    if clause.question and clause.plain.count(",") == 0:
        return False
    answer = table.guards.get("answer")
    return not (answer and table.regex(answer).match(clause.plain[head.body :]))


def _settle(
    found: list[Finding], clauses: list[Clause], heads: list[Opened], table: Table
) -> list[Finding]:
    """Give a bare rejection its object, join both halves of a pair, drop praise before a "but"."""
    plain = " ".join(clause.plain for clause in clauses)
    if any(f.kind == "confirmation" for f in found):
        sarcastic = table.guards.get("sarcasm")
        corrected = any(f.kind == "correction" for f in found)
        contrast = table.guards.get("contrast")
        late = contrast and table.regex(contrast).search(plain)
        if (sarcastic and table.regex(sarcastic).search(plain)) or corrected and late:
            found = [f for f in found if f.kind != "confirmation"]
        elif late:
            found = [f for f in found if f.kind != "confirmation" or f.opener]
    found = [_with_object(f, found, clauses, heads, table) for f in found]
    return _pairs(found)


def _with_object(
    finding: Finding, found: list[Finding], clauses: list[Clause], heads: list[Opened], table: Table
) -> Finding:
    """ "That's wrong. The port is 8443": the next clause is what the user means."""
    if finding.text or finding.kind not in {"correction", "confirmation"}:
        return finding
    follower = finding.clause + 1
    if follower >= len(clauses) or any(f.clause == follower for f in found):
        return finding
    clause = clauses[follower]
    if clause.question or clause.opens_line:
        return finding
    return finding._replace(text=tidy(clause.text[heads[follower].body :], table))


def _pairs(found: list[Finding]) -> list[Finding]:
    """Join "don't use X" and "use Y" next to each other into one finding."""
    strong = ("rule", "preference", "correction")
    result: list[Finding] = []
    for finding in found:
        last = next((f for f in reversed(result) if f.kind in PREF), None)
        if last and finding.kind in PREF and finding.clause - last.clause <= 1:
            want, avoid = finding.want or last.want, finding.avoid or last.avoid
            halves = {bool(last.want), bool(finding.want)} == {True, False}
            if halves and want and avoid and not (finding.want and finding.avoid):
                best = min(last, finding, key=lambda f: strong.index(f.kind))
                joined = best._replace(text=f"use {want}, not {avoid}", want=want, avoid=avoid)
                result[result.index(last)] = joined
                continue
        result.append(finding)
    return result
