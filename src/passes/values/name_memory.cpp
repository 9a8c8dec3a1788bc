// See name_memory.h.
#include "passes/values/name_memory.h"

#include <algorithm>

#include "analysis/integers/interval_arithmetic.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/slices/value_memory.h"

namespace parpy {

using namespace ir;

// Bounds of numbers of elements that say little about them, because they follow from what the type
// or the program admits: with few elements they cost little memory, with many there is none.
constexpr std::int64_t kFewElements = std::int64_t{1} << 16, kManyElements = std::int64_t{1} << 24;

// Longer sums of sizes are not tracked.
constexpr std::size_t kMostOperators = 64;

// The expression with variables replaced by the values that the last assignments of `before` give.
Expr* NameMemory::spelled_out(const Expr* value, std::span<Stmt* const> before) const {
    Expr* result = clone(context_.module, value);
    for (auto stmt = before.rbegin(); stmt != before.rend(); ++stmt) {
        const auto* assign = (*stmt)->as<Assign>();
        if (assign == nullptr && uses_of(**stmt).written.empty()) continue;  // it checks sizes
        if (assign == nullptr || assign->update) break;
        result = clone(context_.module, result, {.values = {{assign->var, assign->value}}});
    }
    return with_integers(result);
}

// The expression with known values in place of variables and sizes of names.
Expr* NameMemory::with_integers(Expr* value) const {
    const auto known = [&](const Expr& e) -> Expr* {
        const Var* var = e.op == Op::kVar ? e.var : nullptr;
        if (e.op == Op::kExtent && places_.has(e.var) &&
            static_cast<std::size_t>(e.index) < e.var->dims.size()) {
            const Dim& dim = e.var->dims[static_cast<std::size_t>(e.index)];
            if (dim.extent) return Builder(context_.module, e.span).integer(*dim.extent);
            var = dim.extent_var;
        }
        const auto found = integers_.find(var);
        if (found != integers_.end()) return clone(context_.module, found->second);
        return var == nullptr || e.op == Op::kVar
                   ? nullptr
                   : Builder(context_.module, e.span).var(const_cast<Var*>(var));
    };
    const auto rewrite = [&](const auto& self, Expr* e) -> Expr* {
        if (Expr* same = known(*e)) return same;
        for (Expr*& operand : e->operands)
            operand = self(self, operand);
        return e;
    };
    return rewrite(rewrite, value);
}

void NameMemory::learn(const Stmt& stmt) {
    const auto* assign = stmt.as<Assign>();
    if (assign == nullptr || !assign->var->type.is_scalar() ||
        !is_integer(assign->var->type.scalar))
        return;
    Module& module = context_.module;
    Expr* value = clone(module, assign->value);
    if (assign->update) {
        Expr* before = Builder(module, stmt.span).var(assign->var);
        value = module.make_expr(*assign->update, assign->var->type, stmt.span, {before, value});
    }
    value = with_integers(value);
    std::size_t size = 0;
    for_each_expr(*value, [&](const Expr&) { ++size; });
    if (size <= kMostOperators && known_at_entry(*value, function_, uses_))
        integers_[assign->var] = value;
    else
        integers_.erase(assign->var);
}

std::optional<NameMemory::Room> NameMemory::room(const Extent& length,
                                                 std::span<Stmt* const> before, bool once) {
    if (const auto constant = length.constant())
        return Room{std::max<std::int64_t>(*constant, 0), nullptr, true};
    Expr* size = spelled_out(length.value, before);
    if (known_at_entry(*size, function_, uses_)) return Room{std::nullopt, size, true};
    const std::int64_t most = range(*length.written).high;
    if (most <= kFewElements) return Room{std::max<std::int64_t>(most, 0)};
    if (const Expr* bound = at_most(*size)) {
        const auto number = constant_integer(bound);
        return number ? Room{std::max<std::int64_t>(*number, 0)} : Room{std::nullopt, bound};
    }
    if (once) return Room{std::nullopt, length.value, true, true};
    return most <= kManyElements ? std::optional(Room{most}) : std::nullopt;
}

bool NameMemory::runs_once(const Bind& bind) const {
    const NamePlace& place = places_.of(bind.array);
    return is_called_once() && place.body == &function_.body && place.dominated && !place.unbound;
}

// An upper bound of an integer expression that is known at the entry; null if there is none.
Expr* NameMemory::at_most(Expr& e) {
    constexpr std::int64_t kFar = std::int64_t{1} << 48;
    if (known_at_entry(e, function_, uses_)) return &e;
    const auto operand = [&](std::size_t i) { return at_most(*e.operands[i]); };
    IndexMath math(b_, e.type.scalar);
    switch (e.op) {
        case Op::kMin: {
            Expr* const a = operand(0);
            Expr* const b = operand(1);
            return a != nullptr && b != nullptr ? math.least(a, b) : a != nullptr ? a : b;
        }
        case Op::kAdd:
        case Op::kMax:
        case Op::kSelect: {
            const std::size_t first = e.op == Op::kSelect ? 1 : 0;
            Expr* const a = operand(first);
            Expr* const b = operand(first + 1);
            if (a == nullptr || b == nullptr) return nullptr;
            return e.op == Op::kAdd ? math.add(a, b) : math.greatest(a, b);
        }
        case Op::kSub: {
            Expr* const a = operand(0);
            const std::int64_t least = range(*e.operands[1]).low;
            return a != nullptr && least > -kFar ? math.subtract(a, math.number(least)) : nullptr;
        }
        case Op::kMul: {
            if (range(*e.operands[0]).low < 0 || range(*e.operands[1]).low < 0) return nullptr;
            Expr* const a = operand(0);
            Expr* const b = operand(1);
            return a != nullptr && b != nullptr ? math.multiply(a, b) : nullptr;
        }
        case Op::kFloorDiv: {
            Expr* const a = operand(0);
            const auto by = constant_integer(e.operands[1]);
            return a != nullptr && by && *by > 0 ? math.divide(a, math.number(*by)) : nullptr;
        }
        case Op::kConvert:
            if (is_integer(e.operands[0]->type.scalar)) {
                Expr* const a = operand(0);
                return a != nullptr ? b_.convert(a, e.type.scalar) : nullptr;
            }
            return nullptr;
        case Op::kVar:
            if (const auto held = held_.find(e.var); held != held_.end()) {
                const Expr* const most = held->second.most;
                return most != nullptr ? clone(context_.module, most) : nullptr;
            }
            [[fallthrough]];
        default: {
            const std::int64_t most = range(e).high;
            return most <= kFewElements ? math.number(most) : nullptr;
        }
    }
}

// The range of an expression over variables of the function.
Interval NameMemory::range(const Expr& e) const {
    const auto operand = [&](std::size_t i) { return range(*e.operands[i]); };
    switch (e.op) {
        case Op::kConst:
            return Interval::exactly(constant_integer(&e).value_or(0));
        case Op::kVar:
            return intervals_.of(e.var);
        case Op::kAdd:
        case Op::kSub:
        case Op::kMul:
        case Op::kFloorDiv:
        case Op::kMin:
        case Op::kMax:
            return arithmetic(e.op, operand(0), operand(1), e.type.scalar);
        case Op::kSelect:
            return hull(operand(1), operand(2));
        default:
            return Interval::of_type(e.type.scalar);
    }
}

namespace {

void move_to(Body& out, Body& stmts) {
    out.insert(out.end(), stmts.begin(), stmts.end());
    stmts.clear();
}

}  // namespace

std::optional<NameMemory::Rooms> NameMemory::rooms_for(const Bind& bind, const Shape& shape,
                                                       std::span<Stmt* const> sizes) {
    Rooms found;
    std::int64_t bytes = size_in_bytes(bind.array->type.scalar);
    bool few = true;
    const bool once = runs_once(bind);
    for (const Extent& length : shape) {
        const auto most = room(length, sizes, once);
        if (!most || (by_hand_ && !(most->constant && most->exact))) return std::nullopt;
        few = few && most->constant && *most->constant <= kMostLocalBytes;
        bytes *= few ? std::max<std::int64_t>(*most->constant, 1) : 1;
        few = few && bytes <= kMostLocalBytes;
        found.late = found.late || most->late;
        found.rooms.push_back(*most);
    }
    found.small = few && !(is_called_once() && places_.of(bind.array).loops.empty());
    if (!is_called_once() && !found.small) return std::nullopt;
    return found;
}

bool NameMemory::has_room(const Bind& bind, const Shape& shape, std::span<Stmt* const> sizes) {
    b_.span = bind.span;
    const auto found = rooms_for(bind, shape, sizes);
    const std::vector<const Stmt*>& loops = places_.of(bind.array).loops;
    return found && (found->small || std::ranges::none_of(loops, [&](const Stmt* loop) {
                         return std::ranges::any_of(loop->labels, [&](const std::string& label) {
                             return context_.options.mapping.contains(label);
                         });
                     }));
}

bool NameMemory::is_called_once() const {
    return &function_ == context_.module.entry_function() && !is_by_hand(function_);
}

bool NameMemory::allocate(const Bind& bind, const Shape& shape, Body& sizes, Body& out) {
    b_.span = bind.span;
    Var& array = *bind.array;
    if (array.space == Space::kResult)
        return allocate_result(array, array.origin, shape, sizes, out);
    if (const auto given = given_.find(&array); given != given_.end())
        return allocate_result(array, given->second, shape, sizes, out);
    const NamePlace& place = places_.of(&array);
    const auto found = rooms_for(bind, shape, sizes);
    if (!found) return no_room(bind);
    const auto& [rooms, small, late] = *found;
    const bool part = place.unbound || !std::ranges::all_of(rooms, &Room::exact);
    const bool hoisted = !late && (!place.led || !small);
    Body& target = hoisted ? at_entry_ : out;
    if (late) move_to(out, sizes);
    Var* memory = &array;
    if (part) {  // the name is a part of its memory
        move_to(out, sizes);
        memory = context_.module.make_var(array.name + "_values", array.type, array.span);
        Name name{memory, {}, {}, {}};
        for (std::size_t i = 0; i < shape.size(); ++i) {
            array.dims.push_back(sized(shape[i], array, i, out));
            const Scalar type = shape[i].value->type.scalar;
            Part& axis = name.parts.emplace_back(Part::Kind::kWhole);
            if (rooms[i].exact && !(place.unbound && i == 0)) continue;
            axis = {Part::Kind::kSome, b_.integer(0, type), b_.integer(1, type)};
            if (place.unbound && i == 0) axis.begin = bound_here(array, type, out);
        }
        strides(array.dims);
        names_.emplace(&array, std::move(name));
    }
    for (std::size_t i = 0; i < rooms.size(); ++i) {
        Dim& dim = memory->dims.emplace_back();
        dim.extent = rooms[i].constant;
        if (dim.extent) continue;
        dim.extent_var = b_.scalar(memory->name + "_size" + std::to_string(i), Scalar::kI64);
        dim.extent_var->user_name = array.shown();
        if (rooms[i].exact && stable(*shape[i].written, array))
            dim.extent_var->meaning = clone(context_.module, shape[i].written);
        target.push_back(b_.assign(
            dim.extent_var, b_.convert(clone(context_.module, rooms[i].size), Scalar::kI64)));
        learn(*target.back());
    }
    row_major(b_, *memory, target);
    memory->written = true;
    memory->space = small ? Space::kLocal : Space::kScratch;
    target.push_back(b_.alloc(memory));
    return true;
}

void NameMemory::allocate_none(Var& array) {
    b_.span = array.span;
    const std::vector<std::int64_t> ones(array.type.rank, 1);
    Var* memory = b_.local_array(array.name + "_values", array.type.scalar, ones, Space::kLocal);
    const auto unset = [&](const std::string& what) {
        Var* var = b_.scalar(array.name + what, Scalar::kI64);
        var->user_name = array.shown();
        held_.emplace(var, Held{&array});
        return var;
    };
    for (int i = 0; i < array.type.rank; ++i) {
        array.dims.push_back({.extent_var = unset("_size" + std::to_string(i))});
    }
    strides(array.dims);
    const Part part{Part::Kind::kSome, b_.var(unset("_begin0")), b_.integer(1)};
    names_.emplace(&array, Name{memory, std::vector<Part>(array.type.rank, part), {}, {}});
    memory->written = true;
    at_entry_.push_back(b_.alloc(memory));
}

bool NameMemory::allocate_result(Var& array, const Origin& result, const Shape& shape, Body& sizes,
                                 Body& out) {
    move_to(out, sizes);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        array.dims.push_back(sized(shape[i], array, i, out));
    }
    row_major(b_, array, out);
    array.written = true;
    array.space = Space::kResult;
    array.origin = result;
    out.push_back(b_.alloc(&array));
    return true;
}

