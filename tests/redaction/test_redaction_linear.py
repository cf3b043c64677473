# ruff: noqa: E501
"""Hostile texts cost time in proportion to their size: work is counted, not measured by a clock."""

import random
import sys
from collections.abc import Callable
from zlib import crc32

import pytest

from ijfw_plugins import redact_secrets
from ijfw_plugins.redact_secrets import matching, rules
from ijfw_tests.secrets.hostile import pieces

B64 = "Ab9/" * 16
HOSTILE = (
    "a", "token_", B64 + "\n", "PRIVATE KEY", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n",
    f"-----BEGIN PRIVATE KEY-----\n{B64}\n", f"{B64}\n-----END PRIVATE KEY-----\n", "://", "://a:@", "http://a:b",
    "key=", "key|", "pwd=a;", 'password="', 'password=\\"', "\\\\\\\"", "cookie: a=b; ", "authorization: ", "bearer ",
    "<private>", "kind: Secret\ndata:\n  a: b\n", '"kind":"Secret","data":{', "eyJ", "eyJhbGciOiJ.", "-us1", "curl -u ",
    " -p ", "docker login -p ", "mysql -p", "login password ", ":5432:", "password for the ", "\\u0022", "%22", "&quot;",
    "a\u200b", "Ab1Ab1Ab1\n", "_api_", "ab_api_", "8Q~", 'token","', "otpauth://", "seed phrase: ", "ember ", "<password>",
)  # fmt: skip


def work(text: str) -> int:
    """Function calls and returns while a text is looked at."""
    calls = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        redact_secrets.find(text)
    finally:
        sys.setprofile(None)
    return calls


# A few of the thousands of texts that can be made of the rules: others when the rules change.
SAMPLE = 48
SHARE = random.Random(crc32(rules.copy())).sample(pieces(), SAMPLE)
EVENTS = 30  # calls and returns a character at most; the worst of all the texts has about 20


@pytest.mark.parametrize("piece", [*HOSTILE, *SHARE])
def test_twice_the_text_is_at_most_two_and_a_half_times_the_work(piece: str) -> None:
    once = piece * (6000 // len(piece))
    redact_secrets.find(once)
    small, large = work(once), work(once * 2)
    assert large <= 2.5 * small + 200
    assert large <= EVENTS * len(once * 2)


def test_regular_expressions_see_bounded_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    original = rules.compiled

    class Counted:
        """A pattern that notes how much of a text it is given."""

        def __init__(self, pattern: str, nocase: bool) -> None:
            self._pattern = original(pattern, nocase)

        def match(self, text: str, start: int, end: int) -> object:
            seen.append(end - start)
            return self._pattern.match(text, start, end)

        def search(self, text: str, start: int, end: int) -> object:
            seen.append(end - start)
            return self._pattern.search(text, start, end)

    monkeypatch.setattr(matching, "compiled", Counted)
    matched = "sk" + "-ant-api03-" + "Ab9" * 30
    redact_secrets.find(f"{matched} AZDO _live_ echo x | kinit " * 40)
    widest = max(rule.before + rule.window for rule in rules.built_in().rules)
    assert len(seen) > 100
    assert max(seen) <= widest + matching.AHEAD <= 1 << 15


def test_every_rule_is_used_through_its_literals(make_value: Callable[..., str]) -> None:
    index = rules.built_in()
    reached = {
        rule.id
        for table in (index.in_runs, index.in_text, index.in_lower, index.loose)
        for literals in table.values()
        for wanted in literals.values()
        for rule in wanted
    }
    assert reached == {rule.id for rule in index.rules}
