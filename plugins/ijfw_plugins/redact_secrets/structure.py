"""Secrets of several lines or values: private keys, cookies, Kubernetes Secrets, private tags."""

import re
from collections.abc import Iterator

from ijfw_plugins.redact_secrets.assign import Found
from ijfw_plugins.redact_secrets.forms import Forms
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.names import name_kind
from ijfw_plugins.redact_secrets.values import placeholder, reference, token_like

GATE = ("private", "cookie", "curl", "secret")
KEY_SIZE = 24 << 10  # characters of a private key that are looked at
_BEGIN = lazy(r"-{2,6} ?BEGIN [A-Z0-9 ]{0,40}\Z")
_END = lazy(r"-{2,6} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{0,6}")
_IS_END = lazy(r"-{2,6} ?END [A-Z0-9 ]{0,40}\Z")
_REST = lazy(r"PRIVATE KEY(?: BLOCK)?-{0,6}")
_BODY = lazy(
    r"(?:(?:\\+[nrt]|[\s\"'`+,;|>#*:\\-]|\d{1,5}(?:→|\||:)){1,80}+"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200}"
    r"|[A-Za-z0-9+/=_]{16,}+|[A-Za-z0-9+/=]{1,15}(?=\s*\\*[nr\"']|\s*\Z))*+"
)
_LONG = lazy(r"[A-Za-z0-9+/]{16}")
_TAIL = lazy(r"(?:[A-Za-z0-9+/=]{1,128}(?:\\+[nr]|\s|[\"'+,>|]){0,24})+\Z")

_COOKIE = lazy(
    r"(?:set-)?cookies?[\"'\]]{0,2}\s{0,3}(?:=>|[:=,])\s{0,3}[\"'`]?(?=[^\s;=]{1,80}=)", re.I
)
_CURL_COOKIE = lazy(r"curl\b[^\n|;]{0,400}? (?:-b|--cookie)[ =]?[\"']?(?=[^\s;=\"']{1,80}=)")
_CRUMB = lazy(r"([^\s;=\"',]{1,80})=([^;\s\"'`\\<>]{0,4096})")
_CRUMB_END = lazy(r"[\"'`\n\\]|\Z")
_JAR = lazy(r"cookies?\\*[\"']?\s{0,3}[=:]\s{0,3}\{(?=\s{0,40}\\*[\"'])", re.I)
_JAR_ITEM = lazy(
    r"\\*[\"']([\w.-]{1,80})\\*[\"']\s{0,3}:\s{0,3}\\*[\"']([^\"'\\\n]{8,4096})\\*[\"']"
)
_CRUMB_NAME = lazy(
    r"sess|sid|auth|token|csrf|xsrf|jwt|secret|login|remember|identity|sso|saml|clearance|credential|key",
    re.I,
)
_ATTRIBUTE = frozenset(
    {
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "priority",
        "version",
        "comment",
        "theme",
        "lang",
        "locale",
    }
)

_SECRET_KIND = lazy(r"[\"']?kind[\"']?\s{0,3}:\s{0,3}[\"']?Secret\b")
_YAML_DATA = lazy(r"^([ \t]{0,40})(?:data|stringData):[ \t]*\r?\n", re.M)
_YAML_ITEM = lazy(
    r"([ \t]{1,60})([\w.-]{1,128}):[ \t]+(?:[|>][+-]?[ \t]*)?[\"']?([^\s\"'\\][^\n\"'\\]{0,8192})?"
)
# Items of a Secret that are none: accounts, places and certificates.
_OPEN_ITEM = lazy(
    r"(?:\w{1,12}[_-])?(?:user(?:name)?|host(?:name)?|port|database|dbname|region|email)|\w{1,12}\.crt",
    re.I,
)
_YAML_MORE = lazy(r"[ \t]{1,60}([^\s\"'\\][^\n\"'\\]{0,8192})")
_JSON_DATA = lazy(r"[\"'](?:data|stringData)[\"']\s{0,4}:\s{0,4}\{([^{}]{1,16000})\}")
_JSON_ITEM = lazy(r"[\"'][\w.-]{1,128}[\"']\s{0,4}:\s{0,4}[\"']([^\"'\\]{1,8192})[\"']")

_MAILGUN = lazy(r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}")
_DISCORD = lazy(
    r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,45}"
)


