# ruff: noqa: E501
"""Labelled cases, generated: values are random in documented shapes, none was ever issued.

Every third context, kind and harmless template is kept back (`part="closed"`): rules are not tuned on it.
"""

import json
import random
import re
import string
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote

import pytest

ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "d": string.digits,
    "b36": string.ascii_lowercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "UAN": string.ascii_uppercase + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
}
WORDS = [
    "amber",
    "basil",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "hazel",
    "indigo",
    "juniper",
    "kestrel",
    "lemon",
    "maple",
    "nickel",
    "onyx",
]
SPECIAL = "!#%*+-._~@"


def fill(shape: str, rng: random.Random) -> str:
    """A value of a described shape: `gh<an:36>`, `<uuid>`, `<pw:16>` (a strong password), `<words>`."""

    def one(match: re.Match[str]) -> str:
        kind, size = match.group(1), int(match.group(2) or 0)
        if kind == "uuid":
            return "-".join(fill(f"<hex:{n}>", rng) for n in (8, 4, 4, 4, 12))
        if kind == "words":
            first, second = rng.sample(WORDS, 2)
            return f"{first.title()}{rng.choice('!_-.')}{second}{rng.choice('!_-')}{rng.randint(1000, 9999)}"
        if kind == "pw":
            while True:
                text = "".join(rng.choice(ALPHABETS["an"] + SPECIAL) for _ in range(size))
                if (
                    any(c.isdigit() for c in text)
                    and any(c.isalpha() for c in text)
                    and text[0].isalnum()
                ):
                    return text
        return "".join(rng.choice(ALPHABETS[kind]) for _ in range(size))

    return re.sub(r"<(uuid|words|[A-Za-z0-9]+)(?::(\d+))?>", one, shape)


class Case(NamedTuple):
    """A text, what has to go and what has to stay. No secrets: nothing may change."""

    id: str
    text: str
    secrets: tuple[str, ...]
    keep: tuple[str, ...]


# name in a program, shape of the value; names and shapes of no known provider among them
KINDS: tuple[tuple[str, str], ...] = (
    ("GITHUB_TOKEN", "gh" + "p_<an:36>"),
    ("QORBIT_API_KEY", "<an:32>"),
    ("DB_PASSWORD", "<pw:16>"),
    ("GITLAB_TOKEN", "gl" + "pat-<an:20>"),
    ("ZENDO_SECRET", "zd_sec_<b36:40>"),
    ("SIGNING_SECRET", "<hex:64>"),
    ("OPENAI_API_KEY", "sk" + "-proj-<url:120>"),
    ("SMTP_PASSWORD", "<words>"),
    ("ACME_ACCESS_TOKEN", "<url:43>"),
    ("AWS_SECRET_ACCESS_KEY", "<b64:40>"),
    ("RABBITMQ_DEFAULT_PASS", "<pw:20>"),
    ("LICENSE_KEY", "<UAN:5>-<UAN:5>-<UAN:5>-<UAN:5>-<UAN:5>"),
    ("STRIPE_SECRET_KEY", "sk" + "_live_<an:24>"),
    ("ENCRYPTION_KEY", "<b64:43>="),
    ("DEPLOY_TOKEN", "<hex:40>"),
    ("SENDGRID_API_KEY", "S" + "G.<url:22>.<url:43>"),
    ("MASTER_PASSWORD", "<an:14>"),
    ("SNYK_TOKEN", "<uuid>"),
    ("NPM_TOKEN", "np" + "m_<an:36>"),
    ("ALGOLIA_ADMIN_KEY", "<hex:32>"),
    ("TELEMETRY_AUTH_TOKEN", "tmtr.<an:10>.<an:40>"),
    ("REDIS_PASSWORD", "<hex:32>"),
    ("SLACK_BOT_TOKEN", "xo" + "xb-<d:12>-<d:12>-<an:24>"),
    ("INTERNAL_JWT_SECRET", "<b64:44>"),
    ("HF_TOKEN", "h" + "f_<an:34>"),
    ("PARTNER_CLIENT_SECRET", "<an:20>~<an:12>"),
    ("ADMIN_PASSWD", "<pw:12>"),
    ("ANTHROPIC_API_KEY", "sk" + "-ant-api03-<url:93>AA"),
    ("COOKIE_SECRET", "<an:24>"),
    ("VENDOR_PAT", "<b36:52>"),
    ("GOOGLE_API_KEY", "AI" + "za<url:35>"),
    ("MYSQL_ROOT_PASSWORD", "<an:18>"),
    ("GROQ_API_KEY", "gs" + "k_<an:52>"),
)


