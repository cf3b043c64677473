"""Whether a name means a secret, and what its value would be."""

from functools import lru_cache

from ijfw_plugins.redact_secrets.lazy import lazy

_WORDS = lazy(r"[A-Z]+(?![a-zß-öø-ž])|[A-Z]?[a-zß-öø-ž]+|[0-9]+|[^\W\d_a-zA-Z]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PASSWORD = _set(
    "password passwords passwd passphrase passcode pwd pass pw passwort kennwort passe clave "
    "parola wachtwoord heslo haslo hasło "
    "contraseña contrasena senha lösenord salasana "
    "lösenordet adgangskode adgangskoden passord passordet salasanasi mdp sandi "
    "authtok şifresi parolası "
    "şifre jelszó 口令 пароль 密码 密碼 パスワード 비밀번호 "
    "dbpass userpass smtppass mypass "
    "adminpass rootpass sudopass ftppass mailpass ldappass requirepass masterauth psk "
    "storepass keypass passin passout"
)
TOKEN = _set(
    "token tokens secret secrets apikey apikeys apitoken authtoken accesstoken refreshtoken "
    "idtoken credential credentials creds cred auth oauth authorization bearer jwt hmac pat "
    "secretkey accesskey privatekey clientsecret appsecret appkey apisecret authkey "
    "licensekey license licence webhook signingkey encryptionkey masterkey sharedkey "
    "accountkey csrf xsrf csrftoken totp otp mnemonic seed salt pepper sas connectionstring "
    "密钥 密鑰 令牌 schlüssel clé clef jeton chave chiave ключ токен "
    "sessiontoken sessionkey deploykey xoxb dsn sid sessid phpsessid"
)
# Names in writings whose words are not told apart by letters and capitals.
_WHOLE = dict.fromkeys(
    _set("κωδικός סיסמה รหัสผ่าน पासवर्ड parolă 암호 비번 暗証番号")
    | {"كلمة المرور", "كلمة السر", "mật khẩu"},
    "password",
) | dict.fromkeys(_set("apiキー アクセスキー トークン シークレット 토큰 秘密鍵 私钥"), "token")
_NO_PASS = _set(
    "bypass compass trespass surpass encompass overpass underpass allpass lowpass highpass"
)
_ENDINGS = ("password", "passwd", "passphrase", "pwd")
_TOKEN_ENDINGS = ("token", "secret", "apikey", "accesskey", "secretkey", "privatekey")
# A word after the secret word that says the value is something about the secret, not the secret.
_ABOUT = _set(
    "file files path dir directory folder id ids name names ttl type types url uri endpoint "
    "host hostname port provider providers backend version versions length len size count "
    "counts limit max min policy policies hash hashed hasher algorithm alg algo expiry "
    "hashers variant variants "
    "expires expire expiration exp expired timeout enabled disabled required optional format "
    "prefix suffix sha md crc label title placeholder hint field column param parameter header "
    "headers method methods mode rotation rotate age days hours minutes seconds ms budget usage "
    "used index idx ref refs reference arn alias store manager service class factory helper "
    "validator validators generator generated engine source sources scope scopes audience "
    "issuer issued at by on created updated last next status state strategy kind stdin fd env "
    "var variable embd embedding embeddings weight per rate bucket input output reset change "
    "changed confirm confirmation check strength rules rule error errors message msg valid "
    "invalid visible toggle show hide usages description desc fingerprint thumbprint checksum "
    "digest bits bytes style color colour bg primary shadow radius spacing user username "
    "email role owner vault keyring retries schema attr attribute location position pos "
    "offset line col range span start end tree list map set cache lookup handler callback "
    "event events listener test tests page form reader writer parser lexer stream iterator "
    "address encryption kinds family group groups mount ring tier fds control "
    "expiring comment keyword literal "
    "punctuation operator regex regexp util utils ownership"
)
_NOT_BEFORE = _set(
    "public pub publishable publishedkey checksum hash digest fingerprint no requires require "
    "has is use uses with without "
    "need needs"
)
_NOT_TOKEN = _set(
    "max min num total input output prompt completion cached reasoning page next previous "
    "prev continuation cancellation cancel n per avg budget start end open close eos bos pad "
    "unk mask sep cls stop special design lookahead current first last left right paren brace "
    "bracket syntax identifier sync change skip resume cursor pagination count context used "
    "remaining thinking extra new lock"
)
_NOT_KEY = _set(
    "cache primary foreign sort partition shortcut keyboard object group row hash map dict "
    "index lookup idempotency dedupe i18n translation message storage range unique composite "
    "event answer ref parent issue project config setting settings field column query "
    "state route s3 hot arrow enter escape tab ctrl shift alt meta model registry sha pgp gpg "
    "host known react item list node tree record document bucket blob file path name label "
    "property attribute param header natural surrogate business candidate super alternate "
    "locale string resource metric trace log job task queue topic channel thread user "
    "request response correlation transaction batch public pub rate limit feature flag menu "
    "nav section recv receive test cert certificate verification verify verifying ssh dedup "
    "restore input saved matched websocket socket"
)
_STRONG_KEY = _set(
    "api access secret private auth signing signature encryption encrypt decryption master "
    "license licence account deploy service admin app application client consumer shared "
    "subscription integration ingest write read rest server root recovery activation product "
    "webhook hmac jwt aes rsa age fernet nacl stripe openai function functions host developer "
    "dev live restricted project personal sas storage wireguard preshared base security "
    "credential session cookie"
)

