// Subscripts, slices and expressions over whole arrays: the part of infer_types that computes
// ranks. The type of a slice is that of its elements, and its rank is kept beside it.
#include <algorithm>

#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

const Operand kUnknownOperand{};

// An array all elements of which `expr` uses in place; null if there is none.
const Expr* whole_array(const Expr& expr) {
    if (expr.op == Op::kReduce || expr.op == Op::kMatMul) {
        return nullptr;
    }
    const auto takes_all = [](const Expr* e) { return e->op == Op::kSlice && e->operands.empty(); };
    if (expr.op == Op::kLoad) {
        const bool all = !expr.operands.empty() && std::ranges::all_of(expr.operands, takes_all);
        return all ? &expr : nullptr;
    }
    for (const Expr* operand : expr.operands) {
        if (const Expr* found = whole_array(*operand)) {
            return found;
        }
    }
    return nullptr;
}

}  // namespace

// The single element of an array without dimensions is x[()], and also x[0].
bool Typer::drop_subscript(const Var* array, std::vector<Expr*>& indices) {
    if (!array->type.is_array() || array->type.rank != 0 || indices.size() != 1) return false;
    const Expr& index = *indices.front();
    const auto* place = std::get_if<std::int64_t>(&index.constant.value);
    if (index.op != Op::kConst || place == nullptr || *place != 0) return false;
    indices.clear();
    return true;
}

// Completes x[i] of an array with two dimensions to x[i, :].
void Typer::complete_subscripts(const Var* array, std::vector<Expr*>& indices, Span span) {
    if (!array->type.is_array() || drop_subscript(array, indices)) return;
    auto count = static_cast<std::size_t>(std::ranges::count_if(
        indices, [](const Expr* index) { return index->op != Op::kNewAxis; }));
    for (; count < array->type.rank; ++count)
        indices.push_back(context_.module.make_expr(Op::kSlice, Type::unknown(), span));
}

bool Typer::check_subscripts(const Var* array, const std::vector<Expr*>& indices, Span span) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        indices, [](const Expr* index) { return index->op != Op::kNewAxis; }));
    if (!array->type.is_array()) {
        if (!array->type.is_unknown()) {
            report(Code::kP204, span,
                   "'" + array->shown() + "' is " + a_python_name(array->type) +
                       " and takes no subscripts",
                   "pass an array for '" + array->shown() + "'");
        }
        return false;
    }
    const std::size_t rank = array->type.rank;
    if (count == rank) {
        return true;
    }
    report(Code::kP202, span,
           "'" + array->shown() + "' has " + std::to_string(rank) +
               (rank == 1 ? " dimension, but " : " dimensions, but ") + std::to_string(count) +
               (count == 1 ? " subscript" : " subscripts"),
           count > rank ? "remove " + std::to_string(count - rank) + " of them"
                        : "give one for each dimension");
    return false;
}

int Typer::walk_index(Expr*& slot, const Var* array) {
    if (slot->op == Op::kNewAxis || slot->op == Op::kSlice) {
        if (rewriting()) {
            slot->type = Type::none();
        }
        for (Expr*& bound : slot->operands) {
            const int rank = walk_index(bound, array);
            needs_scalar(*bound, rank);
        }
        return 1;
    }
    const Operand index = walk_value(slot);
    if (!index.type.is_scalar()) {
        return 0;
    }
    if (!is_integer(index.type.scalar)) {
        report(Code::kP203, slot->span,
               "a subscript of '" + array->shown() + "' is " + a_python_name(index.type) +
                   ", not an integer",
               index.rank > 0 && index.type.scalar == Scalar::kBool
                   ? "only one mask may be among numbers and slices"
               : is_float(index.type.scalar) ? "convert it: int(…), or divide with '//'"
                                             : "convert it: int(…)");
        return 0;
    }
    if (rewriting()) {
        // Numbers from 2**63 on are beyond the end of any array, and would become negative.
        const auto constant = slot->type.is(Scalar::kU64) ? constant_integer(slot) : std::nullopt;
        if (constant && *constant < 0) {
            const std::int64_t last = Interval::of_type(index_scalar()).high;
            slot = Builder(context_.module, slot->span).integer(last, index_scalar());
        } else {
            slot = convert(slot, index.type, Type::of(index_scalar()));
        }
    }
    return index.rank;
}

