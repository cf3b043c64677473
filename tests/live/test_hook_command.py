"""`ijfw hook`: the same as the installed hook, in the foreground."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ijfw_core.cli.hook import hook as command
from ijfw_core.live import greeting


@pytest.fixture
def call(agreed: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command with a payload."""
    for name, value in agreed.env.items():
        monkeypatch.setenv(name, value)

    def run(event: str, *words: str, platform: str = "claude-code", **fields: Any) -> Result:
        data = agreed.payload(event, **fields)
        line = ["--platform", platform, event, *words]
        return CliRunner().invoke(command, line, input=data)

    return run


def test_it_tells_what_became_of_an_event(call: Any, agreed: Any) -> None:
    done = call("UserPromptSubmit", "--json", prompt="always use tabs", prompt_id="p1")
    said = json.loads(done.stdout)
    assert (said["manifest"], said["event"], said["consent"]) == ("fresh", "prompt", "yes")
    assert said["project"] == str(agreed.project)
    assert [signal["kind"] for signal in said["signals"]] == ["rule", "intent"]
    assert len(agreed.spooled()) == 1


def test_stdout_has_the_reply_alone(call: Any, agreed: Any) -> None:
    greeting.keep_prelude(agreed.place, "we use pytest")
    done = call("SessionStart")
    assert done.exit_code == 0
    assert "we use pytest" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_what_is_none_of_ours_is_said(call: Any) -> None:
    done = call("Stop", platform="emacs")
    assert done.exit_code == 1
    assert done.stdout == ""
