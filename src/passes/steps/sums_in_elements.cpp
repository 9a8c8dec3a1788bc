// See sums_in_elements.h.
#include "passes/steps/sums_in_elements.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

std::size_t mentions(const Body& body, const Var& scalar) {
    std::size_t count = 0;
    for_each_expr(body, [&](const Expr& e) { count += e.op == Op::kVar && e.var == &scalar; });
    for_each_stmt(body, [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        count += assign != nullptr && assign->var == &scalar;
    });
    return count;
}

// Whether `scalar` is read only by statements that assign it.
bool is_summed_up(const Stmt& stmt, const Var& scalar) {
    return !any_stmt(Body{const_cast<Stmt*>(&stmt)}, [&](const Stmt& each) {
        const auto* assign = each.as<Assign>();
        if (assign != nullptr && assign->var == &scalar) return false;
        bool read = false;
        for_each_slot(
            each, [&](const Expr* slot) { read = read || uses_of(*slot).read.contains(&scalar); });
        return read;
    });
}

bool is_zero(const Expr& value) {
    const auto* real = std::get_if<double>(&value.constant.value);
    return value.op == Op::kConst && real != nullptr && *real == 0.0;
}

// Whether the loops between these statements only add to `scalar`, or subtract from it, and store
// nothing.
bool only_adds(const Body& body, std::size_t first, std::size_t last, const Var& scalar) {
    const Body between(body.begin() + static_cast<std::ptrdiff_t>(first + 1),
                       body.begin() + static_cast<std::ptrdiff_t>(last));
    const Uses uses = uses_of(between);
    return uses.stored.empty() && !uses.calls && !any_stmt(between, [&](const Stmt& stmt) {
               const auto* assign = stmt.as<Assign>();
               if (assign == nullptr || assign->var != &scalar) return false;
               return (assign->update != Op::kAdd && assign->update != Op::kSub) ||
                      uses_of(*assign->value).read.contains(&scalar) ||
                      assign->value->type != scalar.type;
           });
}

// Whether the expression without its operand `part` may load an element of `array`, or whether it
// may leave out `part`.
bool touches_beside(const Expr& expr, const Expr& part, const Var& array) {
    if (&expr == &part) return false;
    if (!any_expr(expr, [&](const Expr& e) { return &e == &part; }))
        return uses_of(expr).may_touch(array) || uses_of(expr).calls;
    if (expr.op == Op::kSelect || expr.op == Op::kAnd || expr.op == Op::kOr) return true;
    return std::ranges::any_of(
        expr.operands, [&](const Expr* operand) { return touches_beside(*operand, part, array); });
}

}  // namespace

SumsInElements::SumsInElements(Module& module, For& loop, bool exactly)
    : module_(module), loop_(loop), exactly_(exactly) {
    rewrite_in(loop.body);
}

void SumsInElements::rewrite_in(Body& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (rewrite_sum(body, i) || (!exactly_ && rewrite_difference(body, i))) --i;
    }
    for (Stmt* stmt : body)
        for_each_body(*stmt, [&](Body& inner) { rewrite_in(inner); });
}

bool SumsInElements::sums_alone(const Body& body, std::size_t first, std::size_t last,
                                const Var& scalar, const std::vector<Expr*>& indices) const {
    const auto at = [&](std::size_t place) {
        return body.begin() + static_cast<std::ptrdiff_t>(place);
    };
    const Body between(at(first + 1), at(last));
    const Uses uses = uses_of(between);
    const bool simple = std::ranges::all_of(indices, [&](const Expr* index) {
        return uses_of(*index).loaded.empty() && invariant(*index, uses);
    });
    const bool sums = std::ranges::all_of(between, [&](const Stmt* stmt) {
        return stmt->kind == StmtKind::kFor && is_summed_up(*stmt, scalar);
    });
    return simple && sums && mentions(between, scalar) + 2 == mentions(loop_.body, scalar);
}

// Rewrites the sum that the statement with this number begins, if there is one.
bool SumsInElements::rewrite_sum(Body& body, std::size_t first) {
    const auto* begin = body[first]->as<Assign>();
    if (begin == nullptr || begin->update || begin->value->op != Op::kLoad) return false;
    Var& scalar = *begin->var;
    const Expr& element = *begin->value;
    if (scalar.type != Type::of(element.var->type.scalar)) return false;
    const auto ends = [&](const Stmt* stmt) {
        const auto* store = stmt->as<Store>();
        return store != nullptr && !store->update && !store->atomic &&
               store->array == element.var && same(store->indices, element.operands) &&
               store->value->op == Op::kVar && store->value->var == &scalar;
    };
    const auto from = body.begin() + static_cast<std::ptrdiff_t>(first);
    const auto last = std::find_if(from, body.end(), ends);
    if (last == body.end()) return false;
    const auto end = static_cast<std::size_t>(last - body.begin());
    if (!sums_alone(body, first, end, scalar, element.operands)) return false;
    update_element(body, first, end, scalar, *element.var, element.operands, /*negated=*/false);
    body.erase(last);
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(first));
    return true;
}

