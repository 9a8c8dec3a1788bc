// compile(): a copy of the surface module through the pipeline (compile.cpp) to the emitter.
#include <exception>

#include "backend/emit.h"
#include "ir/clone.h"
#include "parpy/compile.h"
#include "pass.h"

namespace parpy {

Program compile(const ir::Module& surface, const Signature& signature, const Options& options,
                Diagnostics& diagnostics, const Trace& trace) {
    try {
        ir::Module module = ir::clone(surface);
        PassContext context{module, options, signature, diagnostics};
        if (!run_passes(context, pipeline(options.backend), trace)) {
            return {};
        }
        return emit_program(module, options.backend, options);
    } catch (const std::exception& e) {
        diagnostics.internal({}, std::string("the compiler failed: ") + e.what());
        return {};
    }
}

}  // namespace parpy
