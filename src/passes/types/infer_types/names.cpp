// Names of arrays: `row = x[i]`, `t = x - y`, `t += 1`.
#include <algorithm>

#include "analysis/pragmas.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/slices/slice_shapes.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

// Arrays of equal rank get the element type that holds both; other types stay separate.
Type joined(const Type& a, const Type& b) {
    if (a.is_unknown()) return b;
    if (!a.is_array() || a.rank != b.rank) return a;
    return Type::array(promote(Type::of(a.scalar), Type::of(b.scalar)).scalar, a.rank);
}

}  // namespace

// The array that an augmented assignment of a name updates in place; null for numbers.
Var* Typer::updated_array(const Assign& stmt) const {
    if (stmt.update) return stmt.var->type.is_array() ? stmt.var : nullptr;
    if (!instance_.webs.augmented.contains(&stmt)) return nullptr;
    const Expr& before = *stmt.value->operands[0];
    return before.op == Op::kVar && before.var->type.is_array() ? before.var : nullptr;
}

// `a += value` stores to the elements of `a`, which still names them.
void Typer::update_array(Assign& stmt, Var& array, Body& out) {
    auto* store = context_.module.make<Store>(stmt.span);
    store->array = &array;
    store->update = stmt.update ? *stmt.update : stmt.value->op;
    store->value = stmt.update ? stmt.value : stmt.value->operands[1];
    store->labels = stmt.labels;
    walk_store(*store, out);
    if (rewriting()) {
        out.push_back(store);
    } else {
        (stmt.update ? stmt.value : stmt.value->operands[1]) = store->value;
    }
    if (&array == stmt.var) return;
    widen_array(stmt.var, array.type);
    if (!rewriting()) return;
    const auto is_this = [&](const Webs::Step& step) { return step.stmt == &stmt && step.update; };
    if (std::ranges::any_of(instance_.webs.steps, is_this)) return;  // they become one variable
    stmt.labels.clear();
    stmt.value = Builder(context_.module, stmt.span).var(&array);
    walk(stmt.value);
    bind(stmt, false, out);
}

bool Typer::computes(Op written) {
    return written != Op::kVar && written != Op::kArray && written != Op::kLoad &&
           written != Op::kCall && written != Op::kTranspose && written != Op::kReshape &&
           written != Op::kReal;  // the real part of a real array is itself
}

// Assigns the elements to a name of their own before the statement.
Bind* Typer::name_value(Expr*& slot, int rank) {
    Var* name = context_.module.make_var("copy", Type::array(slot->type.scalar, rank), slot->span);
    instance_.webs.splits.push_back({name, name->name});
    Bind* made = bind(name, slot, true, slot->span, *before_);
    slot = Builder(context_.module, slot->span).array(name);
    (void)walk_var(slot);
    return made;
}

namespace {

bool is_contraction(const Expr& e) {
    return e.op == Op::kReduce || e.op == Op::kMatMul;
}

// Whether it is like np.sum(x, axis=0, keepdims=True): a dimension of size 1 precedes another.
bool keeps_outer_dimension(const Expr& e, int rank) {
    if (e.op != Op::kReduce || e.constant != Constant{true}) return false;
    const std::vector<bool> gone = Shapes::reduced(e, static_cast<std::size_t>(rank));
    return !std::ranges::is_sorted(gone);
}

// Whether nothing can go wrong with the value wherever it is computed: it is made of one array that
// is a parameter, and of numbers.
bool is_safe(const Expr& e, const std::vector<Var*>& params) {
    int arrays = 0;
    const bool odd = any_expr(e, [&](const Expr& part) {
        const bool named = part.op == Op::kVar || part.op == Op::kArray || part.op == Op::kLoad;
        if (part.op == Op::kSlice) return !part.operands.empty();  // all elements
        const auto is_slice = [](const Expr* index) { return index->op == Op::kSlice; };
        if (part.op == Op::kLoad && !std::ranges::all_of(part.operands, is_slice)) return true;
        arrays += named && part.var->type.is_array() ? 1 : 0;
        if (named) return std::ranges::find(params, part.var) == params.end();
        if (part.op == Op::kReduce) {
            return part.index != static_cast<int>(SliceReduction::kSum) &&
                   part.index != static_cast<int>(SliceReduction::kMean);
        }
        const bool plain = part.op == Op::kAdd || part.op == Op::kSub || part.op == Op::kMul ||
                           part.op == Op::kNeg || part.op == Op::kAbs || part.op == Op::kDiv;
        return !plain && part.op != Op::kConst && part.op != Op::kConvert &&
               part.op != Op::kTranspose && part.op != Op::kNumpy;
    });
    return !odd && arrays == 1;
}

}  // namespace

