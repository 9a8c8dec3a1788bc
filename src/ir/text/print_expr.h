// The text form of expressions, for print.cpp, with the parentheses that parse.h needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "ir/text/spelling.h"

namespace parpy::ir {

class ExpressionPrinter {
public:
    explicit ExpressionPrinter(Literals literals) : literals_(literals) {}

    // The text of an operand of an operator with precedence `context`.
    std::string expr(const Expr& e, Precedence context = kTernary);

protected:
    std::string list(const std::vector<Expr*>& expressions, std::size_t count = SIZE_MAX);
    std::string element(const Var& array, const std::vector<Expr*>& indices,
                        std::size_t count = SIZE_MAX);

    std::string call(const std::string& name, const std::vector<Expr*>& operands);

    const Literals literals_;
    Names names_;  // of the variables of one function

private:
    // `begin:end:step`, without the parts that are absent.
    std::string slice(const Expr& e);
    // The text without outer parentheses; sets `own` to its precedence.
    std::string spell(const Expr& e, Precedence& own);
};

}  // namespace parpy::ir
