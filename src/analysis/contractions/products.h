// Sums of products in the forms that statements have. Minima and maxima of sums have the same form,
// with other operators: s = min(s, a + b).
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace parpy {

// The operators of a sum of products: `product` joins two factors, `sum` adds the result to a sum.
struct Algebra {
    ir::Op sum = ir::Op::kAdd;
    ir::Op product = ir::Op::kMul;
    // Whether it adds products; otherwise it picks the least or greatest sum of two factors.
    [[nodiscard]] bool adds() const { return sum == ir::Op::kAdd; }
    bool operator==(const Algebra&) const = default;
};

struct Product {
    ir::Expr* factors[2];
    bool negative = false;  // the product is subtracted
};

// A statement that adds products to a scalar or element of the same type, and does nothing else:
// s += a * b, s = fma(a, b, s), s = s - a * b + c * d, s += a * b - c * d, s = max(s, a + b).
struct ProductSum {
    Algebra algebra;
    ir::Var* target = nullptr;
    const std::vector<ir::Expr*>* indices = nullptr;  // of the element; null: a scalar
    std::vector<Product> products;                    // in the order in which they are added
    bool fused = false;  // each is written as fused into its addition, in this order
};

[[nodiscard]] std::optional<ProductSum> product_sum(ir::Stmt& stmt);

// Whether the statement adds products of elements to a sum; a scalar may hold one of the factors.
[[nodiscard]] bool adds_products(ir::Stmt& stmt);
// Whether a statement in `body`, inside at least `depth` loops of it, adds products.
[[nodiscard]] bool adds_products(ir::Body& body, int depth);

}  // namespace parpy
