"""Rules of the house that a machine can check: file sizes, names, and statements of the documents about the code."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import places

ROOT = places.ROOT
SOURCES = [
    p
    for folder in ("include", "src", "bindings", "python", "tools", "tests", "benchmarks", "examples")
    for p in (ROOT / folder).rglob("*")
    if p.suffix in {".h", ".cpp", ".def", ".inc", ".py", ".pyi"} and "golden" not in p.parts
]


def test_files_are_at_most_600_lines():
    long = {str(p.relative_to(ROOT)): n for p in SOURCES if (n := len(p.read_text().splitlines())) > 600}
    assert not long


# A folder includes only folders that precede it; `parpy` are the public headers.
LAYERS = ["support", "ir", "parpy", "analysis", "mapping", "dialects", "passes", "emit", "runtime"]


def test_no_include_points_up():
    up = []
    for path in (ROOT / "include").rglob("*.h"), (ROOT / "src").rglob("*"):
        for file in path:
            layer = file.relative_to(ROOT / file.relative_to(ROOT).parts[0]).parts[0]
            if layer not in LAYERS or file.suffix not in {".h", ".cpp", ".inc", ".def"}:
                continue  # the programs on top of all: compile.cpp, explain.cpp, tune.cpp
            for included in re.findall(r'^ *#include "([^"]+)"', file.read_text(), re.M):
                other = included.split("/")[0]
                if "/" in included and LAYERS.index(other) > LAYERS.index(layer):
                    up.append(f"{file.relative_to(ROOT)}: {included}")
    assert not up


def test_folders_hold_at_most_25_files():
    roots = [
        *(ROOT / name for name in ("include", "src", "bindings", "python", "docs", "examples")),
        *(ROOT / "tests" / name for name in ("unit", "python", "fuzz")),
    ]
    folders = [p for root in roots for p in (root, *root.rglob("*")) if p.is_dir() and p.name != "__pycache__"]
    folders = [p for p in folders if ROOT / "docs" / "gallery" not in (p, *p.parents)]  # `make docs` writes these
    large = {str(p.relative_to(ROOT)): n for p in folders if (n := sum(f.is_file() for f in p.iterdir())) > 25}
    assert len(folders) > len(roots) and not large


PACKAGE = ROOT / "python"
MODULES = {
    ".".join(p.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): p
    for pattern in ("*.py", "*.pyi")
    for p in (PACKAGE / "parpy").rglob(pattern)
}


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module, without those in `if TYPE_CHECKING`."""
    for part in ast.iter_child_nodes(node):
        if not (isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"):
            yield part
            yield from _parts(part)


def _imports(module: str) -> set[str]:
    """The modules of the package that a module imports, at its top or in a function."""
    path = MODULES[module]
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    found = set()
    for node in _parts(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names = {f"{source}.{name.name}" for name in node.names}
            found |= {name if name in MODULES else source for name in names}
    return (found & MODULES.keys()) - {module}


def _reached(start: str, arrows: dict[str, set[str]]) -> set[str]:
    found, left = set(), [start]
    while left:
        new = arrows[left.pop()] - found
        found |= new
        left.extend(new)
    return found


def test_import_circles_have_at_most_two_modules():
    arrows = {module: _imports(module) for module in MODULES}
    assert "parpy.frontend.lowering" in arrows["parpy.frontend.statements.loops"]
    reached = {module: _reached(module, arrows) for module in MODULES}
    circles = {frozenset(b for b in reached[a] if a in reached[b]) for a in MODULES}
    assert [sorted(circle) for circle in circles if len(circle) > 2] == []


def _classes() -> dict[tuple[str, str], list[str]]:
    """The names of the bases of every class, by module and name."""
    return {
        (module, node.name): [ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases]
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and path.suffix == ".py"
    }


def test_classes_inherit_from_at_most_two_others_in_a_row():
    classes = _classes()
    bases: dict[str, set[str]] = {}  # classes of one name count as one
    for (_, name), names in classes.items():
        bases.setdefault(name, set()).update(names)

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in bases[name] if base in bases and base != name), default=0)

    assert classes and [place for place in classes if depth(place[1]) > 3] == []


