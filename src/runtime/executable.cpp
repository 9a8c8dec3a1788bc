// load(): which back end makes the program run.
#include "runtime/executable.h"

#include "runtime/cpu_executable.h"
#include "runtime/cuda_executable.h"

namespace parpy {

std::shared_ptr<Executable> load(const Program& program, const Options& options,
                                 RuntimeError& error) {
    switch (options.backend) {
        case Backend::kCpu:
            return load_cpu(program, options, error);
        case Backend::kCuda:
            return load_cuda(program, options, error);
        case Backend::kMetal:
        case Backend::kSim:
            break;
    }
    error = {Code::kP514, "programs for this back end cannot run in this build of ParPy",
             "use CompileBackend.Cpu or CompileBackend.Cuda"};
    return nullptr;
}

}  // namespace parpy
