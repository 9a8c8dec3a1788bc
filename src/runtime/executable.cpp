// load(): chooses the back end that makes the program run.
#include "runtime/executable.h"

#include "runtime/cpu/cpu_executable.h"
#include "runtime/cuda/cuda_executable.h"
#include "runtime/sim/sim_executable.h"

namespace parpy {

namespace {

std::shared_ptr<Executable> load_nowhere(const Program&, const Options&, RuntimeError& error) {
    error = {Code::kP514, "programs for this back end cannot run in this build of ParPy",
             "use CompileBackend.Cpu, Cuda or Sim"};
    return nullptr;
}

using Loader = std::shared_ptr<Executable> (*)(const Program&, const Options&, RuntimeError&);

constexpr Loader kLoaders[] = {
#define BACKEND(enumerator, name, shown, runs, in_process, dialect, settled, load, ...) load,
#include "support/backends.def"
#undef BACKEND
};

}  // namespace

std::shared_ptr<Executable> load(const Program& program, const Options& options,
                                 RuntimeError& error) {
    return kLoaders[static_cast<std::size_t>(options.backend)](program, options, error);
}

}  // namespace parpy
