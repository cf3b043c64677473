"""Fit the weights of `signals_feedback/rules/weights.toml` on labelled messages, and print them.

    python tests/judge/fit.py [--check]

`--check` tells instead how messages that no rule understands are judged by weights that were fitted
on the other four fifths. Sets that no rule was made for stay out of it.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from ijfw_hookspecs import Signal
from ijfw_plugins.signals_feedback.weighing import WEIGHED, plain_text, seen, stopped, weights
from ijfw_tests.judge.feedback import judge_cases, kinds, said, seventh_cases, sixth_cases
from ijfw_tests.judge.sets import Case, lines

STEPS, RATE, RIDGE, FOLDS = 4000, 1.0, 2e-3, 5


def cases() -> list[Case]:
    """The labelled messages that have been seen."""
    own = [case | {"name": case["id"]} for case in lines("feedback/cases.jsonl")]
    return [*judge_cases(), *sixth_cases(), *seventh_cases(), *own]


def fitted(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression with a ridge; the last one is the bias."""
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        share = 1 / (1 + np.exp(-rows @ found))
        found -= RATE * (rows.T @ (share - wanted) / len(wanted) + RIDGE * found)
    return found


def main(arguments: list[str]) -> None:
    """Print weights, or what they are worth."""
    warnings.simplefilter("ignore")
    every = [case for case in cases() if not stopped(plain_text(case["text"]))]
    names = [name for name in weights().signs if name not in weights().stops]
    signs = [seen(plain_text(case["text"])) for case in every]
    rows = np.array([[name in found for name in names] + [True] for found in signs], float)
    for kind in weights().kinds:
        wanted = np.array([kind in kinds(set(case["labels"])) for case in every], float)
        if "--check" in arguments:
            _check(kind, every, rows, wanted)
            continue
        found = fitted(rows, wanted)
        print(f"[kinds.{kind}]\nbias = {found[-1]:.1f}\nleast = {weights().kinds[kind].least}")
        pairs = zip(names, found[:-1], strict=True)
        inside = ", ".join(f"{name} = {value:.1f}" for name, value in pairs if abs(value) >= 0.15)
        print(f"weights = {{ {inside} }}\n")


def _guessed(signal: Signal) -> bool:
    return signal.signature.endswith(WEIGHED)


def _check(kind: str, every: list[Case], rows: np.ndarray, wanted: np.ndarray) -> None:
    sums = np.zeros(len(every))
    for fold in range(FOLDS):
        here = np.arange(len(every)) % FOLDS == fold
        sums[here] = rows[here] @ fitted(rows[~here], wanted[~here])
    quiet = [n for n, case in enumerate(every) if all(_guessed(signal) for signal in said(case))]
    for least in (0.0, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0):
        over = [n for n in quiet if sums[n] >= least]
        right = sum(wanted[n] for n in over)
        none = sum(every[n]["labels"] == ["none"] for n in over)
        print(f"{kind} >= {least}: {len(over)}, right {right:.0f}, none {none}")
    print(f"of {len(quiet)}, wanted {sum(wanted[n] for n in quiet):.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