def structures(forms: Forms, words: set[str]) -> Iterator[Found]:
    """Every secret of these shapes; `words` is what of the words of a text opens a gate."""
    text, lower, runs = forms.text, forms.lower, forms.runs
    if "private" in words:
        if "PRIVATE KEY" in text:
            yield from private_keys(text)
        yield from _tagged(lower, "<private>", "</private>")
        yield from _tagged(lower, "&lt;private&gt;", "&lt;/private&gt;")
    if "cookie" in words:
        yield from cookies(text, lower)
    if "curl" in words and (" -b" in text or "--cookie" in text):
        yield from _cookies_of_curl(text)
    if "secret" in words and "Secret" in text and "kind" in text:
        yield from kubernetes(text)
    for run in {run for run in runs if len(run) == 50 and run[32] == run[41] == "-"}:
        at = text.find(run) if _MAILGUN.fullmatch(run) else -1
        while at >= 0:
            yield Found(at, at + len(run), "mailgun-key")
            at = text.find(run, at + len(run))
    if any(23 <= len(run) <= 28 and run[0] in "MNO" for run in runs):
        for match in _DISCORD.finditer(text):
            yield Found(match.start(), match.end(), "discord-bot")


def private_keys(text: str) -> Iterator[Found]:
    """PEM and its relatives: whole, on one line, escaped, without its end or its beginning."""
    ends = [match.span() for match in _END.finditer(text)]
    nth = done = 0
    at = text.find("PRIVATE KEY")
    while at >= 0:
        after = at + len("PRIVATE KEY")
        while nth < len(ends) and ends[nth][1] <= after:
            nth += 1
        begin = _BEGIN.search(text, max(done, at - 60), at)
        if begin:
            end = ends[nth] if nth < len(ends) and ends[nth][0] < after + KEY_SIZE else None
            done = max(done, _end_of_key(text, at, end))
            if done > after:
                yield Found(begin.start(), done, "private-key")
        else:
            footer = _IS_END.search(text, max(done, at - 60), at)
            if footer:
                tail = _tail(text, max(done, footer.start() - 16384), footer.start())
                done = _header_end(text, at)
                if tail < footer.start():
                    yield Found(tail, done, "private-key")
        at = text.find("PRIVATE KEY", max(after, done))


def _header_end(text: str, at: int) -> int:
    rest = _REST.match(text, at)
    return rest.end() if rest else at


def _end_of_key(text: str, at: int, end: tuple[int, int] | None) -> int:
    """Where the key ends whose header holds "PRIVATE KEY" at `at`; 0 where no key follows."""
    after = _header_end(text, at)
    if end and text.find("BEGIN", after, end[0]) < 0 and _LONG.search(text, after, end[1]):
        return end[1]
    body = _BODY.match(text, after, after + KEY_SIZE)
    if body and _LONG.search(body.group()):
        return _trimmed(text, after, body.end())
    return 0


def _trimmed(text: str, low: int, end: int) -> int:
    """Without trailing white space and quotes, which belong to the text around."""
    while end > low and (
        text[end - 1] in " \t\r\n\"'`,;|>#" or text[end - 2 : end] in ("\\n", "\\r")
    ):
        end -= 2 if text[end - 2 : end] in ("\\n", "\\r") else 1
    return end


def _tail(text: str, low: int, high: int) -> int:
    """Where the base64 lines in front of an END line begin."""
    start = at = high
    while at > low:
        line_start = max(text.rfind("\n", low, at - 1) + 1, low)
        line = text[line_start:at].strip(" \t\r\n>|+\"',")
        if not re.fullmatch(
            r"[A-Za-z0-9+/=]{1,128}(?:(?:\s|\\+[nr])+[A-Za-z0-9+/=]{1,128})*\\*[nr]?", line
        ):
            found = re.search(
                r"(?:[A-Za-z0-9+/=]{16,128}(?:\s|\\+[nr])+)+[A-Za-z0-9+/=]{0,128}\\*[nr]?\s*\Z",
                text[line_start:at],
            )
            return line_start + found.start() if found and start == high else start
        if len(line) < 40 and start != high:
            return start
        start = line_start + (
            len(text[line_start:at]) - len(text[line_start:at].lstrip(" \t>|+\"',"))
        )
        at = line_start
    return start


