# ruff: noqa: E501
"""What the three redactors together do to generated texts, and the bug reports that others had."""

import json
import random
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.pipeline.redaction import Redactor
from ijfw_hookspecs import Context, Span
from ijfw_plugins import redact_known_values, redact_pii, redact_secrets

CONTEXT = Context(project="", session="s", now=datetime.now(UTC), memory=None)  # type: ignore[arg-type]


class Ours:
    def redact(self, text: str, context: Context) -> Sequence[Span]:
        found: list[Span] = []
        for plugin in (redact_secrets, redact_known_values, redact_pii):
            found += plugin.redact(text, context)
        return found


def clean(text: str) -> str:
    return Redactor(Ours(), CONTEXT).text(text)


REDACTOR = Redactor(Ours(), CONTEXT)


@pytest.mark.parametrize("part", ["open", "closed"])
def test_bars_on_generated_cases(
    part: str, make_cases: Callable[..., list[Any]], is_leaked: Callable[[str, str], bool]
) -> None:
    """Recall >= 0.99, harmless texts touched <= 0.5 %, what has to stay >= 0.998, idempotent."""
    positive = harmless = missed = touched = kept = keep = 0
    for case in make_cases(part):
        out = REDACTOR.text(case.text)
        assert REDACTOR.text(out) == out, case.id
        if case.id.startswith("harmless"):
            harmless += 1
            touched += out != case.text
            continue
        positive += 1
        leaked = any(is_leaked(secret, out) for secret in case.secrets)
        missed += leaked or out == case.text
        keep += len(case.keep)
        kept += sum(piece in out for piece in case.keep)
    assert positive > 150
    assert missed <= 0.01 * positive
    assert touched <= 0.005 * harmless
    assert kept >= 0.998 * keep


def test_no_full_token_of_a_known_prefix_survives(
    make_value: Callable[[str, random.Random], str],
) -> None:
    surroundings = (
        "{}",
        "see {} there",
        "a={}",
        '{{"x": "{}"}}',
        "({})",
        "\\n{}\\n",
        "\u201c{}\u201d",
        "`{}`",
    )
    for rule in redact_secrets.rules.written():
        if rule.before or rule.near or rule.nocase or "://" in rule.literals:
            continue
        shape, rng = rule.examples[0], random.Random(rule.id)  # no rule changes another's values
        for around in surroundings:
            value = make_value(shape, rng)
            out = REDACTOR.text(around.format(value))
            assert value[8:] not in out, (rule.id, around)


# --- bug reports of others -----------------------------------------------------------------------

