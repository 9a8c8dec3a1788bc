// The variables of one activation of a function in the reference interpreter.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/eval/eval.h"

namespace parpy::ir {

// The first error of a run, after which no statement runs.
struct EvalError {
    std::string message;
    Span span;

    void report(Span where, std::string what);
    [[nodiscard]] bool any() const { return !message.empty(); }
};

class Frame {
public:
    explicit Frame(EvalError& error) : error_(error) {}

    // Binds the arguments to the parameters, in order. Types and layouts must be those of the
    // parameters; sizes that no other parameter gives are read from the arrays.
    void enter(const Function& function, std::vector<EvalArgument> arguments, Span span);

    void set(const Var& var, EvalArgument value);
    [[nodiscard]] Constant read(const Var& var, Span span);
    [[nodiscard]] const ArrayView* array(const Var& var, Span span);  // null after an error
    // An extent or stride of an array: a constant, or the variable that holds it.
    [[nodiscard]] std::int64_t size(const std::optional<std::int64_t>& constant,
                                    const Var* variable, Span span);

    std::optional<Constant> result;

private:
    void check(const Var& param, Span span);
    void check(const Var& param, const std::optional<std::int64_t>& constant, const Var* variable,
               std::int64_t actual, Span span);

    EvalError& error_;
    std::unordered_map<const Var*, EvalArgument> values_;
};

// The value of an integer constant; 0 for any other constant.
[[nodiscard]] std::int64_t integer(const Constant& value);

}  // namespace parpy::ir