// Returns the rank: each slice adds one, arrays of subscripts (x[k[:]]) add theirs. Among slices
// there may be one array with one dimension, which replaces the dimension in its place.
int Typer::walk_indices(std::vector<Expr*>& indices, const Var* array) {
    int slices = 0;
    int gathered = 0;
    int others = 0;  // subscripts besides
    for (Expr*& index : indices) {
        const bool is_slice = index->op == Op::kNewAxis || index->op == Op::kSlice;
        const int rank = walk_index(index, array);
        (is_slice ? slices : gathered) = is_slice ? slices + rank : std::max(gathered, rank);
        others += is_slice ? 0 : 1;
        if (slices > 0 && gathered > 0 && (gathered > 1 || others > 1)) {
            refuse_call(Code::kP223, index->span,
                        "'" + array->shown() +
                            "' has slices and several subscripts that are arrays or numbers",
                        "take the slices first, and give the result a name");
            gathered = 0;
        }
    }
    return slices + gathered;
}

Operand Typer::walk_load(Expr& expr) {
    Operand operand;
    complete_subscripts(expr.var, expr.operands, expr.span);
    operand.rank = walk_indices(expr.operands, expr.var);
    if (!check_subscripts(expr.var, expr.operands, expr.span)) {
        return kUnknownOperand;
    }
    operand.type = Type::of(expr.var->type.scalar);
    if (rewriting()) {
        expr.type = operand.type;
    }
    return operand;
}

bool Typer::needs_scalar(const Expr& expr, int rank, const Var* stored_to) {
    if (rank == 0) {
        return true;
    }
    const Expr* const whole = whole_array(expr);
    if (const auto found = returned_.find(whole != nullptr ? whole->var : nullptr);
        found != returned_.end()) {
        const bool stores = whole == &expr && stored_to != nullptr;
        const std::string target = stores ? "'" + stored_to->shown() + "'" : "";
        refuse_call(Code::kP223, whole->span,
                    stores ? "an array is stored to one element of " + target
                           : "the array that this call returns is used as a number",
                    stores ? "store it to several elements, or one of its elements: t = …; t[i]"
                           : "give it a name, and subscripts: t = …; t[i]");
    } else if (whole != nullptr) {
        const int dimensions = whole->var->type.rank;
        const char* store = whole == &expr ? "" : ", or store the result: y[:] = …";
        report(Code::kP204, whole->span, "array '" + whole->var->shown() + "' is used as a number",
               "give it subscripts: " + whole->var->shown() +
                   (dimensions == 1   ? "[i]"
                    : dimensions == 2 ? "[i, j]"
                                      : "[i, j, …]") +
                   store);
    } else {
        refuse_call(Code::kP223, expr.span,
                    "an array with " + std::to_string(rank) +
                        (rank == 1 ? " dimension" : " dimensions") + " is used as a number",
                    "reduce it (parpy.sum, parpy.any, …), or store it into an array that exists: "
                    "y[:] = …");
    }
    return false;
}

int Typer::check_axes(const Expr& expr, int rank) {
    std::vector<bool> reduced(static_cast<std::size_t>(rank), expr.operands.size() == 1);
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
        const std::int64_t axis = *constant_integer(expr.operands[i]);
        const std::int64_t from_start = axis < 0 ? axis + rank : axis;
        if (from_start < 0 || from_start >= rank) {
            report(Code::kP216, expr.span,
                   "the reduced value has " + std::to_string(rank) +
                       (rank == 1 ? " dimension" : " dimensions") + ", so there is no axis " +
                       std::to_string(axis),
                   rank == 0 ? "leave out 'axis'"
                             : "use an axis from 0 to " + std::to_string(rank - 1));
            return 0;
        }
        if (reduced[static_cast<std::size_t>(from_start)]) {
            report(Code::kP221, expr.span, "axis " + std::to_string(axis) + " is reduced twice",
                   "name each axis once");
        }
        reduced[static_cast<std::size_t>(from_start)] = true;
    }
    const bool keeps = expr.constant == Constant{true};
    return keeps ? rank : static_cast<int>(std::ranges::count(reduced, false));
}

