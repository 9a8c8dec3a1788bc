// compile(): a copy of the surface module through the pipeline (compile.cpp) to the emitter.
#include "backend/emit.h"
#include "ir/clone.h"
#include "parpy/compile.h"
#include "pass.h"

namespace parpy {

Program compile(const ir::Module& surface, const Signature& signature, const Options& options,
                Diagnostics& diagnostics, const Trace& trace) {
    ir::Module module = ir::clone(surface);
    PassContext context{module, options, signature, diagnostics};
    if (!run_passes(context, pipeline(options.backend), trace)) return {};
    return emit_program(module, options.backend, options);
}

}  // namespace parpy
