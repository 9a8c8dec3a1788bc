// The step of the embedded compiler that is particular to simulated device code: after functions
// were inlined into their kernels and before the optimiser.
//
//   parpy_sim_here()          the thread that the kernel's loop is at, so that indices are values
//   thread_local variables    the block's shared memory: an offset from Thread::shared
//   parpy_sim_pause()         removed after atomics whose result nobody looks at
//   parpy_sim_kernel_*        what each kernel needs of the simulator is filled in
//
// Of watched code every access to arrays is told to the simulator first (parpy_sim_touch).
#pragma once

namespace llvm {
class Module;
}

namespace parpy::sim {

// Of watched code, as it comes from Clang: says which memory is a local array, while all of it is
// there.
void declare_arrays(llvm::Module& module);
// Notes the sizes of clusters that kernels are declared with (__cluster_dims__) in their
// parpy_sim_kernel_*, and takes the annotations away.
void note_clusters(llvm::Module& module);
// Then, when what is always inlined has been.
void lower_simulated(llvm::Module& module, bool watched);

}  // namespace parpy::sim
