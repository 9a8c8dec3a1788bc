"""Pictures as PNG files, and the command line that the programs of this folder share."""

from __future__ import annotations

import argparse
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from parpy import cuda

# From dark blue over orange to white: red, green and blue at equal distances.
_COLOURS = np.array([(3, 5, 40), (30, 70, 150), (120, 160, 190), (245, 190, 90), (250, 110, 40), (255, 255, 255)])


def coloured(values: np.ndarray) -> np.ndarray:
    """Red, green and blue for numbers: the smallest is dark blue, the largest white."""
    low, high = float(values.min()), float(values.max())
    place = (values - low) / (high - low or 1) * (len(_COLOURS) - 1)
    below = np.minimum(place.astype(int), len(_COLOURS) - 2)
    part = (place - below)[..., None]
    return (_COLOURS[below] * (1 - part) + _COLOURS[below + 1] * part).astype(np.uint8)


def save(path: Path, picture: np.ndarray) -> None:
    """Writes a picture, height x width x 3 of uint8."""
    height, width, _ = picture.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, -1)], 1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def milliseconds(launch: Callable[[], Any]) -> float:
    """The time of a launch that is already compiled: the best of three."""
    launch()
    best = float("inf")
    for _ in range(3):
        cuda.synchronize()
        start = time.perf_counter()
        launch()
        cuda.synchronize()
        best = min(best, 1e3 * (time.perf_counter() - start))
    return best


def program(main: Callable[[int, Path], Any], size: int) -> None:
    """Runs ``main(size, folder)`` with the arguments of the command line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--size", type=int, default=size, help=f"width of the picture (default {size})")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for the picture (default: here)")
    arguments = parser.parse_args()
    print(f"on {cuda.get_current_device()}")
    main(arguments.size, arguments.out)