# Whose cookie is a secret by itself: of a cluster, a session, a login.
_OF_A_COOKIE = _set(
    "erlang release cluster node auth session login sso access secret magic remember"
)
_STRONG_KEYS = tuple(f"{word}key" for word in _STRONG_KEY)
_NO_KEYS = tuple(
    f"{word}key" for word in (*_NOT_KEY, "hoc", "tur", "mon", "don", "joc", "whis", "hus")
)


@lru_cache(maxsize=4096)
def name_kind(name: str) -> str:
    """What the value of a name would be: "password", "secret" (any strong value), "token" (a random
    one), "key" (a long random one), "webhook" (a URL), or "" for no secret.
    """
    if not name.isascii() and name.lower() in _WHOLE:
        return _WHOLE[name.lower()]
    words = [word.lower() for word in _WORDS.findall(name)]
    at = next((i for i in range(len(words) - 1, -1, -1) if _is_secret(words[i])), -1)
    if at < 0:
        return ""
    word, before, after = words[at], words[:at], words[at + 1 :]
    if word == "secret" and after == ["id"]:
        return "token"  # of an account of Consul or Vault; a name is not strong enough
    if any(other in _ABOUT for other in after) and not _url_of_webhook(word, after):
        return ""
    if any(other in _NOT_BEFORE for other in before[-2:]) and word != "salt":
        return ""
    return _kind_of(word, before, name)


def _is_secret(word: str) -> bool:
    return (
        word in PASSWORD
        or word in TOKEN
        or word in ("key", "keys", "cookie")
        or word.endswith(_ENDINGS)
        or word.endswith(_TOKEN_ENDINGS)
        or _glued(word)
        or (
            word.startswith("pass")
            and word.startswith(("password", "passwd", "passphrase"))
            and word[-1].isdigit()
        )
    )


def _glued(word: str) -> bool:
    """`adminkey`, `acmepat`, `defaultpass`: a secret word at the end of one without borders."""
    if word.endswith("key"):
        return _strong_key(word) or (len(word) >= 7 and not word.endswith(_NO_KEYS))
    if word.endswith("pat"):
        return len(word) >= 6
    if word.endswith("salt"):
        return word.startswith(("pass", "secret", "auth", "cookie", "session"))
    if word.endswith("pw"):
        return len(word) >= 4
    return word.endswith("pass") and word not in _NO_PASS


def _strong_key(word: str) -> bool:
    return word.endswith(_STRONG_KEYS)


def _url_of_webhook(word: str, after: list[str]) -> bool:
    return word in ("webhook", "dsn") and all(
        other in ("url", "uri", "endpoint") for other in after
    )


def _kind_of(word: str, before: list[str], name: str) -> str:
    if word in PASSWORD or word.endswith((*_ENDINGS, "pass", "pw")):
        return "" if word == "pass" and name == "PASS" else "password"
    if word == "webhook":
        return "webhook"
    if word in ("key", "keys"):
        return _kind_of_key(before)
    if word == "cookie":
        return "token" if before and before[-1] in _OF_A_COOKIE else ""
    if word.endswith(("token", "tokens")):
        return "" if any(other in _NOT_TOKEN for other in before[-2:]) else "token"
    if word.endswith("pat") or (
        word.endswith("key") and word not in TOKEN and not _strong_key(word)
    ):
        return "key"
    if name.lower() in ("license", "licence"):
        return ""  # of a package, not a key
    if word.endswith("salt") or word in (
        "license",
        "licence",
        "seed",
        "pepper",
        "sid",
        "dsn",
        "otp",
        "pat",
    ):
        return "key"
    return (
        "secret" if "secret" in word or word in ("creds", "credentials", "credential") else "token"
    )


def _kind_of_key(before: list[str]) -> str:
    if not before:
        return "key"
    last = before[-1]
    if last in ("wifi", "wlan", "wpa", "wpa2"):
        return "password"
    if last in _STRONG_KEY or _is_secret(last):
        return "secret" if "secret" in before or last == "private" else "token"
    return "" if last in _NOT_KEY else "key"
