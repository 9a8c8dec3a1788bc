// See name_subscripts.h.
#include "passes/values/name_subscripts.h"

#include <algorithm>

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
    Name whole{&array, {}, {}, {}};
    whole.parts.resize(array.type.rank, Part{Part::Kind::kWhole});
    return whole;
}

Expr* NameSubscripts::pointed(Expr& array, const Function& callee) {
    const Name name = found(*array.var);
    if (name.root == array.var) return &array;
    Expr* row = context_.module.make_expr(Op::kLoad, array.type, array.span);
    row->var = name.root;
    bool row_begins = true;
    bool side_by_side = std::ranges::all_of(name.moves, &Move::reshapes);
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

Expr* NameSubscripts::stride(Var& array, std::size_t axis, const Expr& asked) {
    const Name name = found(array);
    const Scalar type = asked.type.scalar;
    IndexMath math(b_, type);
    Expr* factor = math.number(size_in_bytes(array.type.scalar));
    std::size_t left = axis;  // remaining dimensions before it
    // The dimension of the array that `parts` select from; none: it was added.
    const auto through_parts = [&](const std::vector<Part>& parts) -> std::optional<std::size_t> {
        std::size_t base = 0, own = 0;
        for (const Part& part : parts) {
            const bool is_this = part.kind != Part::Kind::kFixed && own++ == left;
            if (is_this && part.kind == Part::Kind::kAdded) return std::nullopt;
            if (is_this && part.kind == Part::Kind::kSome)
                factor = math.multiply(factor, b_.convert(copy(part.step), type));
            if (is_this) return base;
            base += part.kind != Part::Kind::kAdded ? 1 : 0;
        }
        return std::nullopt;
    };
    for (std::size_t k = name.moves.size(); k-- > 0;) {
        const Move& move = name.moves[k];
        if (move.reshapes()) {
            refuse(asked.span,
                   "'" + array.shown() + "' is reshaped: its elements have no such distances",
                   "take the strides of the array itself");
            return math.number(0);
        }
        const auto base = move.order.empty() ? through_parts(move.parts) : move.order[left];
        if (!base) return math.number(0);
        left = *base;
    }
    const auto base = through_parts(name.parts);
    if (!base) return math.number(0);
    const Dim& dim = name.root->dims[*base];
    return math.multiply(
        factor, dim.stride ? math.number(*dim.stride) : b_.convert(b_.var(dim.stride_var), type));
}

// A copy of a template, with the current place in the source.
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
    const Name& name = known->second;
    return name.moves.empty() ? through(name.parts, array, indices, shapes)
                              : through_moves(name, array, indices, shapes);
}