def cookies(text: str, lower: str) -> Iterator[Found]:
    """The values of a Cookie header that carry a session."""
    at = lower.find("cookie")
    while at >= 0:
        head = _COOKIE.match(text, max(0, at - 4)) or _COOKIE.match(text, at)
        after = at + 6
        if head:
            limit = _CRUMB_END.search(text, head.end(), head.end() + 8192)
            after = limit.start() if limit else head.end() + 8192
            for crumb in _CRUMB.finditer(text, head.end(), after):
                if _session(crumb.group(1), crumb.group(2)):
                    yield Found(crumb.start(2), crumb.end(2), "cookie")
        jar = _JAR.match(text, at)
        if jar:
            end = text.find("}", jar.end(), jar.end() + 8192)
            after = max(after, end)
            for item in _JAR_ITEM.finditer(text, jar.end(), max(end, jar.end())):
                if _session(item.group(1), item.group(2)):
                    yield Found(item.start(2), item.end(2), "cookie")
        at = lower.find("cookie", max(after, at + 6))


def _cookies_of_curl(text: str) -> Iterator[Found]:
    """The session values of `curl -b 'a=b; c=d'`."""
    for command in _CURL_COOKIE.finditer(text):
        limit = _CRUMB_END.search(text, command.end(), command.end() + 8192)
        for crumb in _CRUMB.finditer(text, command.end(), limit.start() if limit else len(text)):
            if _session(crumb.group(1), crumb.group(2)):
                yield Found(crumb.start(2), crumb.end(2), "cookie")


def _session(name: str, value: str) -> bool:
    if name.lower() in _ATTRIBUTE or placeholder(value) or reference(value, True) or len(value) < 8:
        return False
    if _CRUMB_NAME.search(name) or name_kind(name):
        return any(c.isdigit() for c in value) or len(value) >= 16
    return token_like(value, 20)


def kubernetes(text: str) -> Iterator[Found]:
    """The values of a Kubernetes Secret, in YAML or JSON; their names stay."""
    done = 0
    for kind in _SECRET_KIND.finditer(text):
        low, high = max(done, kind.start() - 8192), min(kind.end() + 8192, len(text))
        divider = text.rfind("\n---", low, kind.start())
        low = divider if divider > 0 else low
        divider = text.find("\n---", kind.end(), high)
        high = divider if divider > 0 else high
        if high <= low:
            continue
        for data in _YAML_DATA.finditer(text, low, high):
            yield from _items(text, data, high)
        for data in _JSON_DATA.finditer(text, low, high):
            for item in _JSON_ITEM.finditer(text, data.start(1), data.end(1)):
                if not reference(item.group(1)[:256], True):
                    yield Found(item.start(1), item.end(1), "kubernetes-secret")
        done = high


def _items(text: str, data: re.Match[str], high: int) -> Iterator[Found]:
    indent = len(data.group(1))
    at = data.end()
    while at < high:
        line_end = text.find("\n", at, high)
        line_end = high if line_end < 0 else line_end
        line = text[at:line_end]
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth <= indent:
            return
        item = _YAML_ITEM.match(text, at, line_end)
        more = _YAML_MORE.match(text, at, line_end) if item is None else None
        if item and _open_item(item):
            pass
        elif item and item.group(3):
            value = item.group(3).rstrip()
            if not reference(value[:256], True) and not placeholder(value[:256]):
                yield Found(item.start(3), item.start(3) + len(value), "kubernetes-secret")
        elif more:
            yield Found(*more.span(1), "kubernetes-secret")
        at = line_end + 1


def _open_item(item: re.Match[str]) -> bool:
    """An account, a place or a certificate: no secret. A long value of an account may be one."""
    name, value = item.group(2), item.group(3) or ""
    return bool(_OPEN_ITEM.fullmatch(name)) and (len(value) <= 16 or name.endswith(".crt"))


def _tagged(lower: str, opened: str, closed: str) -> Iterator[Found]:
    at = lower.find(opened)
    while at >= 0:
        end = lower.find(closed, at)
        if end < 0:
            return
        if any(c.isalnum() for c in lower[at + len(opened) : end]):
            yield Found(at, end + len(closed), "private")
        at = lower.find(opened, end)
