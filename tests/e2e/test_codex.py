"""The real Codex CLI, driven by a script."""

import pytest

from ijfw_tests.e2e.clients.codex import CODEX
from ijfw_tests.e2e.story import ClientStory

pytestmark = pytest.mark.e2e


class TestCodex(ClientStory):
    client = CODEX