SHAPES = {
    "stopword inside the password": ("password: Nil4Jii<an:4>hookO<an:16>\n", "<all>"),
    "base64 signs in a password": (
        "sasl_password=UR<an:12>/+x<an:10>\nsasl_mechanism=PLAIN\n",
        "sasl_mechanism=PLAIN",
    ),
    "word of the allow-list in the name": ('"client_secret": "<an:24>",\n"n": 1', '"n": 1'),
    "Pwd in a connection string": (
        "Data Source=x;Initial Catalog=R;Uid=ru;Pwd=P@ss<an:6>!;\n",
        "Initial Catalog=R",
    ),
    "key name in escaped JSON": ('{\\"api_key\\": \\"<hex:32>\\", \\"n\\": 4}\n', '\\"n\\": 4'),
    "authorization in lower case": ("authorization: Bearer <url:43>\naccept: */*\n", "accept: */*"),
    "URL in a value named password": (
        'db_password = "postgres://admin:S3<an:8>@prod.db.test/main"\n',
        "prod.db.test/main",
    ),
    "URL of a README": (
        'const pg = "postgres://user:<an:14>@postgres.acme.test:5432/d"\n',
        "postgres.acme.test:5432/d",
    ),
    "Azure AccountKey": (
        "AccountName=acme;AccountKey=<b64:86>==;EndpointSuffix=core\n",
        "AccountName=acme",
    ),
    "Proxy-Authorization": (
        "Proxy-Authorization: Basic c3ZjO<an:32>\nVia: 1.1 proxy\n",
        "Via: 1.1 proxy",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_others_missed(
    name: str,
    make_value: Callable[[str, random.Random], str],
    is_leaked: Callable[[str, str], bool],
) -> None:
    shape, keep = SHAPES[name]
    rng = random.Random(name)
    text = make_value(shape, rng)
    out = clean(text)
    same_start = len(shape.split("<")[0])
    assert "[REDACTED:" in out
    assert keep == "<all>" or keep in out
    assert out[: same_start - 9] == text[: same_start - 9]
    for word in text.replace('"', " ").replace("=", " ").replace(";", " ").split():
        if len(word) > 22 and "://" not in word:
            assert not is_leaked(word.strip('\\",'), out)


def test_public_key_beside_a_secret_key_stays(
    make_value: Callable[[str, random.Random], str],
) -> None:
    public, secret = make_value("MCowBQYDK2VwAyEA<b64:43>=|<b64:43>=", random.Random(5)).split("|")
    out = clean(json.dumps({"publicKey": public, "secretKey": secret}))
    assert json.loads(out) == {"publicKey": public, "secretKey": "[REDACTED:secret]"}


def test_private_keys_in_every_form(make_value: Callable[[str, random.Random], str]) -> None:
    body = "\n".join(make_value("<b64:64>", random.Random(n)) for n in range(6))
    for label in ("RSA PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "OPENSSH PRIVATE KEY"):
        pem = f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"
        for text in (
            pem,
            pem.replace("\n", " "),
            json.dumps({"k": pem}),
            json.dumps(json.dumps({"k": pem})),
        ):
            out = clean(f"before {text} after")
            assert body[:64] not in out
            assert body[-60:] not in out
            assert out.startswith("before ")
            assert out.endswith(" after")


def test_a_docker_config_in_a_secret_is_removed() -> None:
    packed = b64encode(
        b'{"auths": {"r.test": {"username": "u", "password": "nJhA4wWsjMH"}}}'
    ).decode()
    out = clean(f"data:\n  .dockerconfigjson: {packed}\ntype: kubernetes.io/dockerconfigjson\n")
    assert packed[:20] not in out
    assert "type: kubernetes.io/dockerconfigjson" in out


def test_a_password_in_front_of_a_path_is_removed() -> None:
    word = "Amber-fjord-" + str(random.Random(3).randint(1000, 9999))
    assert word not in clean(f"SMTP_PASSWORD={word}/page.py\n")
    for path in ("config/secrets.yml", "./run/Secrets2024/db.txt", "/etc/Keys2024a/db.pem"):
        assert clean(f"DB_PASSWORD={path}\n") == f"DB_PASSWORD={path}\n"


UNTOUCHED = (
    "Invalid username/password combination. Please retry with another account.\n",
    '      "key": "ctrl+shift+down",\n',
    'id: "_env:SALESFORCE_CLIENT_ID:REDACTED"\n',
    "glpat-XXXXXXXXXXX-XXXXXXXX\ndiscord=00000000000000000000000000000000\n",
    "this.vocab=new Map;this.tokenCache=createTokenCacheFromSnapshot;self.key=keyboardEvent\n",
    '"callFunctionCheckIfDataExistsPerpetual", "assignVariablesOjTabBar1482653721SelectedItem"\n',
    '- "MONGO_INITDB_ROOT_PASSWORD_FILE=/run/secrets/db_username"\n',
    'MAX_TOKENS=100\nSOME_TOKENS = 42\n"key": "value"\n"apiKey": "test"\n',
    "provider:\n  requiresApiKey: isRemote\n  tokenizer: cl100k_base\n",
    "per_layer_token_embd.weight=CPU\nIDENTITY_TOKEN=watercolor_fox_style\ncontext token usage: 81%\n",
    '- secretKey: "OAUTH2_PROXY_CLIENT_ID"\n  remoteRef: app/oauth2\n',
    "REGION=ASIAANDPACIFICREGION\nASIA_PACIFIC_ENABLED=1\n",
    '<tool RefKey="DVmaxTimeTool" Name="ETD"/>\n',
    "<task-notification> model: claude-sonnet-4-5-20250929 </task-notification>\n",
    "page_token = locks.content_token(page_abs)\nCHARS_PER_TOKEN: Final[float] = 4.0\n",
    "key=[REDACTED:generic-secret] pass=[REDACTED:password] note=[REDACTED:secret]\n",
    "API_KEY=${VAR}[REDACTED:generic-secret]\n",
    "password = 'x'  # gitleaks:allow\n",
)


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_others_damaged_stays(text: str) -> None:
    assert clean(text) == text


def test_comments_that_allow_a_secret_are_not_honoured(
    make_value: Callable[[str, random.Random], str],
) -> None:
    value = make_value("<an:32>", random.Random(8))
    for comment in ("# gitleaks:allow", "# pragma: allowlist secret", "// secretlint-disable-line"):
        assert value not in clean(f'api_key = "{value}"  {comment}\n')


# --- properties ----------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "password=", '"token": "', "Authorization: Bearer ", "\\n", '\\"', "\\u0022", "%3A", "&quot;", "\u200b",
        "://user:", "@host/", "Xk3mm9Zz77qp!", "gh" + "p_", "Zk8qWv3LrT6yBn1MxC9fHs4Jd7Gp2Ka5Qe0U", "[REDACTED:x]",
        "-----BEGIN PRIVATE KEY-----", "Cookie: sid=", "; ", "\n", " ", "kind: Secret\ndata:\n  a: ", "<private>",
        "</private>", "secret is ", "\\", '"', "é", "\ud800", "API_SECRET=",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=24).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_any_text_gives_spans_in_range_and_a_stable_result(text: str) -> None:
    for start, end, _, _ in redact_secrets.find(text):
        assert 0 <= start < end <= len(text)
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS)
def test_a_json_line_stays_json(first: str, second: str) -> None:
    inner = json.dumps({"a": first, "password": second})
    for line in (json.dumps({"x": first, "token": second}), json.dumps({"line": inner, "n": 1})):
        out = json.loads(REDACTOR.text(line))
        assert isinstance(out, dict)
