"""The frontend's surface programs of every function and kernel that the test modules define.

python tests/python/surfaces.py [FOLDER]     writes FOLDER/MODULE.txt; without FOLDER, the golden files anew
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import places

GOLDEN = places.TESTS / "golden" / "frontend"

if __name__ == "__main__":
    sys.path += [str(folder) for folder in places.SUBJECTS]
    sys.path.append(str(places.ROOT / "python"))  # where parpy is not installed

from parpy import _native  # noqa: E402
from parpy.calls.errors import CompileError  # noqa: E402
from parpy.cuda._kernel import Kernel  # noqa: E402
from parpy.frontend.parse import parse  # noqa: E402


def modules() -> list[str]:
    found = {p.stem for folder in places.SUBJECTS for p in folder.glob("test_*.py")}
    # Modules that need optional packages are omitted.
    return sorted(found - {"test_surfaces", "test_bfloat16", "test_jax", "test_torch"})


def _functions(module: ModuleType) -> Iterator[tuple[str, _native.JitFunction | Kernel]]:
    """The functions that the module itself defines, once each, in its order."""
    seen: set[int] = set()
    for name, value in vars(module).items():
        if not isinstance(value, _native.JitFunction | Kernel) or id(value) in seen:
            continue
        seen.add(id(value))
        if getattr(value, "__module__", None) == module.__name__:
            yield name, value


def _surface(function: _native.JitFunction | Kernel) -> str:
    """The text of the program, or the messages if it cannot be made without a call's arguments."""
    try:
        parsed = function.parse() if isinstance(function, Kernel) else parse(function)
    except CompileError as error:
        return "".join(f"{code}: {message}\n" for code, message in re.findall(r"error\[(P\d+)\]: (.*)", str(error)))
    text = str(parsed.module.text()).removeprefix("surface\n\n")
    # The process numbers the symbols of parpy.types in their order of creation.
    symbols = dict.fromkeys(re.findall(r"\b[NT]\d+\b", text))
    numbers = {symbol: f"{symbol[0]}{n}" for n, symbol in enumerate(symbols)}
    return re.sub(r"\b[NT]\d+\b", lambda found: numbers[found[0]], text)


def text_of(module: str) -> str:
    """The content of the module's golden file; empty if it defines no such function."""
    # These folders must precede those that other test modules have added.
    sys.path[:0] = [str(places.HELPERS), *map(str, places.SUBJECTS)]
    found = importlib.import_module(module)
    return "\n".join(f"==== {name}\n{_surface(function)}" for name, function in _functions(found))


def main(folder: Path = GOLDEN) -> None:
    folder.mkdir(exist_ok=True)
    for module in modules():
        path, text = folder / f"{module}.txt", text_of(module)
        if text:
            path.write_text(text)
        else:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
