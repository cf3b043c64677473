"""The tests that a rule may name: whether what it found is a secret."""

from binascii import Error as Base64Error
from binascii import a2b_base64

from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.values import (
    digits_in,
    password_like,
    phrase_of_words,
    placeholder,
    prose_password,
    random_looking,
    reference,
    token_like,
    words_alone,
)

_PART = lazy(r"[A-Za-z0-9]{10,}")
_UUID_INSIDE = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FOUR_CONSONANTS = lazy(r"[B-DF-HJ-NP-TV-XZ]{4}")


def valid_aws_id(value: str) -> bool:
    """An AWS key id is base32; without a digit it must at least not read as words."""
    body = value[4:]
    if placeholder(value):
        return False
    if any(map(str.isdigit, body)) or sum(c in "AEIOU" for c in body) < len(body) / 3:
        return True
    return _FOUR_CONSONANTS.search(body) is not None


def valid_token(value: str) -> bool:
    """Not a placeholder, and more than a few different characters."""
    return len(set(value)) >= 8 and not placeholder(value)


def valid_mixed(value: str) -> bool:
    """A token whose prefix is a common word: a part of it is no word and no number."""
    if not valid_token(value):
        return False
    return _UUID_INSIDE.search(value) is not None or any(
        random_looking(part) or _letters_and_digits(part) for part in _PART.findall(value)
    )


def _letters_and_digits(part: str) -> bool:
    return digits_in(part) > 1 and any(map(str.isalpha, part))


def valid_password(value: str) -> bool:
    """Anything typed as a password: not a placeholder, not a reference."""
    return len(value) >= 4 and not placeholder(value) and not reference(value, True)


def valid_strong(value: str) -> bool:
    """A password or a token by the tests of name=value."""
    good = password_like(value, True) or token_like(value) or words_alone(value, 8)
    return good and valid_password(value)


def valid_typed(value: str) -> bool:
    """A password or a token by the tests of name=value, and not of letters alone."""
    return (password_like(value, True) or token_like(value)) and valid_password(value)


def valid_issued(value: str) -> bool:
    """A token by the strict test: hex, a UUID, or random."""
    return not placeholder(value) and token_like(value, 20)


def valid_random(value: str) -> bool:
    """A token by the strictest test: random letters with digits, neither hex nor a UUID."""
    return valid_issued(value) and random_looking(value) and digits_in(value) >= 2


def valid_jwt(value: str) -> bool:
    """The first part is base64 of a JSON object."""
    head = value.split(".", 1)[0].replace("-", "+").replace("_", "/")
    try:
        return a2b_base64(head + "=" * (-len(head) % 4)).lstrip()[:1] == b"{"
    except Base64Error:
        return True


def valid_credential(value: str) -> bool:
    """What stands behind an authorization scheme: no word, no reference."""
    if placeholder(value) or reference(value, True):
        return False
    digits = digits_in(value)
    if len(value) >= 16:
        return digits >= 2 or random_looking(value)
    return password_like(value, True) and (digits >= 1 or random_looking(value))


def valid_basic(value: str) -> bool:
    """Base64 of `user:password`."""
    body = value.rstrip("=")
    try:
        plain = a2b_base64(body + "=" * (-len(body) % 4))
    except Base64Error:
        return random_looking(value)
    return b":" in plain[1:] or random_looking(value)


def valid_encoded_pair(value: str) -> bool:
    """Base64 of `user:password`, and that password is strong."""
    body = value.rstrip("=")
    try:
        plain = a2b_base64(body + "=" * (-len(body) % 4)).decode("ascii", "replace")
    except Base64Error:
        return False
    user, _, password = plain.strip().partition(":")
    return bool(user) and " " not in plain and valid_strong(password)


def valid_phrase(value: str) -> bool:
    """Words drawn by lot."""
    return phrase_of_words(value)


def valid_prose(value: str) -> bool:
    """A password in a sentence."""
    return prose_password(value) and valid_password(value)


def valid_any(value: str) -> bool:
    """Whatever the rule matched."""
    return bool(value)


VALIDATORS = {
    "": valid_any,
    "aws-id": valid_aws_id,
    "token": valid_token,
    "mixed": valid_mixed,
    "password": valid_password,
    "strong": valid_strong,
    "typed": valid_typed,
    "issued": valid_issued,
    "random": valid_random,
    "jwt": valid_jwt,
    "credential": valid_credential,
    "basic": valid_basic,
    "encoded-pair": valid_encoded_pair,
    "phrase": valid_phrase,
    "prose": valid_prose,
}
