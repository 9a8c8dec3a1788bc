// Types the results of the entry: a number is stored to the element that the caller passes, an
// array gets memory of the caller.
#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/ops.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

// Handles the store of a result, for which the signature has a weak type: numbers that are returned
// in several places get a type that holds all of them. Returns whether `out` has got a replacement
// of the statement.
bool Typer::find_result(Store& stmt, Body& out) {
    const Op written = stmt.value->op;
    const Operand value = walk_value(stmt.value);
    if (value.rank == 0) {
        if (!rewriting()) {
            Type& type = results_[stmt.array];
            type = join(type, value);
            return false;
        }
        const Type found = storage(instances_.results[stmt.array]);
        if (!found.is_scalar()) return false;
        result_type_[stmt.array] = found;
        stmt.array->written = true;
        instances_.writes.emplace(stmt.array, stmt.span);
        for (Expr*& index : stmt.indices) {
            walk_index(index, stmt.array);
        }
        stmt.value = convert(stmt.value, value.type, found);
        return false;
    }
    if (!rewriting()) return false;
    Var* array = context_.module.make_var(
        stmt.array->name, Type::array(storage(value.type).scalar, value.rank), stmt.span);
    array->space = Space::kResult;
    array->origin = stmt.array->origin;
    instance_.webs.splits.push_back({array, stmt.array->name});
    const Type element = Type::of(array->type.scalar);
    const bool fresh = computes(written) || !is_view(*stmt.value);
    if (fresh && refuses_parts_of_arguments(stmt)) return false;
    bind(array, fresh ? convert(stmt.value, value.type, element) : stmt.value, fresh, stmt.span,
         out)
        ->labels = stmt.labels;
    return true;
}

// NumPy's x.real shares the memory of a complex x, which belongs to the caller.
bool Typer::refuses_parts_of_arguments(const Store& stmt) {
    const Expr& value = *stmt.value;
    if (instance_.function->part) return false;  // Python names those that are stored to
    if ((value.op != Op::kReal && value.op != Op::kImag) || !is_view(*value.operands[0]) ||
        !is_complex(value.operands[0]->type.scalar))
        return false;
    const Var* array = viewed(*value.operands[0]).var;
    const auto& params = instance_.function->params;
    if (std::ranges::find(params, array) == params.end()) return false;
    refuse_call(Code::kP217, stmt.span,
                "the function returns elements of '" + array->shown() +
                    "', which belong to its caller already",
                "return a copy of them: np.copy(…)");
    return true;
}

// The host makes arrays that are returned: their binds move out of the block, in the order of the
// text. Returns whether `out` has got the whole block.
bool Typer::takes_results_out(Body& body, Body& out) {
    const auto is_result = [](const Stmt* stmt) {
        const auto* bind = stmt->as<Bind>();
        return bind != nullptr && bind->array->space == Space::kResult;
    };
    if (!rewriting() || std::ranges::none_of(body, is_result)) return false;
    Body inside;
    const auto put = [&] {
        if (inside.empty()) return;
        auto* gpu = context_.module.make<Gpu>(inside.front()->span);
        gpu->body = std::exchange(inside, {});
        out.push_back(gpu);
    };
    for (Stmt* stmt : body) {
        const bool stays = stmt->as<Store>() != nullptr || !context_.options.automatic;
        if (is_result(stmt) || !stays) {
            put();
            out.push_back(stmt);
        } else {
            inside.push_back(stmt);
        }
    }
    put();
    return true;
}

// Drops the parameters of results to which no number is stored.
void Typer::drop_results_of_arrays() {
    Function& function = *instance_.function;
    for (const auto& [array, type] : result_type_) {
        array->type = Type::array(type.scalar, array->type.rank);
    }
    std::erase_if(function.params, [&](Var* param) {
        return param->type.is_array() && param->type.weak && !result_type_.contains(param);
    });
}

}  // namespace parpy
