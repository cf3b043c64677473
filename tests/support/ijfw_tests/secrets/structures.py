# ruff: noqa: E501
"""Secrets known by what stands around them: keys, URLs, headers, files of tools, prose."""

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote

from ijfw_tests.secrets.values import WORDS, fill


def _b64(text: str) -> str:
    return b64encode(text.encode()).decode()


def structures(r: random.Random) -> Iterator[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
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
