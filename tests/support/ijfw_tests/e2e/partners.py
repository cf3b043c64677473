"""The clients that the story knows, to find a second one for the first."""

from ijfw_tests.e2e.client import Client
from ijfw_tests.e2e.clients.claude_code import CLAUDE_CODE
from ijfw_tests.e2e.clients.cline import CLINE
from ijfw_tests.e2e.clients.codex import CODEX
from ijfw_tests.e2e.clients.copilot_cli import COPILOT_CLI
from ijfw_tests.e2e.clients.gemini_cli import GEMINI_CLI
from ijfw_tests.e2e.clients.opencode import OPENCODE
from ijfw_tests.e2e.clients.qwen_code import QWEN_CODE

KNOWN = (
    CLAUDE_CODE,
    COPILOT_CLI,
    CODEX,
    GEMINI_CLI,
    QWEN_CODE,
    OPENCODE,
    CLINE,
)


def partner_of(client: Client) -> Client | None:
    """Another client that is here; None where there is none."""
    others = (one for one in KNOWN if one.platform != client.platform)
    return next((one for one in others if one.find()), None)
