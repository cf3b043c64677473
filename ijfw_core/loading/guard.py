"""Isolation of one call into a plugin: no exception, exit or hang of it reaches the kernel."""

# Not `signal`: it turns every number into an enum, which costs a hook's child milliseconds.
import _signal as signal  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TypeVar

R = TypeVar("R")

# Seconds. Generous: an idle machine needs milliseconds, a busy one may need a hundred times more.
IMPORT_SECONDS = 10.0
CALL_SECONDS = 5.0
REDACT_SECONDS = 10.0
STORE_SECONDS = 300.0  # reads all of memory: 100,000 entries on a busy machine
INDEX_SECONDS = 600.0  # the first search of a large memory builds its index
PASS_SECONDS = 600.0  # one dream pass over all of memory, at night and at the lowest priority
MODEL_SECONDS = 120.0  # a synthesizer may ask a model over the network
AGAIN_SECONDS = 0.5  # a plugin that swallows the first alarm gets the next one so much later

_TEXT_LIMIT = 300  # characters of a plugin's own error message that are repeated


class PluginError(Exception):
    """A plugin failed. The message is safe to log: raw text is never in it."""

    hung = False


class PluginHungError(PluginError):
    """A plugin did not come back in time."""

    hung = True


class _Alarm(BaseException):
    """Raised inside a plugin that takes too long; no `except Exception` stops it."""


def run(function: Callable[[], R], seconds: float, *, quote: bool) -> R:
    """Call into a plugin and give its result.

    Raises PluginError for every exception (SystemExit too, KeyboardInterrupt not) and
    PluginHungError after `seconds`. With `quote` the message repeats the plugin's own words: not
    for hooks that see raw text. Only the main thread can stop a hang. What the plugin prints goes
    to stderr, because stdout may carry our one JSON object.
    """
    try:
        with _alarm(seconds), _quiet_stdout():
            return function()
    except KeyboardInterrupt:
        raise
    except _Alarm:
        raise PluginHungError(f"did not answer within {seconds:g} s") from None
    except PluginError:
        raise
    except BaseException as error:
        raise PluginError(describe(error, quote=quote)) from None


def describe(error: BaseException, *, quote: bool) -> str:
    """What went wrong and where, in one line; the error's own words only with `quote`."""
    text = type(error).__name__
    if quote:
        try:
            words = " ".join(str(error).split())[:_TEXT_LIMIT]
        except Exception:
            words = ""
        text += f": {words}" if words else ""
    where = _place(error.__traceback__)
    return f"{text} ({where})" if where else text


def _place(traceback: TracebackType | None) -> str:
    """File and line where an error was raised, without the folders."""
    if traceback is None:
        return ""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = os.path.basename(traceback.tb_frame.f_code.co_filename)
    return "" if name.startswith("<frozen") else f"{name}:{traceback.tb_lineno}"


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _quiet_stdout() -> Iterator[None]:
    if not _in_main_thread():
        yield
        return
    stdout = sys.stdout
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = stdout


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise _Alarm in this thread after `seconds`; an alarm that was set before stays in force."""
    if not _in_main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    armed = True

    def ring(_number: int, _frame: FrameType | None) -> None:
        if armed:
            raise _Alarm

    started = time.monotonic()
    handler = signal.signal(signal.SIGALRM, ring)
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    if left and left < seconds:
        signal.setitimer(signal.ITIMER_REAL, left, AGAIN_SECONDS)
    try:
        try:
            yield
        finally:
            armed = False
    finally:
        armed = False  # the alarm may have rung just before the line above
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
        if left:
            rest = max(left - (time.monotonic() - started), 0.001)
            signal.setitimer(signal.ITIMER_REAL, rest, again)
