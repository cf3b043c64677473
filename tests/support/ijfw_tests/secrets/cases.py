"""The labelled cases. Every third context, kind and harmless template is kept back: rules are
not tuned on it (`part="closed"`).
"""

import random
from typing import NamedTuple
from urllib.parse import quote

from ijfw_tests.secrets.contexts import CONTEXTS, KINDS, transcript_line
from ijfw_tests.secrets.harmless import HARMLESS
from ijfw_tests.secrets.structures import structures
from ijfw_tests.secrets.values import fill


class Case(NamedTuple):
    """A text, what has to go and what has to stay. No secrets: nothing may change."""

    id: str
    text: str
    secrets: tuple[str, ...]
    keep: tuple[str, ...]


def _part(number: int) -> str:
    return "closed" if number % 3 == 2 else "open"


def generate(part: str, seed: int = 7, rounds: int = 1) -> list[Case]:
    """The cases of one part, the same for the same seed."""
    cases: list[Case] = []
    for turn in range(rounds):
        rng = random.Random(f"{seed}:{turn}")
        for c, (context, make) in enumerate(CONTEXTS):
            for k, (name, shape) in enumerate(KINDS):
                value = fill(shape, rng)
                text, keep = make(name, value, rng)
                closed = _part(c) == "closed" or _part(k) == "closed"
                if closed == (part == "closed"):
                    shown = (
                        quote(value, safe="~!*")
                        if context == "form-body"
                        else quote(value, safe="~")
                        if context == "query"
                        else value
                    )
                    cases.append(Case(f"{context}/{name}", text, (shown,), keep))
        for number, (name, text, secrets, keep) in enumerate(structures(rng)):
            if _part(number) == part:
                cases.append(Case(name, text, secrets, keep))
        for number, template in enumerate(HARMLESS):
            if _part(number) == part:
                text = fill(template.replace("{{", "{").replace("}}", "}"), rng)
                cases.append(Case(f"harmless-{number}", text, (), (text,)))
                wrapped = transcript_line(text, rng)
                cases.append(Case(f"harmless-{number}-jsonl", wrapped, (), (wrapped,)))
    return cases
