"""The keywords around which a text is searched for names of secrets."""

# What a name holds that means a secret, below a part of it that is looked for first.
KEYWORDS: dict[str, tuple[str, ...]] = {
    "": (
        "pass",
        "secret",
        "token",
        "key",
        "auth",
        "cred",
        "jwt",
        "bearer",
        "webhook",
        "licen",
        "hmac",
        "psk",
        "_dsn",
        "salt",
        "cookie",
        "pepper",
        "seed",
        "otp",
        "sid=",
        "kennwort",
        "contrase",
        "senha",
        "csrf",
        "clave",
        "parola",
        "wachtwoord",
        "heslo",
        "haslo",
        "adgangskode",
        "salasana",
        "chave",
        "chiave",
        "jeton",
        "mdp",
        "sandi",
    ),
    "pat": (
        "_pat",
        "-pat",
        ".pat",
        "pat=",
        "pat>",
        "pat:",
        'pat"',
        "pat'",
        "pat ",
    ),
    "pw": (
        "pwd",
        "_pw",
        "pw:",
        "pw=",
        "pw ",
        'pw"',
        "pw'",
    ),
}
PLAIN = tuple((keyword.strip("_= "), keyword) for keyword in KEYWORDS[""])  # word, keyword
_NTH = {word: nth for nth, (word, _) in enumerate(PLAIN)}
# Keywords that end a word of a name: what goes on in letters is another word, mostly a path.
ENDS = ("_pat", "-pat", ".pat", "_pw")
FOREIGN = (
    *("пароль", "Пароль", "密码", "密碼", "口令", "密钥", "密鑰", "令牌", "パスワード", "비밀번호"),
    *("schlüssel", "Schlüssel", "clé", "jeton", "Jeton", "ключ", "токен"),
    *("lösenord", "Lösenord", "hasło", "Hasło", "şifre", "Şifre", "jelszó", "Jelszó"),
    *("parolă", "Parolă", "κωδικός", "Κωδικός", "סיסמה", "كلمة المرور", "كلمة السر", "รหัสผ่าน"),
    *(
        "mật khẩu",
        "Mật khẩu",
        "पासवर्ड",
        "APIキー",
        "アクセスキー",
        "トークン",
        "シークレット",
        "暗証番号",
    ),
    *("암호", "비번", "토큰", "clef", "秘密鍵", "私钥"),
)


def present(text: str, lower: str, words: set[str]) -> list[str]:
    """Those that a text may hold; `lower` is the text in lower case, `words` what of the words in
    it opens a gate."""
    found = [PLAIN[nth][1] for nth in sorted(_NTH[word] for word in words if word in _NTH)]
    for gate, held in KEYWORDS.items():
        if gate and gate in lower:
            found += held
    if not text.isascii():
        found += FOREIGN
    return found
