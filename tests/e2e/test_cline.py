"""The real Cline, driven by a script: what it leaves in memory, and its own ways."""

import pytest

from ijfw_tests.e2e.clients.cline import CLINE
from ijfw_tests.e2e.story import ClientStory

pytestmark = pytest.mark.e2e


class TestCline(ClientStory):
    client = CLINE