// The result type is NumPy's; half-precision floats are accumulated in f32, as NumPy does.
Operand Typer::walk_reduce(Expr*& slot) {
    if (const Unselected all = without_mask(*slot); all.reduce != nullptr)
        return walk_reduce_selected(slot, all);
    Expr& expr = *slot;
    const Operand operand = walk_value(expr.operands[0]);
    Operand result;
    if (!operand.type.is_scalar()) {
        return result;
    }
    result.rank = check_axes(expr, operand.rank);
    const auto which = static_cast<SliceReduction>(expr.index);
    const Scalar element = storage(operand.type).scalar;
    Scalar kept = element;
    Scalar computed = element;
    const bool half = element == Scalar::kF16 || element == Scalar::kBF16;
    switch (which) {
        case SliceReduction::kAny:
        case SliceReduction::kAll:
            kept = computed = Scalar::kBool;
            break;
        case SliceReduction::kMin:
        case SliceReduction::kMax:
            break;
        case SliceReduction::kMean:
        case SliceReduction::kSum:
        case SliceReduction::kProd: {
            const bool whole = is_integer(element) || element == Scalar::kBool;
            if (which == SliceReduction::kMean && whole) {
                kept = computed = storage(Type::weak_of(Scalar::kF64)).scalar;
            } else if (whole) {
                const Scalar wide = is_unsigned_integer(element) ? Scalar::kU64 : index_scalar();
                kept = size_in_bytes(element) < size_in_bytes(wide) ? wide : element;
                computed = kept;
            } else if (half) {
                computed = Scalar::kF32;
            }
            break;
        }
    }
    result.type = Type::of(kept);
    if (rewriting()) {
        for (std::size_t i = 1; i < expr.operands.size(); ++i) {
            expr.operands[i]->type = Type::of(Scalar::kI64);
        }
        expr.operands[0] = convert(expr.operands[0], operand.type, Type::of(computed));
        expr.type = Type::of(computed);
        slot = Builder(context_.module, expr.span).convert(&expr, kept);
    }
    return result;
}

// Typed like a product: unlike sums, contractions of small integers wrap in their own type.
Operand Typer::walk_matmul(Expr*& slot) {
    Expr& expr = *slot;
    const Operand operands[2] = {walk_value(expr.operands[0]), walk_value(expr.operands[1])};
    Operand result;
    const int left = operands[0].rank;
    const int right = operands[1].rank;
    if (!operands[0].type.is_scalar() || !operands[1].type.is_scalar()) {
        return result;
    }
    if (left == 0 || right == 0) {
        refuse_call(Code::kP223, expr.span, "a number is an operand of a matrix product",
                    "multiply with '*', or pass an array with one or two dimensions");
        return result;
    }
    if (right > 2 && expr.index == kDotProduct) {
        refuse_call(
            Code::kP223, expr.span,
            "the second operand of np.dot has " + std::to_string(right) + " dimensions",
            "np.matmul and @ multiply matrices one by one; np.einsum says which dimensions are "
            "summed over");
        return result;
    }
    result.rank = product_rank(left, right);
    const Typing typing = type_operation(Op::kMul, operands);
    if (!typing.error.empty()) {
        report(typing, expr.span);
        return result;
    }
    result.type = typing.result;
    if (rewriting() && typing.result.is_scalar()) {
        if (right >= 2) hold_contraction(expr.operands[0], left);
        if (left >= 2) hold_contraction(expr.operands[1], right);
        const Scalar kept = storage(typing.operand).scalar;
        const bool half = kept == Scalar::kF16 || kept == Scalar::kBF16;
        const Type computed = Type::of(half ? Scalar::kF32 : kept);
        for (std::size_t i = 0; i < 2; ++i) {
            expr.operands[i] = convert(expr.operands[i], operands[i].type, computed);
        }
        expr.type = computed;
        slot = Builder(context_.module, expr.span).convert(&expr, kept);
    }
    return result;
}

Operand Typer::walk_transpose(Expr& expr) {
    const Operand operand = walk_value(expr.operands[0]);
    if (!operand.type.is_scalar()) return kUnknownOperand;
    const std::size_t count = expr.operands.size() - 1;
    std::vector<bool> taken(static_cast<std::size_t>(operand.rank), false);
    bool once = count == 0 || count == taken.size();
    for (std::size_t i = 1; once && i <= count; ++i) {
        const std::int64_t axis = *constant_integer(expr.operands[i]);
        const std::int64_t from_start = axis < 0 ? axis + operand.rank : axis;
        once = from_start >= 0 && from_start < operand.rank &&
               !taken[static_cast<std::size_t>(from_start)];
        if (once) taken[static_cast<std::size_t>(from_start)] = true;
        if (rewriting()) expr.operands[i]->type = Type::of(Scalar::kI64);
    }
    if (!once) {
        report(Code::kP216, expr.span,
               "the axes of a transposition are not those of an array with " +
                   std::to_string(operand.rank) +
                   (operand.rank == 1 ? " dimension" : " dimensions"),
               "name each axis once, or no axis to reverse them all");
        return kUnknownOperand;
    }
    Operand result;
    result.type = operand.type;
    result.rank = operand.rank;
    if (rewriting()) expr.type = expr.operands[0]->type;
    return result;
}