def _snake(name: str) -> str:
    return name.lower()


def _camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(word.title() for word in rest)


def _kebab(name: str) -> str:
    return "-".join(word.title() for word in name.split("_"))


def _jsonl(text: str, rng: random.Random) -> str:
    record = {
        "type": "user",
        "uuid": fill("<uuid>", rng),
        "message": {"content": [{"type": "tool_result", "content": text}]},
    }
    return json.dumps(record)


Context = Callable[[str, str, random.Random], tuple[str, tuple[str, ...]]]

CONTEXTS: tuple[tuple[str, Context], ...] = (
    ("dotenv", lambda n, v, r: (f"PORT=8080\n{n}={v}\nDEBUG=0\n", ("PORT=8080", n, "DEBUG=0"))),
    ("dotenv-quoted", lambda n, v, r: (f"# local\n{n}='{v}'\nLOG=info\n", (n, "LOG=info"))),
    (
        "dockerfile",
        lambda n, v, r: (
            f"FROM python:3.12\nENV {n} {v}\nRUN make\n",
            ("FROM python:3.12", "RUN make"),
        ),
    ),
    ("export", lambda n, v, r: (f'$ export {n}="{v}" && make deploy\nok\n', ("make deploy", n))),
    (
        "json",
        lambda n, v, r: (
            json.dumps({"id": 7, _camel(n): v, "region": "eu"}, indent=1),
            ('"region": "eu"', _camel(n)),
        ),
    ),
    ("powershell", lambda n, v, r: (f'PS> $env:{n} = "{v}"\nPS> dotnet run\n', (n, "dotnet run"))),
    (
        "yaml",
        lambda n, v, r: (
            f"svc:\n  host: a.test\n  {_snake(n)}: {v}\n  port: 80\n",
            ("host: a.test", "port: 80"),
        ),
    ),
    (
        "python",
        lambda n, v, r: (
            f'import os\n{n} = "{v}"\nURL = "https://a.test/v2"\n',
            ("import os", 'URL = "https://a.test/v2"'),
        ),
    ),
    (
        "java-properties",
        lambda n, v, r: (
            f"app.name=shop\napp.{_snake(n).replace('_', '.')}={v}\napp.port=1\n",
            ("app.name=shop", "app.port=1"),
        ),
    ),
    (
        "jsonl",
        lambda n, v, r: (
            _jsonl(f'$ cat .env\n{n}="{v}"\nDEBUG=0\n', r),
            ("tool_result", "DEBUG=0"),
        ),
    ),
    (
        "jsonl-twice",
        lambda n, v, r: (
            _jsonl(json.dumps({"out": json.dumps({_snake(n): v, "n": 1})}), r),
            ("tool_result",),
        ),
    ),
    (
        "header-own",
        lambda n, v, r: (
            f"> GET / HTTP/1.1\n> X-{_kebab(n)}: {v}\n> Accept: */*\n",
            ("Accept: */*", "GET / HTTP/1.1"),
        ),
    ),
    (
        "bearer",
        lambda n, v, r: (
            f"> Host: a.test\n> Authorization: Bearer {v}\n< 200 OK\n",
            ("Host: a.test", "< 200 OK"),
        ),
    ),
    (
        "curl",
        lambda n, v, r: (
            f"$ curl -sS -H 'X-Auth-Token: {v}' https://a.test/v1?n=5\n",
            ("https://a.test/v1?n=5",),
        ),
    ),
    (
        "go-struct",
        lambda n, v, r: (
            f'cfg := Config{{Host: "a.test", {_camel(n).title()}: "{v}", Port: 80}}\n',
            ('Host: "a.test"', "Port: 80"),
        ),
    ),
    (
        "query",
        lambda n, v, r: (
            f"GET https://a.test/geo?city=Oslo&{_snake(n)}={quote(v, safe='~')}&units=m 200\n",
            ("city=Oslo", "units=m 200"),
        ),
    ),
    (
        "logfmt",
        lambda n, v, r: (
            f"level=info attempt=2 {_snake(n)}={v} host=a.test\n",
            ("attempt=2", "host=a.test"),
        ),
    ),
    (
        "toml",
        lambda n, v, r: (
            f'[svc]\nname = "x"\n{_snake(n)} = "{v}"\nworkers = 4\n',
            ('name = "x"', "workers = 4"),
        ),
    ),
    (
        "xml",
        lambda n, v, r: (
            f"<cfg><host>a.test</host><{_camel(n)}>{v}</{_camel(n)}><n>3</n></cfg>\n",
            ("<host>a.test</host>", "<n>3</n>"),
        ),
    ),
    (
        "dict-repr",
        lambda n, v, r: (f"KeyError: ctx={{'{n}': '{v}', 'retries': 3}}\n", ("'retries': 3", n)),
    ),
    (
        "dotnet-xml",
        lambda n, v, r: (
            f'<add key="{_camel(n)}" value="{v}" />\n<add key="Mode" value="dev" />\n',
            ('<add key="Mode" value="dev" />',),
        ),
    ),
    (
        "diff",
        lambda n, v, r: (
            f"@@ -3,2 +3,2 @@\n [app]\n-{n} = changeme\n+{n} = {v}\n debug = 0\n",
            (" debug = 0", "changeme"),
        ),
    ),
    (
        "k8s-env",
        lambda n, v, r: (
            f'    env:\n    - name: {n}\n      value: "{v}"\n    image: web:1.4\n',
            (n, "image: web:1.4"),
        ),
    ),
    (
        "helm-set",
        lambda n, v, r: (
            f"$ helm upgrade web ./c --set {_camel(n)}='{v}' --set replicas=2\n",
            ("--set replicas=2", "helm upgrade web"),
        ),
    ),
    (
        "ci-log",
        lambda n, v, r: (
            f"2026-01-05T10:00:00Z   {n}: {v}\n2026-01-05T10:00:01Z done in 3s\n",
            ("done in 3s", n),
        ),
    ),
    (
        "prose-is",
        lambda n, v, r: (
            f"Done. The value I used for {n} is {v} - rotate it. All 14 tests pass.\n",
            ("All 14 tests pass.",),
        ),
    ),
    (
        "markdown-table",
        lambda n, v, r: (
            f"| name | value |\n|---|---|\n| {n} | `{v}` |\n| region | eu |\n",
            ("| region | eu |",),
        ),
    ),
    (
        "js-object",
        lambda n, v, r: (
            f"const client = new Client({{ {_camel(n)}: '{v}', timeout: 30 }});\n",
            ("timeout: 30", "new Client"),
        ),
    ),
    (
        "cli-flag",
        lambda n, v, r: (
            f"$ acmectl login --{_snake(n).replace('_', '-')} '{v}' --region eu\nok\n",
            ("--region eu",),
        ),
    ),
    (
        "os-environ",
        lambda n, v, r: (f'os.environ["{n}"] = "{v}"\nmain(retries=3)\n', ("main(retries=3)", n)),
    ),
    (
        "ruby-hash",
        lambda n, v, r: (f"config = {{ :{_snake(n)} => '{v}', :port => 80 }}\n", (":port => 80",)),
    ),
    (
        "form-body",
        lambda n, v, r: (
            f"POST body: grant=pw&{_snake(n)}={quote(v, safe='~!*')}&scope=all\n",
            ("grant=pw", "scope=all"),
        ),
    ),
    (
        "terraform",
        lambda n, v, r: (
            f'variable "{_snake(n)}" {{\n  default = "{v}"\n}}\nregion = "eu"\n',
            ('region = "eu"',),
        ),
    ),
)