def test_no_method_is_left_to_subclasses():
    # Errors with a message are no stubs: they are for names of other libraries that have no meaning here.
    silent = re.compile(r"raise NotImplementedError(\(\))?$", re.MULTILINE)
    stubs = [str(p) for p in MODULES.values() if silent.search(p.read_text())]
    assert stubs == []


def test_no_file_is_called_utils():
    assert not [p for p in SOURCES if p.stem.strip("_") in {"utils", "util", "helpers", "common", "misc"}]


def test_files_that_the_texts_name_exist():
    names = {p.name for p in SOURCES} | {p.name for p in (ROOT / "tools").iterdir()}
    texts = {ROOT / "ARCHITECTURE.md": r"`([\w/]+\.(?:cpp|h|def|inc|py))`"}
    texts |= {p: r"^.*// .*?\b([\w/]+\.(?:cpp|h|def|inc))\b" for p in SOURCES if "src" in p.parts}
    texts |= {p: r"\(([\w/]+\.py)\)" for p in SOURCES if "python" in p.parts}
    foreign = {"math.h", "stdint.h", "cuda_fp16.h", "cuda.h", "nvJitLink.h"}
    unknown = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, pattern in texts.items()
        for name in re.findall(pattern, path.read_text(), re.M)
        if name.split("/")[-1] not in names | foreign
    ]
    assert not unknown


def test_no_todo_without_an_issue():
    assert not [
        str(p)
        for p in SOURCES
        if p != Path(__file__) and re.search(r"\b(TODO|FIXME|HACK)\b(?!\(#\d+\))", p.read_text())
    ]


# Codes that no Python program can cause: the test whose expected text has the code instead, and the reason.
SEEN_ELSEWHERE = {
    "P206": ("golden/infer_types/error_returns.ir", "the frontend counts arguments (P105)"),
    "P218": ("golden/specialize_arguments/counts_differ.ir", "Python's TypeError comes first"),
    "P302": ("golden/map_loops/p302_no_loop.ir", "the frontend refuses labels in front of anything else (P020)"),
    "P514": ("unit/executable_test.cpp", "calls refuse the back end (P560), compile_string its text (P563)"),
    "P801": ("golden/parse/syntax.ir", "the text form of the IR is read by parpy-opt only"),
    "P802": ("golden/eval/p802_out_of_range.ir", "the reference interpreter runs in tests only"),
    "P900": ("golden/promote_elements/two_launches.ir", "a fault of a pass"),
    "P901": ("golden/verify/kernels.ir", "a fault of a pass"),
}


def expected_text(case: Path) -> str:
    """The expected text of a test, without its program."""
    text = case.read_text(encoding="utf-8")
    if case.suffix == ".cpp":
        return "".join(f"[{code}]" for code in re.findall(r"Code::k(P\d+)\);", text))
    return text.partition("# ---- expected\n")[2]


def test_every_diagnostic_code_has_a_golden():
    codes = re.findall(r"^DIAGNOSTIC\((P\d+)", (ROOT / "src/support/diagnostics.def").read_text(), re.M)
    programs = (ROOT / "tests/golden/diag").glob("*.py")
    shown = "".join(p.with_suffix(".txt").read_text(encoding="utf-8") for p in programs)
    without = {code for code in codes if not re.search(rf"(error|performance|note)\[{code}\]: ", shown)}
    assert without == set(SEEN_ELSEWHERE)
    assert [c for c, (case, _) in SEEN_ELSEWHERE.items() if f"[{c}]" not in expected_text(ROOT / "tests" / case)] == []


def parpy_opt() -> Path:
    found = next((p for p in (ROOT / "build").rglob("parpy-opt") if p.is_file()), None)
    if found is None:
        pytest.skip("parpy-opt is not built")
    return found


def test_architecture_shows_the_pipeline():
    shown = (ROOT / "ARCHITECTURE.md").read_text()
    printed = subprocess.run([parpy_opt(), "--print-pipeline"], capture_output=True, text=True, check=True).stdout
    assert printed.strip() in shown, "paste the output of parpy-opt --print-pipeline into ARCHITECTURE.md"
