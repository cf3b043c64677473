"""One call into a plugin, and everything it may do instead of answering."""

import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn

import pytest

from ijfw_core.loading import guard

SHORT = 0.1


def _raise(error: BaseException) -> Callable[[], NoReturn]:
    def call() -> NoReturn:
        raise error

    return call


class Stubborn(BaseException):
    """An exception that `except Exception` does not stop."""


def test_result_comes_back() -> None:
    assert guard.run(lambda: 7, SHORT, quote=True) == 7


@pytest.mark.parametrize(
    "error", [ValueError("x"), SystemExit(3), Stubborn(), MemoryError(), RecursionError()]
)
def test_every_exception_is_a_plugin_error(error: BaseException) -> None:
    with pytest.raises(guard.PluginError, match=type(error).__name__):
        guard.run(_raise(error), SHORT, quote=True)


def test_keyboard_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        guard.run(_raise(KeyboardInterrupt()), SHORT, quote=True)


def test_words_of_an_error_are_repeated_only_on_request() -> None:
    with pytest.raises(guard.PluginError, match="hunter2"):
        guard.run(_raise(ValueError("hunter2")), SHORT, quote=True)
    with pytest.raises(guard.PluginError) as caught:
        guard.run(_raise(ValueError("hunter2")), SHORT, quote=False)
    assert "hunter2" not in str(caught.value)
    assert "test_guard.py:" in str(caught.value)
    assert caught.value.__cause__ is None


def test_error_that_cannot_be_shown() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    with pytest.raises(guard.PluginError, match="Rude"):
        guard.run(_raise(Rude()), SHORT, quote=True)


def _spin() -> None:
    while True:
        pass


def _sleep() -> None:
    time.sleep(60)


def _swallow_once() -> None:
    try:
        time.sleep(60)
    except BaseException:
        time.sleep(60)


@pytest.mark.parametrize("hang", [_spin, _sleep, _swallow_once])
def test_hang_ends(hang: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "AGAIN_SECONDS", 0.05)
    with pytest.raises(guard.PluginHungError):
        guard.run(hang, SHORT, quote=True)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_of_the_caller_stays_in_force() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30)
        guard.run(lambda: None, SHORT, quote=True)
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 20 < left <= 30
        signal.raise_signal(signal.SIGALRM)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_calls_nest_and_the_inner_hang_is_the_inner_plugins() -> None:
    def outer() -> str:
        with pytest.raises(guard.PluginHungError):
            guard.run(_spin, SHORT, quote=True)
        return "went on"

    assert guard.run(outer, 30, quote=True) == "went on"


def test_works_in_a_thread_without_alarms() -> None:
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(guard.run(lambda: 1, 1, quote=True)))
    thread.start()
    thread.join()
    assert results == [1]


def test_prints_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    stdout = sys.stdout
    guard.run(lambda: print("chatter"), SHORT, quote=True)
    assert sys.stdout is stdout
    out, err = capsys.readouterr()
    assert (out, err) == ("", "chatter\n")
