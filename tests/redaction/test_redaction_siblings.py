# ruff: noqa: E501
"""Kinds of secrets that unseen texts showed, each in forms of other tools, languages and quotes."""

import random
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_plugins import redact_secrets

Fill = Callable[[str, random.Random], str]

# One kind a list. A value is what stands between the marks ⟦ and ⟧.
SECRETS = {
    "value beside the name of a checksum": (
        "MD5 (password = ⟦<hex:32>⟧",
        "note (password) = ⟦<hex:32>⟧",
        "MD5 (keys.zip) password = ⟦<hex:32>⟧",
    ),
    "account of a package host": (
        'BUNDLE_GEMS__NORD__TEST: "ci:⟦<an:26>⟧"',
        "BUNDLE_RUBYGEMS__PKG__ACME__TEST=lena:⟦<an:40>⟧",
        "export BUNDLE_ENTERPRISE__CONTRIBSYS__TEST=⟦<hex:8>:<hex:8>⟧",
        "$ bundle config set --global gems.nord.test ci:⟦<an:26>⟧",
        "$ composer config http-basic.repo.nord.test ci ⟦<an:32>⟧",
        "gem sources --add https://ci:⟦<an:24>⟧@gems.nord.test/",
    ),
    "token in the path of a feed": (
        "channels:\n  - https://conda.nord.test/t/⟦<an:36>⟧/main\n  - defaults",
        "conda config --add channels https://conda.anaconda.test/t/⟦<an:14>-<an:22>⟧/acme",
        "index-url = https://dl.cloudsmith.io/⟦<an:24>⟧/acme/web/python/simple/",
        'source "https://packagecloud.io/⟦<hex:48>⟧/acme/web"',
        '<add key="dx" value="https://nuget.devexpress.com/⟦<an:48>⟧/api" />',
        "pip install --index-url https://ci:⟦<an:24>⟧@pypi.nord.test/simple web",
    ),
    "short password of a setting": (
        "spring.datasource.username=orders\nspring.datasource.password=⟦orbi<d:3>⟧",
        "quarkus.datasource.password = ⟦kilo<d:3>⟧",
        "hibernate.connection.password=⟦ab<d:4>x⟧",
        "-Dmail.smtp.password=⟦nord<d:3>⟧",
        "mail.password: ⟦pony<d:3>⟧",
        'DB_PASSWORD="⟦orbi<d:3>⟧"',
    ),
    "sentence in another language": (
        "La password per la VPN è ⟦<words>⟧ .",
        "La contraseña para el servidor es ⟦<words>⟧.",
        "Le mot de passe pour la base est ⟦<words>⟧.",
        "Das Passwort für den Server ist ⟦<words>⟧.",
        "Lösenordet för databasen är ⟦<words>⟧",
        "A senha para o painel é ⟦<words>⟧",
    ),
    "user and password in a line": (
        "user ole PASS ⟦<an:12>a1B⟧",
        "login lena, pw ⟦<words>⟧",
        "username: omar | password ⟦<words>⟧",
        "account ci-bot with password ⟦<words>⟧",
        "usr lena pwd ⟦<words>⟧",
        "User: lena; Pass: ⟦<words>⟧",
    ),
    "key of a session": (
        "put this in .env:\n```\nSESSION_KEY=⟦<an:43>⟧\n```",
        'session_key: "⟦<an:40>⟧"',
        "app.use(session({ key: 'sid', sessionKey: '⟦<an:40>⟧' }))",
        "COOKIE_KEY=⟦<hex:64>⟧",
        "export FLASK_SESSION_KEY='⟦<an:32>⟧'",
        "IRON_SESSION_KEY: ⟦<an:44>⟧",
    ),
    "answer to a question": (
        "> what's the db password again?\nit's ⟦<words>⟧",
        "lena: password for staging?\nomar: ⟦<words>⟧",
        "Which token for the bot?\nstill ⟦<an:32>⟧",
        "Wie war das Passwort?\nes ist ⟦<words>⟧",
        "C'est quoi le mot de passe ?\nc'est ⟦<words>⟧",
        "pw for the printer?\ntry `⟦<words>⟧`",
    ),
    "list of one in a dump": (
        "Writing [{client_secret=[⟦<an:36>⟧], grant_type=[client_credentials]}]",
        "{password=[⟦<an:14>1a⟧], username=[lena]}",
        "form: map[access_token:[⟦<an:40>⟧] scope:[all]]",
        "params = {api_key=[⟦<an:32>⟧]}",
        'url.Values{"client_secret":["⟦<an:36>⟧"]}',
        "Parameters: {refresh_token=[⟦<an:44>⟧],scope=[x]}",
    ),
    "cookie of a browser": (
        '{"cookies": [{"name": "session", "value": "⟦<url:64>⟧", "path": "/"}]}',
        '{"name": "connect.sid", "domain": "x.test", "path": "/", "value": "⟦s%3A<an:32>.<an:43>⟧"}',
        "await ctx.addCookies([{ name: 'sessionid', value: '⟦<an:32>⟧', url: 'https://x.test' }])",
        's.cookies.set("sessionid", "⟦<an:32>⟧", domain="x.test")',
        'requests.get(url, cookies={"session": "⟦<an:40>⟧"})',
        'driver.add_cookie({"name": "_acme_session", "value": "⟦<an:64>⟧"})',
    ),
    "token of a provider": (
        "⟦<an:6>_<an:29>_mmk⟧",
        "⟦pat.<an:22>.<hex:24>.<an:20>⟧",
        "⟦waka_<uuid>⟧",
        "⟦depot_project_<hex:64>⟧",
        "⟦pylf_v1_us_<an:43>⟧",
        "⟦esecret_<an:30>⟧",
        "⟦4b1d<an:38>⟧",
        "⟦s-s4t2ud-<hex:64>⟧",
        "キーはこれです: ⟦<an:6>_<an:29>_mmk⟧ テスト",
    ),
    "quotes within quotes": (
        'buildConfigField "String", "API_KEY", "\\"⟦<an:32>⟧\\""',
        'buildConfigField("String", "API_TOKEN", "\\"⟦<an:40>⟧\\"")',
        "new webpack.DefinePlugin({ API_KEY: '\"⟦<an:32>⟧\"' })",
        '-DAPI_SECRET="\\"⟦<an:32>⟧\\""',
        "resValue 'string', 'maps_api_key', '\"⟦<an:40>⟧\"'",
        'environment: { "API_TOKEN": "\'⟦<an:40>⟧\'" }',
    ),
    "command of a pipeline": (
        "::set-output name=deploy_token::⟦<an:40>⟧\n::notice::deploy done",
        "::add-mask::⟦<an:40>⟧",
        "::save-state name=registryPassword::⟦<an:16>⟧",
        "##vso[task.setvariable variable=x;issecret=true]⟦<an:40>⟧",
        "##teamcity[setParameter name='env.API_TOKEN' value='⟦<an:40>⟧']",
        'echo "DEPLOY_TOKEN=⟦<an:40>⟧" >> $GITHUB_ENV',
    ),
    "value that is piped": (
        "$ echo ⟦<b36:52>⟧ | az devops login --organization https://dev.azure.test/nord",
        "printf '%s' '⟦<an:40>⟧' | gh secret set DEPLOY",
        "echo ⟦<an:32>⟧ | helm registry login r.nord.test -u ci --password-stdin",
        'echo "⟦<an:40>⟧" | vault login -',
        "echo -n ⟦<pw:16>⟧ | gcloud secrets create db --data-file=-",
        "echo ⟦<pw:16>⟧ | pass insert -e web/db",
    ),
    "key in a file of requests": (
        '"auth": {"type": "apikey", "apikey": [{"key": "value", "value": "⟦<an:32>⟧", "type": "string"}]}',
        '"bearer": [{"key": "token", "value": "⟦<an:40>⟧", "type": "string"}]',
        '"basic": [{"key": "username", "value": "l"}, {"key": "password", "value": "⟦<an:14>1a⟧"}]',
        '"authentication": {"type": "apikey", "key": "X-Token", "value": "⟦<an:32>⟧"}',
        "auth:apikey {\n  key: X-Token\n  value: ⟦<an:32>⟧\n  placement: header\n}",
        "auth:bearer {\n  token: ⟦<an:40>⟧\n}",
    ),
    "aligned arguments": (
        "define('AUTH_KEY',         '⟦<an:64>⟧');",
        'define( "SECURE_AUTH_SALT",  "⟦<an:64>⟧" );',
        "set('API_TOKEN',           '⟦<an:40>⟧')",
        'putenv("DB_PASSWORD",      "⟦<an:14>1aB⟧")',
        "register('client_secret',            '⟦<an:36>⟧')",
    ),
    "table in a string": (
        '{"text":" login | password_plain | active\\n-------+----+---\\n lena  | ⟦copper<d:2>Lantern⟧  | t\\n(1 row)"}',
        '{"a": 1, "content": "user,password\\nlena,⟦copper<d:2>Lantern⟧\\n"}',
        '{"output": "| user | password |\\n|---|---|\\n| lena | ⟦<an:14>1aB⟧ |"}',
        '{"text":"id | api_token\\n---+---\\n 1 | ⟦<an:40>⟧"}',
        '[{"type":"text","text":"name\\ttoken\\nci\\t⟦<an:40>⟧"}]',
    ),
    "credentials of gems": (
        "$ cat ~/.gem/credentials\n---\n:nord: ⟦<hex:48>⟧\n",
        "$ cat ~/.gem/credentials\n---\n:rubygems_api_key: rubygems_<hex:48>\n:acme: ⟦<hex:48>⟧\n",
        "$ cat ~/.gem/credentials\n---\n:acme: <hex:48>\n:nord: ⟦<hex:48>⟧\n",
        "$ cat /home/l/.gem/credentials\n:rubygems: ⟦<hex:48>⟧\n",
    ),
    "tokens of a list": (
        'acl { tokens { agent = "⟦<uuid>⟧" } }',
        'acl = {\n  tokens = {\n    initial_management = "⟦<uuid>⟧"\n  }\n}',
        '"tokens": {"agent": "<uuid>", "default": "⟦<uuid>⟧"}',
        'tokens {\n  agent_recovery = "⟦<uuid>⟧"\n}',
        '{"acl": {"tokens": {"replication": "⟦<uuid>⟧"}}}',
    ),
    "password that changed": (
        "I changed the admin password from the old one to ⟦<words>⟧ last night.",
        "rotated the token from the leaked value to ⟦<an:32>⟧",
        "Reset the password from its default to `⟦<words>⟧`",
        "das Passwort von dem alten auf ⟦<words>⟧ gesetzt",
        "password from before to ⟦<words>⟧, done",
    ),
    "arguments in a trace": (
        "#0 /srv/db.php(4): PDO->__construct('mysql:host=db', 'orders', '⟦<pw:14>⟧')",
        "#1 /srv/a.php(9): mysqli->__construct('db', 'app', '⟦<pw:14>⟧', 'web')",
        "#0 /srv/l.php(3): ldap_bind(Object(LDAP), 'cn=admin', '⟦<pw:14>⟧')",
        "#2 f.php(7): imap_open('{mail.nord.test}', 'lena', '⟦<pw:14>⟧')",
        'pymysql.connect("db", "app", "⟦<pw:14>⟧", "web")',
        "ftp_login($conn, 'lena', '⟦<pw:14>⟧');",
    ),
    "account with a key": (
        'kaggle_creds = {"username": "lena", "key": "⟦<hex:32>⟧"}',
        "{'username': 'lena', 'key': '⟦<hex:32>⟧'}",
        '{"email": "l@x.test", "key": "⟦<hex:37>⟧"}',
        '{\n  "username": "lena",\n  "key": "⟦<hex:32>⟧"\n}',
        "KAGGLE_KEY=⟦<hex:32>⟧",
    ),
    "attribute with a prefix": (
        '<meta-data android:name="com.nord.maps.API_KEY" android:value="⟦<an:40>⟧" />',
        '<meta-data\n  android:name="io.nord.SecretKey"\n  android:value="⟦<an:40>⟧" />',
        '<add key="ApiKey" value="⟦<an:32>⟧" />',
        '<entry name="client_secret" xsi:type="string" value="⟦<an:32>⟧"/>',
        "<param name='auth_token' tns:value='⟦<an:40>⟧'/>",
    ),
    "login of a scanner": (
        "$ sonar-scanner -Dsonar.login=⟦<hex:40>⟧ -Dsonar.host.url=https://s.test",
        "sonar.login=⟦<hex:40>⟧",
        "mvn sonar:sonar -Dsonar.token=⟦<hex:40>⟧",
        "./gradlew sonar -Dsonar.login='⟦<hex:40>⟧'",
        "SONAR_LOGIN: ⟦<hex:40>⟧",
    ),
    "password that is here": (
        "the wifi password here is ⟦glacier<d:2>Basket⟧ by the way",
        "the admin password there was ⟦<words>⟧",
        "root password currently is ⟦<words>⟧",
        "the token again is ⟦<an:32>⟧",
        "the vpn password today: ⟦<words>⟧",
    ),
    "pair and its names": (
        "for staging use lena / ⟦<words>⟧ as user/password",
        "omar:⟦<words>⟧ are the username and password",
        "username/password is lena / ⟦<words>⟧",
        "user and password: lena, ⟦<words>⟧",
        "Benutzer/Passwort: lena / ⟦<words>⟧",
        "user/pass = ci / ⟦<words>⟧",
    ),
    "field with an alias": (
        'x: str = Field(default="⟦<pw:14>⟧", alias="password")',
        "key: str = Field('⟦<an:32>⟧', description='d', env='ACME_TOKEN')",
        'typer.Option("⟦<an:32>⟧", envvar="ACME_API_KEY")',
        'Field(default="⟦<an:32>⟧", validation_alias="client_secret")',
        "click.option('--token', default='⟦<an:32>⟧', envvar='T')",
    ),
    "case of a name": (
        'case "token": return "⟦<an:32>⟧";',
        'case "password":\n    return "⟦<words>⟧"',
        "when 'api_key' then '⟦<an:32>⟧'",
        'case "secret" => "⟦<an:32>⟧"',
        '"token" -> "⟦<an:32>⟧"',
    ),
    "argument beside a comment": (
        'connect("db", "lena", /* password */ "⟦<words>⟧")',
        'New("x", /*apiKey=*/"⟦<an:32>⟧")',
        'login("lena",\n  "⟦<words>⟧",  # password\n)',
        'client.connect("h", "⟦<an:32>⟧"); // token of the bot',
        "CALL login('lena', '⟦<words>⟧'); -- password",
    ),
}

