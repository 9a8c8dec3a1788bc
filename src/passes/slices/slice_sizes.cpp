// Unknown sizes: when two are equal (conditions on the call's arguments under which a difference is
// zero, which the program then requires), and the checks that no size is negative and that a new
// shape has as many elements. See slice_shapes.h.
#include <algorithm>

#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/slices/slice_shapes.h"

namespace parpy {

using namespace ir;

// The parameter of the entry that the term is; null if it is none, or the entry assigns it.
const Var* Shapes::parameter(const Expr& term) const {
    const Var* var = nullptr;
    if (term.op == Op::kConvert && is_integer(term.type.scalar)) {
        return parameter(*term.operands[0]);
    }
    if (term.op == Op::kVar) {
        var = term.var;
    } else if (term.op == Op::kExtent && term.index >= 0) {
        var = term.var->dims[static_cast<std::size_t>(term.index)].extent_var;
    }
    const Function& entry = *context_.module.entry_function();
    if (var == nullptr || std::ranges::find(entry.params, var) == entry.params.end()) {
        return nullptr;
    }
    bool assigned = false;
    for_each_stmt(entry.body, [&](const Stmt& stmt) {
        for_each_var(stmt, [&](const Var* v) { assigned = assigned || v == var; });
    });
    return assigned || !is_integer(var->type.scalar) ? nullptr : var;
}

// Adds the conditions under which the form is zero to `bounds`; false if there are none.
bool Shapes::zero_if(const Linear& form, std::vector<ParameterBound>& bounds) const {
    ParameterBound above, below;
    above.constant = form.constant;
    below.constant = -form.constant;
    Linear others;
    for (const auto& [term, factor] : form.terms) {
        if (const Var* var = parameter(*term)) {
            above.terms.emplace_back(var, factor);
            below.terms.emplace_back(var, -factor);
        } else {
            others.terms.emplace_back(term, factor);
        }
    }
    while (!others.terms.empty()) {
        const auto [term, factor] = others.terms.back();
        others.terms.pop_back();
        const auto opposite = std::ranges::find_if(others.terms, [&](const auto& other) {
            std::vector<ParameterBound> more = bounds;
            if (other.second != -factor || !equal_if(*term, *other.first, more)) return false;
            bounds = std::move(more);
            return true;
        });
        if (opposite == others.terms.end()) return false;
        others.terms.erase(opposite);
    }
    if (above.terms.empty()) return above.constant == 0;
    bounds.push_back(std::move(above));
    bounds.push_back(std::move(below));
    return true;
}

// Whether both are the same operation, on operands that are equal under `bounds`.
bool Shapes::equal_if(const Expr& a, const Expr& b, std::vector<ParameterBound>& bounds) const {
    if (uses_of(a).calls) return false;
    if (same(a, b)) return true;
    const bool plain = a.op != Op::kLoad && a.op != Op::kConst;
    if (!plain || a.op != b.op || a.type != b.type || a.operands.empty() ||
        a.operands.size() != b.operands.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.operands.size(); ++i) {
        const Expr& x = *a.operands[i];
        const Expr& y = *b.operands[i];
        const bool number = x.type == y.type && x.type.is_scalar() && is_integer(x.type.scalar);
        if (!(number ? zero_if(linear(x) - linear(y), bounds) : equal_if(x, y, bounds)))
            return false;
    }
    return true;
}

bool Shapes::has_elements(const Extent& extent) {
    if (const auto known = extent.constant()) return *known > 0;
    if (intervals_.of(extent.written).low > 0) return true;
    ParameterBound bound;
    bound.constant = extent.form.constant - 1;
    for (const auto& [term, factor] : extent.form.terms) {
        const Expr* size = term->op == Op::kConvert ? term->operands[0] : term;
        const Var* var = size->op == Op::kExtent ? parameter(*size) : nullptr;
        if (var == nullptr) return false;
        bound.terms.emplace_back(var, factor);
    }
    auto& known = context_.module.requirements;
    if (std::ranges::find(known, Requirement{bound}) == known.end()) known.push_back({bound});
    return true;
}

// Makes the program fail at the allocation of an array whose size is negative.
void Shapes::refuse_negative(const Expr& size) {
    const auto constant = constant_integer(&size);
    if (constant ? *constant >= 0 : intervals_.of(&size).low >= 0) return;
    Builder b(context_.module, size.span.valid() ? size.span : builder_.span);
    FailBuilder fail(b, Code::kP430);
    fail.site().message = "the size of an array is " + fail.value(clone(context_.module, &size)) +
                          ", but a size cannot be negative";
    fail.site().help = "make it at least 0: max(n, 0)";
    Fail* failure = fail.make();
    if (constant) {
        before_.push_back(failure);
    } else {
        Expr* given = clone(context_.module, &size);
        before_.push_back(
            b.if_(b.binary(Op::kLt, given, b.integer(0, size.type.scalar)), {failure}));
    }
}

// Makes the program fail if the elements do not fill the new shape.
Shape Shapes::reshape(const Expr& expr) {
    IndexMath math(builder_, index_type());
    const auto product = [&](Expr* a, const Extent& b) {
        return math.multiply(a, math.copy(*b.value));
    };
    Expr* all = math.number(1);
    for (const Extent& each : of(*expr.operands[0]))
        all = product(all, each);
    Shape shape;
    Expr* others = math.number(1);
    std::optional<std::size_t> open;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
        if (constant_integer(expr.operands[i]) == -1) {
            if (open) {
                context_.diagnostics.error(Code::kP221, expr.span, "two sizes of a shape are -1")
                    .help = "give all sizes but one";
            }
            open = shape.size();
            shape.push_back(extent(1));
            continue;
        }
        refuse_negative(*expr.operands[i]);
        shape.push_back(extent(*expr.operands[i]));
        others = product(others, shape.back());
    }
    if (open) {
        Expr* left = math.greatest(math.copy(*others), math.number(1));
        shape[*open] = extent(*math.divide(math.copy(*all), left));
        others = product(others, shape[*open]);
    }
    const auto from = constant_integer(all), to = constant_integer(others);
    if ((from && to && *from == *to) || (linear(*all) - linear(*others)).value() == 0) return shape;
    Builder b(context_.module, expr.span);
    FailBuilder fail(b, Code::kP221);
    fail.site().message = "an array of " + fail.value(b.convert(all, Scalar::kI64)) +
                          " elements cannot have a shape for " +
                          fail.value(b.convert(others, Scalar::kI64));
    Fail* failure = fail.make();
    if (from && to) {
        context_.diagnostics.error(Code::kP221, expr.span,
                                   "an array of " + std::to_string(*from) +
                                       " elements cannot have a shape for " + std::to_string(*to));
        return shape;
    }
    before_.push_back(b.if_(b.binary(Op::kNe, math.copy(*all), math.copy(*others)), {failure}));
    return shape;
}

bool Shapes::require_zero(const Linear& form) {
    std::vector<ParameterBound> bounds;
    if (!zero_if(form, bounds)) return false;
    for (const ParameterBound& bound : bounds) {
        auto& known = context_.module.requirements;
        if (std::ranges::find(known, Requirement{bound}) == known.end()) known.push_back({bound});
    }
    return true;
}

}  // namespace parpy
