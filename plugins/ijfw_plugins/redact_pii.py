"""The hook `redact`: personal data that a check can tell from other numbers.

Social security numbers and payment cards are on; IBAN, e-mail and phone are off, because they
stand in ordinary texts (commit authors, support addresses) and the user has to want them gone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from ijfw_hookspecs import Context, Span, hookimpl


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """Which kinds are removed."""

    ssn: bool = True
    card: bool = True
    iban: bool = False
    email: bool = False
    phone: bool = False


@hookimpl
def redact(text: str, context: Context) -> Sequence[Span]:
    """The personal data in a text."""
    settings = context.settings if isinstance(context.settings, Config) else Config()
    found: list[Span] = []
    for kind, find in _KINDS:
        if getattr(settings, kind):
            found += (Span(start=s, end=e, kind=kind, rule=kind) for s, e in find(text))
    return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _ssn(text: str) -> Iterator[tuple[int, int]]:
    """AAA-GG-SSSS: area not 000, 666 or 9xx, group not 00, serial not 0000 (rules of the SSA)."""
    if "-" not in text:
        return
    for match in _compiled(r"(?<![\w.-])(\d{3})-(\d\d)-(\d{4})(?![\w-]|\.\d)").finditer(text):
        area, group, serial = match.groups()
        if area not in ("000", "666") and area < "900" and group != "00" and serial != "0000":
            yield match.span()


def _cards(text: str) -> Iterator[tuple[int, int]]:
    """13 to 19 digits, plain or in groups, of a known issuer and with a right check digit."""
    pattern = r"(?<![\w.+/-])[2-6]\d{3}(?:(?:[ -]?\d){9,15})(?![\w+/-]|\.\d)"
    for match in _compiled(pattern).finditer(text):
        shown = match.group()
        digits = re.sub(r"\D", "", shown)
        if _issuer(digits) and _grouped(shown) and luhn(digits):
            yield match.span()


def _issuer(digits: str) -> bool:
    """Issuer ranges and lengths of the large networks (ISO/IEC 7812)."""
    size, two, three, four = len(digits), digits[:2], int(digits[:3]), int(digits[:4])
    if digits[0] == "4":
        return size in (13, 16, 19)
    if "51" <= two <= "55" or 2221 <= four <= 2720:
        return size == 16
    if two in ("34", "37"):
        return size == 15
    if 300 <= three <= 305 or two in ("36", "38", "39"):
        return size in (14, 16, 19)
    if 3528 <= four <= 3589 or two in ("62", "65") or four == 6011 or 644 <= three <= 649:
        return 16 <= size <= 19
    return two in ("50", "56", "57", "58", "63", "67") and 13 <= size <= 19


def _grouped(shown: str) -> bool:
    """Plain, or cut into the groups that are printed on cards; not any digits with blanks."""
    groups = re.split(r"[ -]", shown)
    if len(groups) == 1:
        return True
    sizes = [len(group) for group in groups]
    return sizes[0] == 4 and (all(n == 4 for n in sizes[:-1]) or sizes in ([4, 6, 5], [4, 6, 4]))


def luhn(digits: str) -> bool:
    """Whether the check digit is right (ISO/IEC 7812-1), and the digits are not all the same."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 2


def _iban(text: str) -> Iterator[tuple[int, int]]:
    """Country, check digits and account, right modulo 97 (ISO 13616)."""
    pattern = (
        r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
    )
    for match in _compiled(pattern).finditer(text):
        plain = match.group().replace(" ", "")
        number = "".join(str(int(char, 36)) for char in plain[4:] + plain[:4])
        if 15 <= len(plain) <= 34 and int(number) % 97 == 1:
            yield match.span()


def _email(text: str) -> Iterator[tuple[int, int]]:
    if "@" not in text:
        return
    pattern = (
        r"(?<![\w.+/:-])[A-Za-z0-9][\w.+-]{0,63}@"
        r"(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![\w-])"
    )
    for match in _compiled(pattern).finditer(text):
        if not match.group().startswith(("git@", "noreply@", "no-reply@")):
            yield match.span()


def _phone(text: str) -> Iterator[tuple[int, int]]:
    """International numbers with a plus, and North American ones with their usual separators."""
    pattern = (
        r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}"
        r"|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})(?![\w-]|\.\d)"
    )
    for match in _compiled(pattern).finditer(text):
        if sum(char.isdigit() for char in match.group()) >= 10:
            yield match.span()


_KINDS: tuple[tuple[str, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("ssn", _ssn),
    ("card", _cards),
    ("iban", _iban),
    ("email", _email),
    ("phone", _phone),
)
