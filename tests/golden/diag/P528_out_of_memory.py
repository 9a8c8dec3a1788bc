# driver: cuMemAllocFromPoolAsync 2
import numpy as np

from parpy import cuda


def call():
    cuda.to_device(np.zeros(4))
