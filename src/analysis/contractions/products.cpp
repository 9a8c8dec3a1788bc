// See products.h.
#include "analysis/contractions/products.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

class Reader {
public:
    static std::optional<ProductSum> read(Stmt& stmt) {
        Reader reader;
        ProductSum& sum = reader.sum_;
        Expr* value = nullptr;
        std::optional<Op> update;
        if (auto* assign = stmt.as<Assign>()) {
            sum.target = assign->var;
            value = assign->value;
            update = assign->update;
        } else if (auto* store = stmt.as<Store>(); store != nullptr && !store->atomic) {
            sum.target = store->array;
            sum.indices = &store->indices;
            value = store->value;
            update = store->update;
        } else {
            return std::nullopt;
        }
        const Type type = Type::of(sum.target->type.scalar);
        if (value->type != type) return std::nullopt;
        if (!update && reader.extreme(*value)) return std::move(sum);
        if (!is_float(type.scalar) && !is_complex(type.scalar)) return std::nullopt;
        bool fits = false;
        if (update) {
            fits = (*update == Op::kAdd || *update == Op::kSub) &&
                   reader.terms(*value, *update == Op::kSub);
        } else {
            fits = reader.chain(*value);
        }
        if (!fits || sum.products.empty()) return std::nullopt;
        sum.fused = reader.fused_ > 0;
        const bool alike = reader.fused_ == 0 || reader.fused_ == sum.products.size();
        return alike ? std::optional(std::move(sum)) : std::nullopt;
    }

private:
    [[nodiscard]] bool is_target(const Expr& e) const {
        if (e.var != sum_.target) return false;
        if (sum_.indices == nullptr) return e.op == Op::kVar;
        return e.op == Op::kLoad && same(e.operands, *sum_.indices);
    }

    // Reads the least or greatest of the target and a sum of two factors. The sum is the first
    // operand where the operator's result depends on that, as with NaN.
    bool extreme(Expr& e) {
        const bool python = e.op == Op::kMin || e.op == Op::kMax;
        if (!python && e.op != Op::kMinimum && e.op != Op::kMaximum) return false;
        const bool first = is_target(*e.operands[0]);
        if (!first && (is_float(e.type.scalar) || !is_target(*e.operands[1]))) return false;
        Expr& other = *e.operands[first ? 1 : 0];
        if (other.op != Op::kAdd) return false;
        sum_.algebra = {e.op, Op::kAdd};
        sum_.products.push_back({{other.operands[0], other.operands[1]}, false});
        return true;
    }

    // Reads the target and the products added to it.
    bool chain(Expr& e) {
        if (is_target(e)) return true;
        switch (e.op) {
            case Op::kFma:
                if (!chain(*e.operands[2])) return false;
                sum_.products.push_back({{e.operands[0], e.operands[1]}, false});
                ++fused_;
                return true;
            case Op::kAdd:
                if (is_target(*e.operands[1])) return terms(*e.operands[0], false);
                return chain(*e.operands[0]) && terms(*e.operands[1], false);
            case Op::kSub:
                return chain(*e.operands[0]) && terms(*e.operands[1], true);
            default:
                return false;
        }
    }

    bool terms(Expr& e, bool negative) {
        switch (e.op) {
            case Op::kAdd:
                return terms(*e.operands[0], negative) && terms(*e.operands[1], negative);
            case Op::kSub:
                return terms(*e.operands[0], negative) && terms(*e.operands[1], !negative);
            case Op::kNeg:
                return terms(*e.operands[0], !negative);
            case Op::kMul:
                sum_.products.push_back({{e.operands[0], e.operands[1]}, negative});
                return true;
            default:
                return false;
        }
    }

    ProductSum sum_;
    std::size_t fused_ = 0;  // number of fused products
};

}  // namespace

std::optional<ProductSum> product_sum(Stmt& stmt) {
    return Reader::read(stmt);
}

bool adds_products(Stmt& stmt) {
    const auto has = [](const Expr* e, Op op) {
        return any_expr(*e, [&](const Expr& x) { return x.op == op; });
    };
    const auto sum = product_sum(stmt);
    return sum && std::ranges::any_of(sum->products, [&](const Product& product) {
               const auto& [a, b] = product.factors;
               const bool loads[] = {has(a, Op::kLoad), has(b, Op::kLoad)};
               return (loads[0] || has(a, Op::kVar)) && (loads[1] || has(b, Op::kVar)) &&
                      (loads[0] || loads[1]);
           });
}

bool adds_products(Body& body, int depth) {
    return std::ranges::any_of(body, [&](Stmt* stmt) {
        if (depth <= 0 && adds_products(*stmt)) return true;
        const int inside = stmt->kind == StmtKind::kFor ? depth - 1 : depth;
        bool found = false;
        for_each_body(*stmt, [&](Body& inner) { found = found || adds_products(inner, inside); });
        return found;
    });
}

}  // namespace parpy
