// See settle_reductions.h.
#include "passes/loops/settle_reductions.h"

#include <utility>

#include "analysis/accumulations.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

class Settler {
public:
    explicit Settler(Module& module) : module_(module) {}

    void run(Function& function) {
        for (const Update& update : find_updates(function.body)) {
            const bool settles = picks_one(update.update) && !update.forgets_nan;
            if (settles && is_float(update.var->type.scalar)) positive_zeros(update);
        }
        for_each_stmt(function.body, [&](Stmt& stmt) {
            if (stmt.kind != StmtKind::kFor && stmt.kind != StmtKind::kWhile) return;
            for (const Update& update : accumulations_of(stmt))
                fuse(update);
        });
    }

private:
    void positive_zeros(const Update& update) {
        Stmt* stmt = spelled_as_update(module_, update);
        *update.slot = stmt;
        Expr*& value = value_of(*stmt);
        Builder b(module_, value->span);
        value = b.binary(Op::kAdd, value, b.real(0.0, value->type.scalar));
    }

    // Fuses t = t + a * b - c * d: each product that is a term of its own, from the first one on.
    void fuse(const Update& update) {
        const Type type = Type::of(update.var->type.scalar);
        if (update.update != Op::kAdd && update.update != Op::kSub) return;
        if (type != Type::of(Scalar::kF32) && type != Type::of(Scalar::kF64)) return;
        Builder b(module_, (*update.slot)->span);
        bool fused = false;
        const auto term = [&](Expr* sum, Op op, Expr* value) {
            if (value->op != Op::kMul || value->type != type) return b.binary(op, sum, value);
            fused = true;
            Expr* factor = value->operands[0];
            if (op == Op::kSub) factor = b.unary(Op::kNeg, factor);
            return b.make(Op::kFma, {factor, value->operands[1], sum});
        };
        if (update.value->type != type) return;
        if (update.value->op == Op::kSelect && update.more.empty()) {
            take_apart(update);
            return;
        }
        Expr* sum = target_of(update);
        const auto add = [&](Op op, Expr* value) {
            std::vector<Update::Term> products;
            if (!products_of(*value, op, type, products)) products = {{op, value}};
            for (const Update::Term& product : products)
                sum = term(sum, product.op, product.value);
        };
        add(update.update, update.value);
        for (const Update::Term& more : update.more)
            add(more.op, more.value);
        if (!fused) return;
        Stmt& stmt = **update.slot;
        value_of(stmt) = sum;
        if (auto* assign = stmt.as<Assign>()) assign->update.reset();
        if (auto* store = stmt.as<Store>()) store->update.reset();
    }

    // Collects the products of a value that is a sum of products alone; false for other values.
    static bool products_of(Expr& value, Op op, Type type, std::vector<Update::Term>& out) {
        const Op other = op == Op::kAdd ? Op::kSub : Op::kAdd;
        if (value.type != type) return false;
        switch (value.op) {
            case Op::kMul:
                out.push_back({op, &value});
                return true;
            case Op::kAdd:
            case Op::kSub:
                return products_of(*value.operands[0], op, type, out) &&
                       products_of(*value.operands[1], value.op == Op::kSub ? other : op, type,
                                   out);
            default:
                return false;
        }
    }

    // s += a * b if c else d: a condition that is known early leaves a product alone, so an update
    // under an unknown condition is split as well.
    void take_apart(const Update& update) {
        Stmt* whole = spelled_as_update(module_, update);
        Builder b(module_, whole->span);
        std::vector<std::string> labels = std::exchange(whole->labels, {});
        const std::vector<Expr*> parts = value_of(*whole)->operands;
        const auto with = [&](Stmt* stmt, Expr* value) {
            value_of(*stmt) = value;
            return Body{stmt};
        };
        auto* branch = b.if_(parts[0], with(clone(module_, whole), parts[1]));
        branch->else_body = with(whole, parts[2]);
        branch->labels = std::move(labels);
        *update.slot = branch;
        for (Body* body : {&branch->then_body, &branch->else_body}) {
            std::optional<Update> part = match_update(*body->front());
            part->slot = &body->front();
            fuse(*part);
        }
    }

    Expr* target_of(const Update& update) {
        Builder b(module_, (*update.slot)->span);
        if (update.indices == nullptr) return b.var(update.var);
        std::vector<Expr*> indices;
        for (const Expr* index : *update.indices)
            indices.push_back(clone(module_, index));
        return b.load(update.var, std::move(indices));
    }

    static Expr*& value_of(Stmt& stmt) {
        auto* assign = stmt.as<Assign>();
        return assign != nullptr ? assign->value : stmt.as<Store>()->value;
    }

    Module& module_;
};

}  // namespace

void settle_reductions(PassContext& context) {
    Settler settler(context.module);
    for (Function* function : context.module.functions)
        settler.run(*function);
}

}  // namespace parpy
