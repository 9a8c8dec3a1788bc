// What the entry returns: a number goes to the element that the caller passes, an array gets memory
// of the caller's.
#include <algorithm>

#include "ir/builder.h"
#include "ir/ops.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

// The store is that of a result, which the signature has a weak type for: numbers that are returned
// in several places have the type that holds all of them. Whether `out` has got what stands for the
// statement.
bool Typer::find_result(Store& stmt, const Operand& value, Body& out) {
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
    const bool fresh = !is_view(*stmt.value);
    bind(array, fresh ? convert(stmt.value, value.type, element) : stmt.value, fresh, stmt.span,
         out)
        ->labels = stmt.labels;
    return true;
}

// Arrays that are returned are made by the host: they come out of the block, behind the names that
// they are computed from and in front of the stores of numbers. Whether nothing is left of it.
bool Typer::takes_results_out(Body& body, Body& out) {
    const auto is_result = [](const Stmt* stmt) {
        const auto* bind = stmt->as<Bind>();
        return bind != nullptr && bind->array->space == Space::kResult;
    };
    if (!rewriting() || std::ranges::none_of(body, is_result)) return false;
    Body stores, names;
    const auto put_names = [&] {
        if (names.empty()) return;
        if (context_.options.automatic) {
            out.insert(out.end(), names.begin(), names.end());
        } else {
            auto* gpu = context_.module.make<Gpu>(names.front()->span);
            gpu->body = names;
            out.push_back(gpu);
        }
        names.clear();
    };
    for (Stmt* stmt : body) {
        if (is_result(stmt)) {
            put_names();
            out.push_back(stmt);
        } else {
            (stmt->as<Store>() != nullptr ? stores : names).push_back(stmt);
        }
    }
    put_names();
    body = std::move(stores);
    return body.empty();
}

// Of the parameters for results, those that no number is stored to.
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
