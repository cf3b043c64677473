"""The worker gives way to everyone, and takes nobody else along."""

import subprocess
import sys
from pathlib import Path

import pytest

from ijfw_core.live import child, drain

GROUP = Path("/proc/self/autogroup")
AS_IT_IS = """
import os
print(os.nice(0))
try:
    print(open("/proc/self/autogroup").read())
except OSError:
    print()
"""
BE_NICE = "from ijfw_core.live import drain; drain.be_nice()" + AS_IT_IS


def niceness(code: str, own: bool) -> tuple[str, str]:
    """A child's niceness and that of its group; "" where the kernel put it in no group."""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        start_new_session=own,
        capture_output=True,
        text=True,
        check=True,
    )
    nice, group = ran.stdout.split("\n", 1)
    return nice, group_niceness(group)


def group_niceness(text: str) -> str:
    """The last word of "/autogroup-7 nice 0"."""
    return text.split()[-1] if text.strip() else ""


@pytest.mark.skipif(not GROUP.exists(), reason="no groups of sessions here")
@pytest.mark.parametrize("own", [True, False], ids=["own-session", "ours"])
def test_only_a_session_of_its_own_is_made_nice(own: bool) -> None:
    before = group_niceness(GROUP.read_text())
    _, group = niceness(AS_IT_IS, own)
    nice = str(drain.NICENESS)
    assert niceness(BE_NICE, own) == (nice, nice if own and group else group)
    assert group_niceness(GROUP.read_text()) == before


def test_whoever_is_nicer_already_stays_so() -> None:
    nice, _ = niceness("import os; os.nice(15)\n" + BE_NICE, own=True)
    assert nice == "15"


def test_a_hook_s_child_is_as_nice_as_the_worker() -> None:
    assert child.NICENESS == drain.NICENESS
