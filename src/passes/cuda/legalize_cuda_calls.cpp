// See legalize_cuda_calls.h.
#include "passes/cuda/legalize_cuda_calls.h"

#include <map>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/cuda/block_code.h"
#include "passes/slices/evaluation_steps.h"

namespace parpy {

using namespace ir;

namespace {

bool stores(const Expr& expr) {
    return !uses_of(expr).stored.empty();
}

class KernelCalls {
public:
    KernelCalls(Module& module, Function& kernel)
        : builder_(module), kernel_(kernel), block_(shape_of(kernel.body).block), code_(kernel) {}

    void run() {
        if (block_ == 1) return;
        if (contains_spread_call(kernel_.body)) {
            hold_spread_calls();
            code_ = BlockCode(kernel_);
        }
        block_code(kernel_.body);
        kernel_.body.insert(kernel_.body.begin(), allocations_.begin(), allocations_.end());
    }

private:
    // Makes each of these calls a statement of its own.
    void hold_spread_calls() {
        const auto take = [&](const EvaluationSteps::Step& step) {
            if (!step.whole) EvaluationSteps::hold(builder_, "call_result", step.node, step.out);
        };
        EvaluationSteps(builder_, is_spread, take).body(kernel_.body);
    }

    // Makes a call by as many threads as the function needs; if the block has more, they get the
    // result in shared memory.
    void spread(Stmt& stmt, Expr& call, Body& out) {
        for (Expr*& argument : call.operands) {
            if (is_row(*argument)) {
                for (Expr*& index : argument->operands)
                    index = once(index, out);
            } else if (argument->op != Op::kArray) {
                argument = once(argument, out);
            }
        }
        if (call.callee->threads == block_) {
            out.push_back(&stmt);
            return;
        }
        Expr* takes_part = builder_.binary(Op::kLt, builder_.reg(Register::kThreadX),
                                           builder_.integer(call.callee->threads, Scalar::kI32));
        out.push_back(builder_.if_(takes_part, {&stmt}));
        if (const auto* assign = stmt.as<Assign>()) {
            Var* result = assign->var;
            out.push_back(builder_.assign(result, broadcast(builder_.var(result), out)));
        }
    }

    static Expr* spread_call(Stmt& stmt) {
        auto* assign = stmt.as<Assign>();
        auto* evaluate = stmt.as<Evaluate>();
        Expr* value = assign != nullptr     ? assign->value
                      : evaluate != nullptr ? evaluate->value
                                            : nullptr;
        return value != nullptr && is_spread(*value) ? value : nullptr;
    }

    void block_code(Body& body) {
        Body out;
        for (Stmt* stmt : body) {
            const Runs how = code_.how(*stmt);
            builder_.span = stmt->span;
            if (Expr* call = spread_call(*stmt)) {
                spread(*stmt, *call, out);
                continue;
            }
            if (auto* assign = stmt->as<Assign>(); assign != nullptr && how == Runs::kAll) {
                if (stores(*assign->value)) assign->value = broadcast(assign->value, out);
            } else if (auto* loop = stmt->as<For>();
                       loop != nullptr && (how == Runs::kStructured || how == Runs::kThreads)) {
                for (Expr** bound : {&loop->begin, &loop->end, &loop->step}) {
                    *bound = once(*bound, out);
                }
                if (how == Runs::kStructured) block_code(loop->body);
            } else if (auto* branch = stmt->as<If>();
                       branch != nullptr && how == Runs::kStructured) {
                branch->condition = once(branch->condition, out);
                block_code(branch->then_body);
                block_code(branch->else_body);
            } else if (auto* spin = stmt->as<While>();
                       spin != nullptr && how == Runs::kStructured) {
                loop_condition(*spin);
            }
            out.push_back(stmt);
        }
        body = std::move(out);
    }

    // Broadcasts a value that one thread computes to all threads through shared memory.
    Expr* broadcast(Expr* value, Body& out) {
        Var*& shared = shared_[value->type.scalar];
        if (shared == nullptr) {
            shared = builder_.local_array("call_result_" + std::string(name(value->type.scalar)),
                                          value->type.scalar, {1}, Space::kShared);
            allocations_.push_back(builder_.alloc(shared));
        }
        const auto zero = [&] { return builder_.integer(0, Scalar::kI32); };
        out.push_back(builder_.store(shared, {zero()}, value));
        return builder_.load(shared, {zero()});
    }

    // The same for an expression that stores; any other value is returned unchanged.
    Expr* once(Expr* value, Body& out) {
        if (!stores(*value)) return value;
        Var* result = builder_.scalar("call_result", value->type.scalar);
        out.push_back(builder_.assign(result, broadcast(value, out)));
        return builder_.var(result);
    }

    // Rewrites `while c: …` as `while True: if not c: break; …`.
    void loop_condition(While& loop) {
        block_code(loop.body);
        if (!stores(*loop.condition)) return;
        Body head;
        Expr* leave = builder_.not_(once(loop.condition, head));
        head.push_back(builder_.if_(leave, {builder_.break_()}));
        loop.condition = builder_.boolean(true);
        loop.body.insert(loop.body.begin(), head.begin(), head.end());
    }

    Builder builder_;
    Function& kernel_;
    const std::int64_t block_;
    BlockCode code_;
    std::map<Scalar, Var*> shared_;
    Body allocations_;
};

}  // namespace

void legalize_cuda_calls(PassContext& context) {
    for (Function* function : context.module.functions) {
        if (function->kind == FunctionKind::kKernel) KernelCalls(context.module, *function).run();
    }
}

}  // namespace parpy
