"""Foreign device code: the files that a kernel is linked with, code in memory, and ``declare_device``."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from ..vocabulary.device import ForeignFunction
from ..vocabulary.signatures import Array, Pointer, Scalar, number_signature

__all__ = [
    "LTOIR",
    "Archive",
    "CUSource",
    "Cubin",
    "Fatbin",
    "LinkableCode",
    "Object",
    "PTXSource",
    "declare_device",
]  # fmt: skip

DEVICE_CODE = (".ptx", ".cubin", ".fatbin", ".o", ".a", ".ltoir")
"""The file name extensions of GPU code."""


class LinkableCode:
    """Device code in memory, for ``link=``. ``data`` is bytes or a str, and error messages call the code ``name``."""

    ending = ""

    def __init__(
        self, data: bytes | str, name: str | None = None, setup_callback: Any = None, teardown_callback: Any = None
    ) -> None:
        if type(self) is LinkableCode:
            raise TypeError("linked code is a CUSource, PTXSource, Cubin, Fatbin, Object, Archive or LTOIR")
        if setup_callback is not None or teardown_callback is not None:
            raise NotImplementedError(
                "code that is linked gets no callbacks: a kernel is loaded once, with its first launch"
            )
        if hasattr(data, "read"):
            data = data.read()
        if not isinstance(data, bytes | str):
            raise TypeError(f"linked code is bytes or a text, not {type(data).__name__}")
        self.data = data.encode() if isinstance(data, str) else data
        self.name = name or f"{type(self).__name__.lower()}{self.ending}"

    @property
    def path(self) -> str:
        """The path of a file with this code, in a folder of this user and named by the hash of its contents."""
        import tempfile

        folder = Path(tempfile.gettempdir()) / f"parpy-linked-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat().st_uid != os.getuid():
            raise PermissionError(f"the folder '{folder}' belongs to another user")
        stem = Path(self.name).name.removesuffix(self.ending)
        place = folder / f"{stem}-{hashlib.sha256(self.data).hexdigest()[:16]}{self.ending}"
        if not place.exists() or place.read_bytes() != self.data:
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as made:
                made.write(self.data)
            os.replace(made.name, place)
        return str(place)

    def __repr__(self) -> str:
        return f"<parpy.cuda.{type(self).__name__} '{self.name}', {len(self.data)} bytes>"


class CUSource(LinkableCode):
    """CUDA C++ text, which is compiled with the kernel and also runs on the simulator."""

    ending = ".cu"


class PTXSource(LinkableCode):
    """PTX text, as ``nvcc -ptx -rdc=true`` makes it."""

    ending = ".ptx"


class Cubin(LinkableCode):
    """Machine code, as ``nvcc -dc -cubin`` makes it."""

    ending = ".cubin"


class Fatbin(LinkableCode):
    """Machine code for several kinds of GPUs, as ``nvcc -dc -fatbin`` makes it."""

    ending = ".fatbin"


class Object(LinkableCode):
    """An object file, as ``nvcc -dc`` makes it."""

    ending = ".o"


class Archive(LinkableCode):
    """A library of object files, as ``nvcc -lib`` makes it."""

    ending = ".a"


class LTOIR(LinkableCode):
    """Code that is optimised when it is linked, as ``nvcc -dc -ltoir`` makes it."""

    ending = ".ltoir"


def linked(link: Any) -> tuple[str, ...]:
    """The paths of the files to compile or link with a kernel."""
    if not isinstance(link, str | list | tuple | LinkableCode) and not hasattr(link, "__fspath__"):
        raise TypeError(f"link takes a path or a list of paths, not {link!r}")
    paths = tuple(map(_path, link if isinstance(link, list | tuple) else [link]))
    for path in paths:
        if not path.endswith((".cu", *DEVICE_CODE)):
            raise ValueError(f"'{path}' cannot be linked: files end in .cu, {', '.join(DEVICE_CODE)}")
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no file '{path}' to link")
    return paths


def _path(link: Any) -> str:
    return link.path if isinstance(link, LinkableCode) else str(link)


def declare_device(
    name: str, sig: Any, link: Any = (), use_cooperative: bool = False, abi: str | None = None
) -> ForeignFunction:
    """Declares a function of CUDA C++, which kernels call by the name that the result is assigned to.

    ``sig`` is a signature such as ``int32(int32, CPointer(float32))``; kernels pass arrays for pointers. ``link`` lists
    the files that define the function, which may also be given to ``cuda.jit``. A file with CUDA C++ (.cu) is compiled
    with the kernel and also runs on the simulator; files with the endings .ptx, .cubin, .fatbin, .o, .a and .ltoir hold
    code for GPUs that ``nvcc -dc`` has made. The function is ``extern "C" __device__``. ``abi`` says how it returns its
    result: ``"c"`` as in C, ``"numba"`` through a pointer before its parameters with a status as the C result, and
    ``"out"`` through a pointer after them. Without ``abi``, the parameters in the CUDA C++ text decide; for other files
    it is ``"c"``.

    Raises ValueError for a name that is not an identifier and for another ``abi``.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{name!r} is not the name of a function")
    if abi not in (None, "c", "numba", "out"):
        raise ValueError(f"the abi of a function is 'c', 'numba' or 'out', not {abi!r}")
    wanted = number_signature(sig, with_result=True)
    return ForeignFunction(name, [_c_type(each, wanted) for each in wanted.arguments], wanted.number, abi, linked(link))


def _c_type(kind: Any, wanted: Any) -> str:
    """The type of a parameter in IR text; an array is passed as a pointer to its elements."""
    if isinstance(kind, Scalar):
        return kind.name
    if isinstance(kind, Pointer | Array) and isinstance(kind.element, Scalar):
        return f"{kind.element.name}*"
    raise TypeError(f"a foreign function takes numbers and pointers to numbers: {wanted}")
