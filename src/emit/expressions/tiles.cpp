// Tiles of sums (ir/tile.h) as calls of the prelude's functions `tile` and `mma`.
#include "emit/expressions/expressions.h"
#include "ir/tile.h"

namespace parpy {

using ir::Expr;

Text ExprPrinter::print_tile(const Expr& expr) const {
    if (expr.op == ir::Op::kMma) return print_mma(expr);
    if (expr.op == ir::Op::kAligned) return print_aligned(expr);
    const ir::TileShape shape = ir::shape_of_tile(expr);
    const auto flag = [&](ir::TileOperand which) {
        return expr.operands[which]->constant == ir::Constant{true} ? "true" : "false";
    };
    std::string text = "tile<" + std::to_string(shape.rows) + ", " + std::to_string(shape.vectors) +
                       ", " + std::to_string(shape.lanes) + ", " + flag(ir::kTileFused) + ", " +
                       flag(ir::kTileAnew) + ">(";
    for (std::size_t i = ir::kTileSums; i < expr.operands.size(); ++i) {
        const Expr& e = *expr.operands[i];
        const bool place = i == ir::kTileSums || i == ir::kTileLeft || i == ir::kTileRight;
        text += (i == ir::kTileSums ? "" : ", ") +
                (place ? "&" + element(*e.var, e.operands) : count(e, Precedence::kAssignment));
    }
    return {text + ")", Precedence::kPostfix, expr.type.scalar};
}

Text ExprPrinter::print_aligned(const Expr& expr) const {
    const Expr& at = *expr.operands.front();
    return {"is_aligned(&" + element(*at.var, at.operands) + ")", Precedence::kPostfix,
            expr.type.scalar};
}

Text ExprPrinter::print_mma(const Expr& expr) const {
    const Expr& sums = *expr.operands.front();
    std::string text = "mma(&" + element(*sums.var, sums.operands);
    for (std::size_t i = 1; i < expr.operands.size(); ++i)
        text += ", " + argument(*expr.operands[i]);
    return {text + ")", Precedence::kPostfix, expr.type.scalar};
}

}  // namespace parpy
