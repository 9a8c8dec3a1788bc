"""Opens NVIDIA's libraries at run time, first those of the wheels, then those of the toolkit."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class LibraryError(RuntimeError):
    """The error of a function of one of NVIDIA's libraries that failed. ``status`` is the integer that the function
    returned, and the message has its name."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class MissingLibraryError(LibraryError, ImportError):
    """The error of a call whose library, of NVIDIA's or SciPy, is not installed. The message names the package that
    brings it."""


class _File(NamedTuple):
    versions: tuple[str, ...]  # the version suffixes of the file name, newest first
    folders: tuple[str, ...]  # folders below site-packages/nvidia
    package: str
    status: Mapping[int, str]


_CUFFT = dict(enumerate((
    "SUCCESS", "INVALID_PLAN", "ALLOC_FAILED", "INVALID_TYPE", "INVALID_VALUE", "INTERNAL_ERROR", "EXEC_FAILED",
    "SETUP_FAILED", "INVALID_SIZE", "UNALIGNED_DATA", "INCOMPLETE_PARAMETER_LIST", "INVALID_DEVICE", "PARSE_ERROR",
    "NO_WORKSPACE", "NOT_IMPLEMENTED", "LICENSE_ERROR", "NOT_SUPPORTED",
)))  # fmt: skip
_CUBLAS = {
    1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH", 11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR",
}  # fmt: skip
_CURAND = {
    100: "VERSION_MISMATCH", 101: "NOT_INITIALIZED", 102: "ALLOCATION_FAILED", 103: "TYPE_ERROR", 104: "OUT_OF_RANGE",
    105: "LENGTH_NOT_MULTIPLE", 106: "DOUBLE_PRECISION_REQUIRED", 201: "LAUNCH_FAILURE", 202: "PREEXISTING_FAILURE",
    203: "INITIALIZATION_FAILED", 204: "ARCH_MISMATCH", 999: "INTERNAL_ERROR",
}  # fmt: skip
_FILES = {
    "cufft": _File(("12", "11", "10"), ("cufft", "cu13"), "nvidia-cufft-cu12", _CUFFT),
    "cublas": _File(("13", "12", "11"), ("cublas", "cu13"), "nvidia-cublas-cu12", _CUBLAS),
    "curand": _File(("10",), ("curand", "cu13"), "nvidia-curand-cu12", _CURAND),
}


class Library:
    """An open library. ``call("cufftDestroy", plan)`` calls a function; a status other than 0 raises LibraryError."""

    def __init__(self, name: str, handle: ctypes.CDLL, file: str) -> None:
        self.name, self.file = name, file
        self._handle = handle
        self._functions: dict[str, Callable[..., int]] = {}

    def has(self, function: str) -> bool:
        return hasattr(self._handle, function)

    def function(self, name: str) -> Callable[..., int]:
        """The function of this name, which returns its status. Raises LibraryError if it does not exist."""
        found = self._functions.get(name)
        if found is None:
            try:
                found = getattr(self._handle, name)
            except AttributeError:
                raise LibraryError(f"'{self.file}' has no function '{name}': another version of it is needed") from None
            found.restype = ctypes.c_int
            self._functions[name] = found
        return found

    def failure(self, function: str, status: int) -> LibraryError:
        """The error of a function that returned this status."""
        shown = _FILES[self.name].status.get(status, "an unknown status")
        return LibraryError(f"{function} failed: {self.name.upper()}_STATUS_{shown} ({status})", status)

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function with ctypes arguments. Raises LibraryError if the function fails or does not exist."""
        status = self.function(function)(*arguments)
        if status:
            raise self.failure(function, status)


def open_library(name: str) -> Library:
    """Opens ``cufft``, ``cublas`` or ``curand``, once. Raises MissingLibraryError if the library is not installed.

    The environment variables PARPY_CUFFT, PARPY_CUBLAS and PARPY_CURAND name other files.
    """
    return _opened(name, os.environ.get(f"PARPY_{name.upper()}", ""))


@cache
def _opened(name: str, given: str) -> Library:
    problems = []
    for file in [given] if given else _candidates(name):
        try:
            return Library(name, ctypes.CDLL(file), file)
        except OSError as error:
            problems.append(str(error))
    where = f"'{given}' cannot be opened: {problems[0]}" if given else "it is in no wheel and no toolkit"
    raise MissingLibraryError(
        f"the library {name} is needed for arrays on a GPU, but {where}; "
        f"'pip install {_FILES[name].package}' brings it, as the CUDA toolkit does"
    )


def _candidates(name: str) -> Iterator[str]:
    """The files to try in this order: of the wheels, of the toolkit, and the name for the system's loader."""
    wanted = _FILES[name]
    for root in dict.fromkeys(sys.path):
        for folder in wanted.folders:
            yield from _in(Path(root or ".") / "nvidia" / folder / "lib", name, wanted.versions)
    for toolkit in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if toolkit:
            yield from _in(Path(toolkit) / "lib64", name, wanted.versions)
    for version in wanted.versions:
        yield f"lib{name}.so.{version}"


def _in(folder: Path, name: str, versions: tuple[str, ...]) -> Iterator[str]:
    for version in versions:
        file = folder / f"lib{name}.so.{version}"
        if file.exists():
            yield str(file)
