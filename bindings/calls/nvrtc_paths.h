// Passes the interpreter's search path for packages to the search for NVRTC (runtime/cuda/nvrtc.h).
#pragma once

namespace parpy {

// Passes the current sys.path. Called, with the GIL held, before text is compiled for CUDA.
void pass_search_paths_to_nvrtc();

}  // namespace parpy
