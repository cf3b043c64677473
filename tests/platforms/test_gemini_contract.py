"""What both adapters owe to every adapter's contract, on what the clients wrote.

Gemini CLI 0.61.0, Qwen Code 0.15.10.
"""

from pathlib import Path

from ijfw_plugins.platform_gemini_like import GEMINI, QWEN, GeminiLike
from ijfw_tests.adapters import AdapterContract


class TestGeminiAdapter(AdapterContract):
    payloads = "gemini_payloads.jsonl"
    transcript = "gemini_chat.jsonl"

    def make(self, folder: Path) -> GeminiLike:
        return GeminiLike(GEMINI, home=folder / "home", project=folder / "project")


class TestQwenAdapter(AdapterContract):
    payloads = "qwen_payloads.jsonl"
    transcript = "qwen_chat.jsonl"

    def make(self, folder: Path) -> GeminiLike:
        return GeminiLike(QWEN, home=folder / "home", project=folder / "project")
