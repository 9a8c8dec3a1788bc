// The part of the IR's parser for what stands behind a loop: `par(threads=64, reduce)` and
// `reducing(+ s, * p[i])`; behind a foreign function, and behind the sizes of a launch. Between
// expressions (parse_expr.h) and statements (parse.cpp).
#pragma once

#include "ir/parse_expr.h"

namespace parpy::ir {

class MappingParser : protected ExprParser {
protected:
    using ExprParser::ExprParser;

    void mapping(LoopMapping& m);
    void reductions(LoopMapping& m);
    void foreign(Function& function);  // [target(name)] [result(first | last)] [threads(n)]
    void cluster(Launch& launch);      // [cluster(x, y, z)]
};

}  // namespace parpy::ir
