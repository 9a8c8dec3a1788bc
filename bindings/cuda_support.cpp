// See cuda_support.h.
#include "cuda_support.h"

#include "parpy/options.h"

namespace parpy {

std::string cuda_unavailable() { return "this build has no CUDA run time"; }

std::string cuda_architecture() { return Options{}.cuda_arch; }

}  // namespace parpy