HARMLESS = {
    "checksum of a file that is named like a secret": (
        "MD5 (keys.zip) = <hex:32>",
        "SHA256 (backup/secrets.tar.gz) = <hex:64>",
        "SHA2-256(api_key.pem)= <hex:64>",
        "BLAKE2b (tokens.json) = <hex:128>",
        "RMD160 (password.txt) = <hex:40>",
    ),
    "placeholder of a webhook": (
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://hooks.slack.com/services/T000/B000/xxxxxxxxxxxxxxxxxxxxxxxx",
        "https://discord.com/api/webhooks/123456789012345678/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "https://hooks.slack.com/services/YOUR/WEBHOOK/URL",
        "https://outlook.office.com/webhook/xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx/IncomingWebhook/xxxx",
        "https://hooks.slack.com/workflows/T00000000/A00000000/XXXXXXXXXXXX",
    ),
    "key of a cache": (
        "cache key: Linux-node-<hex:64>\nCache restored from key: Linux-node-<hex:64>",
        "Cache saved with key: Linux-x64-pip-<hex:64>",
        "Cache hit for restore-key: macOS-cargo-<hex:40>",
        "key: v2-deps-<hex:32>",
        "Cache not found for input keys: Linux-gradle-<hex:64>",
        "  key: go-mod-<hex:64>",
    ),
    "words beside names of secrets": (
        "the session key is derived from the handshake",
        "session_key = request.session.session_key",
        "username/password is required for Login2Form",
        "the user must pass Argon2Hash to it",
        "user lena PASS tests/auth.test.ts",
        "Forgot your password?\nReset it here: https://x.test/reset",
        "What is a token?\nA token is a piece of text.",
        "which key for the map?\nuser_id-2",
        'Field(default="production", alias="stage_key")',
        'case "token": return "identifier";',
        'lookup(/* key */ "user-settings-2")',
        'check("user_name_2")  # password is asked later',
        '{"name": "session", "value": "name of a session"}',
        "::set-output name=version::1.2.3-rc1",
        "##vso[task.setvariable variable=buildId]20261201.4",
        "echo hello | az login",
        'BUNDLE_PATH: "vendor/bundle"',
        "https://forum.nord.test/t/how-to-write-a-plugin-for-it/12",
        'replication = "async"',
        "changed the password from hashed to argon2id form",
        "form: map[token:[] scope:[all]]",
        "tokens=[word, word2]",
        "user.password=abc",
        "form.password.value",
    ),
}


