// Expressions as C-family text: precedence, literals, subscripts, and conversions where C++'s own
// promotions give a type that is not the IR's.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "dialects/dialect.h"
#include "emit/chosen_constants.h"
#include "emit/names.h"
#include "emit/subtrahends.h"

namespace parpy {

// One printed expression.
struct Text {
    std::string text;
    Precedence precedence = Precedence::kPostfix;
    ir::Scalar type = ir::Scalar::kI32;  // of the C++ expression
    bool in_range = true;                // its value is representable in the IR type
    bool literal = false;
};

class ExprPrinter {
public:
    ExprPrinter(const Dialect& dialect, const ScopedNames& names,
                const std::unordered_map<const ir::Function*, std::string>& functions)
        : dialect_(dialect), names_(names), functions_(functions) {}

    // Variables that count iterations: arithmetic on counters alone does not overflow.
    std::unordered_set<const ir::Var*> counters;
    Subtrahends subtrahends;  // of the function's subscripts
    ChosenConstants chosen_constants;

    // The text of a whole initialiser, right-hand side, argument or condition, where C++ converts
    // to the IR type by itself.
    [[nodiscard]] std::string root(const ir::Expr& expr) const;
    // The text of a loop bound, launch size or other count, in plain arithmetic.
    [[nodiscard]] std::string count(const ir::Expr& expr, Precedence at_least) const;
    // The text with exactly its C++ type.
    [[nodiscard]] Text exact(const ir::Expr& expr, Precedence at_least) const;
    // The element array[indices], with one flat subscript.
    [[nodiscard]] std::string element(const ir::Var& array,
                                      std::span<ir::Expr* const> indices) const;
    // The text of an argument of a template, with exactly its C++ type.
    [[nodiscard]] std::string argument(const ir::Expr& expr) const {
        return exact(expr, Precedence::kAssignment).text;
    }
    // The text of a op b, part of a reduction that may run in any order.
    [[nodiscard]] std::string any_order(const ir::Expr& expr) const;

    [[nodiscard]] static std::string_view type(ir::Scalar scalar) { return type_name(scalar); }

private:
    Text print(const ir::Expr& expr) const;
    Text print_node(const ir::Expr& expr) const;
    Text print_row(const ir::Expr& expr, const Spelling& row) const;
    Text print_convert(const ir::Expr& expr) const;
    Text print_literal(const ir::Constant& constant, ir::Scalar scalar) const;
    Text print_call(const ir::Expr& expr) const;
    std::string with_shape(const ir::Expr& array) const;
    std::string for_others(const ir::Expr& argument) const;
    Text print_atomic(const ir::Expr& expr) const;
    Text print_tile(const ir::Expr& expr) const;
    Text print_mma(const ir::Expr& expr) const;
    Text print_aligned(const ir::Expr& expr) const;
    Text print_load(const ir::Expr& expr) const;
    Text print_index(const ir::Expr& expr) const;
    Text operand(const ir::Expr& expr, Precedence at_least) const;  // with the value of its type
    Text cast(Text text, ir::Scalar to) const;
    std::size_t implicit_conversion(const ir::Expr& expr, const Spelling& row) const;
    const Spelling& row_of(const ir::Expr& expr) const;
    const Spelling* find_row(std::span<const Spelling> rows, const ir::Expr& expr) const;
    bool applies(const Spelling& row, const ir::Expr& expr) const;
    bool is_count(const ir::Expr& expr) const;
    static double largest_factor(const ir::Expr& expr);
    static constexpr double kLargestFactor = 0x1p40;

    const Dialect& dialect_;
    const ScopedNames& names_;
    const std::unordered_map<const ir::Function*, std::string>& functions_;
    mutable bool counting_ = false;  // inside a subscript or a loop bound
    mutable int depth_ = 0;          // of the expression being printed
    mutable std::map<std::pair<const ir::Expr*, bool>, Text> printed_;  // with `counting_`
};

}  // namespace parpy
