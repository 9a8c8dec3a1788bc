// The part of the IR's parser for clauses: after a loop `par(threads=64, reduce)` and `reducing(+
// s, * p[i])`, after a foreign function its properties, and after a launch its sizes and clusters.
// A layer between expressions (parse_expr.h) and statements (parse.cpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "ir/text/parse_expr.h"

namespace parpy::ir {

class MappingParser : protected ExprParser {
protected:
    using ExprParser::ExprParser;

    void mapping(LoopMapping& m);
    void reductions(LoopMapping& m);
    void foreign(Function& function);  // [target(name)] [result(first | last)] [threads(n)]
    // [grid(x, y, z)] [block(x, y, z)] [shared(bytes)]
    void geometry(std::span<Expr*, 3> grid, std::span<Expr*, 3> block, Expr*& shared_bytes);
    void cluster(Launch& launch);                      // [cluster(x, y, z)]
    [[nodiscard]] std::optional<std::size_t> noted();  // [noted site]
};

}  // namespace parpy::ir
