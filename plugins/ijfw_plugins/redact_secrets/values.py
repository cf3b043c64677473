"""Whether a name means a secret, and whether a value is strong enough to be one.

The limits come from measurements on labelled texts: a password has 8 or more characters with a letter and
a digit, or a special character; a token has 16 or more characters and does not read as words.
"""

import re
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections import Counter
from functools import lru_cache
from math import log2

from ijfw_plugins.redact_secrets.lazy import lazy

_WORDS = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_PIECE = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PASSWORD = _set(
    "password passwords passwd passphrase passcode pwd pass pw passwort kennwort passe contraseña contrasena "
    "senha пароль 密码 密碼 パスワード 비밀번호 dbpass userpass smtppass mypass adminpass rootpass sudopass ftppass "
    "mailpass ldappass requirepass masterauth psk storepass keypass passin passout"
)
TOKEN = _set(
    "token tokens secret secrets apikey apikeys apitoken authtoken accesstoken refreshtoken idtoken credential "
    "credentials creds cred auth oauth authorization bearer jwt hmac pat secretkey accesskey privatekey "
    "clientsecret appsecret appkey apisecret authkey licensekey license licence webhook signingkey "
    "encryptionkey masterkey sharedkey accountkey csrf xsrf csrftoken totp otp mnemonic seed salt pepper "
    "sas connectionstring sessiontoken sessionkey deploykey xoxb dsn sid sessid"
)
_ENDINGS = ("password", "passwd", "passphrase", "pwd")
_TOKEN_ENDINGS = ("token", "secret", "apikey", "accesskey", "secretkey", "privatekey")
# A word after the secret word that says the value is something about the secret, not the secret.
_ABOUT = _set(
    "file files path dir directory folder id ids name names ttl type types url uri endpoint host hostname port "
    "provider providers backend version versions length len size count counts limit max min policy policies hash "
    "hashed hasher algorithm alg algo expiry expires expire expiration exp expired timeout enabled disabled required "
    "optional format prefix suffix label title placeholder hint field column param parameter header headers method "
    "methods mode rotation rotate age days hours minutes seconds ms budget usage used index idx ref refs reference arn alias "
    "store manager service class factory helper validator validators generator generated engine source sources scope "
    "scopes audience issuer issued at by on created updated last next status state strategy kind stdin fd env var "
    "variable embd embedding embeddings weight per rate bucket input output reset change changed confirm confirmation "
    "check strength rules rule error errors message msg valid invalid visible toggle show hide usages description desc "
    "fingerprint thumbprint checksum digest length bits bytes style color colour bg primary shadow radius spacing user "
    "username email role owner manager vault keyring retries count schema attr attribute location position pos offset "
    "line col range span start end tree list map set cache lookup handler callback event events listener test tests page "
    "form input reader writer parser lexer stream iterator kinds family group groups mount ring tier"
)
_NOT_BEFORE = _set(
    "public pub publishable publishedkey no requires require has is use uses with without need needs"
)
_NOT_TOKEN = _set(
    "max min num total input output prompt completion cached reasoning page next previous prev continuation cancellation "
    "cancel n per avg budget start end open close eos bos pad unk mask sep cls stop special design lookahead current "
    "first last left right paren brace bracket syntax identifier sync change skip resume cursor pagination count context "
    "used remaining thinking extra new lock"
)
_NOT_KEY = _set(
    "cache primary foreign sort partition shortcut keyboard object group row hash map dict index lookup idempotency dedupe "
    "i18n translation message storage range unique composite event answer ref parent issue project config setting "
    "settings data field column query state route s3 hot arrow enter escape tab ctrl shift alt meta model registry "
    "sha pgp gpg host known react item list node tree record document bucket blob file path name label property "
    "attribute param header natural surrogate business candidate super alternate locale string resource metric trace "
    "log job task queue topic channel thread user session request response correlation transaction batch public pub "
    "rate limit feature flag menu nav section test cert certificate verification verify verifying ssh dedup"
)
_STRONG_KEY = _set(
    "api access secret private auth signing signature encryption encrypt decryption master license licence account deploy "
    "service admin app application client consumer shared subscription integration ingest write read rest server root "
    "recovery activation product webhook hmac jwt aes rsa age fernet nacl stripe openai function functions host "
    "developer dev live restricted project personal sas storage wireguard preshared base security credential"
)


