"""Kernels written by hand, under the names of ``numba.cuda``; on a GPU, or on the simulator where there is none."""

from ..vocabulary.device import (
    activemask,
    all_sync,
    any_sync,
    atomic,
    ballot_sync,
    blockDim,
    blockIdx,
    brev,
    cbrt,
    clz,
    const,
    eq_sync,
    ffs,
    fma,
    grid,
    gridDim,
    gridsize,
    laneid,
    lanemask_lt,
    local,
    match_all_sync,
    match_any_sync,
    nanosleep,
    popc,
    rsqrt,
    selp,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadfence_block,
    threadfence_system,
    threadIdx,
    warpsize,
)  # fmt: skip
from . import cg, random, types
from ._arrays import (
    DeviceNDArray,
    as_cuda_array,
    device_array,
    device_array_like,
    is_cuda_array,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
    to_device,
)  # fmt: skip
from ._devices import (
    close,
    current_context,
    detect,
    get_current_device,
    gpus,
    is_available,
    list_devices,
    select_device,
)  # fmt: skip
from ._kernel import declare_device, jit
from ._reduce import Reduce
from ._streams import (
    Event,
    Stream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    stream,
    synchronize,
)  # fmt: skip
from .sim import Simulator

sim = Simulator()
reduce = Reduce

__all__ = [
    "DeviceNDArray", "Event", "Reduce", "Stream", "activemask", "all_sync", "any_sync", "as_cuda_array", "atomic",
    "ballot_sync", "blockDim", "blockIdx", "brev", "cbrt", "cg", "close", "clz", "const", "current_context",
    "declare_device", "default_stream", "detect", "device_array", "device_array_like", "eq_sync", "event",
    "event_elapsed_time", "external_stream", "ffs", "fma", "get_current_device", "gpus", "grid", "gridDim", "gridsize",
    "is_available", "is_cuda_array", "jit", "laneid", "lanemask_lt", "list_devices", "local", "mapped_array",
    "mapped_array_like", "match_all_sync", "match_any_sync", "nanosleep", "pinned", "pinned_array",
    "pinned_array_like", "popc", "random", "reduce", "rsqrt", "select_device", "selp", "shared", "shfl_down_sync",
    "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "sim", "stream", "synchronize", "syncthreads", "syncthreads_and",
    "syncthreads_count", "syncthreads_or", "syncwarp", "threadIdx", "threadfence", "threadfence_block",
    "threadfence_system", "to_device", "types", "warpsize",
]  # fmt: skip
