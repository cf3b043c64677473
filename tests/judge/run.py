"""Judge every stage on the labelled sets: `python tests/judge/run.py [--show] [STAGE ...]`.

Prints one table and exits with 1 where a figure is under its bar. `--show` lists what was missed
in the open parts; the closed third of each set is scored and not shown (see `sets`).
"""

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from ijfw_tests.judge import calibration, duplicates, errors, feedback, lessons, redaction
from ijfw_tests.judge.table import Row, render

STAGES = (redaction, errors, feedback, calibration, duplicates, lessons)


def main(arguments: list[str]) -> int:
    """The exit status: 0 where every bar is kept."""
    warnings.simplefilter("ignore")
    wanted = {name for name in arguments if not name.startswith("-")}
    shown: list[str] = []
    rows: list[Row] = []
    for stage in STAGES:
        if not wanted or stage.STAGE in wanted:
            rows += stage.rows(shown)
    if "--show" in arguments:
        print("\n".join(shown) + "\n")
    print(render(rows))
    failed = [row for row in rows if not row.holds]
    print(f"\n{len(rows)} figures, {len(failed)} under their bars")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
