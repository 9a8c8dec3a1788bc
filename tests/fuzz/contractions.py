"""Random contractions: compiled for the CPU they give the bits of the loops in the reference interpreter, and in the
simulator the bits of the CPU.

    python tests/fuzz/contractions.py [--backend cpu|sim] [--seed N] [--count N]

The nests are those of tests/python/contraction_cases.py; every fourth has infinities and NaNs among its factors.
Prints the nests that differ and the number that ran as contractions; exits with 1 if one differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "python"))
sys.path.append(str(_HERE.parents[1] / "python"))  # where parpy is not installed

from contraction_cases import case  # noqa: E402
from contraction_checks import check, check_on_simulator  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Random contractions, against the interpreter or the CPU.")
    parser.add_argument("--backend", choices=("cpu", "sim"), default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    contractions = faults = 0
    for seed in range(options.seed, options.seed + options.count):
        try:
            nest = case(seed, special=seed % 4 == 3, large=options.backend == "sim")
            contractions += check_on_simulator(nest) if options.backend == "sim" else check(nest)
        except Exception as error:
            faults += 1
            print(f"{seed}: {type(error).__name__}: {error}", flush=True)
    print(f"{options.count} nests, {contractions} calls of contractions, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
