// The arithmetic of sizes and subscripts: sums that can be compared, and expressions that fold.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace parpy {

// constant + sum of coefficient × term: a normal form in which sizes and subscripts are compared.
struct Linear {
    std::int64_t constant = 0;
    std::vector<std::pair<const ir::Expr*, std::int64_t>> terms;

    [[nodiscard]] std::optional<std::int64_t> value() const;  // if there are no terms
};
[[nodiscard]] Linear linear(const ir::Expr& expr);
[[nodiscard]] Linear operator-(const Linear& a, const Linear& b);

// Whether the expression has sums, products and conversions alone: it may be written several times.
[[nodiscard]] bool is_plain(const ir::Expr& expr);

// Replaces operations on one or two constants by their results, in place.
[[nodiscard]] ir::Expr* folded(ir::Builder& builder, ir::Expr* expr);

// Builds integer expressions that are folded at once. Operands become part of the result.
class IndexMath {
public:
    IndexMath(ir::Builder& builder, ir::Scalar type) : b_(builder), type_(type) {}

    ir::Expr* number(std::int64_t value) { return b_.integer(value, type_); }
    ir::Expr* copy(const ir::Expr& expr);
    ir::Expr* add(ir::Expr* a, ir::Expr* b);
    ir::Expr* subtract(ir::Expr* a, ir::Expr* b);
    ir::Expr* multiply(ir::Expr* a, ir::Expr* b);
    ir::Expr* divide(ir::Expr* a, ir::Expr* b);  // rounds down
    ir::Expr* least(ir::Expr* a, ir::Expr* b);
    ir::Expr* greatest(ir::Expr* a, ir::Expr* b);
    ir::Expr* sum(const Linear& form);

private:
    ir::Builder& b_;
    ir::Scalar type_;
};

}  // namespace parpy
