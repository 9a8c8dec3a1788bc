"""The GPUs of this machine; where there is none, the simulator as one device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

from .. import _native
from ._backend import on_gpu
from ._driver import device_uuid, driver_version

T = TypeVar("T")

# parpy.cuda exports these names.
__all__ = [
    "MemoryInfo", "close", "cuda_error", "current_context", "detect", "devices", "get_current_device", "gpus",
    "initialize", "is_available", "is_bfloat16_supported", "is_float16_supported", "is_supported_version",
    "list_devices", "require_context", "runtime", "select_device",
]  # fmt: skip

# By name: CUDA's number of the attribute, and its value on the simulator.
_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": (1, 1024),
    "MAX_BLOCK_DIM_X": (2, 1024), "MAX_BLOCK_DIM_Y": (3, 1024), "MAX_BLOCK_DIM_Z": (4, 64),
    "MAX_GRID_DIM_X": (5, 2**31 - 1), "MAX_GRID_DIM_Y": (6, 65535), "MAX_GRID_DIM_Z": (7, 65535),
    "MAX_SHARED_MEMORY_PER_BLOCK": (8, 48 * 1024), "TOTAL_CONSTANT_MEMORY": (9, 64 * 1024), "WARP_SIZE": (10, 32),
    "MAX_REGISTERS_PER_BLOCK": (12, 65536), "CLOCK_RATE": (13, 0), "MULTIPROCESSOR_COUNT": (16, 1),
    "MAX_THREADS_PER_MULTI_PROCESSOR": (39, 1024), "ASYNC_ENGINE_COUNT": (40, 0),
    "MAX_PITCH": (11, 2**31 - 1), "TEXTURE_ALIGNMENT": (14, 512), "GPU_OVERLAP": (15, 0),
    "KERNEL_EXEC_TIMEOUT": (17, 0), "INTEGRATED": (18, 1), "CAN_MAP_HOST_MEMORY": (19, 1), "COMPUTE_MODE": (20, 0),
    "CONCURRENT_KERNELS": (31, 0), "ECC_ENABLED": (32, 0), "PCI_BUS_ID": (33, 0), "PCI_DEVICE_ID": (34, 0),
    "TCC_DRIVER": (35, 0), "MEMORY_CLOCK_RATE": (36, 0), "GLOBAL_MEMORY_BUS_WIDTH": (37, 0), "L2_CACHE_SIZE": (38, 0),
    "UNIFIED_ADDRESSING": (41, 1), "PCI_DOMAIN_ID": (50, 0), "COMPUTE_CAPABILITY_MAJOR": (75, 9),
    "COMPUTE_CAPABILITY_MINOR": (76, 0), "STREAM_PRIORITIES_SUPPORTED": (78, 0),
    "GLOBAL_L1_CACHE_SUPPORTED": (79, 0), "LOCAL_L1_CACHE_SUPPORTED": (80, 0),
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": (81, 48 * 1024), "MAX_REGISTERS_PER_MULTIPROCESSOR": (82, 65536),
    "MANAGED_MEMORY": (83, 1), "MULTI_GPU_BOARD": (84, 0), "CONCURRENT_MANAGED_ACCESS": (89, 1),
    "SURFACE_ALIGNMENT": (30, 512), "TEXTURE_PITCH_ALIGNMENT": (51, 32), "HOST_NATIVE_ATOMIC_SUPPORTED": (86, 1),
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": (87, 2), "PAGEABLE_MEMORY_ACCESS": (88, 1),
    "COMPUTE_PREEMPTION_SUPPORTED": (90, 1), "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM": (91, 1),
    "COOPERATIVE_LAUNCH": (95, 1), "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": (97, 48 * 1024),
}  # fmt: skip


class MemoryInfo(NamedTuple):
    """Free and total memory in bytes."""

    free: int
    total: int


class LaunchLimits(NamedTuple):
    """Blocks of a grid and threads of a block in x, y and z; threads of a block in all."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    threads: int


