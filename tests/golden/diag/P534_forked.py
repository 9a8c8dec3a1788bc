# driver: cuMemAllocFromPoolAsync 3
import numpy as np

from parpy import cuda


def call():
    cuda.to_device(np.zeros(4))  # as the driver answers in a process that was forked
