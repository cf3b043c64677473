"""Regular expressions and rule tables, compiled once for all hook children.

Compiling the same patterns and parsing the same TOML tables as the child before it is half of what
a hook's child has to do. So the results are kept in `~/.ijfw/run/precompiled`. They come from a
process that sees invented events only: a pattern that a plugin makes from a secret is never kept.

Python has no public way to store a compiled pattern. This leans on the inner parts of `re`; where
they are not as expected, or the file is of another Python, everything is compiled as usual.
"""

import marshal
import re
import sys

from ijfw_core.live import bundle, hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is heard to find out which patterns are used; patterns that it misses are compiled as usual.
PROMPTS = (
    "No, don't use unittest. From now on always use pytest, every time you add a test.",
    "yes, the second one. I prefer tabs, and keep doing that",
    "Let's go with postgres instead of sqlite because of the locks",
    "Nein, benutze nicht npm. Ab jetzt immer pnpm verwenden.",
    "No, no uses npm. A partir de ahora usa siempre pnpm.",
    "Non, n'utilise pas npm. Désormais utilise toujours pnpm.",
    "不对，不要用 npm。以后一律用 pnpm。",
    "fix it",
)
OUTPUTS = (
    ("pytest -q", 1, "Traceback (most recent call last):\n  File 'a.py', line 3\nValueError: bad"),
    ("pytest -q", 0, "3 passed in 0.1s"),
    ("npm test", 1, "FAIL src/a.test.js\n  TypeError: x is not a function\nnpm ERR! code 1"),
    ("cargo build", 101, "error[E0382]: borrow of moved value: `x`\n --> src/main.rs:4:5"),
    ("go test ./...", 1, "--- FAIL: TestX (0.00s)\npanic: runtime error: index out of range"),
    ("gcc a.c", 1, "a.c:3:5: error: expected ';' before 'return'\nld: undefined reference to `f'"),
    ("git push", 1, "fatal: not a git repository\n ! [rejected] main -> main (fetch first)"),
    ("docker compose up", 1, "ERROR: failed to solve: no space left on device"),
    ("psql -f a.sql", 3, 'ERROR:  relation "users" does not exist'),
    ("mvn test", 1, "[ERROR] COMPILATION ERROR\njava.lang.NullPointerException: null"),
    ("ls", 2, "ls: cannot access 'x': No such file or directory"),
    ("env", 0, "0 errors; user=me password: x, token = y; mail me@example.com, https://u:p@host/"),
)

_used: "dict[tuple[Any, int], None]" = {}  # what was compiled anew: patterns with flags,
_tables: "dict[Any, bytes]" = {}  # and tables


def install(home: bytes) -> None:
    """From now on, use what is kept in this user's folder."""
    kept = bundle.opened(home)
    try:
        _stand_before_re(kept)
    except (AttributeError, ImportError, TypeError, KeyError, ValueError):
        return
    _stand_before_tomllib(kept)
    _import_msgspec()


def _import_msgspec() -> None:
    """Without the backports that it looks for first: `typing` has all of that, and is there."""
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]


def _stand_before_re(kept: bundle.Bundle) -> None:
    import _sre  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

    if _sre.CODESIZE != 4:
        raise ImportError("patterns of this Python are built in another way")
    compiler: Any = re._compiler  # type: ignore[attr-defined]
    compile_anew = compiler.compile

    def compile_(pattern: "Any", flags: int = 0) -> "Any":
        if not isinstance(pattern, str | bytes):
            return compile_anew(pattern, flags)
        known = kept.get(("pattern", pattern, int(flags)))
        if known is None:
            _used[pattern, int(flags)] = None
            return compile_anew(pattern, flags)
        all_flags, code, groups, names, by_number = known
        steps = memoryview(code).cast("I").tolist()
        return _sre.compile(pattern, all_flags, steps, groups, names, by_number)

    compiler.compile = compile_


