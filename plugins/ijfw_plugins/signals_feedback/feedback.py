"""From a prompt and the reply it answers to signals."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ijfw_core.text import cap, tokens
from ijfw_hookspecs import Signal
from ijfw_plugins.signals_feedback.answers import answer, labelled
from ijfw_plugins.signals_feedback.clauses import LIMIT, lower, verbatim
from ijfw_plugins.signals_feedback.detect import PREF, Finding, find, guarded
from ijfw_plugins.signals_feedback.guards import typed
from ijfw_plugins.signals_feedback.intent import intent
from ijfw_plugins.signals_feedback.options import alternatives, choose, describe, offered, question
from ijfw_plugins.signals_feedback.rewrite import LONGEST, identity
from ijfw_plugins.signals_feedback.tables import Table, languages_of, table, word_set
from ijfw_plugins.signals_feedback.weighing import LANGUAGE, weigh

_ASKS = re.compile(
    r"\b(?:how (?:long|many|much|often|big|large|far)|which|what (?:size|name|value|limit|port))\b"
)
_ENOUGH = re.compile(
    r"(?!(?:that|this|it|all|both|everything|your|the plan)\b)"
    r"\S.{0,40} (?:is|are|would be|will be) (?:fine|ok|okay|good|enough|plenty|best|better)\b"
)
MOST_SIGNALS = 6  # of one prompt
ANSWERED = frozenset({"decision", "confirmation"})


def signals(prompt: str, reply: str = "") -> list[Signal]:
    """The feedback in a prompt, and one signal of kind "intent" for every prompt that was typed."""
    text = typed(prompt, LIMIT)
    if not text:
        return []
    kind, vague = intent(text)
    found = feedback(text, reply)[:MOST_SIGNALS]
    return [*found, Signal(kind="intent", text=kind, about=", ".join(vague), key=f"intent:{kind}")]


def feedback(text: str, reply: str = "") -> list[Signal]:
    """The feedback in a typed text, by the rules of its language or else of the one it mixes in."""
    languages = languages_of(lower(text))
    for language in languages:
        found = by_table(text, reply, table(language))
        if found:
            return found
    guess = weigh(text, table(LANGUAGE)) if languages[0] == LANGUAGE else None
    if guess is None:
        return []
    return [replace(_signal(guess, reply), said=verbatim(text, text, guess.clauses))]


def by_table(text: str, reply: str, rules: Table) -> list[Signal]:
    """The feedback in a typed text, by the rules of one language."""
    typed, text = text, rules.spelled(text)
    findings = find(text, rules, reply)
    result: dict[str, Signal] = {}
    asked = lower(question(reply)) if findings and reply else ""
    for finding in findings:
        finding = _answering(finding, reply, rules)
        if asked and _told(finding, asked, rules):
            continue
        signal = _choice(finding, reply, rules) or _signal(finding, reply)
        if signal.text == "chose both" and len(findings) > 1:
            continue  # "yes, both" approves two things that nobody can name now
        said = verbatim(typed, text, finding.clauses)
        result.setdefault(signal.kind + signal.key, replace(signal, said=said))
    chosen = labelled(text, reply, rules)
    if chosen and not any(s.signature == "option" for s in result.values()):
        result = {key: s for key, s in result.items() if s.kind != "confirmation"}
        choice = _chosen(describe(chosen), reply, verbatim(typed, text, (0,)))
        result.setdefault(choice.kind + choice.key, choice)
    if not any(signal.kind in ANSWERED for signal in result.values()):
        picked = _plain_choice(text, reply, rules) or answer(text, reply, rules)
        if picked and not result:
            return [picked]
    return list(result.values())


def _signal(finding: Finding, reply: str) -> Signal:
    about = question(reply) if finding.kind in {"correction", "confirmation", "decision"} else ""
    text = finding.text
    strength = finding.strength
    if strength == "option":
        text, strength = f"chose {text}", "bare"
    elif finding.kind == "confirmation":
        named = bool(set(identity(text).split()) - word_set("approval"))
        strength = "object" if named else "bare"
        what = text if named else about or text
        text = f"approved: {what}" if what else "approved what was proposed"
    elif not text:
        text, strength = (f"rejected: {about}" if about else "rejected the last change"), "bare"
    elif strength != "bare" and not identity(text):
        strength = "bare"
    if finding.family and strength == finding.strength:
        strength = f"{strength}:{finding.family}"
    group = "pref" if finding.kind in PREF else finding.kind
    if finding.want and finding.avoid:
        thing = f"{identity(finding.want)} ! {identity(finding.avoid)}"
    else:
        thing = identity(finding.text or about)
    return Signal(
        kind=finding.kind,  # type: ignore[arg-type]
        text=cap(text, LONGEST),
        about=about,
        key=f"{group}:{thing}" if thing else "",
        signature=strength,
    )


def _answering(finding: Finding, reply: str, rules: Table) -> Finding:
    """ "Use the queue, not cron" is no correction where the assistant asked which of them."""
    asked = lower(question(reply)) if finding.kind in {"correction", "confirmation"} else ""
    if finding.kind == "confirmation":  # "30 days is fine", where the question was how long
        names = _ASKS.search(asked) and _ENOUGH.match(lower(finding.text))
        return finding._replace(kind="decision", strength="object") if names else finding
    if finding.strength == "option" and _offered_both(finding, reply, rules):
        return finding._replace(kind="confirmation", strength="bare")
    both = set(tokens(finding.want or finding.text)) & set(tokens(asked))
    against = finding.avoid or (", not " in lower(finding.text) and finding.text)
    if not asked or not both or not against or not guarded("choice_question", asked, rules):
        return finding
    return finding._replace(kind="decision", strength="object")


def _offered_both(finding: Finding, reply: str, rules: Table) -> bool:
    """ "Both" of "Should I do this and that?": nothing was to be chosen."""
    both = lower(finding.text).startswith(rules.options.both)
    return both and guarded("offer_question", lower(question(reply)), rules)


def _told(finding: Finding, asked: str, rules: Table) -> bool:
    """Whether it only tells the assistant what it wanted to know, or how much to show."""
    if finding.kind == "decision":
        return finding.strength == "object" and guarded("shown_question", asked, rules)
    return finding.opener and guarded("world_question", asked, rules)


def _choice(finding: Finding, reply: str, rules: Table) -> Signal | None:
    """A choice by label, order or a describing word, with the text of the option it points to."""
    if finding.kind != "decision" or finding.strength != "option":
        return None
    options = offered(reply) or alternatives(reply)
    picked = choose(finding.text, options, rules) if options else []
    if not picked:
        return None
    words = describe(picked)
    return _chosen(f"{words}; {finding.want}" if finding.want else words, reply, "")


def _plain_choice(text: str, reply: str, rules: Table) -> Signal | None:
    """ "postgres" as the whole answer to "postgres or mysql?"."""
    if not reply or len(text) > 60 or text.rstrip().endswith(("?", "？")):
        return None
    words = set(tokens(text))
    options = [
        option
        for option in alternatives(reply) or offered(reply)
        if words <= set(tokens(option.text)[:8])
    ]
    if not identity(text) or len(options) != 1 or "?" not in reply[-600:]:
        return None
    return _chosen(describe(options), reply, verbatim(text, text, range(len(text))))


def _chosen(words: str, reply: str, said: str) -> Signal:
    return Signal(
        kind="decision",
        text=cap(words, LONGEST),
        about=question(reply),
        key=f"decision:{identity(words.partition(': ')[2] or words)}",
        signature="option",
        said=said,
    )


def kinds(found: Sequence[Signal]) -> set[str]:
    """The kinds of feedback among signals."""
    return {signal.kind for signal in found if signal.kind != "intent"}