class Device:
    """A GPU, or the simulator. Its attributes have CUDA's names: ``MULTIPROCESSOR_COUNT``, ``WARP_SIZE``, …"""

    def __init__(self, id: int) -> None:
        self.id = id

    @property
    def name(self) -> bytes:
        return _native.device_name(self.id).encode() if on_gpu() else b"simulator"

    @property
    def compute_capability(self) -> tuple[int, int]:
        if not on_gpu():
            return 9, 0
        return self.COMPUTE_CAPABILITY_MAJOR, self.COMPUTE_CAPABILITY_MINOR

    @property
    def uuid(self) -> str:
        """The UUID of the GPU, as ``"GPU-…"``; all digits are zero on the simulator."""
        import uuid

        return f"GPU-{uuid.UUID(bytes=device_uuid(self.id) if on_gpu() else bytes(16))}"

    @property
    def supports_float16(self) -> bool:
        """Always True: operations without an instruction of the GPU are computed in float32."""
        return True

    @property
    def supports_bfloat16(self) -> bool:
        """Always True, for the same reason as ``supports_float16``."""
        return True

    def reset(self) -> None:
        """Has no effect; it exists for compatibility. Memory is freed when no array uses it any more."""

    def __getattr__(self, name: str) -> int:
        if name not in _ATTRIBUTES:
            raise AttributeError(f"a device has no attribute '{name}'")
        number, simulated = _ATTRIBUTES[name]
        return _native.device_attribute(number, self.id) if on_gpu() else simulated

    def launch_limits(self) -> LaunchLimits:
        """The largest sizes of a launch on this device."""
        return LaunchLimits(
            (self.MAX_GRID_DIM_X, self.MAX_GRID_DIM_Y, self.MAX_GRID_DIM_Z),
            (self.MAX_BLOCK_DIM_X, self.MAX_BLOCK_DIM_Y, self.MAX_BLOCK_DIM_Z),
            self.MAX_THREADS_PER_BLOCK,
        )

    def get_memory_info(self) -> MemoryInfo:
        """The free and the total memory of the device, in bytes."""
        if on_gpu():
            return MemoryInfo(*_native.memory_info(self.id))
        import os

        page, pages, free = (os.sysconf(n) for n in ("SC_PAGE_SIZE", "SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
        return MemoryInfo(page * free, page * pages)

    def __enter__(self) -> Device:
        self._before = get_current_device().id
        select_device(self.id)
        return self

    def __exit__(self, *_: Any) -> None:
        select_device(self._before)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<parpy.cuda device {self.id} '{self.name.decode()}'>"


class _Devices:
    """All devices, by number."""

    def __len__(self) -> int:
        return _native.device_count() if on_gpu() else 1

    def __getitem__(self, index: int) -> Device:
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"the number of a device must be an int, not {index!r}")
        if not 0 <= index < len(self):
            raise IndexError(f"there is no device {index}; there are {len(self)}")
        return Device(index)

    def __iter__(self) -> Iterator[Device]:
        return (Device(index) for index in range(len(self)))

    @property
    def lst(self) -> list[Device]:
        """All devices as a list."""
        return list(self)

    @property
    def current(self) -> Device:
        return get_current_device()


gpus = _Devices()
devices = gpus
"""All devices, by number."""


class Context:
    """The result of ``current_context()``: the memory and the work of a device. Each device has one such object."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def get_memory_info(self) -> MemoryInfo:
        """The free and the total memory of the device, in bytes."""
        return self.device.get_memory_info()

    def synchronize(self) -> None:
        """Waits for all work on the GPUs of this process."""
        if on_gpu():
            _native.synchronize()

    def can_access_peer(self, peer: Context | int) -> bool:
        """Whether kernels on this device may read and write the memory of another one, given as its context or its
        number."""
        other = _number_of(peer)
        if not on_gpu():
            return self.device.id == other
        return _native.peer_access(self.device.id, other)

    def enable_peer_access(self, peer: Context | int, flags: int = 0) -> None:
        """Lets kernels on this device read and write the memory of another one. Copies need no such access. Raises
        ValueError where the devices cannot access each other."""
        if not self.can_access_peer(peer):
            raise ValueError(f"device {self.device.id} cannot access the memory of device {_number_of(peer)}")
        if on_gpu():
            _native.let_access(self.device.id, _number_of(peer))

    def reset(self) -> None:
        """Has no effect; it exists for compatibility. Memory is freed when no array uses it any more."""


def _number_of(peer: Context | int) -> int:
    return (gpus[peer] if isinstance(peer, int) else peer.device).id


def current_context(devnum: int | None = None) -> Context:
    """Returns the context of this thread's device. ``devnum`` selects a device first."""
    if devnum is not None:
        select_device(devnum)
    return _context_of(get_current_device())


@cache
def _context_of(device: Device) -> Context:
    return Context(device)


def get_current_device() -> Device:
    """Returns the device that launches and arrays of this thread use."""
    return Device(_native.current_device() if on_gpu() else 0)


@cache
def _limits(device_id: int, gpu: bool) -> LaunchLimits:
    return Device(device_id).launch_limits()


def launch_limits() -> LaunchLimits:
    """The launch limits of this thread's device."""
    return _limits(get_current_device().id, on_gpu())


def select_device(device_id: int) -> Device:
    """Makes launches and arrays of this thread use the device with this number, and returns the device."""
    gpus[device_id]
    if on_gpu():
        _native.select_device(device_id)
    return Device(device_id)


def list_devices() -> list[Device]:
    """Returns a list of all devices."""
    return list(gpus)


def is_available() -> bool:
    """Returns whether there is a GPU. Kernels run on the simulator without one."""
    return not _native.cuda_unavailable()


def detect() -> bool:
    """Prints the devices, and returns whether they are GPUs."""
    if on_gpu():
        print(f"Found {len(gpus)} CUDA devices")
    else:
        print("Found 0 CUDA devices; kernels run on the simulator")
    for device in gpus:
        major, minor = device.compute_capability
        print(f"id {device.id}    {device.name.decode()}    compute capability {major}.{minor}")
    return on_gpu()


def close() -> None:
    """Has no effect; it exists for compatibility. Memory is freed when no array uses it any more."""


def cuda_error() -> str | None:
    """Returns the reason why no GPU can be used, or None if one can."""
    return _native.cuda_unavailable() or None


def is_float16_supported() -> bool:
    """Returns True: operations without an instruction of the GPU are computed in float32."""
    return True


def is_bfloat16_supported() -> bool:
    """Returns True: operations without an instruction of the GPU are computed in float32."""
    return True


def is_supported_version() -> bool:
    """Returns whether the driver is new enough. If it is not, kernels run on the simulator, and a warning says why."""
    return is_available()


def initialize() -> None:
    """Has no effect; it exists for compatibility. The first launch or array sets up the device."""


def require_context(func: Callable[..., T]) -> Callable[..., T]:
    """Returns ``func`` itself; it exists for compatibility. Every function finds the context of its thread."""
    return func


class _Runtime:
    """The class of ``cuda.runtime``, which has the versions of the installed CUDA."""

    def get_version(self) -> tuple[int, int]:
        """Returns the version of CUDA that the driver supports, such as (13, 0); (0, 0) on the simulator."""
        return driver_version() if on_gpu() else (0, 0)

    def is_supported_version(self) -> bool:
        """Returns whether the driver is new enough."""
        return is_supported_version()

    @property
    def supported_versions(self) -> tuple[tuple[int, int], ...]:
        """The newest versions that NVRTC knows."""
        return ((12, 0), (12, 8), (13, 0))


runtime = _Runtime()
