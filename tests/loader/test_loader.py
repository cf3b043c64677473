"""Which plugins are loaded, and what a broken one does: with a distribution that pip installed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.errors import WithheldError
from ijfw_core.loading import guard, loader
from ijfw_core.loading.config import Config
from ijfw_core.loading.hooks import SPECS, Hooks
from ijfw_core.loading.inventory import PluginInfo
from ijfw_hookspecs import Candidate, Context

Settings = Callable[..., Config]
TICKET = "see ACME-12345"


def enable(*names: str) -> str:
    return f"[plugins]\nenable = {list(names)}\n"


def tickets(hooks: Hooks, context: Context) -> int:
    return sum(span.kind == "ticket" for span in hooks.redact(TICKET, context))


def row(config: Config, name: str) -> PluginInfo:
    return next(row for row in loader.plugin_table(config) if row.name == name)


def message(hooks: Hooks, name: str) -> str:
    return next(notice.message for notice in hooks.problems if notice.detail == name)


def test_built_ins_load_and_are_sound(settings: Settings) -> None:
    hooks = loader.load(settings())
    assert hooks.broken == {}
    assert hooks.problems == []
    assert all(plugin.builtin for plugin in hooks.plugins.values())


def test_found_but_not_even_imported(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    hooks = loader.load(settings())
    assert tickets(hooks, context) == 0
    info = row(settings(), "fixture-redact")
    assert (info.status, info.version, info.distribution) == ("off", "1.2.0", "ijfw-fixture-plugin")
    assert (info.hooks, info.sees_raw) == (("redact",), True)
    assert not installed()


def test_enabled_redactor_and_classifier_take_effect(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    hooks = loader.load(settings(enable("fixture-redact", "fixture-classify")))
    assert tickets(hooks, context) == 1
    candidate = Candidate(kind="observation", summary="s", content="INC-1 was closed")
    assert hooks.classify(candidate, context)[0] == "fixture-classify"
    other = Candidate(kind="observation", summary="s", content="nothing of theirs")
    assert hooks.classify(other, context)[0] != "fixture-classify"
    assert installed()


@pytest.mark.parametrize("off", ["flag", "argument", "empty", "disable"])
def test_ways_to_leave_third_party_out(
    off: str, settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    text = enable("fixture-redact")
    if off == "disable":
        text += "disable = ['fixture-redact']\n"
    flags = ("plugins.only=",) if off == "flag" else ()
    env = {"IJFW_LOAD_PLUGINS": ""} if off == "empty" else {}
    hooks = loader.load(settings(text, flags=flags, **env), third_party=off != "argument")
    assert tickets(hooks, context) == 0
    assert not installed()


def test_exact_list_from_the_environment(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    config = settings(enable("fixture-raises"), IJFW_LOAD_PLUGINS="fixture-redact")
    assert tickets(loader.load(config), context) == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fixture-raises", "RuntimeError: no luck today"),
        ("fixture-exits", "SystemExit: 7"),
        ("fixture-hangs", "did not answer within"),
        ("fixture-misspelt", r"no hook redcat \(did you mean redact\?\)"),
        ("fixture-missing", "enabled but not installed"),
    ],
)
def test_broken_plugin_that_may_be_a_redactor_closes_capture(
    name: str,
    reason: str,
    settings: Settings,
    installed: Callable[[], bool],
    context: Context,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "IMPORT_SECONDS", 1.0)
    hooks = loader.load(settings(enable(name, "fixture-classify")))
    assert "fixture-classify" in hooks.plugins
    with pytest.raises(WithheldError, match=f"(?s){name}.*{reason}.*ijfw plugins disable {name}"):
        hooks.redact("text", context)
    assert reason.split(":")[0].replace("\\", "") in message(hooks, name)


def test_broken_plugin_that_is_no_redactor_is_left_out(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    hooks = loader.load(settings(enable("fixture-argument", "fixture-redact")))
    assert tickets(hooks, context) == 1
    assert "unknown argument mood; the hook is classify(candidate, context)" in message(
        hooks, "fixture-argument"
    )


def test_redactor_that_fails_withholds_without_repeating_the_text(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    hooks = loader.load(settings(enable("fixture-redact-fails")))
    with pytest.raises(WithheldError, match="fixture-redact-fails") as caught:
        hooks.redact(TICKET, context)
    assert TICKET not in str(caught.value)
    assert TICKET not in hooks.problems[-1].message


def test_settings_of_a_plugin(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    table = "[plugins.fixture-redact]\nprefix = 'BUG'\n"
    hooks = loader.load(settings(enable("fixture-redact") + table))
    assert [span.kind for span in hooks.redact("BUG-1234", context)].count("ticket") == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("prefx = 'BUG'", r"unknown key prefx in [plugins.fixture-redact] (did you mean prefix?)"),
        ("digits = 'four'", "digits"),
    ],
)
def test_wrong_settings_break_the_plugin_by_name(
    line: str, reason: str, settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    table = f"[plugins.fixture-redact]\n{line}\n"
    hooks = loader.load(settings(enable("fixture-redact") + table))
    assert reason in message(hooks, "fixture-redact")
    with pytest.raises(WithheldError):
        hooks.redact("text", context)


def test_essential_plugin_stays_on(settings: Settings, context: Context) -> None:
    hooks = loader.load(settings("[plugins]\ndisable = ['redact-secrets', 'signals-errors']\n"))
    assert "redact-secrets" in hooks.plugins
    assert "signals-errors" not in hooks.plugins
    assert any("redact-secrets stays on" in notice.message for notice in hooks.problems)


def replaced(other: str) -> str:
    return (
        f"[plugins]\nenable = ['{other}']\ndisable = ['redact-secrets']\n"
        f"[plugins.replace]\nredact-secrets = '{other}'\n"
    )


def test_essential_plugin_is_replaced(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    hooks = loader.load(settings(replaced("fixture-redact")))
    assert "redact-secrets" not in hooks.plugins
    assert tickets(hooks, context) == 1


@pytest.mark.parametrize("other", ["fixture-classify", "fixture-raises", "fixture-missing"])
def test_essential_plugin_comes_back_when_its_replacement_does_not_do_its_job(
    other: str, settings: Settings, installed: Callable[[], bool]
) -> None:
    assert "redact-secrets" in loader.load(settings(replaced(other))).plugins
    assert "redact-secrets" in loader.load(settings(replaced(other)), third_party=False).plugins


def test_project_disables_no_redactor_and_no_essential_plugin(
    settings: Settings, installed: Callable[[], bool], context: Context
) -> None:
    names = ["redact-secrets", "redact-pii", "fixture-redact", "fixture-classify", "signals-errors"]
    project = f"[plugins]\ndisable = {names}\n"
    hooks = loader.load(settings(enable("fixture-redact", "fixture-classify"), project=project))
    assert {"redact-secrets", "redact-pii", "fixture-redact"} <= set(hooks.plugins)
    assert {"fixture-classify", "signals-errors"}.isdisjoint(hooks.plugins)
    assert sum("stays on" in notice.message for notice in hooks.problems) == 3


def test_names_nothing_answers_to_are_reported(settings: Settings) -> None:
    text = "[plugins.order]\nclasify = []\nredact = ['redact-secret']\n[plugins.redact-pi]\na = 1\n"
    messages = "\n".join(notice.message for notice in loader.load(settings(text)).problems)
    for hint in ("classify", "redact-secrets", "redact-pii"):
        assert f"(did you mean {hint}?)" in messages


def claim(folder: Path, distribution: str, entry_points: str) -> None:
    info = folder / f"{distribution.replace('-', '_')}-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 9\n")
    (info / "entry_points.txt").write_text(entry_points)


def test_one_name_claimed_twice(
    settings: Settings,
    installed: Callable[[], bool],
    context: Context,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evil = "[ijfw]\nredact-secrets = json\nfixture-redact = json\n"
    claim(tmp_path, "imposter", evil)
    monkeypatch.syspath_prepend(str(tmp_path))
    config = settings(enable("fixture-redact"))
    hooks = loader.load(config)
    assert hooks.plugins["redact-secrets"].distribution == "ijfw"
    assert "fixture-redact" not in hooks.plugins
    with pytest.raises(WithheldError, match="imposter"):
        hooks.redact("text", context)
    info = row(config, "fixture-redact")
    assert info.status == "blocked"
    assert "imposter" in info.reason


def test_a_distribution_that_only_calls_itself_ours_is_third_party(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stowaway.py").write_text("raise RuntimeError('imported')\n")
    claim(tmp_path, "IJFW", "[ijfw]\nstowaway = stowaway\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "stowaway" not in loader.chosen(settings(), loader.discover())


def test_damaged_metadata_harms_nobody(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(tmp_path, "damaged", "[ijfw\nno = \x00 = sense\n[ijfw]\n\n===\nx = \n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "redact-secrets" in loader.discover()


def test_table_is_complete_and_in_order(settings: Settings, installed: Callable[[], bool]) -> None:
    config = settings(enable("fixture-redact", "fixture-misspelt", "fixture-gone"))
    rows = {info.name: info for info in loader.plugin_table(config)}
    assert list(rows) == sorted(rows)
    assert rows["fixture-redact"].status == "on"
    assert (rows["fixture-misspelt"].status, rows["fixture-gone"].status) == ("broken", "broken")
    assert "did you mean redact" in rows["fixture-misspelt"].reason
    assert rows["fixture-misspelt"].sees_raw
    assert "not installed" in rows["fixture-gone"].reason
    assert all(set(info.hooks) <= set(SPECS) for info in rows.values())
    assert not installed()


def test_table_remembers_what_the_last_load_said(
    settings: Settings, installed: Callable[[], bool], home: Path
) -> None:
    config = settings(enable("fixture-raises"))
    assert row(config, "fixture-raises").status == "on"
    loader.load(config)
    assert row(config, "fixture-raises").status == "broken"
    assert "no luck today" in row(config, "fixture-raises").reason
    loader.load(settings())
    assert row(config, "fixture-raises").status == "on"
