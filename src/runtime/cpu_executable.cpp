// A CPU program: one call of its entry function.
#include "runtime/cpu_executable.h"

#include "runtime/host_code.h"

namespace parpy {

namespace {

class CpuExecutable final : public Executable {
public:
    CpuExecutable(Program p, HostCode code) : Executable(std::move(p)), code_(std::move(code)) {}

    RuntimeError run(const std::uint64_t* slots, void*) const override {
        ParpyContext context;
        if (code_.entry(&context, slots) == 0) return {};
        if (context.error) return std::move(*context.error);
        return {Code::kP900, "the program '" + program.name + "' failed without a reason", {}};
    }

private:
    HostCode code_;
};

}  // namespace

std::shared_ptr<Executable> load_cpu(const Program& program, const Options& options,
                                     RuntimeError& error) {
    HostCode code = load_host_code(program, options, error);
    if (code.entry == nullptr) return nullptr;
    return std::make_shared<CpuExecutable>(program, std::move(code));
}

}  // namespace parpy
