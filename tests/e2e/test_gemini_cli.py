"""The real Gemini CLI, driven by a script."""

import pytest

from ijfw_tests.e2e.clients.gemini_cli import GEMINI_CLI
from ijfw_tests.e2e.story import ClientStory

pytestmark = pytest.mark.e2e


class TestGeminiCLI(ClientStory):
    client = GEMINI_CLI
