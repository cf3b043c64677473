"""Whole commands against a bare interpreter of the same venv, in interleaved pairs, CPU time.

Bars: `ijfw capture` of a 1 MB transcript at most 60 times, `ijfw --help` at most 6 times.
"""

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

IJFW = str(Path(sys.executable).with_name("ijfw"))
BARE = (sys.executable, "-c", "pass")


def cpu(command: Sequence[str], **options: object) -> float:
    """CPU seconds, user and system, of a command and its children."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, **options)  # type: ignore[call-overload]
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def ratio(run: Callable[[], float], rounds: int) -> float:
    """Median ratio to a bare interpreter over interleaved pairs.

    Ten bare runs a pair, for the clock of CPU times is coarse.
    """
    run()
    pairs = []
    for _ in range(rounds):
        ours = run()
        bare = sum(cpu(BARE) for _ in range(10)) / 10
        pairs.append(ours / bare)
    return statistics.median(pairs)


def big_transcript(path: Path, size: int) -> None:
    """A session of `size` bytes in the shapes of a real one: reads, shells, failures, prompts."""
    chance = random.Random(7)
    words = ["alpha", "beta", "index", "parse", "value", "error", "config", "return", "import"]
    lines, total, number = [], 0, 0
    while total < size:
        number += 1
        at = f"2026-03-02T{9 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        head = {
            "sessionId": "bench",
            "timestamp": at,
            "cwd": "/home/dev/shop",
            "uuid": f"u{number}",
        }
        call, failed = f"toolu_{number}", number % 9 == 0
        command = f"python -m pytest tests/test_{number % 40}.py"
        output = "\n".join(" ".join(chance.choices(words, k=12)) for _ in range(60))
        if failed:
            output = f"Exit code 1\n{output}\nValueError: bad value {number % 7}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        text = f"please look at module {number} and tell me what {chance.choice(words)} does"
        for kind, content in (
            ("user", text),
            ("assistant", [{"type": "text", "text": "I will look."}]),
            ("assistant", [use]),
            ("user", [result]),
        ):
            record = head | {"type": kind, "message": {"role": kind, "content": content}}
            lines.append(json.dumps(record))
            total += len(lines[-1])
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.benchmark(group="commands")
def test_capture_of_one_megabyte(tmp_path: Path, benchmark: Callable[..., float]) -> None:
    transcript = tmp_path / "session.jsonl"
    big_transcript(transcript, 1_000_000)
    count = iter(range(1000))

    def run() -> float:
        place = tmp_path / f"p{next(count)}"
        (place / ".git").mkdir(parents=True)
        env = {"HOME": str(place / "home"), "PATH": os.environ["PATH"]}
        return cpu((IJFW, "capture", str(transcript), "--json"), cwd=place, env=env)

    measured = ratio(run, rounds=5)
    benchmark.extra_info["ratio"] = measured  # type: ignore[attr-defined]
    benchmark(run)
    print(f"\nijfw capture, 1 MB: {measured:.1f}x python -c pass (bar 60)")
    assert measured <= 60


@pytest.mark.benchmark(group="commands")
def test_help(benchmark: Callable[..., float]) -> None:
    def run() -> float:
        return sum(cpu((IJFW, "--help")) for _ in range(10)) / 10

    measured = ratio(run, rounds=5)
    benchmark.extra_info["ratio"] = measured  # type: ignore[attr-defined]
    benchmark.pedantic(run, rounds=1)  # type: ignore[attr-defined]
    print(f"\nijfw --help: {measured:.2f}x python -c pass (bar 6)")
    assert measured <= 6
