"""Names of programs, shapes of their values, and the notations in which both stand together."""

import json
import random
from collections.abc import Callable
from urllib.parse import quote

from ijfw_tests.secrets.values import fill

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


def transcript_line(text: str, rng: random.Random) -> str:
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
            transcript_line(f'$ cat .env\n{n}="{v}"\nDEBUG=0\n', r),
            ("tool_result", "DEBUG=0"),
        ),
    ),
    (
        "jsonl-twice",
        lambda n, v, r: (
            transcript_line(json.dumps({"out": json.dumps({_snake(n): v, "n": 1})}), r),
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
