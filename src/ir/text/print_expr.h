// The text form of expressions, for print.cpp: with parentheses where parse.h needs them.
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

    // Stands among operators of this precedence.
    std::string expr(const Expr& e, Precedence context = kTernary);

protected:
    std::string list(const std::vector<Expr*>& expressions, std::size_t count = SIZE_MAX);
    std::string element(const Var& array, const std::vector<Expr*>& indices,
                        std::size_t count = SIZE_MAX);

    std::string call(const std::string& name, const std::vector<Expr*>& operands);

    const Literals literals_;
    Names names_;  // of the variables of one function

private:
    // `begin:end:step` with what is there.
    std::string slice(const Expr& e);
    // The text without outer parentheses; `own` becomes its precedence.
    std::string spell(const Expr& e, Precedence& own);
};

}  // namespace parpy::ir
