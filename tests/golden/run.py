"""Golden tests of the IR tools: collects the cases, runs parpy-opt, compares or rewrites.

A pass case is `tests/golden/<pass_name>/<case>.ir`: header lines `# RUN: parpy-opt FLAGS`, the input
program, and for each RUN line, in order, a line `# ---- expected` followed by the output. The input
reaches parpy-opt as a file cut before the first expected part, so line numbers in messages agree.

An emission case is a folder `tests/golden/emit/<kernel>/` with `input.ir` (one RUN line, and another
`# RUN metal: parpy-opt FLAGS` at the end for a back end that lacks the program's types; the flags
give the signature and the mapping), and the expected texts `cpu.cpp`, `cuda.cu` and `metal.metal`, any of
which may be missing.

    python tests/golden/run.py [--update] [PATH …]

PARPY_OPT names the binary; the default is the newest build*/parpy-opt of the checkout.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
MARKER = "# ---- expected"
RUN = "# RUN: parpy-opt"
RUN_ALONE = "# RUN {}: parpy-opt"  # in an emission case: the flags for one back end
EMITTED = {"cpu.cpp": "cpu", "cuda.cu": "cuda", "metal.metal": "metal"}


def find_parpy_opt() -> Path | None:
    """The parpy-opt binary, or None if it has not been built."""
    if named := os.environ.get("PARPY_OPT"):
        return Path(named)
    built = [p for p in ROOT.glob("build*/parpy-opt") if p.is_file()]
    return max(built, key=lambda p: p.stat().st_mtime, default=None)


def collect() -> list[Path]:
    """Every golden case: .ir files of passes, and the expected texts of emission folders."""
    cases = [p for p in GOLDEN.glob("*/*.ir") if p.parent.name != "emit"]
    cases += [p for p in GOLDEN.glob("emit/*/*") if p.name in EMITTED]
    return sorted(cases)


@dataclass
class Result:
    """The expected and the actual output of a case."""

    expected: str
    actual: str

    @property
    def passed(self) -> bool:
        return self.expected == self.actual

    def diff(self, name: str) -> str:
        lines = difflib.unified_diff(
            self.expected.splitlines(keepends=True),
            self.actual.splitlines(keepends=True),
            f"{name} (expected)",
            f"{name} (actual)",
        )
        return "".join(lines)


def _flags(text: str, case: Path, run: str = RUN) -> list[list[str]]:
    lines = [line[len(run) :] for line in text.splitlines() if line.startswith(run)]
    if not lines:
        raise ValueError(f"{case}: no line '{RUN} …'")
    return [shlex.split(line) for line in lines]


def _run(binary: Path, flags: list[str], text: str, name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [str(binary), *flags, str(path)], capture_output=True, text=True, timeout=60
        )
    output = done.stdout
    if done.stderr or done.returncode not in (0, 1):
        output += f"{done.stderr}exit status {done.returncode}\n"
    return output


def _check_pass_case(binary: Path, case: Path) -> Result:
    content = case.read_text(encoding="utf-8")
    source = content.split(MARKER + "\n", 1)[0]
    parts = [MARKER + "\n" + _run(binary, f, source, case.name) for f in _flags(source, case)]
    return Result(content, source + "".join(parts))


def _check_emission_case(binary: Path, case: Path) -> Result:
    source = (case.parent / "input.ir").read_text(encoding="utf-8")
    target = EMITTED[case.name]
    alone = RUN_ALONE.format(target)
    flags = _flags(source, case, alone if alone in source else RUN)[0] + ["--emit", target]
    return Result(case.read_text(encoding="utf-8"), _run(binary, flags, source, "input.ir"))


def check(binary: Path, case: Path) -> Result:
    """Runs one case of collect()."""
    if case.suffix == ".ir":
        return _check_pass_case(binary, case)
    return _check_emission_case(binary, case)


def main() -> int:
    parser = argparse.ArgumentParser(description="run or update the golden tests")
    parser.add_argument("--update", action="store_true", help="rewrite what differs")
    parser.add_argument("paths", nargs="*", type=Path, help="cases or folders (default: all)")
    arguments = parser.parse_args()
    binary = find_parpy_opt()
    if binary is None:
        sys.exit("parpy-opt is not built")
    chosen = [p.resolve() for p in arguments.paths]
    failures = 0
    for case in collect():
        if chosen and not any(case == p or p in case.parents for p in chosen):
            continue
        result = check(binary, case)
        if result.passed:
            continue
        name = str(case.relative_to(ROOT))
        if arguments.update:
            case.write_text(result.actual, encoding="utf-8")
            print(f"updated {name}")
        else:
            failures += 1
            print(result.diff(name))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
