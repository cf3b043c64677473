"""The real Qwen Code, driven by a script."""

import pytest

from ijfw_tests.e2e.clients.qwen_code import QWEN_CODE
from ijfw_tests.e2e.story import ClientStory

pytestmark = pytest.mark.e2e


class TestQwenCode(ClientStory):
    client = QWEN_CODE
