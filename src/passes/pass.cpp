// The pass runner (pass.h).
#include "passes/pass.h"

#include <chrono>
#include <exception>

#include "ir/text/print.h"

namespace parpy {
namespace {

using Clock = std::chrono::steady_clock;

#ifdef PARPY_VERIFY
constexpr bool kVerify = true;
#else
constexpr bool kVerify = false;
#endif

// A pass that throws has met a state that it thought impossible: our fault, never the user's.
void run_guarded(const Pass& pass, PassContext& context) {
    try {
        pass.run(context);
    } catch (const std::exception& e) {
        context.diagnostics.internal({},
                                     "pass '" + std::string(pass.name) + "' failed: " + e.what());
    }
}

}  // namespace

bool run_passes(PassContext& context, std::span<const Pass> passes, const Trace& trace) {
    std::string before = trace ? ir::print(context.module) : std::string();
    for (const Pass& pass : passes) {
        if (pass.wanted != nullptr && !pass.wanted(context)) {
            continue;
        }
        const Clock::time_point start = Clock::now();
        run_guarded(pass, context);
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        if (context.diagnostics.has_errors()) {
            return false;
        }
        if (trace) {
            std::string after = ir::print(context.module);
            if (after != before) {
                trace(pass.name, elapsed.count(), after);
                before = std::move(after);
            }
        }
        if (kVerify && !ir::verify(context.module, pass.after, context.diagnostics)) {
            context.diagnostics.internal(
                {}, "pass '" + std::string(pass.name) + "' produced a malformed program");
            return false;
        }
    }
    return true;
}

}  // namespace parpy
