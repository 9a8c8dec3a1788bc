// Subscripts of loads and stores, decided by their intervals (normalize_indices.h).
#include "passes/loops/normalize_indices.h"

#include <limits>

#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

class Normalizer {
public:
    Normalizer(PassContext& context, const Function& function)
        : context_(context), intervals_(function) {}

    void run(Body& body) {
        for (Stmt* stmt : body) {
            // Bottom-up: inner subscripts first; the interval of a subscript is the original's.
            rewrite_slots(*stmt, [&](Expr* expr) {
                if (expr->op == Op::kLoad) {
                    normalize(*expr->var, expr->operands);
                } else if (expr->op == Op::kAtomic) {
                    normalize(*expr->var, std::span(expr->operands).first(expr->rank()));
                }
                return expr;
            });
            if (auto* store = stmt->as<Store>()) {
                normalize(*store->array, store->indices);
            }
            for_each_body(*stmt, [&](Body& inner) { run(inner); });
        }
    }

private:
    void normalize(const Var& array, std::span<Expr*> indices) {
        for (std::size_t axis = 0; axis < indices.size(); ++axis) {
            indices[axis] = normalize(array.dims[axis], indices[axis]);
        }
    }

    Expr* normalize(const Dim& dim, Expr* index) {
        const auto value = constant_integer(index);
        const Interval range = intervals_.of(index);
        if (range.empty() || range.low >= 0 || is_unsigned_integer(index->type.scalar)) {
            return index;
        }
        Builder b(context_.module, index->span);
        if (value && dim.extent && *value >= -*dim.extent) {
            return b.integer(*value + *dim.extent, index->type.scalar);
        }
        if (value && !dim.extent && *value != std::numeric_limits<std::int64_t>::min()) {
            return b.binary(Op::kSub, b.extent(dim, index->type.scalar),
                            b.integer(-*value, index->type.scalar));
        }
        if (range.high < 0 && !value) {
            return from_end(b, dim, index);
        }
        return b.binary(Op::kIndex, index, b.extent(dim, index->type.scalar));
    }

    // Makes index + extent; with ten elements i - 1 becomes i + 9, and 1 - i becomes 11 - i.
    static Expr* from_end(Builder& b, const Dim& dim, Expr* index) {
        const bool shifted = index->op == Op::kAdd || index->op == Op::kSub;
        const auto shift = shifted ? constant_integer(index->operands[1]) : std::nullopt;
        constexpr std::int64_t kSmall = std::int64_t{1} << 62;
        if (dim.extent && shift && *dim.extent < kSmall && *shift < kSmall && *shift > -kSmall) {
            const std::int64_t sum = *dim.extent + (index->op == Op::kAdd ? *shift : -*shift);
            return b.binary(sum < 0 ? Op::kSub : Op::kAdd, index->operands[0],
                            b.integer(sum < 0 ? -sum : sum, index->type.scalar));
        }
        Expr* extent = b.extent(dim, index->type.scalar);
        if (index->op == Op::kNeg) return b.binary(Op::kSub, extent, index->operands[0]);
        const auto first =
            index->op == Op::kSub ? constant_integer(index->operands[0]) : std::nullopt;
        if (dim.extent && first && *dim.extent < kSmall && *first < kSmall && *first > -kSmall)
            return b.binary(Op::kSub, b.integer(*first + *dim.extent, index->type.scalar),
                            index->operands[1]);
        return b.binary(Op::kAdd, index, extent);
    }

    PassContext& context_;
    const Intervals intervals_;
};

}  // namespace

void normalize_indices(PassContext& context) {
    for (Function* function : context.module.functions) {
        Normalizer(context, *function).run(function->body);
    }
}

}  // namespace parpy
