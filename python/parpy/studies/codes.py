"""The meaning of each diagnostic code: its title, the exception that it raises, an example and its remedies.

The titles come from the compiler's registry and the examples from the tests. A wheel has copies of both in the folder
``parpy/diagnostics``; a checkout reads the files of the compiler and of the tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_ROOT = _PACKAGE.parent.parent
_CLASSES = {"Compile": "CompileError", "Parallel": "ParallelError", "Backend": "BackendError"}
_CLASSES |= {"Internal": "InternalError", "Raised": "the exception of the program"}

# Remedies for errors whose messages give no advice, because the remedy depends on the program.
_CURES = {
    "P033": "pass a smaller array, or promise a larger bound with le(n)",
    "P206": "give the function the arguments that it declares",
    "P218": "call the function with the arguments that it declares",
    "P232": "call the function with other types, or on another back end, as the author's message says",
    "P302": "put the label directly before a for loop or a statement over slices",
    "P403": "check the loop with opts.check='races'; legality='strict' refuses it, legality='trust' stops the warning",
    "P420": "find out why the condition is false; the note names the iteration",
    "P421": "correct the subscript, whose value and iteration the message names",
    "P425": "make sure that the step is never zero",
    "P427": "test for the case before the call: an array without elements has no largest one",
    "P428": "use floats: compiled integers have 64 bits",
    "P431": "handle the exception of your own program, whose line the note names",
    "P432": "make a mask of the shape of the array",
    "P434": "assign a number before it is used, or test the name with 'is None' first",
    "P435": "correct the subscript; the length of the tuple is in the message",
    "P510": "correct the C++ text, or the header that it includes, at the line that the compiler names",
    "P514": "choose a back end of parpy.backend.available",
    "P527": "keep a kernel in the device part for every launch of the host part",
    "P529": "look up the driver's error; nvidia-smi shows whether the GPU works",
    "P542": "launch fewer threads at once, or give them smaller local arrays",
    "P561": "use smaller arrays, or free some that are not needed any more",
    "P801": "correct the text of the IR, which only parpy-opt reads",
    "P802": "report the program: the reference interpreter runs in tests only",
    "P900": "report the function, its arguments and the output of a call with debug=True",
    "P901": "report the function, its arguments and the output of a call with debug=True",
}


@dataclass(frozen=True)
class Diagnostic:
    """One code. ``example`` is a program and ``message`` the message that it causes; both are empty for codes that no
    Python program can cause. ``cures`` are the advice of all messages with this code."""

    code: str
    title: str
    exception: str
    example: str
    message: str
    cures: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.title}", f"exception: {self.exception}", ""]
        lines += [f"help: {cure}" for cure in self.cures]
        if self.example:
            lines += ["", "This program", "", *_indented(self.example), "", "is told", "", *_indented(self.message)]
        return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.splitlines()]


def _registry() -> Path:
    inside = _PACKAGE / "diagnostics" / "diagnostics.def"
    return inside if inside.exists() else _ROOT / "src" / "support" / "diagnostics.def"


def _examples() -> Path:
    inside = _PACKAGE / "diagnostics"
    return inside if inside.is_dir() else _ROOT / "tests" / "golden" / "diag"


def diagnostics() -> list[Diagnostic]:
    """All diagnostics, in the order of their codes."""
    row = r'^DIAGNOSTIC\((P\d+), +(\w+), +"(.*)", [\w |]+\)$'
    rows = re.findall(row, _registry().read_text(encoding="utf-8"), re.MULTILINE)
    return [_diagnostic(*row) for row in rows]


def _diagnostic(code: str, flavour: str, title: str) -> Diagnostic:
    told = {path: path.with_suffix(".txt").read_text(encoding="utf-8") for path in _examples().glob(f"{code}_*.py")}
    programs = sorted(told, key=lambda path: (len(path.read_text(encoding="utf-8")) + len(told[path]), path.name))
    cures = [cure for path in programs for cure in _cures(code, told[path])]
    if code in _CURES:
        cures.append(_CURES[code])
    exception, message = _CLASSES.get(flavour, f"CompileError and {flavour}Error"), ""
    if programs:
        exception, _, message = told[programs[0]].partition("\n")
        if f"[{code}]" in exception:  # the text names no exception: it is a warning or printed output
            exception, message = "PerformanceWarning", told[programs[0]]
    return Diagnostic(
        code,
        title,
        exception,
        programs[0].read_text(encoding="utf-8").strip() if programs else "",
        message.rstrip(),
        tuple(dict.fromkeys(cures)),
    )


def _cures(code: str, text: str) -> list[str]:
    """The advice that follows the messages with this code."""
    found, at_code = [], False
    for line in text.splitlines():
        if head := re.match(r"(?:.*: )?(?:error|performance|note)\[(P\d+)\]: ", line):
            at_code = head[1] == code
        elif at_code and line.startswith("help: "):
            found.append(line.removeprefix("help: "))
    return found


def explain_code(code: str) -> str:
    """Returns, as text, the meaning of a diagnostic code such as ``"P401"``, an example and the remedies.

    Raises ValueError for a code that ParPy does not have.
    """
    for each in diagnostics():
        if each.code == code.strip().upper():
            return str(each)
    raise ValueError(f"no diagnostic has the code {code!r}; the codes of messages look like P401")
