"""The layers of config, what is refused, and what a project may not do."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ijfw_core.errors import IjfwError, UsageError
from ijfw_core.loading import config, trust
from ijfw_core.loading.settings import PROJECT_NEVER, PROJECT_SAFE, Settings


class Folders(NamedTuple):
    folder: Path
    home: Path


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    made = Folders(tmp_path / "project" / ".ijfw", tmp_path / "home")
    for folder in made:
        folder.mkdir(parents=True)
    return made


def write(folder: Path, text: str) -> None:
    (folder / "config.toml").write_text(text, "utf-8")


def messages(loaded: config.Config) -> str:
    return "\n".join(notice.message for notice in loaded.problems)


def test_defaults(folders: Folders) -> None:
    loaded = config.load(folders, {})
    assert (loaded.gate.write, loaded.gate.stage, loaded.gate.writes_per_session) == (0.85, 0.65, 5)
    assert (loaded.caps.content, loaded.caps.reason, loaded.caps.summary) == (4096, 1024, 120)
    assert (loaded.model, loaded.origin("gate.write"), loaded.problems) == ("off", "default", ())


def test_each_layer_wins_over_the_one_below(folders: Folders) -> None:
    write(folders.home, "[gate]\nwrite = 0.7\nstage = 0.5\nwrites_per_session = 9\n")
    write(folders.folder, "[gate]\nstage = 0.6\nwrites_per_session = 4\n")
    env = {"IJFW_GATE_WRITES_PER_SESSION": "3", "IJFW_CAPS_SUMMARY": "80"}
    loaded = config.load(folders, env, ["caps.summary=70"])
    assert loaded.gate.write == 0.7
    assert loaded.gate.stage == 0.6
    assert loaded.gate.writes_per_session == 3
    assert loaded.caps.summary == 70
    origins = ["gate.write", "gate.stage", "gate.writes_per_session", "caps.summary"]
    assert [loaded.origin(key) for key in origins] == ["user", "project", "env", "flag"]


def test_environment_names(folders: Folders) -> None:
    env = {
        "IJFW_AUTOMEM_MODEL": "ollama:tiny",
        "IJFW_VECTORS": "on",
        "IJFW_DEBUG": "1",
        "IJFW_TRACE_HOOKS": "1",
        "IJFW_DISABLE": "1",
        "IJFW_PLUGINS_DISABLE": "a, b",
        "IJFW_HOME": "/elsewhere",
        "IJFW_SESSION_ID": "x",
    }
    loaded = config.load(folders, env)
    assert loaded.model == "ollama:tiny"
    assert (loaded.recall.vectors, loaded.log.debug, loaded.log.trace) == (True, True, True)
    assert loaded.disabled
    assert loaded.plugins.disable == ("a", "b")
    assert loaded.problems == ()
    assert config.load(folders, {"IJFW_AUTOMEM_MODEL": ""}).model == "off"


def test_load_plugins_distinguishes_empty_from_missing(folders: Folders) -> None:
    assert config.load(folders, {}).plugins.only is None
    assert config.load(folders, {"IJFW_LOAD_PLUGINS": ""}).plugins.only == ()
    assert config.load(folders, {"IJFW_LOAD_PLUGINS": "a,b"}).plugins.only == ("a", "b")
    assert config.load(folders, {}, [config.NO_PLUGINS]).plugins.only == ()


def test_unknown_variable_of_a_known_section_is_reported(folders: Folders) -> None:
    loaded = config.load(folders, {"IJFW_GATE_WRTE": "1"})
    assert "IJFW_GATE_WRTE is ignored" in messages(loaded)
    assert "did you mean write" in messages(loaded)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[gate]\nwrte = 0.9\n", r"unknown key wrte in \[gate\] \(did you mean write\?\)"),
        ("[gat]\nwrite = 0.9\n", r"unknown section \[gat\] \(did you mean gate\?\)"),
        ("gate = 1\n", "gate must be a table"),
        ("[gate]\nwrite = 'high'\n", r"\$\.gate\.write"),
        ("[gate]\nwrite = 1.5\n", r"\$\.gate\.write"),
        ("[gate]\nwrite = nan\n", r"\$\.gate\.write"),
        ("[gate]\nwrites_per_session = -1\n", r"\$\.gate\.writes_per_session"),
        ("[plugins]\nenabel = ['a']\n", r"unknown key enabel .*did you mean enable"),
        ("[plugins]\nenable = 'a'\n", r"\$\.plugins\.enable"),
        ("[gate]\n\nwrite = = 1\n", r"not valid TOML: .*line 3"),
        ("\x00", "not valid TOML"),
    ],
)
def test_mistakes_name_file_and_key(text: str, expected: str, folders: Folders) -> None:
    write(folders.home, text)
    with pytest.raises(UsageError, match=expected) as caught:
        config.load(folders, {})
    assert str(folders.home / "config.toml") in str(caught.value)


@pytest.mark.parametrize("flag", ["gate.write", "gate=1", "gate.write=high", "log.debug=maybe"])
def test_wrong_flags(flag: str, folders: Folders) -> None:
    with pytest.raises(UsageError):
        config.load(folders, {}, [flag])


def test_tables_of_plugins_are_their_settings(folders: Folders) -> None:
    write(folders.home, "[plugins.order]\nclassify = ['x']\n[plugins.redact-acme]\nentropy = 4.2\n")
    loaded = config.load(folders, {})
    assert loaded.plugins.order == {"classify": ("x",)}
    assert loaded.plugins.settings == {"redact-acme": {"entropy": 4.2}}


def test_byte_order_mark_and_symlink_of_the_user(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "dotfile").write_bytes(b"\xef\xbb\xbf[gate]\nwrite = 0.9\n")
    (folders.home / "config.toml").symlink_to(tmp_path / "dotfile")
    assert config.load(folders, {}).gate.write == 0.9


HOSTILE = """
[gate]
write = 0.1
stage = 0.9
writes_per_session = 500
[caps]
content = 999999
summary = 60
[plugins]
enable = ["evil"]
only = ["evil"]
disable = ["signals-errors"]
[plugins.replace]
redact-secrets = "evil"
[plugins.order]
redact = ["evil"]
[plugins.redact-secrets]
allow = ["everything"]
[automem]
model = "ollama:evil"
[git]
track = true
[log]
debug = true
[project]
tags = ["web"]
"""


def test_a_project_can_only_make_things_stricter(folders: Folders) -> None:
    write(folders.folder, HOSTILE)
    loaded = config.load(folders, {})
    assert (loaded.gate.write, loaded.gate.stage, loaded.gate.writes_per_session) == (0.85, 0.9, 5)
    assert (loaded.caps.content, loaded.caps.summary) == (4096, 60)
    assert loaded.plugins == config.load(folders, {}).plugins
    assert (loaded.plugins.enable, loaded.plugins.only, loaded.plugins.replace) == ((), None, {})
    assert (loaded.plugins.order, loaded.plugins.settings) == ({}, {})
    assert (loaded.plugins.disable, loaded.project_disable) == ((), ("signals-errors",))
    assert (loaded.model, loaded.git.track, loaded.log.debug) == ("off", False, False)
    assert loaded.project.tags == ("web",)
    for key in ("gate.write", "plugins.enable", "automem.model", "git.track"):
        assert f"{key} is ignored" in messages(loaded)


def test_trust_lets_more_count_but_never_code_or_models(folders: Folders) -> None:
    write(folders.folder, HOSTILE)
    path = folders.folder / "config.toml"
    trust.trust_file(folders.home, path, path.read_bytes())
    loaded = config.load(folders, {})
    assert (loaded.gate.write, loaded.git.track, loaded.log.debug) == (0.1, True, True)
    assert loaded.plugins.order == {"redact": ("evil",)}
    assert loaded.plugins.disable == ("signals-errors",)
    assert (loaded.plugins.enable, loaded.plugins.only, loaded.plugins.replace) == ((), None, {})
    assert (loaded.plugins.settings, loaded.model) == ({}, "off")


def test_a_changed_file_is_not_trusted(folders: Folders) -> None:
    write(folders.folder, "[gate]\nwrite = 0.2\n")
    path = folders.folder / "config.toml"
    trust.trust_file(folders.home, path, path.read_bytes())
    assert config.load(folders, {}).gate.write == 0.2
    write(folders.folder, "[gate]\nwrite = 0.3\n")
    assert config.load(folders, {}).gate.write == 0.85


@pytest.mark.parametrize("text", ["[gate\n", "[gait]\n", "[gate]\nwrite = 'x'\n"])
def test_mistakes_of_an_untrusted_project_are_reported_not_raised(
    text: str, folders: Folders
) -> None:
    write(folders.folder, text)
    loaded = config.load(folders, {})
    assert "settings are ignored" in messages(loaded)
    assert loaded.gate.write == 0.85


def test_project_file_that_is_no_plain_file(folders: Folders, tmp_path: Path) -> None:
    path = folders.folder / "config.toml"
    (tmp_path / "elsewhere").write_text("[gate]\nstage = 0.9\n")
    path.symlink_to(tmp_path / "elsewhere")
    assert config.load(folders, {}).gate.stage == 0.65
    path.unlink()
    os.mkfifo(path)
    assert "plain file" in messages(config.load(folders, {}))
    path.unlink()
    path.write_bytes(b"#" * (config.MAX_BYTES + 1))
    assert "plain file" in messages(config.load(folders, {}))


def test_the_users_folder_is_not_a_project(tmp_path: Path) -> None:
    write(tmp_path, "[gate]\nwrite = 0.2\n")
    loaded = config.load(Folders(tmp_path, tmp_path), {})
    assert (loaded.gate.write, loaded.problems) == (0.2, ())


def test_rules_for_projects_name_real_keys() -> None:
    known = {
        f"{section}.{key}"
        for section in Settings.__struct_fields__
        for key in config.section_keys(section)
    }
    assert set(PROJECT_SAFE) <= known
    assert known >= PROJECT_NEVER
    assert PROJECT_NEVER.isdisjoint(PROJECT_SAFE)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    data=st.binary(max_size=200) | st.text("[]=.\"'\n aeglptiw0123#", max_size=80).map(str.encode)
)
def test_no_file_of_a_project_stops_us(data: bytes, folders: Folders) -> None:
    (folders.folder / "config.toml").write_bytes(data)
    loaded = config.load(folders, {})
    assert loaded.gate.write >= 0.85
    (folders.home / "config.toml").write_bytes(data)
    try:
        config.load(folders, {})
    except IjfwError:
        pass
    finally:
        (folders.home / "config.toml").unlink()
