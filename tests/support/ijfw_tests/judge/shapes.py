"""Values made at run time from the shapes that a case names, by a seeded generator.

`⟦shape⟧` in a template is a secret, `⟨shape⟩` a harmless random piece. Shapes: `b62:40`, `hex:32`,
`pwd` and so on (see `_SHAPES`), `b64("text with {shape}")` for an encoded text; `|how` bends the
value as life does: invisible characters, line breaks, indents.
"""

import base64
import random
import re
import string
import uuid
from collections.abc import Callable
from urllib.parse import quote

_DIGITS = string.digits
_B62 = string.ascii_letters + _DIGITS
_B64 = _B62 + "+/"
_ALPHABETS = {
    "b62": _B62,
    "b64": _B64,
    "b64u": _B62 + "-_",
    "b32": string.ascii_uppercase + "234567",
    "hex": "0123456789abcdef",
    "uhex": "0123456789ABCDEF",
    "dig": _DIGITS,
    "l36": string.ascii_lowercase + _DIGITS,
    "u36": string.ascii_uppercase + _DIGITS,
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "bechl": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
}
_WORDS = (
    "harbor",
    "maple",
    "copper",
    "lantern",
    "velvet",
    "orbit",
    "walnut",
    "meadow",
    "tunnel",
    "saddle",
    "ribbon",
    "anchor",
    "pepper",
    "glacier",
    "basket",
    "timber",
    "falcon",
    "cinder",
    "puzzle",
    "garden",
    "marble",
    "whistle",
    "canyon",
    "feather",
)
_PLACE = re.compile(r"⟦(.+?)⟧|⟨(.+?)⟩", re.S)
_LINE = 64  # characters in a line of a PEM body


def _text(rng: random.Random, alphabet: str, size: int) -> str:
    value = "".join(rng.choice(alphabet) for _ in range(size))
    if alphabet in (_B62, _ALPHABETS["l36"], _ALPHABETS["u36"]) and size > 8:
        value = value[:3] + rng.choice(_DIGITS) + value[4:6] + rng.choice(_DIGITS) + value[7:]
    return value


def _special(rng: random.Random, marks: str) -> str:
    middle = "".join(rng.choice(_B62 + marks) for _ in range(9))
    return rng.choice(string.ascii_letters) + middle + rng.choice(_DIGITS) + rng.choice(marks)


_PASSWORDS: dict[str, Callable[[random.Random], str]] = {
    "pw": lambda r: _special(r, "!%*-_.") + _text(r, _B62, 3),
    "pw0": lambda r: _special(r, "!#%&*-_.$") + _text(r, _B62, 3),
    "pw1q": lambda r: _special(r, "!#%&*-_.$?") + _text(r, _B62, 2),
    "pw40": lambda r: "".join(_special(r, "!#%&*-_.?^|{}()") for _ in range(4)),
    "pwsql": lambda r: _special(r, "!#%&*-_.?") + _text(r, _B62, 3),
    "pwpct": lambda r: quote(_special(r, "!#%&*?") + _text(r, _B62, 3), safe=""),
    "pwd": lambda r: r.choice(_WORDS) + str(r.randrange(10, 99)) + r.choice(_WORDS).title(),
    "pwl": lambda r: "".join(r.sample(_WORDS, 2)),
    "pwshort": lambda r: r.choice(_WORDS)[:4] + str(r.randrange(100, 999)),
    "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
}


def _lines(rng: random.Random, count: int) -> list[str]:
    return [_text(rng, _B64, _LINE) for _ in range(count)]


def _bend(value: str, how: str, rng: random.Random) -> str:
    half = len(value) // 2
    match how:
        case "zw":
            return "\u200b".join([value[:9], value[9:20], value[20:]])
        case "wrap":
            return value[:half] + "\n  " + value[half:]
        case "wrapcell":
            return value[:half] + " |\n| " + value[half:]
        case "jsonnl":
            return value.replace("\n", "\\n")
        case "indent4":
            return value.replace("\n", "\n    ")
        case "plus":
            return value.replace("\n", "\n+")
        case "spaces":
            return value.replace("\n", " ")
        case _:
            raise ValueError(how)


def _value(shape: str, rng: random.Random) -> str:
    encoded = re.fullmatch(r'b64\("(.*)"\)', shape, re.S)
    if encoded:
        inner = encoded.group(1).encode().decode("unicode_escape")
        inner = re.sub(r"\{([a-z0-9]+(?::\d+)?)\}", lambda m: _value(m.group(1), rng), inner)
        return base64.b64encode(inner.encode()).decode()
    name, _, how = shape.partition("|")
    kind, _, size = name.partition(":")
    if kind == "b64lines":
        value = "\n".join(_lines(rng, int(size)))
    elif kind == "words":
        value = " ".join(rng.sample(_WORDS, int(size)))
    elif kind == "b64pct":
        value = quote(_text(rng, _B64, int(size) - 1) + "=", safe="")
    elif kind in _PASSWORDS:
        value = _PASSWORDS[kind](rng)
    else:
        value = _text(rng, _ALPHABETS[kind], int(size))
    return _bend(value, how, rng) if how else value


def _pieces(value: str, shape: str) -> list[str]:
    """What of a value must not survive: each unbroken line of it."""
    if "|jsonnl" in shape:
        return value.split("\\n")
    if "b64lines" in shape and "|spaces" in shape:
        return value.split(" ")
    if "words:" in shape:
        return [value]
    if "\n" in value:
        return [piece for piece in re.split(r"[\n|+ ]+", value) if len(piece) >= 8]
    return [value]


def fill(template: str, seed: str) -> tuple[str, list[str]]:
    """A template with its values made; (text, the secrets in it). Equal seeds give equal texts."""
    rng = random.Random(seed)
    secrets: list[str] = []

    def place(match: re.Match[str]) -> str:
        secret, harmless = match.groups()
        value = _value(secret or harmless, rng)
        if secret:
            secrets.extend(_pieces(value, secret))
        return value

    return _PLACE.sub(place, template), secrets
