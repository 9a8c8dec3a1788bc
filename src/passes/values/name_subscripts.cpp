// See name_subscripts.h.
#include "passes/values/name_subscripts.h"

#include "analysis/memory/contiguity.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/checks/instrument_bounds.h"

namespace parpy {

using namespace ir;

Name NameSubscripts::found(Var& array) const {
    const auto known = names_.find(&array);
    if (known != names_.end()) return known->second;
    Name whole{&array, {}};
    whole.parts.resize(array.type.rank, Part{Part::Kind::kWhole});
    return whole;
}

Expr* NameSubscripts::pointed(Expr& array, const Function& callee) {
    const Name name = found(*array.var);
    if (name.root == array.var) return &array;
    Expr* row = context_.module.make_expr(Op::kLoad, array.type, array.span);
    row->var = name.root;
    bool row_begins = true, side_by_side = true;
    std::size_t taken = 0;
    for (const Part& part : name.parts) {
        if (part.kind == Part::Kind::kAdded) continue;
        const bool fixed = part.kind == Part::Kind::kFixed, begins = part.kind == Part::Kind::kSome;
        side_by_side = side_by_side && (!fixed || row_begins) &&
                       (!begins || (row_begins && constant_integer(part.step) == 1));
        if (part.begin != nullptr) row->operands.push_back(copy(part.begin));
        row_begins = row_begins && fixed;
        taken += row_begins ? 1 : 0;
    }
    const bool by_hand = is_by_hand(*context_.module.entry_function());
    const std::span<const Dim> dims = name.root->dims;
    side_by_side = side_by_side && taken < dims.size() &&
                   lie_side_by_side(dims.subspan(taken), by_hand) == true;
    if (side_by_side) return row->operands.empty() ? b_.array(name.root) : row;
    context_.diagnostics
        .error(Code::kP230, array.span,
               "'" + callee.name + "' gets a pointer, but the elements of '" + array.var->shown() +
                   "' do not lie side by side in memory")
        .help = "pass a row, " + name.root->shown() +
                "[i], or copy the elements into an array of their own";
    return &array;
}

// Of a template, for the place that is worked on.
Expr* NameSubscripts::copy(const Expr* expr) {
    Expr* result = clone(context_.module, expr);
    result->span = b_.span;
    return result;
}

std::vector<Expr*> NameSubscripts::composed(Var& array, const std::vector<Expr*>& indices,
                                            Shapes& shapes, Span span) {
    b_.span = span;
    const auto known = names_.find(&array);
    if (known == names_.end()) return indices;
    std::vector<Subscript> own = shapes.subscripts(array, indices);
    std::vector<Expr*> result;
    std::size_t next = 0;
    const auto added = [&] {
        while (next < indices.size() && indices[next]->op == Op::kNewAxis)
            result.push_back(indices[next++]);
    };
    std::size_t axis = 0;
    for (const Part& part : known->second.parts) {
        if (part.kind == Part::Kind::kFixed) {
            result.push_back(copy(part.begin));
            continue;
        }
        added();
        const Subscript& s = own[next];
        Expr* const index = indices[next++];
        const std::size_t number = axis++;
        if (part.kind == Part::Kind::kWhole) {
            result.push_back(index);
        } else if (part.kind == Part::Kind::kAdded) {
            if (index->op == Op::kSlice) result.push_back(axis_of_one(*index));
        } else {
            result.push_back(s.is_slice() ? slice_of(part, s, array.dims[number], *index)
                                          : place_of(part, index, array, number));
        }
    }
    added();
    return result;
}

Expr* NameSubscripts::axis_of_one(const Expr& index) {
    if (!index.operands.empty()) {
        context_.diagnostics
            .error(Code::kP223, index.span, "a dimension of size 1 that was added is sliced")
            .help = "take all of it: write ':'";
    }
    return context_.module.make_expr(Op::kNewAxis, Type::none(), index.span);
}

// Constants that are no subscript of the name, and where the program is to check subscripts, all
// that it must, name the site at which they fail.
Expr* NameSubscripts::place_of(const Part& part, Expr* index, const Var& array, std::size_t axis) {
    const Scalar type = index->type.scalar;
    const Dim& dim = array.dims[axis];
    const auto known = constant_integer(index);
    const bool sized = known && dim.extent;
    const bool inside = sized && *known >= -*dim.extent && *known < *dim.extent;
    const bool checked = sized ? !inside : checks_subscripts(context_);
    const bool negative = known ? *known < 0 : has_slices(*index) || intervals_.of(index).low < 0;
    IndexMath math(b_, type);
    Expr* at = index;
    if (checked || (negative && !known)) {
        at = b_.binary(Op::kIndex, index, b_.extent(dim, type));
        if (checked) at->index = site(array, axis) + 1;
    } else if (negative) {
        at = math.add(b_.extent(dim, type), math.number(*known));
    }
    return math.add(math.multiply(at, b_.convert(copy(part.step), type)),
                    b_.convert(copy(part.begin), type));
}

// One for each dimension of a name.
int NameSubscripts::site(const Var& array, std::size_t axis) {
    const auto [known, is_new] = sites_.try_emplace({&array, axis}, 0);
    if (is_new) {
        std::vector<Site>& sites = context_.module.sites;
        known->second = static_cast<int>(sites.size());
        Site& made = sites.emplace_back();
        made.code = Code::kP421;
        made.span = b_.span;
        made.message = outside_text("{0}", axis, array, "{1}");
    }
    return known->second;
}

Expr* NameSubscripts::slice_of(const Part& part, const Subscript& s, const Dim& dim,
                               const Expr& index) {
    const Scalar type = part.begin->type.scalar;
    IndexMath math(b_, type);
    Expr* slice = context_.module.make_expr(Op::kSlice, Type::none(), index.span);
    slice->index = kSliceBegin | kSliceLength | kSliceStep;
    if (index.operands.empty()) {
        const bool meant = dim.extent_var != nullptr && dim.extent_var->meaning != nullptr;
        Expr* size = meant ? copy(dim.extent_var->meaning) : b_.extent(dim);
        slice->operands = {copy(part.begin), b_.convert(size, type), copy(part.step)};
    } else {
        Expr* ahead = math.multiply(copy(s.begin), copy(part.step));
        slice->operands = {math.add(ahead, copy(part.begin)), copy(s.length.value),
                           math.multiply(copy(s.step), copy(part.step))};
    }
    return slice;
}

}  // namespace parpy
