# ruff: noqa: E501
"""redact-secrets against a naive pass of the same rules, in interleaved pairs, CPU time.

Bars: at least 8 times the speed of one `re` pattern after another over the same lines, at least 25
times with the extra `fast`; 200 KB of hostile text in at most 1 s, twice as much in at most 2.5
times that; loading the rules costs at most twice a bare interpreter. What a short text costs is
printed.
"""

import json
import random
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from ijfw_plugins import redact_secrets
from ijfw_plugins.redact_secrets import literals, rules
from ijfw_tests.secrets.hostile import pieces

NAMED = (
    r"[\w.-]{0,40}(?:pass|pwd|secret|token|key|auth|cred|jwt|webhook|licen|psk|salt|seed)[\w.-]*"
    r"[\"'\]]{0,2}\s*(?:=|:|=>|:=)\s*[\"']?([^\s\"']{6,})"
)

# Those of all texts made of the rules that cost most, and one for each way to make one.
WORST = (
    *(
        "rootpw a1",
        "setRootPassword ",
        "mkpasswd ",
        "PVEAPIToken=",
        "mfa.Ab9/",
        '--pat" ',
        "?apikey=a1",
    ),
    *(
        "secret\na1",
        " -token-a1\n",
        "mdp|a1|\n",
        "ftp_login(",
        "--pat' ",
        "&key=",
        "key: ",
        "USER a\nPASS ",
        "password of it went from ",
        'Bearer a1b2c3d4\na1b2c3d4" ',
    ),
    *(
        "chpasswd:a1",
        "op read ",
        "glc_",
        " _token_a1\n",
        "kennwort|a1|\n",
        "--\u043a\u043b\u044e\u0447 ",
    ),
    *(
        "key=",
        "://a:@",
        "password='",
        "-----BEGIN PRIVATE KEY-----\n",
        "token_",
        '\\\\\\"',
        " -p ",
        "%22",
        "\\u0022",
    ),
)
NOISE = 0.05  # seconds; less is not compared
SHORT = {
    "path": "src/ijfw_core/storage/writer.py line 120",
    "prompt": "Fix the failing test in tests/storage/test_writer.py: the writer keeps the lock when the store"
    " is read-only. Don't touch the public API; run the tests of the storage area only. Thanks!\n"
    * 2,
    "code": "    def get_value(self, key: str, token: int = 7) -> str:\n        return self._a[key]\n"
    * 20,
    "record": '{"type":"user","message":{"content":"def f(x):\\n    return \\"x\\"\\n'
    + "line of output, nothing in it\\n" * 25
    + '"}}',
}


def lines(size: int) -> list[str]:
    """Transcript lines: code, tool output and ids, a secret in every fiftieth."""
    chance = random.Random(11)
    words = (
        "alpha beta parse value error config module index import test " * 5 + "key token"
    ).split()
    made: list[str] = []
    total = 0
    while total < size:
        body = "\n".join(
            f"    {chance.choice(words)}_{chance.choice(words)} = {chance.choice(words)}.{chance.choice(words)}({chance.randint(0, 999)})"
            for _ in range(chance.randint(5, 60))
        )
        if len(made) % 50 == 7:
            body += "\nAPI_TOKEN=" + "".join(
                chance.choice("abcdefXYZ0123456789") for _ in range(40)
            )
        record = {
            "uuid": f"{chance.getrandbits(128):032x}",
            "type": "user",
            "message": {"content": [{"type": "tool_result", "content": body}]},
        }
        made.append(json.dumps(record))
        total += len(made[-1])
    return made


def naive(texts: list[str], patterns: list[re.Pattern[str]]) -> int:
    """Matches of one pattern after another."""
    return sum(1 for text in texts for pattern in patterns for _ in pattern.finditer(text))


