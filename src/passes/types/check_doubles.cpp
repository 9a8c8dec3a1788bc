// See check_doubles.h.
#include "passes/types/check_doubles.h"

#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool is_wide(const Type& type) {
    return type.is_array() && (type.scalar == Scalar::kF64 || type.scalar == Scalar::kC128);
}

void refuse(PassContext& context, const Var& array, Span span, const char* help) {
    context.diagnostics
        .error(Code::kP551, span,
               "'" + array.shown() +
                   "' has elements of double precision, which the device does not have")
        .help = help;
}

}  // namespace

void check_doubles(PassContext& context) {
    for (const Var* param : context.module.entry_function()->params) {
        if (is_wide(param->type))
            refuse(context, *param, param->span,
                   "pass an array of 32-bit floats: x.astype(np.float32)");
    }
}

void check_new_doubles(PassContext& context) {
    for (const Function* function : context.module.functions) {
        for_each_stmt(function->body, [&](const Stmt& stmt) {
            const auto* made = stmt.as<Alloc>();
            if (made != nullptr && is_wide(made->array->type))
                refuse(context, *made->array, stmt.span,
                       "make an array of 32-bit floats: dtype=np.float32");
        });
    }
}

}  // namespace parpy
