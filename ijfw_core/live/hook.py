"""What an agent runs at each of its events: `<python> -I -S ~/.ijfw/hook.py PLATFORM EVENT`.

`ijfw setup` copies this file to ~/.ijfw as the module `ijfw_hook`, which a script of a few lines
imports: a module is compiled once, a script each time. It imports modules written in C only,
decides in a few milliseconds whether the event can matter, and leaves the work to a child that the
agent does not wait for. Whatever goes wrong: it exits 0, in time, and prints nothing but the
platform's JSON.
"""

import _signal  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
import marshal
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Found = dict[str, Any]

LIMIT = 4 << 20  # bytes of a payload; a larger one is torn, the transcript makes up for it
PIPE = 1 << 20  # bytes that are read at once
SECONDS = 2.0  # to wait for the payload
RECALL_SECONDS = 0.1  # for what memory has to say to a prompt; then it says nothing
SILENT = 12 * 3600  # seconds after a question, where the platform gives no session id
QUIET = 64 << 10  # a longer payload is looked at in full: the literals may stand in what was cut
OFF = (b"", b"0", b"false", b"no", b"off")
# Some clients tell of an empty prompt after each tool; what a person types has its quotes escaped.
NO_PROMPT = (b'"prompt":""', b'"prompt": ""')
MANIFEST, PROJECTS = b"manifest", b"run/projects"
PRIME = (1 << 61) - 1
FORMAT = 3  # of the manifest
SESSION = (b"session_id", b"sessionId", b"sessionID", b"taskId", b"conversation_id")


class Call:
    """One call of the hook."""

    def __init__(self, home: bytes, platform: str, event: str, data: bytes) -> None:
        self.home = home  # the user's folder, ~/.ijfw
        self.platform = platform
        self.event = event  # the platform's own name
        self.data = data  # the payload
        self.greeted = False  # the session was given its memory, or the question
        self.manifest = read_manifest(home)


class _LateError(Exception):
    """The payload did not end in time."""


def pack(value: "Any") -> bytes:
    """A value as the bytes of a file that `load` can trust to be whole."""
    body = marshal.dumps(value, 4)
    return b"ijfw1 %d %d\n" % (len(body), int.from_bytes(body, "little") % PRIME) + body


def load(path: bytes) -> "Any":
    """The value that was packed into a file; None where it is missing, torn or another's."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
        try:
            data = posix.read(fd, LIMIT)
        finally:
            posix.close(fd)
        head, _, body = data.partition(b"\n")
        name, size, check = head.split(b" ")
        if name != b"ijfw1" or int(size) != len(body):
            return None
        # Unmarshalling garbage can end the process, so the bytes are checked first.
        return marshal.loads(body) if int.from_bytes(body, "little") % PRIME == int(check) else None
    except (OSError, ValueError, EOFError, TypeError):
        return None


def mark(path: bytes) -> tuple[int, int, int] | None:
    """What tells a file from its former self; None where there is none."""
    try:
        found = posix.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def read_manifest(home: bytes) -> "Found | None":
    """The manifest, or None where it is not of this interpreter, these plugins and settings."""
    found = load(home + b"/" + MANIFEST)
    try:
        if (found["format"], found["python"]) != (FORMAT, (sys.executable, sys.hexversion)):
            return None
        for path, seen in found["files"]:
            if mark(path) != seen:
                return None
        for name in posix.environ:
            if name.startswith(b"IJFW_PLUGINS_") or name == b"IJFW_LOAD_PLUGINS":
                return None
        complete = {"platforms", "path", "site", "plugins"} <= found.keys()
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
    return found if complete else None


def limit(seconds: float) -> None:
    """From now on so many seconds by the clock; then what is being done raises _LateError."""

    def late(_number: int, _frame: object) -> None:
        raise _LateError

    _signal.signal(_signal.SIGALRM, late)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def receive(home: bytes) -> bytes:
    """The payload: what came on stdin within SECONDS, b"" where it is more than LIMIT.

    Some clients never close the pipe, so what came is taken as it is; where it looks cut short, a
    line is left for `ijfw doctor`.
    """
    parts, size = [b""], 0
    try:
        limit(SECONDS)
        while True:
            part = posix.read(0, PIPE)
            if not part:
                break
            if not size and len(part) == 1 << 16:
                widen(0)
            size += len(part)
            if size <= LIMIT:
                parts.append(part)
    except _LateError as error:
        if not parts[-1].rstrip().endswith(b"}"):
            complain(home, error)
    except OSError:
        pass
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    return b"".join(parts) if size <= LIMIT else b""


def widen(pipe: int) -> None:
    """Let a pipe hold more, so that a long payload comes in few turns."""
    try:
        import fcntl

        fcntl.fcntl(pipe, 1031, PIPE)  # F_SETPIPE_SZ of Linux
    except (ImportError, OSError):
        pass


def text_of(data: bytes, *names: bytes) -> bytes:
    """The text of the first of these keys in a JSON payload, without parsing it; b"" if unsure."""
    for name in names:
        at = data.find(b'"' + name + b'"')
        if at >= 0:
            colon, _, rest = data[at + len(name) + 2 : at + 8192].partition(b'"')
            value, end, _ = rest.partition(b'"')
            if colon.strip() == b":" and end and b"\\" not in value:
                return value
    return b""


def project_of(home: bytes, data: bytes) -> "Found | None":
    """What is known of the payload's project; None where it has to be looked up."""
    known = load(home + b"/" + PROJECTS)
    cwd = text_of(data, b"cwd")
    try:
        cwd = (cwd or posix.getcwdb()).rstrip(b"/")
        if known["of"] != mark(home + b"/projects.toml"):
            return None
        while cwd:
            if cwd in known["projects"]:
                found = known["projects"][cwd]
                return found if all(mark(path) == seen for path, seen in found["files"]) else None
            if mark(cwd + b"/.git") or mark(cwd + b"/.ijfw"):
                return None
            cwd = cwd[: cwd.rfind(b"/")]
    except (OSError, TypeError, KeyError, ValueError):
        pass
    return None


