"""What doctor checks of hooks: the lines in an agent's settings, a real run, and traces of use."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ijfw_core.errors import IjfwError
from ijfw_core.install import connected, setup
from ijfw_core.install.checks import Check, Examined, scratch
from ijfw_core.install.connected import Line
from ijfw_core.install.setup import Place
from ijfw_core.live import consent, hook, manifest, spool
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_core.project import Project
from ijfw_core.storage import files
from ijfw_core.text import format_time
from ijfw_hookspecs import AdapterStatus

SETUP = "ijfw setup"
QUIET_SECONDS = 86400  # after setup; hooks that did not run until then are a finding
HOOK_SECONDS = 1.5  # the least that a platform gives a hook: Claude Code at a session's end
CHILD_SECONDS = 20.0  # for the hook's child, which gives way to everyone, to write a line
FAULT_SECONDS = 86400  # that an error of a hook stays a finding
WISH = "From now on use pytest, not unittest."
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    b'"capabilities":{},"clientInfo":{"name":"doctor","version":"1"}}}\n'
)


def hooks(what: Examined) -> Iterator[Check]:
    """Every connected platform, in the user's and the project's settings."""
    places = [Place("user")]
    if what.here is not None:
        places.append(Place("project", what.here.team.parent.parent))
    served: list[str] = []
    told: set[Check] = set()  # one of several platforms is enough, of what they share
    for adapter in what.hooks.adapters():
        if not isinstance(adapter, GuardedAdapter):
            continue
        now = connected.standing(what.home, adapter, places[-1])
        served += [adapter.name] if "MCP server" in now.detail else []
        for check in _of_platform(what, adapter, places, now):
            if check not in told:
                told.add(check)
                yield check
    if served:
        yield _server(served)
    if not any(check.name.startswith("hooks ") for check in told):
        yield Check(name="hooks", ok=True, detail="no agent is connected", fix=SETUP)


def errors(what: Examined) -> Iterator[Check]:
    """What went wrong in hooks lately; they never say so themselves."""
    lines = files.read_text(what.home / "run" / "hook-errors").splitlines()
    recent = []
    for line in lines:
        at, _, rest = line.partition(" ")
        if at.isdigit() and time.time() - int(at) < FAULT_SECONDS:
            recent.append(rest)
    if recent:
        yield Check(
            name="hook errors",
            ok=False,
            detail=f"{len(recent)} in the last day, the last one: {_in_words(recent[-1])}",
            fix=f"mend the cause, then: rm {what.home / 'run' / 'hook-errors'}",
        )
    elif (what.home / "run").is_dir():
        yield Check(name="hook errors", ok=True, detail="none in the last day")


def _in_words(fault: str) -> str:
    """A line of the log with the system's word for an error in the place of its number."""
    number = re.match(r"\w+\(([0-9]{1,3})\)", fault)
    return (
        fault.replace(f"({number[1]})", f" ({os.strerror(int(number[1]))})", 1) if number else fault
    )


def _platform(what: Examined, adapter: GuardedAdapter, place: Place) -> Iterator[Check]:
    name = f"hooks {adapter.name}" + (" (project)" if place.root else "")
    try:
        lines = connected.lines(adapter, place, what.home)
    except IjfwError as error:
        yield Check(name=name, ok=False, detail=str(error), fix="mend the file")
        return
    if not lines:
        return
    again = SETUP + f" {adapter.name}" + (" --project" if place.root else "")
    odd = next((line for line in lines if not connected.as_written(line, what.home)), None)
    missing = setup.missing(adapter, place, lines[0].command)
    dead = {line.python for line in lines if not os.access(line.python, os.X_OK)}
    gone = {line.script for line in lines if not os.path.isfile(line.script)}
    if odd is not None:
        detail = f"setup did not write this line, so it is not run: {odd.text}"
        yield Check(name=name, ok=False, detail=detail, fix=again)
    elif dead:
        detail = f"the interpreter is gone: {', '.join(sorted(dead))}"
        yield Check(name=name, ok=False, detail=detail, fix=again)
    elif missing:
        detail = f"not all as setup writes it: {missing}"
        yield Check(name=name, ok=False, detail=detail, fix=again)
    elif gone:
        detail = f"the script is gone: {', '.join(sorted(gone))}"
        yield Check(name=name, ok=False, detail=detail, fix=again)
    else:
        yield _copy(what.home, lines[0], again)
        yield from _run(what, adapter, lines, again)


def _copy(home: Path, line: Line, again: str) -> Check:
    """Whether the copy of the hook is of this version, and its manifest fresh."""
    same = all(
        files.read_text(home / name) == Path(str(module.__file__)).read_text("utf-8")
        for name, module in manifest.MODULES.items()
    )
    if not same:
        detail = f"the copy in {home} is of another version than ijfw"
        return Check(name="hook copy", ok=False, detail=detail, fix=again)
    if line.python == sys.executable and hook.read_manifest(os.fsencode(home)) is None:
        detail = "settings or plugins changed since; the next event writes the manifest anew"
        return Check(name="hook copy", ok=True, detail=detail, fix=again)
    return Check(name="hook copy", ok=True, detail=f"{line.script} is of this version")