std::vector<Expr*> NameSubscripts::through(const std::vector<Part>& parts, const Var& array,
                                           const std::vector<Expr*>& indices, Shapes& shapes) {
    std::vector<Subscript> own = shapes.subscripts(array, indices);
    std::vector<Expr*> result;
    std::size_t next = 0;
    const auto added = [&] {
        while (next < indices.size() && indices[next]->op == Op::kNewAxis)
            result.push_back(indices[next++]);
    };
    std::size_t axis = 0;
    for (const Part& part : parts) {
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

namespace {

bool is_part(const Expr& index) {
    return index.op == Op::kSlice;
}

}  // namespace

// One subscript may be a slice, which moves map to a slice if the elements of the array that they
// reshape are counted in one dimension.
std::vector<Expr*> NameSubscripts::through_moves(const Name& name, const Var& array,
                                                 const std::vector<Expr*>& indices,
                                                 Shapes& shapes) {
    const Scalar type = shapes.index_type();
    const auto slices = std::ranges::count_if(indices, [](const Expr* e) { return is_part(*e); });
    const bool counted = std::ranges::all_of(name.moves, [&](const Move& move) {
        const auto k = static_cast<std::size_t>(&move - name.moves.data());
        return !move.reshapes() || (k == 0 ? name.sizes : name.moves[k - 1].sizes).size() == 1;
    });
    const bool sliced = slices == 1 && counted;
    std::vector<Subscript> own;
    if (sliced) own = shapes.subscripts(array, indices);
    std::vector<Expr*> at;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
        Expr* const index = indices[axis];
        const bool slice = (is_part(*index) && !sliced) || index->op == Op::kNewAxis;
        const bool inner = !is_part(*index) && has_slices(*index);
        if (slice || inner || has_effects(*index)) {
            refuse(index->span,
                   "'" + array.shown() + "' is transposed or reshaped, and " +
                       (has_effects(*index) ? "this subscript has effects" : "sliced here"),
                   has_effects(*index) ? "give the subscript a name on a line of its own"
                                       : "take its elements in a loop, or slice the array itself");
            return indices;
        }
        if (is_part(*index)) {
            const Subscript& s = own[axis];
            const auto part = [&](const Expr* e) { return b_.convert(copy(e), type); };
            at.push_back(part_of(part(s.begin), part(s.length.value), part(s.step), index->span));
        } else {
            at.push_back(b_.convert(inside(index, array, axis), type));
        }
    }
    for (std::size_t k = name.moves.size(); k-- > 0;) {
        const Move& move = name.moves[k];
        if (!move.order.empty()) {
            std::vector<Expr*> before(at.size());
            for (std::size_t i = 0; i < at.size(); ++i)
                before[move.order[i]] = at[i];
            at = std::move(before);
        } else if (!move.parts.empty()) {
            at = of_elements(move.parts, at);
        } else {
            at = reshaped(k == 0 ? name.sizes : name.moves[k - 1].sizes, move.sizes, at, type);
        }
    }
    return of_elements(name.parts, at);
}

// The subscripts of the array that `parts` select from, for subscripts that count from the start.
std::vector<Expr*> NameSubscripts::of_elements(const std::vector<Part>& parts,
                                               const std::vector<Expr*>& indices) {
    std::vector<Expr*> result;
    std::size_t next = 0;
    for (const Part& part : parts) {
        if (part.kind == Part::Kind::kFixed) {
            result.push_back(copy(part.begin));
            continue;
        }
        Expr* const index = indices[next++];
        const Scalar type = (is_part(*index) ? index->operands[0] : index)->type.scalar;
        IndexMath math(b_, type);
        if (part.kind == Part::Kind::kWhole) {
            result.push_back(index);
        } else if (part.kind == Part::Kind::kAdded && is_part(*index)) {
            refuse(index->span, "a dimension of size 1 that was added is sliced",
                   "take all of it: write ':'");
        } else if (part.kind == Part::Kind::kSome) {
            const auto element = [&](Expr* number) {
                return math.add(math.multiply(number, b_.convert(copy(part.step), type)),
                                b_.convert(copy(part.begin), type));
            };
            if (is_part(*index)) {
                Expr* step = math.multiply(index->operands[2], b_.convert(copy(part.step), type));
                result.push_back(
                    part_of(element(index->operands[0]), index->operands[1], step, index->span));
            } else {
                result.push_back(element(index));
            }
        }
    }
    return result;
}

// The subscripts in an array of the sizes `from` of an element of one with the sizes `to`.
std::vector<Expr*> NameSubscripts::reshaped(const std::vector<Dim>& from,
                                            const std::vector<Dim>& to,
                                            const std::vector<Expr*>& indices, Scalar type) {
    IndexMath math(b_, type);
    Expr* number = math.number(0);
    Expr *length = nullptr, *step = nullptr;  // of a slice, whose begin is `number`
    for (std::size_t k = 0; k < to.size(); ++k) {
        number = math.multiply(number, b_.extent(to[k], type));
        if (step != nullptr) step = math.multiply(step, b_.extent(to[k], type));
        if (is_part(*indices[k])) {
            number = math.add(number, indices[k]->operands[0]);
            length = indices[k]->operands[1];
            step = indices[k]->operands[2];
        } else if (to[k].extent != 1) {
            number = math.add(number, indices[k]);
        }
    }
    if (step != nullptr) return {part_of(number, length, step, b_.span)};
    std::vector<Expr*> result(from.size());
    Expr* inner = math.number(1);  // elements between neighbours
    for (std::size_t d = from.size(); d-- > 0;) {
        Expr* digit = math.divide(copy(number), copy(inner));
        if (d > 0) digit = b_.binary(Op::kMod, digit, b_.extent(from[d], type));
        result[d] = from[d].extent == 1 ? math.number(0) : digit;
        inner = math.multiply(inner, b_.extent(from[d], type));
    }
    return result;
}

// The subscript of a name, counted from the start. Constants that are out of bounds, and all
// subscripts that the program must check if checks are on, name the site at which they fail.
Expr* NameSubscripts::inside(Expr* index, const Var& array, std::size_t axis) {
    const Scalar type = index->type.scalar;
    const Dim& dim = array.dims[axis];
    const auto known = constant_integer(index);
    const bool sized = known && dim.extent;
    const bool fits = sized && *known >= -*dim.extent && *known < *dim.extent;
    const bool checked = sized ? !fits : checks_subscripts(context_);
    const bool negative = known ? *known < 0 : has_slices(*index) || intervals_.of(index).low < 0;
    if (checked || (negative && !known)) {
        Expr* at = b_.binary(Op::kIndex, index, b_.extent(dim, type));
        if (checked) at->index = site(array, axis) + 1;
        return at;
    }
    IndexMath math(b_, type);
    return negative ? math.add(b_.extent(dim, type), math.number(*known)) : index;
}

void NameSubscripts::refuse(Span span, std::string message, std::string help) {
    auto& error = context_.diagnostics.error(Code::kP223, span, std::move(message));
    error.help = std::move(help);
    error.python_may_call = true;
}

Expr* NameSubscripts::axis_of_one(const Expr& index) {
    if (!index.operands.empty()) {
        refuse(index.span, "a dimension of size 1 that was added is sliced",
               "take all of it: write ':'");
    }
    return context_.module.make_expr(Op::kNewAxis, Type::none(), index.span);
}

Expr* NameSubscripts::place_of(const Part& part, Expr* index, const Var& array, std::size_t axis) {
    const Scalar type = index->type.scalar;
    IndexMath math(b_, type);
    return math.add(math.multiply(inside(index, array, axis), b_.convert(copy(part.step), type)),
                    b_.convert(copy(part.begin), type));
}

// The site for a dimension of a name.
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

// A slice whose begin counts from the start.
Expr* NameSubscripts::part_of(Expr* begin, Expr* length, Expr* step, Span span) {
    Expr* slice = context_.module.make_expr(Op::kSlice, Type::none(), span);
    slice->index = kSliceBegin | kSliceLength | kSliceStep;
    slice->operands = {begin, length, step};
    return slice;
}

Expr* NameSubscripts::slice_of(const Part& part, const Subscript& s, const Dim& dim,
                               const Expr& index) {
    if (index.operands.empty()) return all_of(part, dim, index.span);
    IndexMath math(b_, part.begin->type.scalar);
    Expr* ahead = math.multiply(copy(s.begin), copy(part.step));
    return part_of(math.add(ahead, copy(part.begin)), copy(s.length.value),
                   math.multiply(copy(s.step), copy(part.step)), index.span);
}

// The slice that corresponds to a part of a dimension.
Expr* NameSubscripts::all_of(const Part& part, const Dim& dim, Span span) {
    Expr* slice = context_.module.make_expr(Op::kSlice, Type::none(), span);
    if (part.kind != Part::Kind::kSome) return slice;
    slice->index = kSliceBegin | kSliceLength | kSliceStep;
    const bool meant = dim.extent_var != nullptr && dim.extent_var->meaning != nullptr;
    Expr* size = meant ? copy(dim.extent_var->meaning) : b_.extent(dim);
    slice->operands = {copy(part.begin), b_.convert(size, part.begin->type.scalar),
                       copy(part.step)};
    return slice;
}

Expr* NameSubscripts::whole(const Expr& load) {
    const auto known = names_.find(load.var);
    const bool all = std::ranges::all_of(load.operands, [](const Expr* index) {
        return index->op == Op::kSlice && index->operands.empty();
    });
    if (known == names_.end() || load.op != Op::kLoad || !all) return nullptr;
    const Name& name = known->second;
    const bool parted =
        std::ranges::any_of(name.moves, [](const Move& move) { return !move.parts.empty(); });
    if (name.moves.empty() || parted) return nullptr;
    b_.span = load.span;
    Module& module = context_.module;
    Expr* value = module.make_expr(Op::kLoad, load.type, load.span);
    value->var = name.root;
    std::size_t axis = 0;
    for (const Part& part : name.parts) {
        if (part.kind == Part::Kind::kFixed) {
            value->operands.push_back(copy(part.begin));
            continue;
        }
        value->operands.push_back(part.kind == Part::Kind::kAdded
                                      ? module.make_expr(Op::kNewAxis, Type::none(), load.span)
                                      : all_of(part, name.sizes[axis], load.span));
        ++axis;
    }
    for (const Move& move : name.moves) {
        const Op op = move.reshapes() ? Op::kReshape : Op::kTranspose;
        value = module.make_expr(op, load.type, load.span, {value});
        for (const std::size_t from : move.order)
            value->operands.push_back(b_.integer(static_cast<std::int64_t>(from)));
        for (std::size_t i = 0; move.reshapes() && i < move.sizes.size(); ++i)
            value->operands.push_back(b_.extent(move.sizes[i]));
    }
    return value;
}

}  // namespace parpy
