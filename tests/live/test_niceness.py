"""The worker gives way to everyone, and takes nobody else along."""

import subprocess
import sys
from pathlib import Path

import pytest

BE_NICE = """
import os
from ijfw_core.live import drain
drain.be_nice()
print(os.nice(0), open("/proc/self/autogroup").read().split()[-1])
"""


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="no groups of sessions here")
@pytest.mark.parametrize("own", [True, False], ids=["own-session", "ours"])
def test_only_a_session_of_its_own_is_made_nice(own: bool) -> None:
    before = Path("/proc/self/autogroup").read_text().split()[-1]
    ran = subprocess.run(
        [sys.executable, "-c", BE_NICE],
        start_new_session=own,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["19", "19" if own else before]
    assert Path("/proc/self/autogroup").read_text().split()[-1] == before