// The same for a sum that begins at zero and is then added to the element, or subtracted from it.
bool SumsInElements::rewrite_difference(Body& body, std::size_t first) {
    const auto* begin = body[first]->as<Assign>();
    if (begin == nullptr || begin->update || !is_zero(*begin->value)) return false;
    Var& scalar = *begin->var;
    std::size_t last = first + 1;
    while (last < body.size() && body[last]->kind == StmtKind::kFor)
        ++last;
    auto* store = last < body.size() ? body[last]->as<Store>() : nullptr;
    if (store == nullptr || store->atomic || store->copied != 0 ||
        scalar.type != Type::of(store->array->type.scalar) ||
        !sums_alone(body, first, last, scalar, store->indices) ||
        !only_adds(body, first, last, scalar)) {
        return false;
    }
    const auto is_sum = [&](const Expr& e) { return e.op == Op::kVar && e.var == &scalar; };
    if (store->update) {
        const bool adds = store->update == Op::kAdd, subtracts = store->update == Op::kSub;
        if ((!adds && !subtracts) || !is_sum(*store->value)) return false;
        update_element(body, first, last, scalar, *store->array, store->indices, subtracts);
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(last));
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(first));
        return true;
    }
    // The part of the value that adds or subtracts the sum.
    Expr* part = nullptr;
    for_each_expr(*store->value, [&](Expr& e) {
        const bool adds = e.op == Op::kAdd, subtracts = e.op == Op::kSub;
        if ((adds || subtracts) && e.type == scalar.type &&
            (is_sum(*e.operands[1]) || (adds && is_sum(*e.operands[0])))) {
            part = &e;
        }
    });
    if (part == nullptr) return false;
    const bool subtracts = part->op == Op::kSub;
    Expr* rest = part->operands[is_sum(*part->operands[1]) ? 0 : 1];
    const Body between(body.begin() + static_cast<std::ptrdiff_t>(first + 1),
                       body.begin() + static_cast<std::ptrdiff_t>(last));
    if (!invariant(*rest, uses_of(between)) || touches_beside(*store->value, *part, *store->array))
        return false;
    update_element(body, first, last, scalar, *store->array, store->indices, subtracts);
    Builder b(module_, store->span);
    body[first] = b.store(store->array, copies(store->indices), clone(module_, rest));
    const Expr* whole = store->value;
    rewrite_slots(*store, [&](Expr* e) {
        return e == part ? b.load(store->array, copies(store->indices)) : e;
    });
    if (store->value->op == Op::kLoad && whole == part)
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(last));
    return true;
}

std::vector<Expr*> SumsInElements::copies(const std::vector<Expr*>& indices) {
    std::vector<Expr*> result;
    for (const Expr* index : indices)
        result.push_back(clone(module_, index));
    return result;
}

// Has the loops between these statements update the element in place of the scalar.
void SumsInElements::update_element(Body& body, std::size_t first, std::size_t last,
                                    const Var& scalar, Var& array,
                                    const std::vector<Expr*>& indices, bool negated) {
    Builder b(module_, body[first]->span);
    const auto sign = [&](Op op) { return !negated ? op : op == Op::kAdd ? Op::kSub : Op::kAdd; };
    for (std::size_t place = first + 1; place < last; ++place) {
        auto* top = body[place]->as<For>();
        rewrite_stmts(top->body, [&](Stmt* stmt, Body& out) {
            const auto* assign = stmt->as<Assign>();
            if (assign == nullptr || assign->var != &scalar) return out.push_back(stmt);
            b.span = stmt->span;
            Store* store = assign->update ? b.update(&array, copies(indices), sign(*assign->update),
                                                     assign->value)
                                          : b.store(&array, copies(indices), assign->value);
            rewrite_slots(*store, [&](Expr* e) {
                return e->op == Op::kVar && e->var == &scalar ? b.load(&array, copies(indices)) : e;
            });
            updates_.emplace_back(top, store);
            out.push_back(store);
        });
    }
}

bool SumsInElements::proved(ParallelLoops& loops) const {
    return std::ranges::all_of(
        updates_, [&](const auto& each) { return loops.reads_apart(*each.first, *each.second); });
}

}  // namespace parpy
