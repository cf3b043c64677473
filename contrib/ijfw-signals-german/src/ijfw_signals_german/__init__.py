"""More German: idioms by which people state rules and choices, as a table beside this module.

The built-in table knows the plain words (immer, nie, ab jetzt, lieber); this one those of everyday
talk (Faustregel, Finger weg, geeinigt). Copy it to add a table of another language.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct, convert

from ijfw_hookspecs import AgentEvent, Signal, SignalKind, hookimpl

LITERALS: tuple[bytes, ...] = ()  # prompts only
LONGEST = 4000  # characters of a prompt that are read: wishes stand at its start
MOST = 4  # signals of one prompt
_SENTENCE = re.compile(r"[^.!?\n;]{1,400}(?:\.(?=\S)[^.!?\n;]{0,400}){0,5}\??")


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One idiom; see idioms.toml."""

    kind: SignalKind
    pattern: str
    say: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    counter: tuple[str, ...] = ()


@hookimpl
def on_signal(event: AgentEvent) -> Sequence[Signal] | None:
    """A signal for each sentence of a prompt that states something; questions state nothing."""
    if event.kind != "prompt" or event.synthetic:
        return None
    found: dict[str, Signal] = {}
    for match in _SENTENCE.finditer(event.text[:LONGEST]):
        sentence = " ".join(match.group().split()).strip(" ,")
        if sentence and not sentence.endswith("?"):
            for rule, pattern in _compiled():
                hit = pattern.fullmatch(sentence)
                if hit:
                    signal = _signal(rule, hit)
                    found.setdefault(signal.key, signal)
                    break
    return list(found.values())[:MOST]


def _signal(rule: Rule, hit: re.Match[str]) -> Signal:
    thing = next(text for text in hit.groups() if text is not None).strip(" ,:")
    text = rule.say.format(x=thing) if rule.say else thing
    family = "decision" if rule.kind == "decision" else "pref"
    return Signal(kind=rule.kind, text=text, key=f"{family}:{text.lower()}", signature="marker")


@cache
def table() -> tuple[Rule, ...]:
    """The idioms, read once."""
    text = Path(__file__).with_name("idioms.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text)["rule"], tuple[Rule, ...])


@cache
def _compiled() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    thing = "([^?]{2,200})"
    return tuple(
        (rule, re.compile(rule.pattern.replace("{x}", thing).replace("{y}", thing), re.I))
        for rule in table()
    )