@lru_cache(maxsize=4096)
def name_kind(name: str) -> str:
    """What the value of a name would be: "password", "secret" (any strong value), "token" (a random one),
    "key" (a long random one), "webhook" (a URL), or "" for no secret.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    at = next((i for i in range(len(words) - 1, -1, -1) if _is_secret(words[i])), -1)
    if at < 0:
        return ""
    word, before, after = words[at], words[:at], words[at + 1 :]
    if any(other in _ABOUT for other in after) and not _url_of_webhook(word, after):
        return ""
    if any(other in _NOT_BEFORE for other in before[-2:]):
        return ""
    return _kind_of(word, before, name)


def _is_secret(word: str) -> bool:
    return (
        word in PASSWORD
        or word in TOKEN
        or word in ("key", "keys")
        or word.endswith(_ENDINGS)
        or word.endswith(_TOKEN_ENDINGS)
        or (
            word.startswith("pass")
            and word.startswith(("password", "passwd", "passphrase"))
            and word[-1].isdigit()
        )
    )


def _url_of_webhook(word: str, after: list[str]) -> bool:
    return word in ("webhook", "dsn") and all(
        other in ("url", "uri", "endpoint") for other in after
    )


def _kind_of(word: str, before: list[str], name: str) -> str:
    if word in PASSWORD or word.endswith(_ENDINGS):
        return "" if word == "pass" and name in ("PASS", "Pass") else "password"
    if word == "webhook":
        return "webhook"
    if word in ("key", "keys"):
        return _kind_of_key(before)
    if word.endswith(("token", "tokens")):
        return "" if any(other in _NOT_TOKEN for other in before[-2:]) else "token"
    if word in ("license", "licence", "seed", "salt", "pepper", "sid", "dsn", "otp", "pat"):
        return "key"
    return (
        "secret" if "secret" in word or word in ("creds", "credentials", "credential") else "token"
    )


def _kind_of_key(before: list[str]) -> str:
    if not before:
        return "key"
    last = before[-1]
    if last in _STRONG_KEY or _is_secret(last):
        return "secret" if "secret" in before or last == "private" else "token"
    return "" if last in _NOT_KEY else "key"


# --- values -------------------------------------------------------------------------------------

_STOP = _set(
    "password passwd pass secret token key apikey changeme changeit change none null nil undefined true false yes no test "
    "testing tests example examples sample dummy fake mock foo bar foobar baz admin root user username guest default string "
    "str text value required optional redacted masked hidden removed filtered encrypted unknown empty todo tbd placeholder "
    "xxx mysecret mypassword mysecretpassword letmein supersecret postgres mysql redis rabbitmq minio minioadmin secretkey "
    "accesskey bearer basic fakekey testkey testtoken testpassword testsecret yourapikey yourpassword yourtoken yoursecret "
    "yourkey passphrase pwd mypass invalid wrong wrongpassword badpassword correct notasecret dummykey dummytoken samplekey "
    "notset unset disabled enabled auto inherit bool int number object any function async await import export const"
)
_ENTITLED = lazy(
    r"(?:your|insert|enter|replace|change|put|my|some|example|sample|dummy|fake|mock|placeholder|todo"
    r"|the|add|set|use|not)(?:[-_ .][a-z]+)+\W{0,3}"
    r"|(?:[-_ .]?(?:your|here|replace|example|placeholder|dummy|fake|change|me|api|key|token|secret"
    r"|password|insert|my|value|goes|x{3,}+))++\W{0,3}"
)
_REFERENCE = lazy(
    r"\$\{|\$\(|\$\{\{|\$[A-Za-z_]\w*\Z|\{\{|\{[A-Za-z_][\w.!:\[\]()\"']*\}|<[^<>]{1,60}>?\Z|%[A-Za-z_]\w*%|%\(\w+\)s?|"
    r"#\{|@\{|env[.:(\[]|process\.env|os\.(?:environ|getenv)|ENV\[|System\.getenv|import\.meta|vault:|arn:aws|op://|ref\+|"
    r"secretref:|projects/|file:|data:[a-z]|@\w+\.?\w*\(|ENC\[|AQICAH|ansible-vault|\$ANSIBLE|!vault|sops:|"
    r"\[REDACTED|\[redacted|\(redacted|\*\*\*|secretsmanager|ssm:|keyring:|config\.|settings\.|self\.|this\.|args\.|opts\.|options\.|"
    r"req\.|ctx\.|props\.|state\.|data\.|params\.|sha(?:1|256|384|512)[-:]|h1:|md5[-:]|urn:|spdx"
)
_MARKED = lazy(r"\[REDACTED(?::|\])|\*{3}|x{6}|X{6}|\.{3}\Z|…\Z|•{3}")
_CALL = lazy(
    r"[A-Za-z_][A-Za-z_.]*[0-9]?\(|(?:await|new|async|func|function|lambda|return|typeof)\b"
)
_PATH = lazy(
    r"(?:\.{0,2}|~|[A-Za-z]:|\$HOME)?[/\\]{1,2}[\w.-]+(?:[/\\][\w.-]*)*\Z|[\w.-]+(?:/[\w.-]+)*/?[\w-]+\.[a-z]{1,5}\Z"
)
_URL = lazy(r"[A-Za-z][A-Za-z0-9+.-]{1,24}://")
_CODE_NAME = lazy(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+\Z")
_SCREAMING = lazy(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_TIME = lazy(
    r"[\d:.,TZ/+\- ]+\Z|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?\Z|v?\d+(?:\.\d+){1,3}[\w.-]{0,12}\Z"
)
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_UUID_INSIDE = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SEPARATOR = lazy(r"[^A-Za-z0-9]+")
_HEX = lazy(r"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)\Z")
_SEQUENCES = "0123456789abcdefghijklmnopqrstuvwxyz0123456789012345678909876543210"
_CONSONANTS = lazy(r"[b-df-hj-np-tv-xz]{6}", re.I)  # no word of ours has so many in a row
_SPECIAL = frozenset("!@#$%^&*~+=?|{}()[]<>;,`\\")
_ALGORITHM = lazy(
    r"(?:sha|md|aes|rsa|hs|rs|es|ps|ed|utf|base|oauth|argon|blake|scrypt|bcrypt|pbkdf|x)[-_]?\d{1,5}"
    r"[a-z]{0,4}(?:[-_][a-z0-9]{1,10}){0,4}\Z",
    re.I,
)


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in Counter(text).values()) if size else 0.0


def placeholder(value: str) -> bool:
    """Whether a value stands for a secret instead of being one: the whole value counts, never a part."""
    low = value.strip().lower()
    if len(set(low)) <= 2 or _MARKED.search(value) or _ENTITLED.fullmatch(low):
        return True
    letters = re.sub(r"[^a-z]", "", low)
    digits = re.sub(r"[^0-9]", "", low)
    if letters in _STOP and "1234567890".startswith(digits):
        return True
    if value.endswith(("EXAMPLE", "EXAMPLEKEY")) or low.endswith(("-example", "_example")):
        return True
    return len(low) >= 8 and low in _SEQUENCES


def reference(value: str, quoted: bool) -> bool:
    """Whether a value names where the secret is (variable, call, path, URL, identifier) or is a type."""
    if _REFERENCE.match(value) or _URL.match(value) or _ALGORITHM.match(value):
        return True
    if "${" in value or "{{" in value or "[REDACTED" in value:
        return True
    if _PATH.match(value) and not random_looking(value):
        return True
    if not quoted and (_CALL.match(value) or _code_name(value)):
        return True
    return bool(_SCREAMING.match(value) or _TIME.match(value)) and not hex_like(value, 16)


def _code_name(value: str) -> bool:
    """`user.password_2`: a dotted name with two digits at most."""
    return (
        _CODE_NAME.match(value) is not None
        and sum(c.isdigit() for c in value) <= 2
        and not random_looking(value)
    )


def hex_like(value: str, size: int) -> bool:
    """Whether a value is `size` or more hex digits, letters and digits among them."""
    return (
        len(value) >= size
        and _HEX.match(value) is not None
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
    )


def random_looking(value: str) -> bool:
    """Whether a run of 12 or more characters does not read as words: short pieces, mixed classes."""
    if len(value) < 12:
        return False
    pieces = _PIECE.findall(value)
    letters = sum(map(len, pieces))
    if letters < 10 or letters < 0.6 * len(value):
        return False
    if not any(c.isalpha() for c in value) or letters / len(pieces) > 3.4:
        return False
    if not any(c.isdigit() for c in value) and sum(c.isupper() for c in value[1:]) < 3:
        return False
    return entropy(value) >= 2.8


def token_like(value: str, size: int = 16) -> bool:
    """Whether a value may be an issued token: `size` or more characters that do not read as words."""
    if len(value) < size or " " in value.strip():
        return False
    if _UUID.match(value) or hex_like(value, size):
        return True
    if random_looking(value):
        return True
    digits = sum(c.isdigit() for c in value)
    if digits and len(value) >= 20 and _CONSONANTS.search(value):
        return True
    return (
        digits >= 4
        and len(value) >= 24
        and entropy(value) >= 3.6
        and value.count("-") + value.count("_") < 4
    )


def password_like(value: str, quoted: bool) -> bool:
    """Whether a value may be a password: a letter and a digit in 8 or more, or special characters."""
    if len(value) < 6 or len(value) > 256 or value.count(" ") > 3:
        return False
    letter = any(c.isascii() and c.isalpha() for c in value)
    digit = any(c.isdigit() for c in value)
    special = sum(c in _SPECIAL for c in value)
    if " " in value and not (special and digit and letter):
        return False
    if not letter:
        return special >= 2 and digit and len(value) >= 8
    if digit and (len(value) >= 8 or quoted):
        return not _wordy(value)
    if special and len(value) >= 8:
        return any(c.isalnum() for c in value) and not _SENTENCE.fullmatch(value)
    return len(value) >= 12 and (random_looking(value) or _CONSONANTS.search(value) is not None)


_SENTENCE = lazy(r"[a-zA-Z]+[!?;,=|)(\[\]{}<>]*|[(\[{<].*|[a-z]+[,;|&]+[a-z]+.*")
_WORDY = lazy(
    r"[a-z]+(?:_[a-z]+)+_?\d{1,2}|[a-z]{3,}[A-Z][a-z]+\d?|[a-z]+\d\Z|\d+[a-z]{1,5}|[a-z]+\[\d+\]"
)


def _wordy(value: str) -> bool:
    """An identifier with a number, such as `test_case_2`, or an amount, such as `30days`."""
    return _WORDY.fullmatch(value) is not None


def prose_password(value: str) -> bool:
    """Whether a word in a sentence can only be a password: special characters or all three classes."""
    if not password_like(value, True) or len(value) < 8 or " " in value:
        return random_looking(value) and " " not in value
    special = any(c in "!@#$%^&*~+" for c in value)
    digits = sum(c.isdigit() for c in value)
    cases = any(c.isupper() for c in value) and any(c.islower() for c in value)
    if special and (digits or cases):
        return True
    return (digits >= 2 and cases) or token_like(value) or random_looking(value)


# --- validators that a rule may name -------------------------------------------------------------


def valid_aws_id(value: str) -> bool:
    """An AWS key id is base32; without a digit it must at least not read as a word."""
    body = value[4:]
    if placeholder(value):
        return False
    return any(c.isdigit() for c in body) or sum(c in "AEIOU" for c in body) < len(body) / 3


def valid_token(value: str) -> bool:
    """Not a placeholder, and more than a few different characters."""
    return not placeholder(value) and len(set(value)) >= 8


def valid_mixed(value: str) -> bool:
    """A token whose prefix is a common word: a part of it is no word and no number."""
    if not valid_token(value):
        return False
    return _UUID_INSIDE.search(value) is not None or any(
        len(part) >= 10 and (random_looking(part) or _letters_and_digits(part))
        for part in _SEPARATOR.split(value)
    )


def _letters_and_digits(part: str) -> bool:
    return any(c.isdigit() for c in part) and any(c.isalpha() for c in part)


def valid_password(value: str) -> bool:
    """Anything typed as a password: not a placeholder, not a reference."""
    return len(value) >= 4 and not placeholder(value) and not reference(value, True)


def valid_strong(value: str) -> bool:
    """A password or a token by the tests of name=value."""
    return valid_password(value) and (password_like(value, True) or token_like(value))


def valid_jwt(value: str) -> bool:
    """The first part is base64 of a JSON object."""
    head = value.split(".", 1)[0]
    try:
        return urlsafe_b64decode(head + "=" * (-len(head) % 4)).lstrip()[:1] == b"{"
    except (Base64Error, ValueError):
        return True


def valid_credential(value: str) -> bool:
    """What stands behind an authorization scheme: no word, no reference."""
    if placeholder(value) or reference(value, True):
        return False
    digits = sum(c.isdigit() for c in value)
    if len(value) >= 16:
        return digits >= 2 or random_looking(value)
    return password_like(value, True) and (digits >= 1 or random_looking(value))


def valid_basic(value: str) -> bool:
    """Base64 of `user:password`."""
    try:
        plain = urlsafe_b64decode(
            (value.rstrip("=").replace("+", "-").replace("/", "_") + "===")[
                : len(value) // 4 * 4 + 4
            ]
        )
    except (Base64Error, ValueError):
        return random_looking(value)
    return b":" in plain[1:] or random_looking(value)


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
    "jwt": valid_jwt,
    "credential": valid_credential,
    "basic": valid_basic,
    "prose": valid_prose,
}