MORE = tomllib.loads(Path(__file__).with_name("siblings.toml").read_text("utf-8"))["kind"]
SECRETS |= {kind["name"]: tuple(kind["secrets"]) for kind in MORE}
HARMLESS |= {kind["name"]: tuple(kind["harmless"]) for kind in MORE}


def forms(kinds: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(kind, form) for kind, texts in kinds.items() for form in texts]


@pytest.mark.parametrize(("kind", "form"), forms(SECRETS))
def test_a_kind_is_found_in_its_other_forms(kind: str, form: str, make_value: Fill) -> None:
    for seed in range(3):
        filled = make_value(form, random.Random(f"{form}{seed}"))
        before, _, rest = filled.partition("⟦")
        value, _, after = rest.partition("⟧")
        text = f"{before}{value}{after}\n"
        found = [text[start:end] for start, end, _, _ in redact_secrets.find(text)]
        assert any(value in piece or (piece in value and len(piece) >= len(value) - 2)
                   for piece in found), (kind, text)  # fmt: skip


@pytest.mark.parametrize(("kind", "form"), forms(HARMLESS))
def test_a_look_alike_of_a_kind_stays(kind: str, form: str, make_value: Fill) -> None:
    for seed in range(3):
        text = make_value(form, random.Random(f"{form}{seed}")) + "\n"
        found = [text[start:end] for start, end, _, _ in redact_secrets.find(text)]
        assert found == [], (kind, text)