// The begin of a name that may be unbound: a variable, for which guard_variables knows whether it
// is assigned.
const Expr* NameMemory::bound_here(const Var& array, Scalar type, Body& out) {
    Var* begin = b_.scalar(array.name + "_begin0", type);
    begin->user_name = array.shown();
    out.push_back(b_.assign(begin, b_.integer(0, type)));
    return b_.var(begin);
}

bool NameMemory::no_room(const Bind& bind) {
    const bool once = is_called_once();
    const std::string few = std::to_string(kMostLocalBytes / 1024) + " KiB";
    auto& error = context_.diagnostics.error(
        Code::kP227, bind.span,
        "the number of values of '" + bind.array->shown() + "' is not known when " +
            (once ? "the function is entered"
                  : "the program is compiled, or they take more than " + few));
    error.python_may_call = once;
    error.help =
        once ? "make the array before the loop, as large as it can become"
        : by_hand_
            ? "write a loop over the elements, or store them to an array that the kernel makes"
            : "pass the array to the function, which then stores to it";
    return false;
}

void NameMemory::hold_bounds(Bind& bind, Body& out) {
    const NamePlace& place = places_.of(bind.array);
    if (place.binds.size() != 1 || uses_of(*bind.value).calls) return;
    std::vector<std::pair<const Expr*, Var*>> known;
    const auto hold = [&](Expr*& bound) {
        if (constant_integer(bound) || stable(*bound, *bind.array)) return;
        for (const auto& [value, var] : known) {
            if (same(*value, *bound)) {
                bound = b_.var(var);
                return;
            }
        }
        b_.span = bound->span.valid() ? bound->span : bind.span;
        Var* var = b_.scalar(bind.array->name + "_bound", bound->type.scalar);
        var->user_name = bind.array->shown();
        intervals_.learn(var, intervals_.of(bound));
        out.push_back(b_.assign(var, bound));
        held_.emplace(var, Held{bind.array});
        known.emplace_back(clone(context_.module, bound), var);
        bound = b_.var(var);
    };
    const auto visit = [&](const auto& self, Expr& e) -> void {
        for (Expr* operand : e.operands) {
            self(self, *operand);
        }
        if (e.op != Op::kSlice) return;
        for (Expr*& bound : e.operands) {
            hold(bound);
        }
    };
    visit(visit, *bind.value);
}

