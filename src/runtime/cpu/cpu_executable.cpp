// A CPU program: one call of its entry function.
#include "runtime/cpu/cpu_executable.h"

#include "runtime/cpu/host_code.h"

namespace parpy {

namespace {

class CpuExecutable final : public Executable {
public:
    CpuExecutable(Program p, HostCode code)
        : Executable(std::move(p)), code_(std::move(code)), fails_(can_fail(program.host)) {}

    RuntimeError run(const std::uint64_t* slots, void*, ResultSink* results) const override {
        ParpyContext context;
        context.results = results;
        if (fails_) return run_checked(context, slots);
        if (code_.entry(&context, slots) == 0) return {};
        if (context.error) return std::move(*context.error);
        return {Code::kP900, "the program '" + program.name + "' failed without a reason", {}};
    }

private:
    RuntimeError run_checked(ParpyContext& context, const std::uint64_t* slots) const {
        Failure failure;
        context.failure = &failure;
        run_until_failure(failure, [&] { static_cast<void>(code_.entry(&context, slots)); });
        if (failure.raised()) return located_error(program, failure);
        return context.error ? std::move(*context.error) : RuntimeError{};
    }

    HostCode code_;
    const bool fails_;
};

}  // namespace

std::shared_ptr<Executable> load_cpu(const Program& program, const Options& options,
                                     RuntimeError& error) {
    HostCode code = load_host_code(program, options, error);
    if (code.entry == nullptr) return nullptr;
    return std::make_shared<CpuExecutable>(program, std::move(code));
}

}  // namespace parpy
