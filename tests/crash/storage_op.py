"""One operation on a project's memory, for a process that will be killed or given errors.

    python storage_op.py PROJECT store ID [N]     store N entries, print each acknowledged id
    python storage_op.py PROJECT update ID        store an entry in place of an older text
    python storage_op.py PROJECT replace ID       store `ID-new` in place of ID, acknowledge it as
                                                  soon as it is durable, and do the rest then
    python storage_op.py PROJECT revert RUN       revert a run

An error is printed as `error NAME`, exit status 1; it acknowledges nothing.
"""

import errno
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from ijfw_core.storage import durable, ledger, revert, roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_hookspecs import Change

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from ijfw_tests.plainstore import decision, run_of
from ijfw_tests.replacing import REPLACE, replacing, store_of


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


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
