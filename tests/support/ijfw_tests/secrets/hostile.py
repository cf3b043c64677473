"""Texts made to cost time: every literal, keyword and example of the rules, repeated."""

import random
import re

from ijfw_plugins.redact_secrets import keywords, rules
from ijfw_tests.secrets.values import fill

# What stands around a literal: nothing, a short value, an end of line, signs that join, quotes.
LITERAL = (
    "{}",
    "{}a1",
    "{} a1 ",
    " {}a1\n",
    "?{}a1&",
    '{}"a1", ',
    "{}=a1;",
    '"{}": "a1", ',
    "{}Ab9/",
)
KEYWORD = (
    "{}=a1 ",
    "{}: a1\n",
    "{} is a1 ",
    '"{}": "Ab1',
    '\\"{}\\":\\"Ab1',
    "{}(",
    "{}\n\n",
    "{}|a1|\n",
    "{}=a1b2c3d4e5f6\n",
    "--{} ",
)
_VALUE = re.compile(r"<(?:uuid|words|[A-Za-z0-9]+)(?::\d+)?>")


def pieces() -> list[str]:
    """What is repeated in a hostile text, each once, in the order of the rules."""
    rng = random.Random("hostile")
    found: list[str] = []
    for rule in rules.written():
        found += [form.format(literal) for literal in rule.literals for form in LITERAL]
        for example in rule.examples:
            whole = fill(example, rng)
            found += [whole + " ", whole + "\n", whole[: len(whole) // 2], whole[:-1] + '"\\n']
            found.append(_VALUE.sub("a1", example) + " ")
    words = [word for held in keywords.KEYWORDS.values() for word in held]
    found += [form.format(word) for word in (*words, *keywords.FOREIGN) for form in KEYWORD]
    return list(dict.fromkeys(piece for piece in found if piece))
