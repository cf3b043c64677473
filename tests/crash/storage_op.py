"""One operation on a project's memory, for a process that will be killed or given errors.

    python storage_op.py PROJECT store ID [N]     store N entries, print each acknowledged id
    python storage_op.py PROJECT update ID        store an entry in place of an older text
    python storage_op.py PROJECT replace ID       store `ID-new` in place of ID, acknowledge it as
                                                  soon as it is durable, and do the rest then
    python storage_op.py PROJECT revert RUN       revert a run
    python storage_op.py --serve VERB NAME        the same in a fork for each line `NTH PROJECT` on
                                                  stdin: its NTH write, fsync, rename and unlink
                                                  are the ATth of the process

An error is printed as `error NAME`, exit status 1; it acknowledges nothing.
"""

import errno
import json
import os
import signal
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ijfw_core.storage import durable, ledger, revert, roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_hookspecs import Change

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from ijfw_tests.plainstore import decision, run_of
from ijfw_tests.replacing import REPLACE, replacing, store_of

AT = 40  # more calls than a process makes that only forks and reports
SECONDS = 60


def main(project: str, verb: str, name: str, count: str = "1") -> int:
    place = roots.find(Path(project), {"HOME": project + "-home"})
    writer = Writer(place, store_of(place, verb), lambda text: text)
    try:
        if verb == REPLACE:
            durable.write_note(place, ledger.last_batch(place)[-1].batch)  # else nothing may wait
            if (
                writer.apply(run_of(name), [replacing(name)], leave_rest=True)[0].status
                == "written"
            ):
                acknowledge(name)
            writer.finish()
            return 0
        if verb == "revert":
            acknowledge(revert.apply(writer, [name]).run)
            return 0
        run = Run(id=f"{verb}-{name}", kind="session", at=datetime.now(UTC), session=name)
        for nth in range(int(count)):
            entry = decision(f"{name}-{nth}" if int(count) > 1 else name, f"{verb} {name} {nth}")
            change = Change(
                op="supersede" if verb == "update" else "create", entry=entry, target=entry.id
            )
            if writer.apply(run, [change])[0].status == "written":
                acknowledge(entry.id)
    except OSError as error:
        acknowledge(f"error {errno.errorcode[error.errno or 0]}")
        return 1
    return 0


def acknowledge(what: str) -> None:
    os.write(1, what.encode() + b"\n")


def serve(verb: str, name: str) -> int:
    """One line a fork: what it acknowledged, and its exit status as `subprocess` has it."""
    for line in sys.stdin:
        nth, _, project = line.rstrip("\n").partition(" ")
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            signal.alarm(SECONDS)
            os.dup2(write, 1)
            child(int(nth), project, verb, name)
        os.close(write)
        with open(read) as told:
            output = told.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps([output, status]), flush=True)
    return 0


def child(nth: int, *arguments: str) -> None:
    """Call in vain until the NTH call to come is the ATth, then do the operation."""
    status = 1
    try:
        for _ in range(AT - nth):
            with suppress(OSError):
                os.write(-1, b"x")
            with suppress(OSError):
                os.fsync(0)  # a pipe
            with suppress(OSError):
                os.rename("", "")
            with suppress(OSError):
                os.rename("", "", src_dir_fd=0, dst_dir_fd=0)
            with suppress(OSError):
                os.unlink("")
            with suppress(OSError):
                os.unlink("", dir_fd=0)
        status = main(*arguments)
    except BaseException:
        traceback.print_exc()
    os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        raise SystemExit(serve(*sys.argv[2:]))
    raise SystemExit(main(*sys.argv[1:]))
