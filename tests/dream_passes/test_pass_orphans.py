"""Links that lead nowhere are told to the person, once."""

from pathlib import Path

import pytest

from ijfw_plugins.dream_orphans import orphans
from ijfw_tests.nights import Alone, Life, said


def told(folder: Path, *texts: str, index: str = "") -> list[str]:
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "MEMORY.md").write_text(index)
    (folder / "memory" / "decision_api.md").write_text("x")
    entries = [said(n, f"s-{n}", text, summary=f"title {n}") for n, text in enumerate(texts)]
    return [change.reason for change in orphans(Alone(entries).context(folder=str(folder)))]


def test_a_link_of_the_index_to_a_file_that_is_gone(tmp_path: Path) -> None:
    index = "- [api](decision_api.md)\n- [old](pattern_old.md)\n- [web](https://x.test/a.md)\n"
    assert told(tmp_path, index=index) == ["[old](pattern_old.md) in MEMORY.md leads nowhere"]


@pytest.mark.parametrize(
    "link", ["title 1", "decision_api", "decision_api.md", "Title 1", "title-1"]
)
def test_a_link_to_what_is_there_is_no_orphan(tmp_path: Path, link: str) -> None:
    assert told(tmp_path, f"see [[{link}]] and [[{link}|other words]]", "b") == []


def test_a_link_to_nothing_is_one(tmp_path: Path) -> None:
    (reason,) = told(tmp_path, "see [[a page that was renamed]]")
    assert reason.startswith("[[a page that was renamed]] in ")


@pytest.mark.parametrize(
    "text",
    [
        "if [[ -f x ]]; then",
        "`[[x]]`",
        "```\n[[x]]\n```",
        "    [[x]]",
        "[[tool.uv.index]]\nurl = 1",
        "m = [[1, 2], [3, 4]]",
        "a[[i]]",
        "[[:alpha:]]",
        'x = [["a", 1]]',
        "[[$HOME]]",
        "np.array([[1, 2]])",
    ],
)
def test_brackets_of_code_are_no_links(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == []


def test_it_is_told_once_and_changes_nothing(life: Life) -> None:
    life.keep(1, said(1, "s-1", "see [[a page that was renamed]]"))
    before = life.files()
    life.dream(2, "orphans")
    life.dream(3, "orphans")
    (life.shop / ".ijfw/index/recall-dream.db").unlink()
    life.dream(4, "orphans")
    log = (life.memory / "LESSONS.md").read_text()
    assert log.count("**orphan**") == 1
    assert life.files() == before