def ours(texts: list[str]) -> int:
    """Spans of the plugin."""
    return sum(len(redact_secrets.find(text)) for text in texts)


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ratio_to_naive(way: object, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """Times the speed of the naive pass, and MB/s, with one way of finding literals."""
    monkeypatch.setattr(redact_secrets, "reader", lambda _: way)
    texts = lines(400_000)
    patterns = [re.compile(r.regex, re.I if r.nocase else 0) for r in rules.built_in().rules]
    patterns.append(re.compile(NAMED, re.I))
    assert ours(texts) > 0
    pairs = [
        (cpu(lambda: naive(texts, patterns)), min(cpu(lambda: ours(texts)) for _ in range(3)))
        for _ in range(3)
    ]
    speed = sum(map(len, texts)) / 1e6 / min(fast for _, fast in pairs)
    return statistics.median(slow / fast for slow, fast in pairs), speed


def test_speed_against_one_pattern_after_another(
    benchmark: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratio, speed = ratio_to_naive(literals.WORDS, monkeypatch)
    print(f"\nredact-secrets {speed:.1f} MB/s, {ratio:.1f} x a naive pass of the same rules")
    benchmark(ours, lines(20_000))  # type: ignore[operator]
    assert ratio >= 8


def test_speed_with_the_extra_fast(
    benchmark: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ahocorasick_rs")
    way = literals.automaton()
    assert way is not None
    ratio, speed = ratio_to_naive(way, monkeypatch)
    print(f"\nwith the extra fast {speed:.1f} MB/s, {ratio:.1f} x a naive pass of the same rules")
    benchmark(ours, lines(20_000))  # type: ignore[operator]
    assert ratio >= 25


def test_hostile_text_of_200_kb(benchmark: pytest.FixtureRequest) -> None:
    found = []
    for piece in (*WORST, *random.Random(5).sample(pieces(), 8)):
        texts = [piece * (size // len(piece)) for size in (200_000, 400_000)]
        redact_secrets.find(piece * 3)
        pairs: list[list[float]] = []
        while not pairs or (_grown(pairs) > 2.2 and len(pairs) < 4):
            pairs.append([cpu(lambda text=text: redact_secrets.find(text)) for text in texts])  # type: ignore[misc]
        found.append((min(once for once, _ in pairs), _grown(pairs), piece))
    seconds, _, piece = max(found)
    grown = max(ratio for once, ratio, _ in found if once > NOISE)
    print(f"\nworst of {len(found)} hostile texts of 200 KB: {piece!r} {seconds:.2f} s")
    print(f"twice the text costs at most {grown:.2f} times as much")
    benchmark(redact_secrets.find, "key=" * 1000)  # type: ignore[operator]
    assert seconds <= 1
    assert grown <= 2.5


def _grown(pairs: list[list[float]]) -> float:
    return min(twice / once for once, twice in pairs)


@pytest.mark.parametrize("name", SHORT)
def test_a_short_text(benchmark: pytest.FixtureRequest, name: str) -> None:
    """What is redacted when a prompt or an entry comes in; no bar, for the table alone."""
    assert redact_secrets.find(SHORT[name]) == []
    benchmark(redact_secrets.find, SHORT[name])  # type: ignore[operator]


def test_loading_the_rules(benchmark: pytest.FixtureRequest) -> None:
    """CPU of `import; read the rules` beyond what hook structs cost, against a bare interpreter."""
    base = "import ijfw_hookspecs, msgspec; "
    load = base + "from ijfw_plugins.redact_secrets import rules; rules.built_in()"

    def run(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    run(load)
    pairs = []
    for _ in range(5):
        bare, without, with_rules = (
            sum(run(code) for _ in range(4)) for code in ("pass", base, load)
        )
        pairs.append((with_rules - without) / bare)
    ratio = statistics.median(pairs)
    print(f"\nloading the rules costs {ratio:.2f} x `python -c pass`")
    benchmark(rules.built_in)  # type: ignore[operator]
    assert ratio <= 2
