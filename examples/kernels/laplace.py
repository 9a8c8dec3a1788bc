"""Heat in a plate, by Jacobi's method: blocks keep their part of the plate, with a rim, in shared memory.

Two device arrays alternate; blocks find their largest change, and an atomic that of all blocks. Writes laplace.png.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pictures import coloured, program, save

from parpy import cuda

B = 16


@cuda.jit(fastmath=False)
def relax(before, after, change):
    plate = cuda.shared.array((B + 2, B + 2), np.float64)
    largest = cuda.shared.array(1, np.float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    rows, columns = before.shape
    inside = x < columns and y < rows
    if tx == 1 and ty == 1:
        largest[0] = 0
    if inside:
        plate[ty, tx] = before[y, x]
        if tx == 1 and x > 0:
            plate[ty, 0] = before[y, x - 1]
        if (tx == B or x == columns - 1) and x + 1 < columns:
            plate[ty, tx + 1] = before[y, x + 1]
        if ty == 1 and y > 0:
            plate[0, tx] = before[y - 1, x]
        if (ty == B or y == rows - 1) and y + 1 < rows:
            plate[ty + 1, tx] = before[y + 1, x]
    cuda.syncthreads()
    if inside and 0 < x < columns - 1 and 0 < y < rows - 1:
        value = 0.25 * (plate[ty, tx - 1] + plate[ty, tx + 1] + plate[ty - 1, tx] + plate[ty + 1, tx])
        cuda.atomic.max(largest, 0, abs(value - plate[ty, tx]))
        after[y, x] = value
    cuda.syncthreads()
    if tx == 1 and ty == 1:
        cuda.atomic.max(change, 0, largest[0])


def main(n: int, folder: Path) -> np.ndarray:
    """Heats a plate."""
    plate = np.zeros((n, n))
    plate[0, :] = 1
    plate[:, 0] = np.linspace(1, 0, n)
    plate[n // 3, n // 3 : 2 * n // 3] = 0.8  # the heat at the start
    front, back = cuda.to_device(plate), cuda.to_device(plate)
    launch = relax[(-(-n // B), -(-n // B)), (B, B)]
    for step in range(4 * n):
        change = np.zeros(1) if step % n == 0 else None
        seen = cuda.to_device(np.zeros(1)) if change is None else change
        launch(front, back, seen)
        front, back = back, front
        if change is not None:
            print(f"step {step}: changes by {change[0]:.2e} at most")
    found = front.copy_to_host()
    save(folder / "laplace.png", coloured(found))
    return found


if __name__ == "__main__":
    program(main, 256)
