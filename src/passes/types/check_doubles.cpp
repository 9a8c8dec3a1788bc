// See check_doubles.h.
#include "passes/types/check_doubles.h"

namespace parpy {

using namespace ir;

void check_doubles(PassContext& context) {
    for (const Var* param : context.module.entry_function()->params) {
        const Type& type = param->type;
        const bool wide = type.scalar == Scalar::kF64 || type.scalar == Scalar::kC128;
        if (!type.is_array() || !wide) continue;
        context.diagnostics
            .error(Code::kP551, param->span,
                   "'" + param->name +
                       "' has elements of double precision, which the device does not have")
            .help = "pass an array of 32-bit floats: x.astype(np.float32)";
    }
}

}  // namespace parpy
