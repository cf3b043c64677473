from pathlib import Path

import ijfw_platform_example

from ijfw_core.testing import AdapterContract, IjfwProject, PluginContract

HERE = Path(__file__).parent


class TestAnswers(PluginContract):
    plugin = ijfw_platform_example


class TestAdapter(AdapterContract):
    data = HERE
    payloads = "payloads.jsonl"  # as the agent sends them to a hook
    transcript = "session.jsonl"  # of the same session
    prompts = (
        "The page test fails, please fix it.",
        "No, don't use unittest. From now on use pytest.",
    )

    def make(self, folder: Path) -> ijfw_platform_example.Agent:
        return ijfw_platform_example.Agent(home=folder / "home", project=folder / "project")


def test_a_session_is_remembered(ijfw_project: IjfwProject) -> None:
    ijfw_project.use(ijfw_platform_example, "platform-example")
    done = ijfw_project.capture(HERE / "session.jsonl", "platform-example")
    assert done.bad_records == 0
    assert any("pytest" in entry.summary for entry in ijfw_project.memories())
