"""Puts the server together and runs it."""

import gc
import os

from ijfw_core.mcp.loop import Jobs, Json, Loop, Wire, private_stdio
from ijfw_core.mcp.protocol import Call, Session

TYPE_CHECKING = False  # not typing's: importing that is a tenth of the start
if TYPE_CHECKING:
    from ijfw_core.mcp.workspace import Workspace

REST_SECONDS = 0.02  # between two pieces of work that nobody waits for
KEEP_SECONDS = 3.0  # without a call, after which there is time to write what the next server reads
GARBAGE = 50_000  # objects that may come before cycles are looked for: not within most calls
ROOTS_SECONDS = 2.0  # that a client gets to say which folders it works in


class Server:
    """One client on stdio.

    Args:
        read, write: descriptors of the client.
        third_party: whether plugins of other distributions are loaded.
    """

    def __init__(self, read: int, write: int, *, third_party: bool = True) -> None:
        self._third_party = third_party
        self._workspace: Workspace | None = None
        self._wire = Wire(write)
        self._jobs = Jobs(self._warm)
        self._session = Session(self._wire, self._jobs, self._perform, self._roots_changed)
        self._loop = Loop(read, self._wire, self._jobs, self._session.receive)

    def run(self) -> None:
        """Serve until the client has gone."""
        self._loop.run()
        if self._workspace is not None:
            self._workspace.finish()

    def _perform(self, call: Call) -> Json:
        """A call that needs the project; what it needs is imported by the first."""
        from ijfw_core.mcp import resources, tools

        if self._workspace is None:
            call.progress(0, 2, "opening memory")
        work = self._work()
        run = tools.run if call.method == "tools/call" else resources.read
        result = run(call, work)
        for problem in work.problems():
            call.log("warning", problem)
        call.progress(2, 2, "done")
        self._jobs.add(self._after)
        return result

    def _after(self) -> None:
        """The answer was given. What is not needed by the next call waits for a pause: an fsync of
        each file that grew, which a busy disk takes its time for."""
        if self._workspace is not None:
            self._workspace.catch_up()
            self._jobs.later(self._go_on, REST_SECONDS)

    def _go_on(self) -> None:
        """Between calls, as long as there is something to do."""
        if self._workspace is None:
            return
        self._workspace.settle()
        if self._workspace.spare():
            self._jobs.later(self._go_on, REST_SECONDS)
        else:
            self._jobs.later(self._workspace.keep, KEEP_SECONDS)

    def _work(self) -> "Workspace":
        from ijfw_core.mcp.workspace import Workspace

        if self._workspace is None:
            env = dict(os.environ)
            self._workspace = Workspace(env, self._client_roots, third_party=self._third_party)
        return self._workspace

    def _warm(self) -> None:
        """Nothing is asked: load what the first call will need. What goes wrong, it will tell."""
        try:
            from ijfw_core.mcp import tools as tools

            self._work().warm(told=not self._session.has_roots)
        except Exception:
            return

    def _client_roots(self) -> list[str]:
        if not self._session.has_roots:
            return []
        answer = self._wire.ask("roots/list", ROOTS_SECONDS) or {}
        found = answer.get("roots")
        roots = found if isinstance(found, list) else []
        uris = [root.get("uri") for root in roots if isinstance(root, dict)]
        return [uri for uri in uris if isinstance(uri, str)][:64]

    def _roots_changed(self) -> None:
        if self._workspace is not None:
            self._workspace.close()


def serve(*, third_party: bool = True) -> None:
    """Serve memory on stdin and stdout. Does not return: exits 0 when the client has gone."""
    try:
        os.getcwd()
    except OSError:
        os.chdir("/")  # Python code that looks for the working folder must find one
    if os.isatty(0):
        os.write(2, b"ijfw mcp speaks the Model Context Protocol on stdin; end with Ctrl-C\n")
    gc.set_threshold(GARBAGE)
    read, write = private_stdio()
    Server(read, write, third_party=third_party).run()
    raise SystemExit(0)
