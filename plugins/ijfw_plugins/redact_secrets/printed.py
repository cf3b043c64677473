"""What a command that names a secret prints: the line below it, in a session with its prompt."""

import re
from collections.abc import Iterator

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

GATE = ("pass", "pwd", "secret", "token", "key", "cred")
# A text without one of these shows no session: ends of prompts that code seldom holds.
PROMPTS = ("$ ", "]# ", "~# ", "\n> ", ">>> ", "PS ", "In [", "79> ", "sql> ", "gdb", "irb")
SIGNS = ("❯ ", "➜ ", "λ ")
BEFORE = 400  # characters of a command in front of the name of a secret
LONGEST = 4000  # characters of a value

_PROMPT = (
    r"(?:[\w.@:~/\\()\[\] -]{0,60}[$#%❯➜λ]|(?:PS )?[\w.:~/\\ -]{0,60}>{1,3}|\([a-z]{2,8}\)"
    r"|In \[\d{1,4}\]:|irb[^\n>]{0,20}>|\+) ?(?=[^\s#])"
)
_SESSION = lazy(
    _PROMPT + r"([^\n]{4,400})\r?\n"
    r"(?:=> |Out\[\d{1,4}\]: |\$\d{1,3} = (?:0x[0-9a-f]+ )?|\d\) |[ \t⎿│|]{1,8})?"
    r"(?:b(?=['\"]))?([\"'`]?)([^\s\"'`]{8,4000})\2[ \t\r│|]{0,8}(?:\n|\Z)",
)
_NAME = lazy(r"[A-Za-z][\w.-]{2,80}")
# Commands whose output is a name, a digest or an identifier although a secret is named in them.
_OTHER = lazy(
    r"(?:sudo |time |\w+=\S* ){0,3}(?:git|hg|svn|docker|podman|nerdctl|ls|find|fd|which|stat|wc|du"
    r"|tree|file|basename|dirname|realpath|readlink|cd|mkdir|touch|cp|mv|rm|sha\d*sum|shasum|md5\w*"
    r"|b2sum|cksum|uuidgen|npm|pnpm|yarn|pip|cargo|gem|go|ssh-keygen|gpg"
    r"|openssl (?:dgst|x509|req|md5|sha)\w*"
    r"|kubectl (?:apply|create secret|run|delete|exec)|helm (?:install|upgrade|template))\b"
    r"(?![^\n]{0,200}(?:secret -|token create|auth token|genkey|gen-random|--export-secret))"
)
# Commands that print a secret which nothing in them names.
_KEEPERS = lazy(
    r"pass show|gopass show|op read|op item get|bw get|lpass show|keyring get|secret-tool lookup"
    r"|pwgen|apg|get-secret-value|keyvault secret show|find-(?:generic|internet)-password"
)
_PRINTS = lazy(
    r"openssl rand|token_(?:hex|urlsafe|bytes)|randomBytes|random_secret_key|genkey|keygen"
    r"|gen[.:]secret|key:generate --show|rails secret|rake secret|keys? list|print-\w{2,12}-token"
    r"|gen-random|config:get|/dev/u?random"
)

# Commands that print all of a file or folder of secrets, by a word in them.
STORES = ("sops", "vault", "credentials", "chamber", "doppler", "heroku", "infisical", "eyaml")
LINES = 60  # of such a file
_OPENED = lazy(
    _PROMPT
    + r"[^\n|>]{0,200}?(?:sops (?:-d|--decrypt|decrypt)|ansible-vault (?:view|decrypt --output -)"
    r"|(?:vault kv|vault|credentials:|credentials) ?(?:get|read|show)"
    r"|chamber (?:read|export|env|list -e)|doppler secrets|heroku config"
    r"|infisical (?:export|secrets)|eyaml decrypt)\b[^\n|>]{0,300}\r?\n"
)
_PROMPTED = lazy(_PROMPT)
_SETTING = lazy(
    r"[ \t│|]{0,24}(?:export )?[\"']?([A-Za-z][\w.-]{0,60})[\"']?(?:[ \t]{0,8}[=:][ \t]{0,24}"
    r"|[ \t]{1,40}[│|][ \t]{0,8}|[ \t]{2,40})[\"']?([^\s\"']{8,4096})[\"']?,?"
    r"[ \t\r│|]{0,24}(?:\n|\Z)"
)
_PLACE = lazy(r":|@[\w-]+\.")  # of an image, a host, an address
_NO_SECRET = lazy(
    r"(?:\w*[_.-])?(?:id|arn|url|uri|host\w*|email|user\w*|time|date|version|region)\Z", re.I
)


def printed(text: str, lower: str, words: set[str]) -> Iterator[Found]:
    """Values alone on the line below a command that reads or makes a secret; for the texts see
    `present`."""
    if words.isdisjoint(GATE) or "\n" not in text:
        return
    signs = PROMPTS if text.isascii() else PROMPTS + SIGNS
    if not (text.startswith(">") or any(mark in text for mark in signs)):
        return
    done: set[int] = set()
    for word in words.intersection(GATE):
        at = lower.find(word)
        while at >= 0:
            end = lower.find("\n", at)
            if end < 0:
                break
            start = lower.rfind("\n", max(0, at - BEFORE), at) + 1
            match = _SESSION.match(text, start, end + LONGEST) if start not in done else None
            done.add(start)
            if match:
                yield from _below(match)
            at = lower.find(word, end)


def _below(match: re.Match[str]) -> Iterator[Found]:
    """The value on the line below a command, where it is a secret."""
    command, value = match.group(1), match.group(3)
    if _OTHER.match(command) or placeholder(value) or reference(value, True):
        return
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


def opened(text: str, lower: str, words: set[str]) -> Iterator[Found]:
    """Strong values in the lines below a command that prints a store of secrets, whatever their
    names; for the texts see `present`."""
    if "\n" not in text:
        return
    done = 0
    tried: set[int] = set()
    for word in sorted(words.intersection(STORES)):
        at = lower.find(word)
        while at >= 0:
            start = lower.rfind("\n", max(0, at - BEFORE), at) + 1
            new = start >= done and start not in tried
            tried.add(start)
            command = _OPENED.match(text, start, at + BEFORE) if new else None
            if command:
                done = command.end()
                yield from _stored(text, done)
            at = lower.find(word, at + len(word))


def _stored(text: str, at: int) -> Iterator[Found]:
    for _ in range(LINES):
        end = text.find("\n", at) + 1
        if _PROMPTED.match(text, at, at + 80) is None:
            line = _SETTING.match(text, at, at + LONGEST)
            if line and not _NO_SECRET.match(line.group(1)) and _strong_alone(line.group(2)):
                yield Found(line.start(2), line.end(2), "secret")
        elif not text.startswith("===", at):
            return
        if end == 0:
            return
        at = end


def _strong_alone(value: str) -> bool:
    """Whether a value may be a secret where no name says so."""
    if placeholder(value) or reference(value, True) or _PLACE.search(value):
        return False
    return prose_password(value) or hex_like(value, 24)
