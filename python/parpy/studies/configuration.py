"""``parpy.show_config`` describes the installation and this machine."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np

from .. import _native
from ..calls.options import CompileBackend

_OTHERS = (
    *("numba", "cupy", "torch", "jax", "dask", "mpi4py", "xarray", "tqdm", "ml_dtypes"),
    *("nvidia-cuda-nvrtc", "nvidia-nvjitlink"),
)


def facts() -> dict[str, dict[str, str]]:
    """Versions, devices, compilers, cache and settings, in the groups that ``show_config`` prints."""
    native = _native.configuration()
    package = Path(__file__).parents[1]
    return {
        "parpy": {
            "version": _native.version,
            "folder": str(package),
            "also on the path": ", ".join(others(package)) or "no other parpy",
        },
        "python": {
            "version": f"{platform.python_implementation()} {platform.python_version()}",
            "executable": sys.executable,
            "numpy": np.__version__,
            "other packages": _versions(),
        },
        "machine": {
            "system": platform.platform(),
            "processor": f"{native['processor']}, vectors of {native['vector_bits']} bits",
            "threads": f"{native['threads']} of {os.cpu_count()} processors",
        },
        "compilers": {
            "C++": f"Clang {native['clang']}, built in",
            "CUDA C++": _nvrtc(native),
            "threading": f"oneTBB {native['tbb']}, built in",
        },
        "devices": _devices(native),
        "cache": _cache(native),
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("PARPY_")},
    }


def show_config() -> None:
    """Prints versions, devices, compilers, the cache and the settings of this machine, for use in bug reports.

    ``python -m parpy`` prints the same text. Each missing component is listed with the package to install.
    """
    print(text())


def text() -> str:
    """The text that ``show_config`` prints."""
    lines = []
    for title, group in facts().items():
        lines.append(f"{title}:")
        lines += [f"  {name}: {value}" for name, value in group.items()] or ["  nothing is set"]
    return "\n".join(lines)


def others(package: Path) -> list[str]:
    """Paths of other packages or modules named parpy on ``sys.path``, which may hide this one."""
    places = [Path(each or ".") for each in sys.path]
    found = [place / name for place in places for name in ("parpy", "parpy.py")]
    there = [each for each in found if (each / "__init__.py").is_file() or (each.suffix and each.is_file())]
    return [str(each) for each in dict.fromkeys(path.resolve() for path in there) if each != package.resolve()]


def _versions() -> str:
    found = []
    for name in _OTHERS:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found) or "none of the libraries that ParPy works with"


def _nvrtc(native: dict[str, object]) -> str:
    if native["nvrtc"]:
        return f"NVRTC {native['nvrtc']} ({native['nvrtc_file'] or 'of the system'})"
    return "no NVRTC: pip install nvidia-cuda-nvrtc, which only GPUs need"


def _devices(native: dict[str, object]) -> dict[str, str]:
    found = {"CPU": "always there", "Sim": "the simulator of a GPU, always there"}
    if missing := _native.cuda_unavailable():
        found["CUDA"] = f"none: {missing}"
    else:
        found["CUDA"] = f"driver for CUDA {native['driver']}"
        for index in range(_native.device_count()):
            free, total = _native.memory_info(index)
            memory = f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB are free"
            found[f"CUDA {index}"] = f"{_native.device_name(index)}, {memory}"
    auto = CompileBackend.Cpu if missing else CompileBackend.Cuda
    found["automatic choice"] = auto.name
    return found


def _cache(native: dict[str, object]) -> dict[str, str]:
    folder = str(native["cache"])
    if not folder:
        return {"folder": "disabled: compiled code is not kept (PARPY_CACHE, PARPY_CACHE_DIR)"}
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            usable = ""
    except OSError as error:
        usable = f", which cannot be written ({error.strerror}): set PARPY_CACHE_DIR to a folder that can"
    sizes = [each.stat().st_size for each in Path(folder).rglob("*") if each.is_file()]
    most = f"at most {int(str(native['cache_bound'])) / 2**20:.0f} MiB"
    return {"folder": folder + usable, "size": f"{sum(sizes) / 2**20:.1f} MiB in {len(sizes)} files, {most}"}