def _b64(text: str) -> str:
    return b64encode(text.encode()).decode()


def _structures(r: random.Random) -> Iterator[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """id, text, secrets, keep: secrets known by what stands around them."""
    pw, an, b64 = (
        fill("<pw:16>", r),
        fill("<an:40>", r),
        "\n".join(fill("<b64:64>", r) for _ in range(9)),
    )
    plain = fill("<an:18>", r)
    lines = tuple(b64.split("\n"))
    pem = (
        f"-----BEGIN {r.choice(['RSA ', 'EC ', '', 'OPENSSH ', 'ENCRYPTED '])}PRIVATE "
        + f"KEY-----\n{b64}\n-----END PRIVATE "
        + "KEY-----"
    )
    yield (
        "url-db",
        f"DSN=postgresql+asyncpg://app:{plain}@db.a.test:5432/shop\n",
        (plain,),
        ("db.a.test:5432/shop",),
    )
    yield (
        "url-only-password",
        f"REDIS=rediss://:{plain}@cache.a.test:6380/0\n",
        (plain,),
        ("cache.a.test:6380/0",),
    )
    yield (
        "url-percent",
        f"amqps://svc:{quote(pw, safe='')}@mq.a.test/v\n",
        (quote(pw, safe=""),),
        ("mq.a.test/v",),
    )
    yield (
        "url-token-user",
        f"git clone https://{an}@git.a.test/t/r.git\n",
        (an,),
        ("git.a.test/t/r.git",),
    )
    yield (
        "mssql",
        f"Server=tcp:s.a.test,1433;User ID=svc;Password={plain};Encrypt=True;\n",
        (plain,),
        ("Encrypt=True", "User ID=svc"),
    )
    yield (
        "jdbc",
        f"jdbc:mysql://s.a.test/app?user=svc&password={plain}&ssl=true\n",
        (plain,),
        ("user=svc", "ssl=true"),
    )
    yield (
        "libpq",
        f"host=s.a.test dbname=app password={pw} sslmode=require\n",
        (pw,),
        ("dbname=app", "sslmode=require"),
    )
    yield "pem", f"$ cat k.pem\n{pem}\n$ echo done\n", lines, ("$ cat k.pem", "$ echo done")
    yield "pem-json", json.dumps({"type": "svc", "private_key": pem, "n": 1}), lines, ('"n": 1',)
    yield "pem-one-line", f'K="{pem.replace(chr(10), " ")}"\nPORT=1\n', lines, ("PORT=1",)
    yield (
        "pem-cut",
        f"$ head -5 k\n{chr(10).join(pem.split(chr(10))[:6])}\n",
        lines[:5],
        ("$ head -5 k",),
    )
    yield (
        "pem-tail",
        f"$ tail -4 k\n{chr(10).join(pem.split(chr(10))[-4:])}\n$ ls\n",
        lines[-3:],
        ("$ tail -4 k", "$ ls"),
    )
    yield (
        "pem-indented",
        "key: |\n" + "\n".join("    " + x for x in pem.split("\n")) + "\nport: 4\n",
        lines,
        ("port: 4",),
    )
    yield (
        "pem-diff",
        "\n".join("+" + x for x in pem.split("\n")) + "\n context\n",
        lines,
        (" context",),
    )
    yield (
        "pem-numbered",
        "\n".join(f"{i:6}→{x}" for i, x in enumerate(pem.split("\n"), 1)) + "\ndone\n",
        lines,
        ("done",),
    )
    head = fill("<hex:6>", r)
    jwt = f"{_b64(json.dumps({'alg': 'HS256', 'kid': head})).rstrip('=')}.{_b64(json.dumps({'sub': head * 3})).rstrip('=')}.{fill('<url:43>', r)}"
    yield "jwt-prose", f"I got {jwt} back from /login.\n", (jwt,), ("back from /login.",)
    yield (
        "basic",
        f"authorization: Basic {_b64('svc:' + pw)}\nvia: p\n",
        (_b64("svc:" + pw),),
        ("via: p",),
    )
    yield "digest", f'Authorization: Token token="{an}", client="x"\n', (an,), ()
    yield "scheme-odd", f"Authorization: GenieKey {fill('<uuid>', r)}\nvia: p\n", (), ("via: p",)
    yield (
        "cookie",
        f"Cookie: theme=dark; sid={an}; lang=en\nAccept: x\n",
        (an,),
        ("theme=dark", "lang=en", "Accept: x"),
    )
    yield (
        "set-cookie",
        f"set-cookie: __Host-session={an}; Path=/; Secure\nx: y\n",
        (an,),
        ("Path=/", "Secure"),
    )
    yield (
        "presigned",
        f"https://b.s3.test/r.zip?X-Amz-Expires=60&X-Amz-Signature={fill('<hex:64>', r)}\n",
        (),
        ("X-Amz-Expires=60",),
    )
    sig = fill("<hex:64>", r)
    yield (
        "gcs-signed",
        f"https://s.test/b/o?X-Goog-Date=1&X-Goog-Signature={sig}&x=1\n",
        (sig,),
        ("X-Goog-Date=1", "x=1"),
    )
    yield (
        "curl-u",
        f"$ curl -fsS --user ci:{plain} https://n.a.test/s -o /dev/null\n",
        (plain,),
        ("https://n.a.test/s",),
    )
    yield (
        "mysql-p",
        f"$ mysql -h db.a.test -u root -p{plain} shop -e 'select 1'\n",
        (plain,),
        ("shop -e 'select 1'",),
    )
    yield "sshpass", f"$ sshpass -p '{pw}' ssh dev@10.1.1.1 uptime\n", (pw,), ("uptime",)
    yield (
        "pgpassword",
        f"$ PGPASSWORD={plain} psql -h db.a.test\n",
        (plain,),
        ("psql -h db.a.test",),
    )
    yield (
        "docker-login",
        f"$ docker login r.a.test -u ci -p {plain}\nLogin Succeeded\n",
        (plain,),
        ("Login Succeeded",),
    )
    yield "redis-a", f"$ redis-cli -h c.a.test -a {an} ping\nPONG\n", (an,), ("PONG",)
    yield (
        "netrc",
        f"machine a.test login ci password {plain}\nmachine b.test\n",
        (plain,),
        ("machine b.test",),
    )
    yield "pgpass", f"db.a.test:5432:app:svc:{plain}\n", (plain,), ("db.a.test:5432:app",)
    yield (
        "npmrc",
        f"registry=https://n.a.test/\n//n.a.test/:_authToken={fill('<uuid>', r)}\n",
        (),
        ("registry=https://n.a.test/",),
    )
    auth = _b64("ci:" + plain)
    yield (
        "dockercfg",
        json.dumps({"auths": {"r.a.test": {"auth": auth}}, "n": 1}),
        (auth,),
        ("r.a.test",),
    )
    yield (
        "k8s-secret",
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: {_b64(plain)}\n  ca: {_b64(an)}\n",
        (_b64(plain), _b64(an)),
        ("name: db",),
    )
    yield (
        "k8s-json",
        json.dumps({"kind": "Secret", "data": {"a": _b64(plain), "b": _b64(an)}, "type": "Opaque"}),
        (_b64(plain), _b64(an)),
        ("Opaque",),
    )
    yield (
        "private",
        f"Note. <private>box login dev / {pw}</private> Deploy at 4.\n",
        (pw,),
        ("Note.", "Deploy at 4."),
    )
    yield (
        "prose-password",
        f"The staging password is {pw} and the VPN is up.\n",
        (pw,),
        ("and the VPN is up.",),
    )
    yield (
        "prose-for",
        f"Password for the staging db: {pw}\nNext step: migrate.\n",
        (pw,),
        ("Next step: migrate.",),
    )
    yield (
        "prose-quoted",
        f"I set the admin password to `{plain}`. Tests pass.\n",
        (plain,),
        ("Tests pass.",),
    )
    yield (
        "prompted",
        f"login: admin\nPassword: {pw}\nLast login: Mon\n",
        (pw,),
        ("login: admin", "Last login: Mon"),
    )
    yield "german", f"Das Passwort lautet: {pw}\nViel Erfolg.\n", (pw,), ("Viel Erfolg.",)
    yield (
        "sql",
        f"CREATE ROLE app LOGIN PASSWORD '{pw}';\nSELECT 1;\n",
        (pw,),
        ("SELECT 1;", "CREATE ROLE app"),
    )
    yield "identified", f"ALTER USER 'a'@'%' IDENTIFIED BY '{pw}';\n", (pw,), ("ALTER USER",)
    yield (
        "html-entity",
        f"<td>password=&quot;{plain}&quot;</td><td>ok</td>",
        (plain,),
        ("<td>ok</td>",),
    )
    yield (
        "unicode-escape",
        '{"log":"{\\u0022api_key\\u0022: \\u0022' + an + '\\u0022}","n":1}',
        (an,),
        ('"n":1',),
    )
    gh = "gh" + "p_" + fill("<an:36>", r)
    yield "zero-width", f"paste: {gh[:12]}\u200b{gh[12:]} end\n", (gh[12:],), ("end",)
    yield "ansi", f"\x1b[1mtoken\x1b[0m: \x1b[32m{gh}\x1b[0m\nok\n", (gh,), ("ok",)
    yield (
        "wrapped",
        f"copy it:\n  {gh[:22]}\n  {gh[22:]}\nCreated by ci\n",
        (gh[:22], gh[22:]),
        ("copy it:", "Created by ci"),
    )
    yield (
        "concatenated",
        f'key = ("{gh[:22]}"\n       "{gh[22:]}")\nrun()\n',
        (gh[:22], gh[22:]),
        ("run()",),
    )
    packed = _b64(json.dumps({"u": "ci", "t": gh}))
    yield "base64", f"payload {packed} received\n", (packed,), ("received",)
    yield "percent-json", f"?state={quote(json.dumps({'api_key': an}))}&v=1\n", (an,), ("v=1",)
    yield "yaml-two-lines", f"password: >-\n  {plain}\nport: 1\n", (plain,), ("port: 1",)
    yield (
        "slack-hook",
        "hook https://hooks.slack."
        + f"com/services/T{fill('<UAN:10>', r)}/B{fill('<UAN:10>', r)}/{an[:24]} ok\n",
        (an[:24],),
        ("ok",),
    )
    yield "own-hook", f"DEPLOY_WEBHOOK_URL=https://hook.a.test/in/{an}\nA=1\n", (an,), ("A=1",)
    yield "unknown-prefix", f"Use zeta_live_{an} for now.\n", (an,), ("for now.",)
    yield (
        "seed-phrase",
        "seed phrase: " + " ".join(r.choice(WORDS) for _ in range(12)) + "\nok\n",
        (),
        ("ok",),
    )
    yield (
        "aws-pair",
        "new user,AK" + f"IA{fill('<b32:16>', r)},{fill('<b64:40>', r)}\n",
        (),
        ("new user",),
    )
    yield (
        "otpauth",
        f"otpauth://totp/A:dev?secret={fill('<b32:32>', r)}&issuer=A\n",
        (),
        ("issuer=A",),
    )
    yield "credential-pair", f"Log in with admin / {fill('<words>', r)} please\n", (), ("please",)


HARMLESS: tuple[str, ...] = (
    "commit <hex:40>\nAuthor: Dev <dev@a.test>\n\n    rotate the token handling (<hex:7>)\n",
    '{{"sessionId":"<uuid>","parentUuid":"<uuid>","key":"lemon-maple","requestId":"req_011<an:21>"}}',
    "password: ${{DB_PASSWORD}}\ntoken: $TOKEN\nsecret: {{{{ vault.secret }}}}\n",
    "def reset_password(user_id: int, token: str = None) -> bool:\n    return check(token, password=password)\n",
    'const apiKey = process.env.ACME_API_KEY ?? fail("ACME_API_KEY");\n',
    "github.com/a/token-auth v1.0.3 h1:<b64:43>=\ngithub.com/a/token-auth v1.0.3/go.mod h1:<b64:43>=\n",
    '    "node_modules/jsonwebtoken": {{ "version": "9.0.2", "integrity": "sha512-<b64:86>==" }},\n',
    'secretstorage = {{file = "secretstorage-3.3.3.tar.gz", hash = "sha256:<hex:64>"}}\n',
    "Status: Downloaded newer image for redis@sha256:<hex:64>\n",
    "MAX_TOKENS=4096\ntoken_count: 118332\nTOKEN_TTL_SECONDS=900\nprompt_tokens=12 completion_tokens=845\n",
    "-----BEGIN CERTIFICATE-----\n<b64:64>\n<b64:64>\n<b64:40>==\n-----END CERTIFICATE-----\n",
    "-----BEGIN PUBLIC KEY-----\n<b64:64>\n<b64:64>\n-----END PUBLIC KEY-----\n",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b64:43> dev@laptop\n",
    "export ANTHROPIC_API_KEY=YOUR_API_KEY\nclient_secret: your-client-secret-here\npassword=changeme\n",
    "client_secret: ********************\ntoken=xxxxxxxxxxxxxxxxxxxxxxxx\nsk_test_...\n",
    "https://username:password@example.com/ and amqp://guest:guest@localhost:5672//\n",
    "postgres://postgres:postgres@localhost:5432/test\nredis://:password@redis:6379\n",
    "GET /docs/authentication#api-keys 200\nhttps://a.test/u/<d:6>?page=2&sort=key&token_type=bearer\n",
    "tests/test_auth.py::TestApiKey::test_missing_api_key_returns_401 PASSED\ntests/test_auth.py::test_password_hash[argon2-1] PASSED\nPASS: test_password_2 (0.01s)\n",
    "A token bucket limits requests; the key: keep handlers small. Secret: sleep. Password reset is off.\n",
    "The password must contain at least 8 characters, 1 digit and 1 special character.\n",
    "The token is a JWT signed with RS256 and the key is ed25519; the secret is base64-encoded.\n",
    "password_hash_algorithm: argon2id\npassword_policy: default\nsecret_name: db-credentials\nkey_id: alias/app\n",
    "this.vocab=new Map;this.tokenCache=createTokenCacheFromSnapshot;self.key=keyboardEvent2Handler\n",
    ":root{{--token-primary:#<hex:6>;--key-bg:#<hex:8>;--secret-shadow:0 1px 2px rgba(0,0,0,.4)}}",
    '{{"type":"thinking","thinking":"Check auth.","signature":"<b64:300>"}}',
    '<img alt="auth key" src="data:image/png;base64,iVBORw0KGgo<b64:500>"/>',
    "traceparent: 00-<hex:32>-<hex:16>-01\nx-request-id: <uuid>\nx-amzn-trace-id: Root=1-<hex:8>-<hex:24>\n",
    "CREATE TABLE api_keys (id uuid primary key, key_hash char(64) not null, token_prefix varchar(12), secret_ref text);\n",
    "Authorization: Bearer <token>\nAuthorization: Bearer $GITHUB_TOKEN\nX-Api-Key: {{{{apiKey}}}}\n",
    "MONGO_INITDB_ROOT_PASSWORD_FILE=/run/secrets/db_password\nGOOGLE_APPLICATION_CREDENTIALS=/etc/keys/sa.json\n",
    '{{"type":"tool_use","id":"toolu_01<an:22>","name":"Bash","input":{{"command":"pytest -q -k token"}}}}',
    "datadog_application_key: ENC[AES256_GCM,data:<b64:40>,iv:<b64:43>=,tag:<b64:22>==,type:str]\n",
    "token=[REDACTED:github-pat] password=[REDACTED:password]\nAPI_KEY=${{VAR}}[REDACTED:secret]\n",
    "error[E0425]: cannot find value `secret_key` in this scope\n --> src/auth.rs:14:9\n",
    '  File "/srv/app/auth/token.py", line 88, in verify_token\n    raise InvalidTokenError(f"bad token {{token!r}}")\n',
    "const {{ accessToken, refreshToken }} = await auth.getTokens(user.id, {{ password: form.password }});\n",
    "if (!token) throw new Error('token missing'); let key = cache.get(`user:${{id}}`); pass = pass + 1\n",
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf\nkms_key_id = "<uuid>"\n',
    "label_password=Contraseña\npassword = Mot de passe oublié ?\nパスワード: 8文字以上\n",
    'metadata:\n  name: api-token-k91wx\n  uid: <uuid>\n  resourceVersion: "435079012"\n  secretKeyRef:\n    key: password\n',
    "model: claude-sonnet-4-5-20250929 <task-notification> text-embedding-3-large-2024\n",
    "foreign key (user_id) references users(id); primary_key: order_item_2024_id; partition_key=tenant_id_2\n",
    "cache_key = 'user:<hex:32>:v2'\nidempotency-key: <uuid>\netag: W/\"<hex:32>\"\n",
    '<input type="password" name="password" placeholder="Password (8+ chars)" autocomplete="current-password">\n',
    "git+https://git@github.com/a/b.git@<hex:40>#egg=b\nssh://git@github.com:22/a/b.git\n",
    "npm WARN deprecated har-validator@5.1.5\nnpm ERR! code E401 Incorrect or missing password.\n",
    "key=value\nkeys: [id, name]\nhotkey: ctrl+shift+k\npublic_key: MCowBQYDK2VwAyEA<b64:43>=\n",
    "pip install --hash=sha256:<hex:64> secretstorage==3.3.3\n",
    "Enter password: \nPassword:\nSudo password for dev:\nAuthentication failed, wrong password?\n",
    "assert response.json()['token'] == expected_token_1 and user.password != 'secret'\n",
    "func NewTokenBucket(rate int, key string) *TokenBucket {{ return &TokenBucket{{key: key, tokens: rate}} }}\n",
    "| Parameter | Type | Description |\n| api_key | string | Your API key from the dashboard |\n| token | str | optional |\n",
    "usage: tool [--token TOKEN] [--password-file FILE] [--api-key KEY] [--auth-type {{basic,bearer}}]\n",
)


def _part(number: int) -> str:
    return "closed" if number % 3 == 2 else "open"


def generate(part: str, seed: int = 7, rounds: int = 1) -> list[Case]:
    """The cases of one part, the same for the same seed."""
    cases: list[Case] = []
    for turn in range(rounds):
        rng = random.Random(f"{seed}:{turn}")
        for c, (context, make) in enumerate(CONTEXTS):
            for k, (name, shape) in enumerate(KINDS):
                value = fill(shape, rng)
                text, keep = make(name, value, rng)
                closed = _part(c) == "closed" or _part(k) == "closed"
                if closed == (part == "closed"):
                    shown = (
                        quote(value, safe="~!*")
                        if context == "form-body"
                        else quote(value, safe="~")
                        if context == "query"
                        else value
                    )
                    cases.append(Case(f"{context}/{name}", text, (shown,), keep))
        for number, (name, text, secrets, keep) in enumerate(_structures(rng)):
            if _part(number) == part:
                cases.append(Case(name, text, secrets, keep))
        for number, template in enumerate(HARMLESS):
            if _part(number) == part:
                text = fill(template.replace("{{", "{").replace("}}", "}"), rng)
                cases.append(Case(f"harmless-{number}", text, (), (text,)))
                wrapped = _jsonl(text, rng)
                cases.append(Case(f"harmless-{number}-jsonl", wrapped, (), (wrapped,)))
    return cases


def leaks(secret: str, text: str) -> bool:
    """Whether half of a secret, and at least 8 characters, can be read in a text."""
    size = max(8, (len(secret) + 1) // 2)
    if secret in text:
        return True
    return any(secret[i : i + size] in text for i in range(len(secret) - size + 1))


@pytest.fixture(scope="session")
def make_cases() -> Callable[..., list[Case]]:
    """The generator of labelled cases."""
    return generate


@pytest.fixture(scope="session")
def make_value() -> Callable[[str, random.Random], str]:
    """The generator of values of a described shape."""
    return fill


@pytest.fixture(scope="session")
def is_leaked() -> Callable[[str, str], bool]:
    """The test for a leak."""
    return leaks
