"""What a plugin module may look like, and what is said of one that is wrong."""

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import msgspec
import pytest

from ijfw_core.loading.config import Config
from ijfw_core.loading.loader import Broken, Found, load_one
from ijfw_core.loading.plugin import Plugin
from ijfw_hookspecs import hookimpl

Load = Callable[..., Plugin | Broken]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load a module made of these names, with these settings."""

    def run(settings: dict[str, Any] | None = None, **names: Any) -> Plugin | Broken:
        module = ModuleType("made_up_plugin")
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, "made_up_plugin", module)
        point = EntryPoint("made-up", "made_up_plugin", "ijfw")
        config = Config()
        if settings is not None:
            plugins = msgspec.structs.replace(config.plugins, settings={"made-up": settings})
            config = msgspec.structs.replace(config, plugins=plugins)
        return load_one("made-up", Found("made-up", point, "dist", "1", False), config)

    return run


def sound() -> Callable[..., None]:
    """A sound implementation, a new one each time because a mark stays on a function."""

    def classify(candidate: Any) -> None: ...

    return classify


def wrapper(candidate: Any) -> Any:
    """A sound wrapper, for pluggy."""
    return (yield)


def broken(result: Plugin | Broken) -> Broken:
    assert isinstance(result, Broken)
    return result


def test_sound_module(load: Load) -> None:
    result = load(classify=hookimpl(sound()), helper=sound(), value=7)
    assert isinstance(result, Plugin)
    assert list(result.functions) == ["classify"]


def test_another_name_for_the_function(load: Load) -> None:
    result = load(sort_it=hookimpl(specname="classify")(sound()))
    assert isinstance(result, Plugin)
    assert list(result.functions) == ["classify"]


def test_a_hook_of_a_newer_contract_is_passed_over(load: Load) -> None:
    def translate(text: str) -> None: ...

    result = load(classify=hookimpl(sound()), translate=hookimpl(optionalhook=True)(translate))
    assert isinstance(result, Plugin)
    assert list(result.functions) == ["classify"]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"classify": hookimpl(wrapper=True)(wrapper)}, "classify is a wrapper"),
        ({"classify": sound()}, "is `@hookimpl` missing?"),
        (
            {"a": hookimpl(specname="classify")(sound()), "classify": hookimpl(sound())},
            "classify twice",
        ),
    ],
)
def test_wrong_modules(names: dict[str, Any], reason: str, load: Load) -> None:
    assert reason in broken(load(**names)).reason


def test_unmarked_module_may_be_a_redactor(load: Load) -> None:
    assert broken(load(redact=sound())).may_redact


def test_order_hints_of_pluggy_do_not_matter(load: Load) -> None:
    result = load(classify=hookimpl(tryfirst=True)(sound()))
    assert isinstance(result, Plugin)


class Typed(msgspec.Struct, frozen=True):
    """Settings that do not forbid unknown keys by themselves, and need one."""

    url: str
    depth: int = 1


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"url": "u", "dept": 2}, "unknown key dept in [plugins.made-up] (did you mean depth?)"),
        ({"url": "u", "depth": "deep"}, "$.depth"),
        ({}, "missing required field `url`"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], reason: str, load: Load) -> None:
    result = broken(load(settings, classify=hookimpl(sound()), Config=Typed))
    assert reason in result.reason
    assert not result.may_redact


def test_settings(load: Load) -> None:
    result = load({"url": "u"}, classify=hookimpl(sound()), Config=Typed)
    assert isinstance(result, Plugin)
    assert result.settings == Typed(url="u")
    assert "has no settings" in broken(load({"a": 1}, classify=hookimpl(sound()))).reason
    bare = load(classify=hookimpl(sound()))
    assert isinstance(bare, Plugin)
    assert bare.settings is None


def test_module_that_fights_back(load: Load) -> None:
    def leave(name: str) -> Any:
        raise SystemExit(name)

    result = broken(load(__dir__=lambda: leave("dir"), classify=hookimpl(sound())))
    assert result.may_redact
