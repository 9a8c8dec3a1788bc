// The step of the embedded compiler that only simulated device code needs: after functions were
// inlined into their kernels and before the optimiser.
//
//   parpy_sim_here()          the current thread of the kernel's loop, so that indices are values
//   thread_local variables    the block's shared memory: an offset from Thread::shared
//   parpy_sim_pause()         removed after atomics whose result is not used
//   parpy_sim_kernel_*        the needs of each kernel are filled in
//
// Watched code reports every access to arrays to the simulator first (parpy_sim_touch).
#pragma once

namespace llvm {
class Module;
}

namespace parpy::sim {

// Watched code, directly after Clang: marks the memory of local arrays, before optimisations
// split it.
void declare_arrays(llvm::Module& module);
// Stores the sizes of clusters that kernels are declared with (__cluster_dims__) in their
// parpy_sim_kernel_*, and removes the annotations.
void note_clusters(llvm::Module& module);
// To be called afterwards, when all always-inline functions have been inlined.
void lower_simulated(llvm::Module& module, bool watched);

}  // namespace parpy::sim