Dim NameMemory::sized(const Extent& length, const Var& array, std::size_t number, Body& out,
                      bool own) {
    Dim dim;
    if (!own) dim.extent = length.constant();
    if (dim.extent) {
        dim.extent = std::max<std::int64_t>(*dim.extent, 0);
    } else if (!own && length.value->op == Op::kVar && length.value->type.is(Scalar::kI64) &&
               lasts(*length.value->var)) {
        dim.extent_var = length.value->var;
    } else {
        Expr* const spelled = spelled_out(length.value, out);
        const auto known = std::ranges::find_if(
            sizes_, [&](const auto& each) { return same(*each.first, *spelled); });
        if (known != sizes_.end() && is_for_good(array)) {
            dim.extent_var = known->second;
            return dim;
        }
        Var* size = b_.scalar(array.name + "_size" + std::to_string(number), Scalar::kI64);
        size->user_name = array.shown();
        if (is_for_good(array)) sizes_.emplace_back(spelled, size);
        if (places_.has(&array) && places_.of(&array).binds.size() == 1)
            held_.emplace(size, Held{&array, at_most(*clone(context_.module, spelled))});
        if (!own && stable(*length.written, array))
            size->meaning = clone(context_.module, length.written);
        out.push_back(
            b_.assign(size, b_.convert(clone(context_.module, length.value), Scalar::kI64)));
        learn(*out.back());
        dim.extent_var = size;
    }
    return dim;
}

