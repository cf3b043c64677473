# ruff: noqa: E501
"""Random values in documented shapes, and the test for what is left of one."""

import random
import re
import string

ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "d": string.digits,
    "b36": string.ascii_lowercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "UAN": string.ascii_uppercase + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
}
WORDS = [
    "amber",
    "basil",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "hazel",
    "indigo",
    "juniper",
    "kestrel",
    "lemon",
    "maple",
    "nickel",
    "onyx",
]
SPECIAL = "!#%*+-._~@"


def fill(shape: str, rng: random.Random) -> str:
    """A value of a described shape: `gh<an:36>`, `<uuid>`, `<pw:16>` (a strong password), `<words>`."""

    def one(match: re.Match[str]) -> str:
        kind, size = match.group(1), int(match.group(2) or 0)
        if kind == "uuid":
            return "-".join(fill(f"<hex:{n}>", rng) for n in (8, 4, 4, 4, 12))
        if kind == "words":
            first, second = rng.sample(WORDS, 2)
            return f"{first.title()}{rng.choice('!_-.')}{second}{rng.choice('!_-')}{rng.randint(1000, 9999)}"
        if kind == "pw":
            while True:
                text = "".join(rng.choice(ALPHABETS["an"] + SPECIAL) for _ in range(size))
                if (
                    any(c.isdigit() for c in text)
                    and any(c.isalpha() for c in text)
                    and text[0].isalnum()
                ):
                    return text
        return "".join(rng.choice(ALPHABETS[kind]) for _ in range(size))

    return re.sub(r"<(uuid|words|[A-Za-z0-9]+)(?::(\d+))?>", one, shape)


def leaks(secret: str, text: str) -> bool:
    """Whether half of a secret, and at least 8 characters, can be read in a text."""
    size = max(8, (len(secret) + 1) // 2)
    if secret in text:
        return True
    return any(secret[i : i + size] in text for i in range(len(secret) - size + 1))
