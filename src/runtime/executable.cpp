// load(): which back end makes the program run.
#include "runtime/executable.h"

#include "runtime/cpu/cpu_executable.h"
#include "runtime/cuda/cuda_executable.h"
#include "runtime/sim/sim_executable.h"

namespace parpy {

std::shared_ptr<Executable> load(const Program& program, const Options& options,
                                 RuntimeError& error) {
    switch (options.backend) {
        case Backend::kCpu:
            return load_cpu(program, options, error);
        case Backend::kCuda:
            return load_cuda(program, options, error);
        case Backend::kSim:
            return load_sim(program, options, error);
        case Backend::kMetal:
            break;
    }
    error = {Code::kP514, "programs for this back end cannot run in this build of ParPy",
             "use CompileBackend.Cpu, Cuda or Sim"};
    return nullptr;
}

}  // namespace parpy