// Whether the sizes of a name are not assigned again while it is used, as it is bound once.
bool NameMemory::is_for_good(const Var& array) const {
    return places_.has(&array) && places_.of(&array).binds.size() == 1 &&
           places_.of(&array).dominated;
}

void NameMemory::pass_by(const Stmt& stmt) {
    const Uses uses = uses_of(stmt);
    std::erase_if(sizes_,
                  [&](const auto& size) { return uses.calls || !invariant(*size.first, uses); });
    if (stmt.as<Assign>() != nullptr)
        learn(stmt);
    else
        std::erase_if(integers_,
                      [&](const auto& each) { return uses.written.contains(each.first); });
}

void NameMemory::leave(const Stmt& stmt) {
    const Uses uses = uses_of(stmt);
    std::erase_if(integers_, [&](const auto& each) { return uses.written.contains(each.first); });
}

// Whether the expression has the same value wherever the name is used.
bool NameMemory::stable(const Expr& expr, const Var& array) const {
    const Uses own = uses_of(expr);
    const NamePlace& place = places_.of(&array);
    return !own.calls && own.loaded.empty() && std::ranges::all_of(own.read, [&](const Var* var) {
        const bool counts = std::ranges::any_of(place.loops, [&](const Stmt* stmt) {
            const auto* loop = stmt->as<For>();
            return loop != nullptr && loop->var == var &&
                   !uses_of(loop->body).written.contains(var);
        });
        const auto held = held_.find(var);
        return lasts(*var) || (counts && place.dominated) ||
               (held != held_.end() && (place.dominated || held->second.name == &array));
    });
}

// Whether the variable is a parameter that the function never assigns.
bool NameMemory::lasts(const Var& var) const {
    return !uses_.written.contains(&var) &&
           std::ranges::find(function_.params, &var) != function_.params.end();
}

void NameMemory::strides(std::vector<Dim>& dims) {
    std::optional<std::int64_t> stride = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        dims[i].stride = stride.value_or(0);
        dims[i].stride_var = nullptr;
        stride = stride && dims[i].extent ? std::optional(*stride * *dims[i].extent) : std::nullopt;
    }
}

}  // namespace parpy
