"""What a command that names a secret prints: the line below it, in a session with its prompt."""

from collections.abc import Iterator, Set

from ijfw_plugins.redact_secrets.assign import Found
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.names import name_kind
from ijfw_plugins.redact_secrets.values import (
    hex_like,
    placeholder,
    prose_password,
    random_looking,
    reference,
    token_like,
)

GATE = frozenset({"pass", "pwd", "secret", "token", "key", "cred", "rand"})
MARKS = ("$", "#", "%", ">", "❯", "➜", "λ", "In [")  # the end of a prompt
LONGEST = 4000  # characters of a value

_SESSION = lazy(
    r"^(?:[\w.@:~/\\()\[\] -]{0,60}[$#%❯➜λ]|(?:PS )?[\w.:~/\\ -]{0,60}>{1,3}|\([a-z]{2,8}\)"
    r"|In \[\d{1,4}\]:|irb[^\n>]{0,20}>|\+) ?(?=[^\s#])([^\n]{4,400})\r?\n"
    r"(?:=> |Out\[\d{1,4}\]: |\$\d{1,3} = (?:0x[0-9a-f]+ )?|\d\) |[ \t⎿│|]{1,8})?"
    r"([\"'`]?)([^\s\"'`]{8,4000})\2[ \t\r│|]{0,8}$",
    8,  # re.M
)
_NAME = lazy(r"[A-Za-z][\w.-]{2,80}")
# Commands whose output is a name, a digest or an identifier although a secret is named in them.
_OTHER = lazy(
    r"(?:sudo |time |\w+=\S* ){0,3}(?:git|hg|svn|docker|podman|nerdctl|ls|find|fd|which|stat|wc|du|tree"
    r"|file|basename|dirname|realpath|readlink|cd|mkdir|touch|cp|mv|rm|sha\d*sum|shasum|md5\w*|b2sum|cksum"
    r"|uuidgen|npm|pnpm|yarn|pip|cargo|gem|go|ssh-keygen|gpg|openssl (?:dgst|x509|req|md5|sha)\w*"
    r"|kubectl (?:apply|create secret|run|delete|exec)|helm (?:install|upgrade|template))\b"
    r"(?![^\n]{0,200}(?:secret -|token create|auth token|genkey|gen-random|--export-secret))"
)
# Commands that print a secret which nothing in them names.
_KEEPERS = lazy(
    r"pass show|gopass show|op read|op item get|bw get|lpass show|keyring get|secret-tool lookup"
    r"|pwgen|apg|get-secret-value|find-(?:generic|internet)-password"
)
_PRINTS = lazy(
    r"openssl rand|token_(?:hex|urlsafe)|randomBytes|random_secret_key|genkey|keygen|gen[.:]secret"
    r"|key:generate --show|rails secret|rake secret|keys? list|print-\w{2,12}-token"
    r"|gen-random|config:get|/dev/u?random"
)


def printed(text: str, words: Set[str]) -> Iterator[Found]:
    """Values alone on the line below a command that reads or makes a secret; `words` are the gates
    that stand in the text."""
    if "\n" not in text or words.isdisjoint(GATE) or not any(mark in text for mark in MARKS):
        return
    for match in _SESSION.finditer(text):
        command, value = match.group(1), match.group(3)
        if _OTHER.match(command) or placeholder(value) or reference(value, True):
            continue
        kind = _kind(command)
        if kind and _strong(value, kind):
            yield Found(match.start(3), match.end(3), kind)


def _kind(command: str) -> str:
    if _KEEPERS.search(command):
        return "password"
    if _PRINTS.search(command):
        return "secret"
    kinds = {name_kind(name) for name in _NAME.findall(command)} - {"", "webhook"}
    return "password" if "password" in kinds else "secret" if kinds else ""


def _strong(value: str, kind: str) -> bool:
    if any(sign in value.removeprefix("base64:").rstrip("=") for sign in ":="):
        return False  # a record or a setting, which other rules read
    if kind == "password" and prose_password(value):
        return True
    encoded = value.removeprefix("base64:").rstrip("=")
    return token_like(encoded, 16) and (
        random_looking(encoded) or hex_like(value, 24) or prose_password(value)
    )
