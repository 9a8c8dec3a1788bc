// Finds the kinds of a function's variables along its paths, and the kind of its result. Never
// changes the function.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/aggregates/kinds.h"

namespace parpy {

class KindWalk {
public:
    // How deeply captured functions are followed: functions may capture each other without end.
    static constexpr int kMostFunctions = 16;
    // The kind of the result of a call of `callee` with arguments of these kinds.
    using ResultOf = std::function<Kind(const ir::Function& callee, const std::vector<Kind>&)>;
    // `operators`: whether classes of the program have some (has_operators).
    KindWalk(ResultOf result_of, bool operators)
        : result_of_(std::move(result_of)), operators_(operators) {}

    [[nodiscard]] Kind of(const ir::Expr& expr, const KindsHere& here) const;
    // The kind that another function receives: captured variables are replaced by their values.
    [[nodiscard]] static Kind carried(const Kind& kind, const KindsHere& here);
    // The truth of a condition that follows from kinds alone, such as `y is None`.
    [[nodiscard]] std::optional<bool> truth(const ir::Expr& expr, const KindsHere& here) const;
    // The integer that an expression has for these kinds: `x.ndim - 1`, `len(t)`.
    [[nodiscard]] std::optional<std::int64_t> integer(const ir::Expr& expr,
                                                      const KindsHere& here) const;
    // The place of an element, counted from the end if negative; none if the index is unknown or
    // out of range.
    [[nodiscard]] std::optional<std::size_t> place(const ir::Expr& index, std::size_t count,
                                                   const KindsHere& here) const;
    // The elements begin, begin + step, … that a slice of known bounds selects from `count`
    // elements.
    [[nodiscard]] std::optional<std::vector<std::size_t>> sliced_places(
        const ir::Expr& slice, std::size_t count, const KindsHere& here) const;
    // Narrows kinds where the condition has this truth: `y` is None, or a number.
    void assume(const ir::Expr& condition, bool holds, KindsHere& here) const;
    // Carries `here` from before the statements to behind them.
    void walk(const ir::Body& body, KindsHere& here);
    // The kinds before a loop, at the head of its iterations, and behind it.
    struct Known {
        KindsHere before, head, behind;
    };
    const Known& around(const ir::Stmt& loop, const KindsHere& here);
    // A loop over a tuple of arrays, of functions or of elements of several kinds: its body is
    // repeated for each element instead.
    struct Unrolled {
        std::vector<std::int64_t> numbers;   // that the variable has, in order
        std::vector<const ir::Var*> copies;  // of the variable, by the first statements
    };
    [[nodiscard]] std::optional<Unrolled> unrolled(const ir::For& loop,
                                                   const KindsHere& here) const;
    // The kind of the values returned so far; kNothing for returns without a value.
    [[nodiscard]] const Kind& result() const { return result_; }

private:
    struct Loop {
        std::vector<KindsHere> left, repeated;
    };
    void walk(const ir::Stmt& stmt, KindsHere& here);
    void walk_unrolled(const ir::For& loop, const Unrolled& unrolled, KindsHere& here);
    [[nodiscard]] bool takes_unlike_parts(const ir::For& loop, const Unrolled& unrolled,
                                          const KindsHere& here) const;
    [[nodiscard]] std::optional<std::int64_t> shortest_tuple(const ir::Expr& length, bool& unlike,
                                                             const KindsHere& here) const;
    void iterate(const ir::Stmt& loop, KindsHere& here, KindsHere& behind);
    [[nodiscard]] int rank_of(const ir::Expr& expr, const KindsHere& here) const;
    [[nodiscard]] Kind of_part(const ir::Expr& load, const KindsHere& here) const;
    [[nodiscard]] std::optional<Kind> of_operator(const ir::Expr& expr,
                                                  const KindsHere& here) const;
    [[nodiscard]] Kind applied(const Kind& called, const ir::Expr& apply,
                               const KindsHere& here) const;
    [[nodiscard]] Kind of_applied(const ir::Expr& apply, const KindsHere& here) const;
    [[nodiscard]] Kind of_field(const Kind& owner, const std::string& name,
                                const KindsHere& here) const;
    [[nodiscard]] int rank_of_part(const ir::Expr& load, const KindsHere& here) const;

    ResultOf result_of_;
    bool operators_ = false;
    Kind result_;
    std::vector<Loop*> loops_;
    std::unordered_map<const ir::Var*, std::int64_t> numbers_;  // of loops that are unrolled, now
    std::unordered_map<const ir::Stmt*, Known> known_;
};

// The source of each parameter of the function: an argument of a kApply, counted from 1, or a part
// of the function value (a default, the object of a method).
struct Bound {
    struct Place {
        bool is_part = false;
        std::size_t at = 0;
    };
    std::vector<Place> places;
    std::string problem, help;  // the mistake in the arguments, if there is one
};
[[nodiscard]] Bound bound_arguments(const ir::Expr& apply, const Kind& function);
// A method that an operator calls: of which operand, and whether the result is its opposite.
struct OperatorMethod {
    std::size_t owner = 0;
    std::string method;
    bool is_opposite = false;
};
[[nodiscard]] std::optional<OperatorMethod> operator_method(const ir::Expr& operation,
                                                            const Kind& a, const Kind& b);
// Whether it is an object, or a named tuple, with this method.
[[nodiscard]] bool has_method(const Kind& kind, std::string_view method);
// The truth of a kHas with this text.
[[nodiscard]] bool has_attribute(const Kind& kind, const std::string& name);
// Whether a class in the program has such methods.
[[nodiscard]] bool has_operators(const ir::Module& module);
// The p of `p._replace(x=1)`; null for other calls.
[[nodiscard]] const ir::Expr* replaced_tuple(const ir::Expr& apply);

// The kind of a variable at this place.
[[nodiscard]] Kind kind_of(const ir::Var& var, const KindsHere& here);
// Whether the loop has no exit but statements in it.
[[nodiscard]] bool runs_for_ever(const ir::Stmt& loop);
// Whether no path leads to the end of the statements.
[[nodiscard]] bool never_ends(const ir::Body& body);

}  // namespace parpy
