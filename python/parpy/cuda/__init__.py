"""CUDA kernels, on a GPU or on the simulator."""

from .sim import Simulator

__all__ = ["sim"]

sim = Simulator()
