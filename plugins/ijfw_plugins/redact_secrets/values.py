"""Whether a value is strong enough to be a secret.

The limits come from measurements on labelled texts: a password has 8 or more characters with a
letter and a digit, or a special character; a token has 16 or more and does not read as words.
"""

import re
from collections import Counter
from math import log2

from ijfw_plugins.redact_secrets.lazy import lazy

_VOWEL = lazy(r"[AEIOUaeiou]")
_WORD_RUN = lazy(r"[A-Za-z]{3}")
_SNAKE = lazy(r"[A-Za-z][a-z0-9]{0,15}(?:_[a-z0-9]{1,15}){3,12}\Z|[A-Za-z]+(?:_[A-Za-z]+){3,12}\Z")
_PIECE = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STOP = _set(
    "password passwd pass secret token key apikey changeme changeit change none null nil "
    "undefined true false yes no test testing tests example examples sample dummy fake mock "
    "foo bar foobar baz admin root user username guest default string str text value required "
    "optional redacted masked hidden removed filtered encrypted unknown empty todo tbd "
    "placeholder xxx "
    "xoauthbasic mysecret mypassword mysecretpassword letmein supersecret postgres mysql "
    "redis rabbitmq minio minioadmin secretkey accesskey bearer basic fakekey testkey "
    "testtoken testpassword testsecret yourapikey yourpassword yourtoken yoursecret yourkey "
    "passphrase pwd mypass invalid wrong wrongpassword badpassword correct notasecret "
    "dummykey dummytoken samplekey notset unset disabled enabled auto inherit bool int number "
    "object any function async await import export const"
)
_ENTITLED = lazy(
    r"(?:your|insert|enter|replace|change|put|my|some|example|sample|dummy|fake|mock|placeholder|todo"
    r"|the|add|set|use|not)(?:[-_ .][a-z]+)+\W{0,3}"
    r"|(?:[-_ .]?(?:your|here|replace|example|placeholder|dummy|fake|change|me|api|key|token|secret"
    r"|password|insert|my|value|goes|x{3,}+))++\W{0,3}"
)
_TOLD = lazy(  # what stands for a password in examples: proxypass, my_db_password, userpwd1
    r"(?:(?:my|your|our|the|proxy|db|database|user|admin|root|some|test|demo|app|service|svc|new|old"
    r"|super|bad|good|wrong|strong|secret|login|ftp|smtp|mail|redis|mysql|postgres|sample|example"
    r"|plain|pass|api|key|auth)[-_]?){1,4}(?:pass(?:word|wd|phrase)?|pwd?|secret|token|key)[0-9!]{0,4}"
)
_REFERENCE = lazy(
    r"\$\{|\$\(|\$\?|\$\{\{|\$\$?[A-Za-z_]\w*\Z|\$\$\{|\{\{|(?!\{noop\})\{[A-Za-z_][\w.!:\[\]()\"']*\}|<[^<>]{1,60}>?\Z|%[A-Za-z_]\w*%|%\(\w+\)s?|"
    r"x:\d+:|age1[a-z0-9]{50}|#\{|@\{|env[.:(\[]|process\.env|os\.(?:environ|getenv)|ENV\[|System\.getenv|import\.meta|vault:|arn:aws|op://|ref\+|"
    r"secretref:|projects/|file:|data:[a-z]|@\w+\.?\w*\(|@[\w./~-]{1,80}\.(?:txt|json|ya?ml|pem|key|env|pass)\Z|ENC\[|AQICAH|ansible-vault|\$ANSIBLE|!vault|sops:|"
    r"\[REDACTED|\[redacted|\(redacted|\*\*\*|secretsmanager|ssm:|keyring:|config\.|settings\.|self\.|this\.|args\.|opts\.|options\.|"
    r"Ag[A-D][A-Za-z0-9+/]{200}|req\.|ctx\.|props\.|state\.|data\.|params\.|sha(?:1|256|384|512)[-:]|h1:|md5[-:]|urn:|spdx"
)
_TAG = lazy(r"!{1,2}[A-Za-z]{2,24}(?:[/_:.-][A-Za-z]{1,24}){0,3}\Z")  # of YAML
# What only code holds: of regular expressions, wherever; operators, without quotes.
_EXPRESSION = ("[a-z", "A-Za-z", "a-zA-Z", "(?:", "0-9]", "{1,", "Ctrl+", "Shift+", "Alt+", "Cmd+")
_OPERATORS = (":[", "===", "!==", "&&", "??", "?.", "||", "=>", "::")
_OPENED = lazy(r"[A-Za-z_$][\w$.:]*(?:[(\[][\w$.&*]*){1,4}\Z")  # a call or an index, cut at its end
_ANYWHERE = lazy(
    r"[\w./-]{1,200}\.[a-z]{1,4}:\d{1,6}(?::\d{1,6})?:?\Z"  # a line of a file
    r"|#[a-z_-]{1,80}\Z|//[\w.-]{1,80}/|(?:[a-z]{1,16} )?#[0-9A-Fa-f]{6}\Z|![01](?:[,)}\]]|\Z)"
    r"|[A-Za-z-]{1,40}(?:\|[A-Za-z-]{0,40}){1,40}\Z|\^?\\?/\^|\|"
    r"|[\w./-]{1,80}\.html?#[\w-]{1,80}\Z|&(?:lt|#x3[Cc]|#60);|[A-Za-z_]{1,40}\.[A-Z][A-Z_]{2,40}\Z"
    r"|[Xx](?:-[A-Z][A-Za-z]{1,12}){1,5}\Z"  # the name of a header
)
_MARKS = ("***", "xxxxxx", "XXXXXX", "•••", "[REDACTED:", "[REDACTED]")
_CALL = lazy(
    r"[A-Za-z_][A-Za-z_.:]*[0-9]?[!?]?\(|[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+[!?]?\("
    r"|(?:await|new|async|func|function|lambda|return|typeof)\b"
    r"|[a-z_]+(?:\.[A-Za-z_]+)*\[(?:\w|\Z)|[\w.|]{0,80}(?:Public|Private)Key\Z"
)
_PATH = lazy(
    r"(?:\.{0,2}|~|[A-Za-z]:|\$HOME)?[/\\]{1,2}[\w.-]+(?:[/\\][\w.-]*)*\Z|[\w.-]+(?:/[\w.-]+)*/?[\w-]+\.[a-z]{1,5}\Z"
)
_ROOTED = lazy(
    r"(?:/(?:home|etc|usr|var|opt|srv|tmp|root|Users|run|mnt|app|proc|dev)|~|\.{1,2}|\$HOME|[A-Z]:)[/\\]"
)
_URL = lazy(r"[A-Za-z][A-Za-z0-9+.-]{1,24}://")
_CODE_NAME = lazy(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+\Z")
_MEMBER = lazy(  # of a module or an object: words, no number
    r"(?:(?:exports|module|[a-z]\w{1,30}_js_\d|\w{1,20}\$\d|win32[a-z]+|winreg|(?:x|ed)(?:25519|448))"
    r"(?:\.[A-Za-z_$][\w$]*)+|[a-z]{1,20}(?:\.[a-z]{1,20}(?:_[A-Za-z]{1,16}){0,6})+)\Z"
)
_SCREAMING = lazy(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_TIME = lazy(
    r"[\d:.,TZ/+\- ]+\Z|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?\Z"
    r"|v?\d+(?:\.\d+){1,3}[\w.-]{0,12}\Z"
)
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_PART = lazy(r"[A-Za-z0-9]{10,}")
_PADDED = lazy(r"(?=[^A-Z]{0,16}[A-Z])(?=[^a-z]{0,16}[a-z])[A-Za-z0-9+/]{20,}={1,2}\Z")
_SERIAL = lazy(r"(?:[A-Z0-9]{4,8}-){3,7}[A-Z0-9]{4,12}\Z")
_LETTER = lazy(r"[A-Za-z]")
_NOT_LETTER = lazy(r"[^a-z]+")
_NOT_DIGIT = lazy(r"[^0-9]+")
_HEX = lazy(r"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)\Z")
_SEQUENCES = "0123456789abcdefghijklmnopqrstuvwxyz0123456789012345678909876543210"
_ROW = lazy(r"[b-df-hj-np-tv-xz]{5}|[B-DF-HJ-NP-TV-XZ]{7}")
_CONSONANTS = lazy(r"[b-df-hj-np-tv-xz]{5,}", re.I)
# Tables by which `str.translate` takes characters out: a C loop instead of one in Python.
_WITHOUT_SPECIAL = str.maketrans("", "", "!@#$%^&*~+=?|{}()[]<>;,`\\")
_WITHOUT_DIGITS = str.maketrans("", "", "0123456789")
_LETTERS_ALONE = dict.fromkeys(c for c in range(128) if not chr(c).islower())
_ALGORITHM = lazy(
    r"(?:sha|md|aes|rsa|hs|rs|es|ps|ed|utf|base|oauth|argon|blake|scrypt|bcrypt|pbkdf|x(?=25519|448|509))[-_]?\d{1,5}"
    r"[a-z]{0,4}(?:[-_][a-z0-9]{1,10}){0,4}\Z",
    re.I,
)


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in Counter(text).values()) if size else 0.0


def placeholder(value: str) -> bool:
    """Whether a value stands for a secret instead of being one: the whole counts, never a part."""
    low = value.strip().lower()
    if len(set(low)) <= 2 or _marked(value) or _ENTITLED.fullmatch(low) or _TOLD.fullmatch(low):
        return True
    letters = low.translate(_LETTERS_ALONE) if low.isascii() else _NOT_LETTER.sub("", low)
    if letters in _STOP and "1234567890".startswith(_NOT_DIGIT.sub("", low)):
        return True
    if "EXAMPLE" in value or low.endswith(("-example", "_example")):
        return True
    return len(low) >= 8 and low in _SEQUENCES


def _marked(value: str) -> bool:
    """Whether a part of a value was already masked or left out."""
    return any(mark in value for mark in _MARKS) or value.endswith(("...", "…"))


def digits_in(value: str) -> int:
    """How many characters are digits."""
    if value.isascii():
        return len(value) - len(value.translate(_WITHOUT_DIGITS))
    return sum(map(str.isdigit, value))


def reference(value: str, quoted: bool) -> bool:
    """Whether a value names where the secret is: a variable, call, path, URL or identifier."""
    if (
        _REFERENCE.match(value)
        or (not quoted and _TAG.match(value))
        or _URL.match(value)
        or (
            len(value) <= 24
            and _ALGORITHM.match(value)
            and (value[1:].lower() == value[1:] or value.upper() == value)
        )
    ):
        return True
    if "${" in value or "{{" in value or "[REDACTED" in value:
        return True
    if any(sign in value for sign in _EXPRESSION) or _ANYWHERE.match(value):
        return True
    if value.count("\\") > 1 and _WORD_RUN.search(value):
        return True
    if _PATH.match(value) and (
        _ROOTED.match(value) or not (random_looking(value) or _strong_part(value))
    ):
        return True
    if not quoted and (
        _CALL.match(value)
        or _code_name(value)
        or any(sign in value for sign in _OPERATORS)
        or (_OPENED.match(value) and ("[" in value or not random_looking(value.partition("(")[0])))
    ):
        return True
    return bool(_SCREAMING.match(value) or _TIME.match(value)) and not hex_like(value, 16)


def _strong_part(value: str) -> bool:
    """Whether a folder of a path is built like a password: `Amber-fjord-9378/page.py`."""
    return any(
        len(part) >= 8
        and digits_in(part) >= 2
        and any(map(str.isupper, part))
        and any(map(str.islower, part))
        for part in value.split("/")[:-1]
    )


def _code_name(value: str) -> bool:
    """`user.password_2`: a dotted name with two digits at most, or one that only code holds."""
    if _CODE_NAME.match(value) is None:
        return False
    return (digits_in(value) <= 2 and not random_looking(value)) or bool(_MEMBER.match(value))


def hex_like(value: str, size: int) -> bool:
    """Whether a value is `size` or more hex digits, letters and digits among them."""
    return (
        len(value) >= size
        and _HEX.match(value) is not None
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


def mixed(text: str) -> bool:
    """Whether a run looks like a piece of a token: letters with digits, or case mixed inside."""
    inner = text[1:]
    return (any(map(str.isdigit, text)) and any(map(str.isalpha, text))) or (
        any(map(str.isupper, inner)) and any(map(str.islower, inner))
    )


def random_looking(value: str) -> bool:
    """Whether 12 or more characters do not read as words: short pieces, mixed classes."""
    if len(value) < 12:
        return False
    pieces = _PIECE.findall(value)
    letters = sum(map(len, pieces))
    if letters < 10 or letters < 0.6 * len(value):
        return False
    if not any(map(str.isalpha, value)) or letters / len(pieces) > (
        3.4 if len(value) < 24 else 3.9
    ):
        return False
    digits = digits_in(value)
    if not digits and sum(map(str.isupper, value[1:])) < 3:
        return False
    if digits <= 2 and _worded(pieces):
        return False
    return entropy(value) >= 2.8 and not (value.count("_") > 2 and _SNAKE.match(value))


def _worded(pieces: list[str]) -> bool:
    """Those of an identifier: at most one number, and most letters stand in words."""
    words = [piece for piece in pieces if piece.isalpha()]
    if len(pieces) - len(words) > 1:
        return False
    long = sum(len(word) for word in words if len(word) > 3 and _VOWEL.search(word))
    return long >= 0.65 * sum(map(len, words))


def token_like(value: str, size: int = 16) -> bool:
    """Whether a value may be an issued token: `size` or more characters that are no words."""
    if len(value) < size or " " in value.strip() or "%20" in value:
        return False
    if _UUID.match(value) or hex_like(value, size) or _SERIAL.match(value):
        return True
    if value[-1] == "=" and len(value) % 4 == 0 and _PADDED.match(value):
        return True
    if random_looking(value):
        return True
    digits = digits_in(value)
    if len(value) >= 20 and _unpronounceable(value, digits):
        return True
    return (
        digits >= 4
        and len(value) >= 24
        and entropy(value) >= 3.6
        and value.count("-") + value.count("_") < 4
    )


def _unpronounceable(value: str, digits: int) -> bool:
    """Rows of consonants that no word has; fewer of them suffice beside digits."""
    row = max(map(len, _CONSONANTS.findall(value)), default=0)
    if digits >= 2 and len(value) >= 24 and value.count("-") < 2:
        return row >= 5
    return (row >= 6 and digits > 0) or (row >= 7 and sum(map(str.isupper, value[1:])) >= 3)


def password_like(value: str, quoted: bool) -> bool:
    """Whether a value may be a password: a letter and a digit in 8 or more, or specials."""
    if len(value) < 6 or len(value) > 256 or value.count(" ") > 3:
        return False
    letter = _LETTER.search(value) is not None
    digit = any(map(str.isdigit, value))
    special = len(value) - len(value.translate(_WITHOUT_SPECIAL))
    if " " in value and not (special and digit and letter):
        return False
    if not letter:
        return special >= 2 and digit and len(value) >= 8
    if digit and (len(value) >= 8 or quoted):
        return not _wordy(value)
    if special and len(value) >= 8:
        return any(map(str.isalnum, value)) and not _SENTENCE.fullmatch(value)
    if len(value) < 12:
        return False
    return random_looking(value) or _ROW.search(value) is not None


_SENTENCE = lazy(r"[a-zA-Z]+[!?;,=|)(\[\]{}<>]*|[(\[{<].*|[a-z]+[,;|&]+[a-z]+.*")
_WORDY = lazy(
    r"[a-z]+(?:_[a-z]+)+_?\d{1,2}|[a-z]{3,}[A-Z][a-z]+\d?|[a-z]+\d\Z|\d+[a-z]{1,5}|[a-z]+\[\d+\]"
)


def _wordy(value: str) -> bool:
    """An identifier with a number, such as `test_case_2`, or an amount, such as `30days`."""
    return _WORDY.fullmatch(value) is not None


# Ends and parts of words that stand beside a secret name in code and in sentences.
_COMMON_END = lazy(
    r"(?:tion|sion|ment|ness|[ae]nce|[ai]ble|ally|ious|ical|i[sz]ed?|i[sz]ing|ated?|ating|less|ship"
    r"|ology|graphy|ility|where|thing|one)s?\Z"
)
_SHORT_END = lazy(r"(?:ing|ed|[eo]rs?|ive|[oa]ry|ity|ful|ous|[ea]nt|al|ly|ify|ch|th|ck|ss|text)\Z")
_COMMON_PART = lazy(
    r"pass|secret|token|cred|auth|login|user|admin|value|string|field|input|text|error|test|example"
    r"|default|required|hidden|missing|valid|expire|correct|match|hash|crypt|encod|variable|config"
    r"|param|name|function|undefined|unknown|whatever|setting|change"
)


def words_alone(value: str, size: int) -> bool:
    """Whether lower case letters alone may be a password: long, and no word of code or prose."""
    if len(value) < size or not (value.isascii() and value.isalpha() and value.islower()):
        return False
    if _COMMON_PART.search(value) or _COMMON_END.search(value):
        return False
    return len(value) >= 11 or not _SHORT_END.search(value)


_PHRASE = lazy(r"[a-z]{3,9}(?:[ -][a-z]{3,9}){3,9}")
_SAID = _set(
    "the for your you enter type please with and must not has pass phrase key word are was were "
    "will can could should would this that these from into when where which what who how use used "
    "using see ask set get put keep kept stored store saved changed change leave left empty none "
    "only same own one here there under over about above below before after both match choose "
    "something someone have had been being is its our their any all each more than then long "
)


def phrase_of_words(value: str) -> bool:
    """Four to ten short words that make no sentence, as passphrases are made by lot."""
    words = value.replace("-", " ").split()
    return _PHRASE.fullmatch(value) is not None and _SAID.isdisjoint(words)


def of_words(value: str) -> bool:
    """Whether a text with blanks may be a secret: one of its few words stands in no sentence."""
    words = value.split()
    return password_like(value, True) or (len(words) < 5 and any(map(prose_password, words)))


def short_strong(value: str) -> bool:
    """Six or seven letters and digits, as weak passwords in environments are."""
    digits = digits_in(value)
    typed = digits >= 3 or not value[-1:].isdigit()  # not int32, utf16
    letters = len(value) > digits >= 2
    return len(value) >= 6 and value.isalnum() and letters and typed and not _wordy(value)


def prose_password(value: str) -> bool:
    """Whether a word in a sentence can only be a password: specials or all three classes."""
    if not password_like(value, True) or len(value) < 8 or " " in value:
        return random_looking(value) and " " not in value
    special = any(c in "!@#$%^&*~+" for c in value)
    digits = digits_in(value)
    cases = any(map(str.isupper, value)) and any(map(str.islower, value))
    if special and (digits or cases):
        return True
    return (digits >= 2 and cases) or token_like(value) or random_looking(value)
