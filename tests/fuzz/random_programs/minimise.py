"""Makes a failing case small: fewer calls, fewer and simpler statements, as long as it fails in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from .compare import Case


def symptom(fault: str) -> str:
    """The common part of all runs that fail alike: the code of an error, or that elements differ."""
    code = re.search(r"error\[(P\d+)\]", fault)
    if code:
        return code.group(1)
    if "arguments are changed" in fault:
        return "changed"
    crash = re.search(r"(\w+(?:Error|Exception|Warning))\b", fault)
    return crash.group(1) if crash else "died" if "died" in fault else "differs"


def minimise(case: Case, fault_of: Callable[[Case], str | None], budget: int = 400) -> Case:
    """The smallest case found with at most `budget` runs that shows the symptom of `case`."""
    first = fault_of(case)
    if first is None:
        return case
    wanted = symptom(first)
    runs = 0

    def fails(candidate: Case) -> bool:
        nonlocal runs
        if runs >= budget:
            return False
        runs += 1
        try:
            compile(candidate.text, "candidate", "exec")
            found = fault_of(candidate)
        except Exception:
            return False
        return found is not None and symptom(found) == wanted

    smaller = True
    while smaller and runs < budget:
        smaller = False
        for candidate in _candidates(case):
            if fails(candidate):
                case = candidate
                smaller = True
                break
    return case


def _candidates(case: Case) -> Iterator[Case]:
    for drop in range(len(case.calls) - 1):
        yield replace(case, calls=case.calls[:drop] + case.calls[drop + 1 :])
    for size in (len(case.calls) // 2,):
        if size:
            yield replace(case, calls=case.calls[size:])
    for text in _shorter(case.text):
        yield replace(case, text=text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _shorter(text: str) -> Iterator[str]:
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("def kernel")) + 1
    for at in range(first, len(lines)):
        if not lines[at].strip():
            continue
        end = at + 1
        while end < len(lines) and lines[end].strip() and _indent(lines[end]) > _indent(lines[at]):
            end += 1
        yield "\n".join(lines[:at] + lines[end:])  # drops the statement
        if end > at + 1:  # the body replaces the statement
            inner = [line[4:] for line in lines[at + 1 : end]]
            yield "\n".join(lines[:at] + inner + lines[end:])
            if lines[at].lstrip().startswith("for "):
                name = lines[at].split()[1]
                start = re.search(r"range\(([^,)]+),", lines[at])
                value = start.group(1) if start else "0"
                yield "\n".join([*lines[:at], " " * _indent(lines[at]) + f"{name} = {value}", *inner, *lines[end:]])
    for at in range(first, len(lines)):
        for shorter in _simpler(lines[at]):
            yield "\n".join([*lines[:at], shorter, *lines[at + 1 :]])


def _simpler(line: str) -> Iterator[str]:
    """The line with one operand less, or with a simple operand that replaces a part in brackets."""
    for match in re.finditer(r"\(([^()]*)\)", line):
        inside = match.group(1)
        before = line[: match.start()]
        if re.search(r"\w$", before):  # a call
            continue
        for part in re.split(r" [-+*<>=!|&^%/]+ | if | else | or | and ", inside):
            yield before + part + line[match.end() :]
    match = re.match(r"(\s*[^=]+ [-+*|&^]?= )(.+)$", line)
    if match:
        for part in re.split(r" [-+*|&^%/]+ ", match.group(2)):
            if part != match.group(2) and part.count("(") == part.count(")") and part.count("[") == part.count("]"):
                yield match.group(1) + part
