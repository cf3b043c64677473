"""Our own plugins pass the contracts that third parties inherit."""

from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from ijfw_core.author import samples
from ijfw_core.testing import (
    ClassifierContract,
    DreamPassContract,
    PluginContract,
    RedactorContract,
    SignalContract,
)
from ijfw_hookspecs import AgentEvent, Entry, Tool
from ijfw_plugins import (
    classify_rules,
    dream_compress,
    dream_cross_project,
    dream_orphans,
    dream_promote,
    dream_prune,
    dream_reconcile,
    dream_review_staged,
    dream_stale_topics,
    platform_aider,
    platform_claude_code,
    platform_cline,
    platform_codex,
    platform_copilot_cli,
    platform_cursor,
    platform_gemini_like,
    platform_opencode,
    platform_windsurf,
    redact_known_values,
    redact_pii,
    redact_secrets,
    rerank_vectors,
    score_duplicates,
    score_evidence,
    score_facts,
    score_noted,
    search_bm25,
    signals_errors,
    signals_feedback,
    store_markdown,
    store_topics,
    synthesize_rules,
)

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 2  # the documented shape, not a token
EVENT = AgentEvent(
    platform="test", kind="prompt", session="s", at=datetime(2026, 5, 1, tzinfo=UTC), cwd="/p"
)
FAILED = Tool(
    name="Bash",
    kind="shell",
    input="python app.py",
    output="Traceback (most recent call last):\nModuleNotFoundError: No module named 'psycopg'",
    exit_code=1,
    failed=True,
    call_id="c1",
)


class TestRedactSecrets(RedactorContract):
    plugin = redact_secrets
    secrets = ((f"push with {TOKEN} now", TOKEN),)
    harmless = ("Retry webhooks five times.", "commit 3f2a9c1 in src/app.py")


class TestRedactPii(RedactorContract):
    plugin = redact_pii
    config = MappingProxyType({"email": True})
    secrets = (("mail jane.roe@mail.example.org about it", "jane.roe@mail.example.org"),)
    harmless = ("Retry webhooks five times.",)


class TestClassifyRules(ClassifierContract):
    plugin = classify_rules
    examples = (
        ("we decided to use PostgreSQL", "decision"),
        ("always run the linter", "preference"),
        ("the cache is cold", "observation"),
    )


class TestSignalsFeedback(SignalContract):
    plugin = signals_feedback
    examples = (
        (replace(EVENT, text="From now on use pytest."), ("rule", "intent")),
        (replace(EVENT, kind="session_end"), ()),
        (replace(EVENT, text="From now on use pytest.", synthetic=True), ()),
    )


class TestSignalsErrors(SignalContract):
    plugin = signals_errors
    examples = (
        (replace(EVENT, kind="tool_end", tool=FAILED), ("error",)),
        (replace(EVENT, text="use pytest"), ()),
    )


def old_records(days: int) -> tuple[Entry, ...]:
    """Journal records of automation, so many days older than the samples."""
    return tuple(
        replace(one, tier="journal", kind="observation", origin="auto", digest="",
                stored=one.stored - timedelta(days=days))
        for one in samples.entries()[:3]
    )  # fmt: skip


class TestDreamPrune(DreamPassContract):
    plugin = dream_prune
    memory = old_records(400)
    changes = 3


class TestDreamPromote(DreamPassContract):
    plugin = dream_promote


class TestDreamReviewStaged(DreamPassContract):
    plugin = dream_review_staged


class TestDreamReconcile(DreamPassContract):
    plugin = dream_reconcile


class TestDreamCompress(DreamPassContract):
    plugin = dream_compress


class TestDreamStaleTopics(DreamPassContract):
    plugin = dream_stale_topics


class TestDreamCrossProject(DreamPassContract):
    plugin = dream_cross_project


class TestDreamOrphans(DreamPassContract):
    plugin = dream_orphans


OTHERS: tuple[Any, ...] = (
    platform_aider,
    platform_claude_code,
    platform_cline,
    platform_codex,
    platform_copilot_cli,
    platform_cursor,
    platform_gemini_like,
    platform_opencode,
    platform_windsurf,
    redact_known_values,
    rerank_vectors,
    score_duplicates,
    score_evidence,
    score_facts,
    score_noted,
    search_bm25,
    store_markdown,
    store_topics,
    synthesize_rules,
)
for module in OTHERS:  # what has no contract of its own answers as every plugin must
    name = f"Test{module.__name__.rpartition('.')[2].title().replace('_', '')}"
    globals()[name] = type(name, (PluginContract,), {"plugin": module})
