"""What the hook leaves to a process of its own, and what it makes while the agent waits.

`ijfw setup` copies this file beside the hook, which imports it where an event matters. Until
`kernel` has made our packages importable it imports modules written in C only.
"""

import _signal  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ijfw_core.live.hook import Call

ANSWER_SECONDS = 5.0  # for an answer that is not prebuilt
NICENESS = 10  # as that of the session worker
CPU_SECONDS = 30  # for the work that nobody waits for: a starved child is no hung one
LIFE = 300  # seconds by the clock: at its niceness, a busy machine starves it for minutes


def work(call: "Call") -> None:
    """Everything that the agent does not wait for."""
    import gc

    gc.disable()  # it lives too briefly for garbage to matter
    posix.setpgid(0, 0)
    posix.nice(max(0, NICENESS - posix.nice(0)))
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_PROF, CPU_SECONDS)
    _signal.alarm(LIFE)
    capture = kernel(call)
    capture.work(call.platform, call.event, call.data, call.manifest, greeted=call.greeted)


def spawn(call: "Call") -> None:
    """Do it in a new process where fork is refused; the payload goes through memory only."""
    fd = posix.memfd_create("ijfw", 0)
    rest = call.data
    while rest:
        rest = rest[posix.write(fd, rest) :]
    posix.lseek(fd, 0, 0)
    posix.dup2(fd, 0)
    role = "greeted" if call.greeted else "child"
    line = [sys.executable, "-I", "-S", sys.argv[0], call.platform, call.event, role]
    posix.posix_spawn(sys.executable, line, posix.environ)


def answer(call: "Call") -> bytes:
    """Make an answer that is not prebuilt, while the agent waits."""

    def late(_number: int, _frame: object) -> None:
        posix._exit(0)

    _signal.signal(_signal.SIGALRM, late)
    _signal.setitimer(_signal.ITIMER_REAL, ANSWER_SECONDS)
    out = posix.dup(1)
    posix.dup2(posix.open("/dev/null", posix.O_RDWR), 1)  # what plugins print is no answer
    reply: bytes = kernel(call).answer(call.platform, call.event, call.data, call.manifest)
    posix.dup2(out, 1)
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    return reply


def kernel(call: "Call") -> "Any":
    """Make our packages importable; the part of us that may import anything."""
    posix.environ[b"IJFW_HOME"] = call.home
    if call.manifest is not None and not call.manifest["site"]:
        sys.path[:] = call.manifest["path"]
        from ijfw_core.live import bundle

        bundle.install(call.home, call.manifest)
    else:
        import site

        site.main()
    from ijfw_core.live import precompiled

    precompiled.install(call.home)
    from ijfw_core.live import capture

    return capture
