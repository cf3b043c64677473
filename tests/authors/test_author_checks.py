"""`ijfw plugins check`: each mistake that authors make is told in plain words."""

import json
from pathlib import Path

import pytest

from ijfw_core.author import checking
from ijfw_core.testing import IjfwProject

HEAD = "from ijfw_hookspecs import *\nfrom msgspec import Struct\n"
MISTAKES = {
    "typo": ("@hookimpl\ndef redcat(text):\n    return []\n", "did you mean redact"),
    "argument": ("@hookimpl\ndef redact(txt):\n    return []\n", "unknown argument txt"),
    "mark": (
        "def redact(text):\n    return []\n@hookimpl\ndef notify(notice):\n    pass\n",
        "redact is never called: it has no @hookimpl",
    ),
    "no_hook": ("x = 1\n", "implements no hook"),
    "syntax": ("def redact(:\n", "cannot be imported"),
    "raises": ("@hookimpl\ndef redact(text):\n    return 1 / 0\n", "ZeroDivisionError"),
    "exits": ("@hookimpl\ndef redact(text):\n    raise SystemExit\n", "SystemExit"),
    "outside": (
        "@hookimpl\ndef redact(text):\n    return [Span(start=0, end=len(text) + 1, kind='x')]\n",
        "a Span outside the text",
    ),
    "kind": (
        "@hookimpl\ndef redact(text):\n    return [Span(start=0, end=0, kind='A B')]\n",
        "Span.kind",
    ),
    "text": ("@hookimpl\ndef redact(text):\n    return 'x'\n", "not a list of Span"),
    "moody": (
        "n = []\n@hookimpl\ndef redact(text):\n    n.append(1)\n"
        "    return [Span(start=0, end=len(text) and len(n) % 2, kind='x')]\n",
        "another answer when it is asked about again",
    ),
    "class": (
        "@hookimpl\ndef classify(candidate):\n    return Classification(kind='x', reason='')\n",
        "Classification.kind is none of",
    ),
    "no_literals": ("@hookimpl\ndef on_signal(event):\n    return []\n", "has no LITERALS"),
    "literals": (
        "LITERALS = (b'panic',)\n@hookimpl\ndef on_signal(event):\n"
        "    return [Signal(kind='error', text='x')] if event.tool else []\n",
        "none of LITERALS stands in it",
    ),
    "literals_type": (
        "LITERALS = ['panic']\n@hookimpl\ndef on_signal(event):\n    return []\n",
        "LITERALS is no tuple of bytes",
    ),
    "config": (
        "class Config(Struct):\n    word: str = ''\n@hookimpl\ndef redact(text):\n    return []\n",
        "takes unknown keys",
    ),
    "config_needs": (
        "class Config(Struct, frozen=True, forbid_unknown_fields=True):\n    word: str\n"
        "@hookimpl\ndef redact(text):\n    return []\n",
        "missing required field `word`",
    ),
    "evidence": (
        "@hookimpl\ndef synthesize(request):\n"
        "    return [Candidate(kind='pattern', summary='x', content='x')]\n",
        "names no signal of the request",
    ),
    "relation": (
        "@hookimpl\ndef score_confidence(candidate):\n"
        "    return Score(value=1, reason='', relation='duplicate', of='nobody')\n",
        "an entry that is not in memory",
    ),
    "pass": (
        "@hookimpl\ndef dream_pass():\n    return [DreamPass(name='x', stage=1, run=run)]\n"
        "def run(context):\n    for e in context.memory.entries('knowledge'):\n"
        "        yield Change(op='archive', target=e.id)\n",
        "without `base`",
    ),
    "vectors": (
        "@hookimpl\ndef embed(texts):\n    return [[0.0] * (1 + len(t)) for t in texts]\n",
        "vectors of different",
    ),
    "hits": ("@hookimpl\ndef rerank(query, hits):\n    return hits[:1]\n", "other hits than"),
}


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_a_mistake_is_told(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # How long an import takes is asked three processes each, and by the next test.
    monkeypatch.setattr(checking, "_import_ms", lambda module, path: 1.0)
    text, wanted = MISTAKES[mistake]
    path = tmp_path / f"ijfw_mistake_{mistake}.py"
    path.write_text(HEAD + text)
    (result,) = checking.check(str(path))
    assert any(wanted in fault for fault in result.faults), result.faults


def test_a_slow_import_is_told_with_what_is_heavy(tmp_path: Path) -> None:
    path = tmp_path / "ijfw_slow_one.py"
    slow = "import json\nfor n in range(8_000_000):\n    pass\n"
    path.write_text(HEAD + slow + "@hookimpl\ndef notify(notice):\n    pass\n")
    (result,) = checking.check(str(path))
    (fault,) = result.faults
    assert "ms, more than 30" in fault
    assert "at its top: json" in fault


def test_the_command_ends_with_1_and_says_what(ijfw_project: IjfwProject) -> None:
    path = ijfw_project.folder / "ijfw_bad_one.py"
    path.write_text(HEAD + MISTAKES["typo"][0])
    done = ijfw_project.run("plugins", "check", str(path))
    assert done.status == 1
    assert "did you mean redact" in done.out
    done = ijfw_project.run("plugins", "check", str(path), "--json")
    assert "did you mean" in json.loads(done.out)["plugins"][0]["faults"][0]


def test_built_ins_are_sound(ijfw_project: IjfwProject) -> None:
    done = ijfw_project.run("plugins", "check", "classify-rules", "--json")
    assert [f for f in json.loads(done.out)["plugins"][0]["faults"] if "importing" not in f] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project",
        "[project.entry-points]\nijfw = 3\n",
        "project = 3\n",
        "[project]\nname = 'x'",
    ],
)
def test_a_folder_without_a_plugin_is_told(ijfw_project: IjfwProject, text: str) -> None:
    (ijfw_project.folder / "pyproject.toml").write_text(text)
    done = ijfw_project.run("plugins", "check", str(ijfw_project.folder))
    assert done.status == 2
    assert ijfw_project.run("plugins", "check", "nowhere").status == 1
    assert ijfw_project.run("plugins", "check", str(ijfw_project.home)).status == 1


def test_settings_are_shown_with_type_default_and_meaning(ijfw_project: IjfwProject) -> None:
    (ijfw_project.folder / "ijfw_redact_x.py").write_text(
        HEAD + "class Config(Struct, frozen=True, forbid_unknown_fields=True):\n"
        "    words: tuple[str, ...] = ('a',)  # that go\n    api_token: str = 'x'  # of a server\n"
        "    mode: str | None = None\n@hookimpl\ndef redact(text):\n    return []\n"
    )
    import sys

    sys.path.insert(0, str(ijfw_project.folder))
    try:
        ijfw_project.use("ijfw_redact_x", words=["b"])
        shown = json.loads(ijfw_project.run("plugins", "info", "redact-x", "--json").out)
    finally:
        sys.path.remove(str(ijfw_project.folder))
    assert shown["settings"] == [
        {"key": "words", "type": "tuple[str, ...]", "default": ["a"], "value": ["b"],
         "about": "that go"},
        {"key": "api_token", "type": "str", "default": "(hidden)", "value": "(hidden)",
         "about": "of a server"},
        {"key": "mode", "type": "str | None", "default": None, "value": None, "about": ""},
    ]  # fmt: skip