def _stand_before_tomllib(kept: bundle.Bundle) -> None:
    import tomllib

    parser: Any = tomllib._parser  # type: ignore[attr-defined]
    parse_anew: Any = tomllib.loads

    def loads(text: str, *, parse_float: "Any" = float) -> "Any":
        if parse_float is not float or not isinstance(text, str):
            return parse_anew(text, parse_float=parse_float)
        known, found = kept.get(("table", len(text))) or ("", None)
        if known != text:
            found = parse_anew(text)
            _note_table(text, found)
        return found

    tomllib.loads = parser.loads = loads  # the parser's own: `load` of a file calls that one


def _note_table(text: str, table: "Any") -> None:
    try:
        _tables["table", len(text)] = marshal.dumps((text, table))
    except ValueError:
        pass  # it holds a date


def warm(home: bytes) -> None:
    """Find out, in a process of its own, what hook children compile, and keep it.

    Failing is harmless. The process gets no environment and no text of a user.
    """
    import subprocess

    manifest = hook.read_manifest(home)
    if manifest is None or manifest["site"]:
        return
    line = f"import sys; sys.path[:] = {manifest['path']!r}; from ijfw_core.live import precompiled"
    line += f"; precompiled.collect({home!r})"
    try:
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", line],
            env={"PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        pass


def collect(home: bytes) -> None:
    """Hear the invented events as a hook's child would, and keep what was compiled for it."""
    _stand_before_re(bundle.Bundle())
    _stand_before_tomllib(bundle.Bundle())
    _hear_everything(home)
    import os
    from pathlib import Path

    from ijfw_core.live import manifest

    values: dict[Any, Any] = {}
    files = {}
    for name, module in list(sys.modules.items()):
        found = bundle.described(name, module)
        if found is not None:
            files[name], values["code", name] = found
    values["modules"] = {"of": bundle.identity(hook.read_manifest(home) or {}), "files": files}
    for key in list(_used):
        values["pattern", *key] = _described(*key)
    packed = {key: marshal.dumps(value) for key, value in values.items() if value is not None}
    data = bundle.pack({**packed, **_tables})
    if len(data) <= bundle.MOST_BYTES:
        manifest.replace(Path(os.fsdecode(home + bundle.NAME)), data)


def _hear_everything(home: bytes) -> None:
    import os
    import tempfile
    from datetime import UTC, datetime
    from pathlib import Path

    from ijfw_core.live import capture, manifest
    from ijfw_hookspecs import AgentEvent, Tool

    config = manifest.user_config(Path(os.fsdecode(home)), {})
    found = hook.read_manifest(home)
    rows = (found or {}).get("plugins") or []
    hooks = manifest.load_plugins(rows, config)
    for adapter in hooks.adapters():
        for event in adapter.caps.event_names:
            adapter.parse(event, b'{"session_id": "s", "prompt": "x", "cwd": "/"}', {})
    now = datetime.now(UTC)
    events = [
        AgentEvent(platform="-", kind="prompt", session="s", at=now, cwd="/", text=text)
        for text in PROMPTS
    ]
    for number, (command, code, output) in enumerate(OUTPUTS):
        tool = Tool(
            name="shell",
            kind="shell",
            input=command,
            output=output,
            exit_code=code,
            failed=code != 0,
            call_id=str(number),
        )
        events.append(
            AgentEvent(platform="-", kind="tool_end", session="s", at=now, cwd="/", tool=tool)
        )
    with tempfile.TemporaryDirectory() as scratch:
        capture.rehearse(hooks, events, Path(scratch), [output for _, _, output in OUTPUTS])


def _described(pattern: "Any", flags: int) -> "Any":
    """A pattern as `_sre.compile` takes it."""
    from array import array

    compiler: Any = re._compiler  # type: ignore[attr-defined]
    parsed: Any = re._parser.parse(pattern, flags)  # type: ignore[attr-defined]
    state = parsed.state
    by_number: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        by_number[number] = name
    code = array("I", compiler._code(parsed, flags)).tobytes()
    names = dict(state.groupdict)
    return int(flags | state.flags), code, state.groups - 1, names, tuple(by_number)