// A computed operand gets a name first, so that its elements are computed once each.
Operand Typer::walk_reshape(Expr& expr) {
    const Operand operand = walk_value(expr.operands[0]);
    for (std::size_t i = 1; i < expr.operands.size(); ++i)
        walk_integer(expr.operands[i], index_scalar(), "the shape of an array");
    if (!operand.type.is_scalar()) return kUnknownOperand;
    if (operand.rank == 0 || expr.operands.size() == 1) {
        refuse_call(Code::kP223, expr.span,
                    operand.rank == 0 ? "a number is given a shape" : "an array is made a number",
                    operand.rank == 0 ? "write np.full(shape, x)" : "take its element: x[0]");
        return kUnknownOperand;
    }
    Operand result;
    result.type = operand.type;
    result.rank = static_cast<int>(expr.operands.size()) - 1;
    if (rewriting()) {
        if (!is_view(*expr.operands[0]) && before_ != nullptr)
            name_value(expr.operands[0], operand.rank);
        expr.type = expr.operands[0]->type;
    }
    return result;
}

namespace {

// Whether NumPy's functions store results of this type to such elements without a cast: float64 to
// float32, but not to int64.
bool is_of_kind(Scalar result, Scalar element) {
    const auto kind = [](Scalar s) {
        return s == Scalar::kBool       ? 0
               : is_unsigned_integer(s) ? 1
               : is_integer(s)          ? 2
               : is_float(s)            ? 3
                                        : 4;
    };
    return kind(result) <= kind(element);
}

}  // namespace

// NumPy updates slices in place, and refuses to lose a kind: int64 += float64.
bool Typer::check_update(const Store& stmt, const Type& result) {
    const Type element = Type::of(stmt.array->type.scalar);
    if (is_of_kind(storage(result).scalar, element.scalar)) return true;
    report(Code::kP226, stmt.span,
           "a slice of " + python_name(element) + " elements cannot hold the " +
               python_name(storage(result)) + " results of this update",
           "write it as an assignment, which converts them: x[:] = x[:] … …");
    return false;
}

// The same for stores of a function to its argument out.
bool Typer::check_output(const Store& stmt, const Type& result) {
    const Type element = Type::of(stmt.array->type.scalar);
    if (is_of_kind(storage(result).scalar, element.scalar)) return true;
    report(Code::kP226, stmt.span,
           "an array of " + python_name(element) + " elements cannot hold the " +
               python_name(storage(result)) + " results of this function",
           "write an assignment, which converts them: x[...] = …");
    return false;
}

// A number in an object keeps the type that it has when the call begins: a smaller type of NumPy
// would round, or wrap, from then on.
bool Typer::check_exact(const Store& stmt, const Type& value) {
    const Type element = Type::of(stmt.array->type.scalar);
    // Sums of truth values are integers in Python.
    const bool counts = element.scalar == Scalar::kBool && stmt.update &&
                        *stmt.update != Op::kBitAnd && *stmt.update != Op::kBitOr &&
                        *stmt.update != Op::kBitXor;
    const Scalar given = counts ? Scalar::kI64 : storage(value).scalar;
    const bool same = value.weak || given == element.scalar ||
                      (element.scalar == Scalar::kC128 && given == Scalar::kF64) ||
                      (element.scalar == Scalar::kC64 && given == Scalar::kF32);
    if (same && !counts && promote(element, value) == element) return true;
    Diagnostic* error = report(
        Code::kP233, stmt.span,
        "'" + stmt.array->shown() + "' is " + a_python_name(element) + ", and cannot become " +
            a_python_name(counts ? Type::of(given) : storage(value)) + " in compiled code",
        "give it a value of that type before the call");
    const std::string name = stmt.array->shown();  // "self['t']"
    const std::size_t begin = name.rfind("['"), end = name.rfind("']");
    if (error != nullptr && element.scalar == Scalar::kI64 && given == Scalar::kF64 &&
        begin != std::string::npos && end > begin)
        error->attribute = name.substr(begin + 2, end - begin - 2);
    return false;
}

}  // namespace parpy