def prebuilt(call: Call, project: "Found | None") -> "bytes | None":
    """What a session is greeted with, ready to print; None where it has to be made."""
    if project is None or call.manifest is None:
        return None
    key = (call.platform, call.event)
    if project["state"] == "yes":
        reply: bytes | None = project["replies"].get(key)
        return reply
    session = text_of(call.data, *SESSION).decode("utf-8", "replace")
    import time

    silent = project["until"] - time.time()  # longer than it ever is where the clock was put back
    if session in project["asked"] or (not session and 0 < silent <= SILENT):
        return b""
    question: bytes | None = call.manifest["questions"].get(key)
    return question


def make_folder(path: bytes) -> None:
    """One of ours, unless it is there or cannot be made."""
    try:
        posix.mkdir(path, 0o700)
    except OSError:
        pass


def first(call: Call) -> bool:
    """Whether nobody greeted this session yet; it counts as greeted from now on.

    One without an id never is the first: nobody could tell the second prompt from it.
    """
    path = greeted_file(call)
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC | posix.O_NOFOLLOW
    for _ in range(2 if path else 0):
        try:
            posix.close(posix.open(path, flags, 0o600))
            return True
        except FileNotFoundError:
            make_folder(call.home + b"/run")
            make_folder(call.home + b"/run/greeted")
        except OSError:
            break
    return False


def greeted_file(call: Call) -> bytes:
    """The file that says that a session was greeted, and holds what it was told since; b"" where
    the platform gives no session id."""
    session = text_of(call.data, *SESSION)
    name = (call.platform.encode()[:20] + b"-" + session[:80]).hex().encode()
    return call.home + b"/run/greeted/" + name if session else b""


def remind(call: Call, index: bytes, greeting: bytes) -> bytes:
    """What memory has to say to a prompt, ready to print; b"" for nothing, or where it is late.

    For a session that was given its greeting just now it notes what stood in there.
    """
    frames = call.manifest["platforms"][call.platform].get("frames") if call.manifest else None
    session = greeted_file(call)
    wanted = posix.environ.get(b"IJFW_RECALL_ON_PROMPT", b"on").lower() not in OFF
    reply = b""
    try:
        try:
            if frames and session and wanted:
                limit(RECALL_SECONDS)
                recall = beside("recall")
                if greeting:
                    recall.begin(call.home, index, session)
                elif call.event in frames:
                    said = recall.answer(call.home, index, session, call.data)
                    before, behind = frames[call.event]
                    reply = before + said + behind if said else b""
        finally:
            _signal.setitimer(_signal.ITIMER_REAL, 0)
    except BaseException:  # late, or a file that is missing, torn or another's
        return b""
    return reply


def beside(name: str) -> "Any":
    """A module that few calls need, imported where they do; it lies beside this one."""
    if __name__ != "ijfw_hook":
        from ijfw_core.live import child, prompt_recall

        return child if name == "child" else prompt_recall
    sys.path.insert(0, __file__.rpartition("/")[0])
    try:
        return __import__("ijfw_" + name)
    finally:
        del sys.path[0]


def passed_over(platform: "Found", event: str, data: bytes) -> bool:
    """Whether nobody wants to see the event: no literal of any plugin is in it."""
    if event not in platform["quiet"] or len(data) > QUIET or platform["literals"] is None:
        return False
    return not any(literal in data for literal in platform["literals"])


def write(data: bytes) -> None:
    """Print all of it."""
    while data:
        data = data[posix.write(1, data) :]


