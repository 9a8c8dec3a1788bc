// Where the interpreter looks for packages, told to the search for NVRTC (runtime/cuda/nvrtc.h).
#pragma once

namespace parpy {

// Passes on sys.path as it is now. Called, with the GIL held, before text is compiled for CUDA.
void pass_search_paths_to_nvrtc();

}  // namespace parpy
