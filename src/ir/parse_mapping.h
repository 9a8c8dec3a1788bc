// The part of the IR's parser for what stands behind a loop: `par(threads=64, reduce)` and
// `reducing(+ s, * p[i])`. Between expressions (parse_expr.h) and statements (parse.cpp).
#pragma once

#include "ir/parse_expr.h"

namespace parpy::ir {

class MappingParser : protected ExprParser {
protected:
    using ExprParser::ExprParser;

    void mapping(LoopMapping& m);
    void reductions(LoopMapping& m);
};

}  // namespace parpy::ir