def silence() -> None:
    """Let go of the agent's pipes, so that it sees their end when this process does."""
    try:
        null = posix.open("/dev/null", posix.O_RDWR)
        for fd in range(3):
            posix.dup2(null, fd)
        posix.closerange(3, 256)
    except OSError:
        posix.closerange(0, 256)


def share_lock(home: bytes) -> None:
    """Hold the capture lock with the other children; a session's worker waits for all of them."""
    import fcntl
    import time

    path = home + b"/run/capture.lock"
    flags = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        try:
            fd = posix.open(path, flags)
        except FileNotFoundError:
            if mark(home + b"/run") is None:
                posix.mkdir(home + b"/run", 0o700)
            fd = posix.open(path, flags | posix.O_CREAT, 0o600)
        for _ in range(20):  # a worker that looks whether all are done holds it for an instant
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.002)
    except OSError:
        pass  # not to be made, or held: the event is captured without it


def leave_to_child(call: Call) -> None:
    """Fork, and let the agent go on."""
    silence()
    share_lock(call.home)
    try:
        pid = posix.fork()
    except OSError:
        beside("child").spawn(call)
        return
    if not pid:
        beside("child").work(call)
        return
    try:
        posix.setpgid(pid, pid)  # before we are gone: the agent may end our group then
    except OSError:
        pass


def run(call: Call) -> None:
    """One event of one platform, from the payload to the fork."""
    kind = "session_start" if "start" in call.event.lower() else ""
    greets, skip = bool(kind), False
    if call.manifest is not None:
        about = call.manifest["platforms"].get(call.platform)
        if about is None or (about["events"] and call.event not in about["events"]):
            return
        kind = about["events"].get(call.event, "")
        if kind == "prompt" and (NO_PROMPT[0] in call.data or NO_PROMPT[1] in call.data):
            return
        greets = call.event in about["greets"]
        skip = passed_over(about, call.event, call.data)
        if skip and not greets:
            return
    project = project_of(call.home, call.data)
    state = "unknown" if project is None else project["state"]
    if state == "no" or (state == "ask" and not greets):
        return
    call.greeted = greets and (first(call) or kind == "session_start")
    greeting = b""
    if call.greeted:
        reply = prebuilt(call, project)
        if reply == b"" and state == "ask":
            return
        greeting = beside("child").answer(call) if reply is None else reply
        write(greeting)
    elif skip or state == "ask":
        return
    index = project.get("recall") if project is not None and state == "yes" else None
    if index and (call.greeted or kind == "prompt"):
        write(remind(call, index, greeting))
    leave_to_child(call)


def complain(home: bytes, error: BaseException) -> None:
    """Leave a line for `ijfw doctor`: what failed and where, none of the text it was given."""
    import time

    try:
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        place = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at is not None else "-"
        number = getattr(error, "errno", None)  # of the system: a full disk, no permission
        what = f"{type(error).__name__}({number})" if number else type(error).__name__
        line = f"{int(time.time())} {what} {place}\n".encode("utf-8", "replace")
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW
        fd = posix.open(home + b"/run/hook-errors", flags, 0o600)
        if posix.fstat(fd).st_size < QUIET:
            posix.write(fd, line)
    except BaseException:
        pass


def home_of(beside: bytes) -> bytes:
    """The user's folder: IJFW_HOME, else where the script lies.

    What is unmarshalled and imported from there is code, and clients take a project's `.env` into
    their environment: a folder inside the project that we are called in does not count.
    """
    named: bytes = posix.environ.get(b"IJFW_HOME", b"")
    if not named or named == beside:
        return beside
    try:
        top = b"."
        while mark(top + b"/.git") is None:
            if posix.stat(top)[1:3] == posix.stat(top + b"/..")[1:3]:
                top = b"."
                break
            top += b"/.."
        project, up = posix.stat(top)[1:3], named
        while posix.stat(up)[1:3] != project:  # inode and device
            if posix.stat(up)[1:3] == posix.stat(up + b"/..")[1:3]:
                return named
            up += b"/.."
    except OSError:
        pass
    return beside


def main() -> None:
    """Never fails."""
    home = b""
    try:
        script = sys.argv[0].encode("utf-8", "surrogateescape")
        home = home_of(script.rpartition(b"/")[0] or b".")
        data = receive(home)
        if data and len(sys.argv) > 2 and posix.environ.get(b"IJFW_DISABLE", b"").lower() in OFF:
            call = Call(home, sys.argv[1], sys.argv[2], data)
            if sys.argv[3:] in (["child"], ["greeted"]):
                call.greeted = sys.argv[3] == "greeted"
                silence()
                share_lock(home)
                beside("child").work(call)
            else:
                run(call)
    except BaseException as error:
        complain(home, error)
    finally:
        posix._exit(0)


if __name__ == "__main__":
    main()