def _run(what: Examined, adapter: GuardedAdapter, lines: list[Line], again: str) -> Iterator[Check]:
    """Run the lines of a session start and of a prompt, in a project made for this."""
    kinds = adapter.caps.event_names
    chosen = [x for x in lines if kinds.get(x.event) in ("session_start", "prompt")]
    for line in chosen:
        if not connected.safe_to_run(line, what.home, [sys.executable]):
            detail = f"not run here: it names another interpreter, {line.python}"
            yield Check(name=f"hook {line.event}", ok=False, detail=detail, fix=again)
            return
    with scratch(what) as project:
        env = {**project.env, "IJFW_DISABLE": ""}
        if chosen and chosen[0].python == sys.executable:
            manifest.write(project.roots.home, env)
        consent.decide(project.roots, True, project.now)
        for line in chosen:
            data = connected.payload(line.event, project.roots.project, "ijfw-doctor", WISH)
            ran = connected.run(line, data, env, project.roots.project)
            yield _judge(line, ran, again)
            heard = adapter.parse(line.event, data, env)
            if kinds.get(line.event) == "prompt" and heard is not None and heard.text == WISH:
                yield _kept(project, again)


def _judge(line: Line, ran: connected.Ran, again: str) -> Check:
    name = f"hook {line.event}"
    took = f"{ran.seconds:.2f} s"
    if ran.code != 0:
        why = f"exit status {ran.code}, {took}: {ran.err.strip()[-200:]}"
        return Check(name=name, ok=False, detail=why, fix=f"run it by hand: {line.text}")
    if ran.out.strip() and not ran.out.lstrip().startswith("{"):
        return Check(name=name, ok=False, detail=f"printed: {ran.out[:200]}", fix=again)
    slow = ran.seconds > HOOK_SECONDS
    fix = "the computer is busy, or the disk of the interpreter slow" if slow else ""
    return Check(name=name, ok=not slow, detail=f"the exact line ran, {took}", fix=fix)


def _kept(project: Project, again: str) -> Check:
    """Whether the hook's child wrote down what the test prompt says."""
    until = time.monotonic() + CHILD_SECONDS
    while not spool.sessions(project.roots) and time.monotonic() < until:
        time.sleep(0.05)
    ok = bool(spool.sessions(project.roots))
    said = files.read_text(project.roots.home / "run" / "hook-errors").strip()
    detail = "a wish in a prompt was kept" if ok else f"a wish in a prompt was not kept. {said}"
    return Check(name="hook's child", ok=ok, detail=detail, fix="" if ok else again)


def _of_platform(
    what: Examined, adapter: GuardedAdapter, places: Sequence[Place], now: AdapterStatus
) -> Iterator[Check]:
    yield from _standing(adapter, now)
    connected_here = False
    for place in places:
        for check in _platform(what, adapter, place):
            connected_here = True
            yield check
    if connected_here:
        yield _fired(what, adapter)


def _standing(adapter: GuardedAdapter, now: AdapterStatus) -> Iterator[Check]:
    """Live, standing by or untouched, for a platform that is here or that setup wrote for."""
    found = adapter.detect()
    if now.state == "untouched" and not found:
        return
    detail = f"{now.state}: {now.detail}"
    if now.state == "untouched":
        detail = f"untouched: found at {found}, not connected"
    fix = {"untouched": f"{SETUP} {adapter.name}", "broken": "mend the file"}.get(now.state, "")
    name = f"platform {adapter.name}"
    yield Check(name=name, ok=now.state != "broken", detail=detail, fix=fix)


def _fired(what: Examined, adapter: GuardedAdapter) -> Check:
    """Whether hooks ran since setup wrote them; some platforms run none that nobody trusted."""
    name = f"hooks of {adapter.name} run"
    caps = adapter.caps
    hint = caps.trust_hint or "trust its hooks there"
    trust = f" and {hint}" if caps.needs_trust else ""
    fired = connected.last_fired(what.home, adapter.name)
    since = connected.installed_at(what.home, adapter.name)
    if fired is not None and (not trust or fired.timestamp() >= since):
        return Check(name=name, ok=True, detail=f"last time {format_time(fired)[:19]}Z")
    fresh = time.time() - since < QUIET_SECONDS
    never = "they never ran" if fired is None else "they did not run since"
    return Check(
        name=name,
        ok=fresh and not trust,
        detail=f"installed, but {never}" + (" yet" if fresh else ""),
        fix=f"start {adapter.name} anew in a project{trust}",
    )


def _server(platforms: Sequence[str]) -> Check:
    """Whether our MCP server answers, as these platforms start it; by our own interpreter only.

    Where other words stand in the settings, the checks of the hooks have said so already.
    """
    name, who = "memory server", ", ".join(platforms)
    again = f"{SETUP} {' '.join(platforms)}"
    line = [sys.executable, "-I", "-m", "ijfw_core.mcp"]
    wait = connected.SERVER_SECONDS
    try:
        done = subprocess.run(line, input=HELLO, capture_output=True, timeout=wait, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(name=name, ok=False, detail=f"{type(error).__name__} ({who})", fix=again)
    if b'"serverInfo"' in done.stdout:
        return Check(name=name, ok=True, detail=f"it answers ({who})")
    said = done.stderr.decode("utf-8", "replace").strip()[-200:]
    return Check(name=name, ok=False, detail=f"it does not answer ({who}). {said}", fix=again)