// A sum or product that the elements around it use several times each is computed once, before the
// statement, unless labels map the statement.
void Typer::hold_contraction(Expr*& slot, int rank) {
    const bool may = rewriting() && rank > 0 && std::ranges::all_of(stmt_->labels, is_pragma);
    if (!may || !any_expr(*slot, is_contraction) || has_effects(*slot)) return;
    const bool chosen = before_ == nullptr && around_choice_ != nullptr &&
                        is_safe(*slot, instance_.function->params);
    if (before_ == nullptr && !chosen) return;
    Body* const before = std::exchange(before_, chosen ? around_choice_ : before_);
    name_value(slot, rank)->spare = true;
    before_ = before;
}

// `slot` is an operand among elements of an array with `rank` dimensions.
void Typer::hold_broadcast(Expr*& slot, const Operand& operand, int rank) {
    const bool repeats =
        rewriting() &&
        (operand.rank < rank ||
         any_expr(*slot, [&](const Expr& e) { return keeps_outer_dimension(e, operand.rank); }));
    if (repeats) hold_contraction(slot, operand.rank);
}

void Typer::widen_array(Var* var, const Type& type) {
    if (rewriting()) return;
    Type& known = phase_ == Phase::kNarrow ? narrowed_[var] : var->type;
    const Type wide = joined(known, type);
    changed_ = changed_ || (phase_ == Phase::kFind && wide != known);
    known = wide;
}

// `written`: the operator of the value in the program, which typing may have removed.
void Typer::name_array(Assign& stmt, const Operand& value, Op written, Body& out) {
    const bool fresh = computes(written) || !is_view(*stmt.value);
    const Type found = Type::array(storage(value.type).scalar, value.rank);
    widen_array(stmt.var, found);
    if (!rewriting()) return;
    const Type& kept = stmt.var->type;
    const std::string& name = stmt.var->shown();
    if (!kept.is_array() || kept.rank != found.rank || value.rank == 0 ||
        (!fresh && kept.scalar != found.scalar)) {
        const bool number = value.rank == 0;
        refuse_call(Code::kP217, stmt.span,
                    "'" + name + "' is " + a_python_name(number ? value.type : found) +
                        " here, and " + a_python_name(kept) + " elsewhere",
                    "give each of them a name of its own");
        return;
    }
    if (written == Op::kSelect) {
        bind_chosen(stmt, stmt.value, value.type, out);
        return;
    }
    if (written == Op::kAnd || written == Op::kOr) {
        refuse_call(Code::kP217, stmt.span, "'" + name + "' names one of several arrays",
                    "copy the elements instead: " + name + " = np.where(…)");
        return;
    }
    if (stmt.value->op == Op::kCall && storage(value.type).scalar != kept.scalar) {
        name_value(stmt.value, value.rank);  // the result gets a name, and then its elements
    }
    stmt.value = convert(stmt.value, value.type, Type::of(kept.scalar));
    bind(stmt, fresh, out);
}

// Rewrites `t = a if c else b` as `if c: t = a`, `else: t = b`.
void Typer::bind_chosen(const Assign& stmt, Expr* value, const Type& type, Body& out) {
    if (value->op != Op::kSelect) {
        Expr* converted = convert(value, type, Type::of(stmt.var->type.scalar));
        bind(stmt.var, converted, !is_view(*converted), stmt.span, out)->labels = stmt.labels;
        return;
    }
    auto* branch = context_.module.make<If>(stmt.span);
    branch->condition = value->operands[0];
    bind_chosen(stmt, value->operands[1], type, branch->then_body);
    bind_chosen(stmt, value->operands[2], type, branch->else_body);
    out.push_back(branch);
}

// The extent along `axis`, or their product, of a name whose sizes lower_names computes.
Operand Typer::walk_named_shape(Expr*& slot, int axis) {
    Operand operand;
    operand.type = Type::weak_of(Scalar::kI64);
    if (!rewriting()) return operand;
    Builder b(context_.module, slot->span);
    Var* const array = slot->var;
    Expr* value = b.extent(array, slot->op == Op::kSize ? 0 : axis);
    if (is_stride(*slot)) value->constant = slot->constant;
    for (int k = 1; slot->op == Op::kSize && k < array->type.rank; ++k) {
        value = b.binary(Op::kMul, value, b.extent(array, k));
    }
    slot = b.convert(value, index_scalar());
    return operand;
}

