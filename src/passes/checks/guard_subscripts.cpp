// See guard_subscripts.h.
#include "passes/checks/guard_subscripts.h"

#include <optional>
#include <span>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/slices/evaluation_steps.h"

namespace parpy {

using namespace ir;

namespace {

struct Outside {
    std::int64_t subscript;  // as the user wrote it
    std::int64_t size;
    const Var* array = nullptr;
    std::size_t axis = 0;  // of the array
    int site = 0;          // or, for a subscript that names a site, its number + 1
};

// The constant value of an index, with the sign that it had before normalize_indices.
std::optional<std::int64_t> as_written(const Expr& index) {
    return constant_integer(index.op == Op::kIndex ? index.operands[0] : &index);
}

std::optional<Outside> outside(const Var& array, std::span<Expr* const> indices) {
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
        const auto value = as_written(*indices[axis]);
        const auto& extent = array.dims[axis].extent;
        if (value && extent && (*value >= *extent || *value < -*extent))
            return Outside{*value, *extent, &array, axis};
        std::optional<Outside> of_name;
        for_each_expr(*indices[axis], [&](const Expr& part) {
            if (part.op != Op::kIndex || part.index == 0) return;
            const auto subscript = as_written(part);
            const auto size = constant_integer(part.operands[1]);
            if (subscript && size && (*subscript >= *size || *subscript < -*size))
                of_name = Outside{*subscript, *size, nullptr, 0, part.index};
        });
        if (of_name) return of_name;
    }
    return std::nullopt;
}

std::optional<Outside> outside(const Expr& e) {
    if (e.op == Op::kLoad) {
        const std::size_t open = is_open_row(e) ? 1 : 0;  // the begin of a part is clamped
        return outside(*e.var, std::span(e.operands).first(e.operands.size() - open));
    }
    if (e.op == Op::kAtomic) return outside(*e.var, std::span(e.operands).first(e.rank()));
    return std::nullopt;
}

std::optional<Outside> outside(const Stmt& stmt) {
    const auto* store = stmt.as<Store>();
    return store != nullptr ? outside(*store->array, store->indices) : std::nullopt;
}

class SubscriptGuards {
public:
    SubscriptGuards(Module& module, Function& function) : b_(module), function_(function) {}

    void run() {
        const bool loads =
            any_expr(function_.body, [](const Expr& e) { return outside(e).has_value(); });
        const bool stores =
            any_stmt(function_.body, [](const Stmt& s) { return outside(s).has_value(); });
        if (!loads && !stores) return;
        const auto watch = [](const Expr& e) {
            return outside(e) || e.op == Op::kCall || e.op == Op::kAtomic;
        };
        const auto take = [&](const EvaluationSteps::Step& step) {
            if (const auto found = outside(*step.node)) {
                step.out.push_back(failure(*found, step.node->span, step.loops));
                sequential(step.loops);
            } else if (!step.whole && step.node->type.is_scalar()) {
                EvaluationSteps::hold(b_, "value", step.node, step.out);
            }
        };
        EvaluationSteps(b_, watch, take).body(function_.body);
        LoopStack loops;
        insert_before(function_.body, loops, [&](Stmt& stmt, const LoopStack& around, Body& out) {
            if (const auto found = outside(stmt)) {
                out.push_back(failure(*found, stmt.span, around));
                sequential(around);
            }
        });
    }

private:
    Fail* failure(const Outside& found, Span span, const LoopStack& loops) {
        const Span statement = b_.span;
        if (span.valid()) b_.span = span;
        FailBuilder fail(b_, Code::kP421);
        if (found.site > 0) {
            fail.value(b_.integer(found.subscript));
            fail.value(b_.integer(found.size));
            fail.site().message =
                b_.module().sites[static_cast<std::size_t>(found.site) - 1].message;
        } else {
            fail.site().message = outside_text(std::to_string(found.subscript), found.axis,
                                               *found.array, std::to_string(found.size));
        }
        fail.note_iterations(loops);
        Fail* made = fail.make();
        b_.span = statement;
        return made;
    }

    // Makes loops over SIMD lanes sequential, as a lane cannot leave its loop.
    static void sequential(const LoopStack& loops) {
        for (For* loop : loops) {
            if (loop->mapping.level == Level::kVector) loop->mapping = {};
        }
    }

    Builder b_;
    Function& function_;
};

}  // namespace

void guard_subscripts(PassContext& context) {
    for (Function* function : context.module.functions)
        SubscriptGuards(context.module, *function).run();
}

}  // namespace parpy
