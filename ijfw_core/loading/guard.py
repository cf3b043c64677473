"""Isolation of one call into a plugin: no exception, exit or hang of it reaches the kernel."""

# Not `signal`: it turns every number into an enum, which costs a hook's child milliseconds.
import _signal as signal  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
import os
import sys
import threading
import time
from collections.abc import Callable
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
_TIMED = hasattr(signal, "setitimer")

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
        if threading.current_thread() is not threading.main_thread():
            return function()
        with _Watched(seconds):
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


class _Watched:
    """Raise _Alarm in the main thread after `seconds`; an alarm that was set before stays in force.
    What is printed goes to stderr. Every hook of every plugin is called so: no generator."""

    __slots__ = ("_again", "_armed", "_handler", "_left", "_seconds", "_started", "_stdout")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._armed = True

    def __enter__(self) -> None:
        self._stdout, sys.stdout = sys.stdout, sys.stderr
        if not _TIMED:
            return
        self._started = time.monotonic()
        self._handler = signal.signal(signal.SIGALRM, self._ring)
        left, self._again = signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN_SECONDS)
        self._left = left
        if left and left < self._seconds:
            signal.setitimer(signal.ITIMER_REAL, left, AGAIN_SECONDS)

    def __exit__(self, *_: object) -> None:
        try:
            self._armed = False
        finally:
            self._armed = False  # the alarm may have rung just before the line above
            sys.stdout = self._stdout
            if _TIMED:
                self._disarm()

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise _Alarm

    def _disarm(self) -> None:
        before = signal.SIG_DFL if self._handler is None else self._handler
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if self._left:
            rest = max(self._left - (time.monotonic() - self._started), 0.001)
            signal.setitimer(signal.ITIMER_REAL, rest, self._again)