// Arrays of one value: np.full, np.zeros_like and the like. A Python number gets the type of the
// array that it is made like.
Operand Typer::walk_filled(Expr*& slot) {
    Expr& expr = *slot;
    Operand result;
    if (expr.op == Op::kEmpty) {
        result = walk_value(expr.operands[0]);
        if (rewriting()) expr.type = storage(result.type);
        return result;
    }
    const Operand each = walk_scalar(expr.operands[0]);
    result.type = storage(each.type);
    if (expr.op == Op::kLike) {
        const Operand like = walk_value(expr.operands[1]);
        result.rank = like.rank;
        if (each.type.weak) result.type = storage(like.type);
    } else {
        result.rank = static_cast<int>(expr.operands.size()) - 1;
        for (std::size_t i = 1; i < expr.operands.size(); ++i) {
            walk_integer(expr.operands[i], index_scalar(), "the shape of an array");
        }
    }
    if (!each.type.is_scalar() || !result.type.is_scalar()) return Operand{};
    if (rewriting()) {
        expr.operands[0] = convert(expr.operands[0], each.type, result.type);
        expr.type = result.type;
    }
    return result;
}

namespace {

// Whether it can be evaluated anywhere in the statement, even if the statement would not do so.
bool is_settled(const Expr& e) {
    switch (e.op) {
        case Op::kVar:
            return !e.var->type.is_array();
        case Op::kConst:
        case Op::kExtent:
        case Op::kSlice:
        case Op::kConvert:
        case Op::kNeg:
        case Op::kAdd:
        case Op::kSub:
        case Op::kMul:
            return std::ranges::all_of(e.operands, [](const Expr* o) { return is_settled(*o); });
        default:
            return false;
    }
}

// Whether it is a row like x[i, k - 1]: naming it reads no element.
bool is_settled_row(const Expr& e) {
    return e.op == Op::kLoad && !e.operands.empty() &&
           std::ranges::all_of(e.operands, [](const Expr* o) { return is_settled(*o); });
}

}  // namespace

// An argument that is a part of an array, or computed, gets a name before the statement.
ArgumentKey Typer::named_key(Expr*& slot, const Operand& operand, bool fresh) {
    ArgumentKey key;
    Body* const before = before_ != nullptr || !is_settled_row(*slot) ? before_ : ahead_;
    const bool once = before != nullptr && !instances_.element_functions.acts(*slot);
    fresh = fresh || (rewriting() && slot->op == Op::kLoad && !is_view(*slot));  // x[k], gathered
    if (!once || (rewriting() && !fresh && !is_view(*slot))) {
        refuse_call(
            Code::kP223, slot->span,
            "an array that is computed here is passed to a function, which takes arrays and "
            "numbers",
            "give it a name on a line of its own, and pass that");
        return key;
    }
    key.type = Type::array(storage(operand.type).scalar, operand.rank);
    if (!rewriting()) return key;
    Var* name = context_.module.make_var("argument", key.type, slot->span);
    instance_.webs.splits.push_back({name, "argument"});
    const auto reads = [](const Expr* e) {
        return any_expr(*e, [](const Expr& part) { return part.op == Op::kLoad; });
    };
    if (fresh || std::ranges::any_of(slot->operands, reads))
        instances_.moved_arguments.push_back({slot->span, name, stmt_});
    bind(name, fresh ? convert(slot, operand.type, Type::of(key.type.scalar)) : slot, fresh,
         slot->span, *before);
    slot = Builder(context_.module, slot->span).array(name);
    return key;
}

void Typer::bind(Assign& stmt, bool fresh, Body& out) {
    bind(stmt.var, stmt.value, fresh, stmt.span, out)->labels = stmt.labels;
}

Bind* Typer::bind(Var* name, Expr* value, bool fresh, Span span, Body& out) {
    auto* made = context_.module.make<Bind>(span);
    made->array = name;
    made->value = value;
    made->fresh = fresh;
    out.push_back(made);
    // A store under the name is a store to the array.
    if (!fresh) instances_.passes.push_back({viewed(*value).var, name, span});
    if (!fresh && !parts_.emplace(name, value).second) parts_[name] = value;
    return made;
}

}  // namespace parpy
