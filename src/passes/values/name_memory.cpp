// See name_memory.h.
#include "passes/values/name_memory.h"

#include <algorithm>

#include "analysis/integers/interval_arithmetic.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "passes/slices/value_memory.h"

namespace parpy {

using namespace ir;

// The expression without variables that `before` sets.
Expr* NameMemory::spelled_out(const Expr* value, std::span<Stmt* const> before) const {
    Expr* result = clone(context_.module, value);
    for (auto stmt = before.rbegin(); stmt != before.rend(); ++stmt) {
        const auto* assign = (*stmt)->as<Assign>();
        if (assign == nullptr || assign->update) continue;
        result = clone(context_.module, result, {.values = {{assign->var, assign->value}}});
    }
    return result;
}

std::optional<NameMemory::Room> NameMemory::room(const Extent& length,
                                                 std::span<Stmt* const> before) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (const auto constant = length.constant()) return Room{std::max<std::int64_t>(*constant, 0)};
    const Expr* size = spelled_out(length.value, before);
    if (known_at_entry(*size, function_, uses_)) return Room{std::nullopt, size};
    const std::int64_t most = range(*length.written).high;
    if (most > kMost) return std::nullopt;
    return Room{std::max<std::int64_t>(most, 0)};
}

// The values of an expression that is made of variables of the function.
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

bool NameMemory::allocate(const Bind& bind, const Shape& shape, const Body& sizes, Body& out) {
    b_.span = bind.span;
    Var& array = *bind.array;
    const NamePlace& place = places_.of(&array);
    const bool in_entry = &function_ == context_.module.entry_function();
    std::vector<Room> rooms;
    std::int64_t bytes = size_in_bytes(array.type.scalar);
    bool grows = false, few = true;
    for (const Extent& length : shape) {
        const auto most = room(length, sizes);
        if (!most) return no_room(bind, in_entry);
        few = few && most->constant && *most->constant <= kMostLocalBytes;
        bytes *= few ? std::max<std::int64_t>(*most->constant, 1) : 1;
        few = few && bytes <= kMostLocalBytes;
        grows = grows || (!length.constant() && most->at_entry == nullptr);
        rooms.push_back(*most);
    }
    const bool small = few && !(in_entry && place.loops.empty());
    const bool hoisted = !place.dominated || !small;
    if (!in_entry && !small) return no_room(bind, in_entry);
    Body& target = hoisted ? at_entry_ : out;
    if (grows) out.insert(out.end(), sizes.begin(), sizes.end());
    Var* memory = &array;
    if (grows) {  // the name is a part of what there is room for
        memory = context_.module.make_var(array.name + "_values", array.type, array.span);
        Name part{memory, {}};
        for (std::size_t i = 0; i < shape.size(); ++i) {
            array.dims.push_back(sized(shape[i], array, i, out));
            const bool whole = shape[i].constant() || rooms[i].at_entry != nullptr;
            const Scalar type = shape[i].value->type.scalar;
            part.parts.push_back(
                whole ? Part{Part::Kind::kWhole}
                      : Part{Part::Kind::kSome, b_.integer(0, type), b_.integer(1, type)});
        }
        strides(array.dims);
        names_.emplace(&array, std::move(part));
    }
    for (std::size_t i = 0; i < rooms.size(); ++i) {
        if (rooms[i].constant) {
            memory->dims.push_back({.extent = rooms[i].constant});
        } else {
            memory->dims.push_back(sized(shape[i], array, i, target, rooms[i].at_entry));
        }
    }
    row_major(b_, *memory, target);
    memory->written = true;
    memory->space = small ? Space::kLocal : Space::kScratch;
    target.push_back(b_.alloc(memory));
    return true;
}

bool NameMemory::no_room(const Bind& bind, bool in_entry) {
    auto& error = context_.diagnostics.error(
        Code::kP227, bind.span,
        "how many values '" + bind.array->shown() + "' has is not known when " +
            (in_entry ? "the function is entered" : "the program is compiled, or they are many"));
    error.help = in_entry ? "make the array in front of the loop, as large as it may get"
                          : "pass the array to the function, which then stores to it";
    return false;
}

Dim NameMemory::sized(const Extent& length, const Var& array, std::size_t number, Body& out,
                      const Expr* at_entry) {
    Dim dim;
    dim.extent = length.constant();
    if (dim.extent) {
        dim.extent = std::max<std::int64_t>(*dim.extent, 0);
    } else if (length.value->op == Op::kVar && length.value->type.is(Scalar::kI64) &&
               lasts(*length.value->var)) {
        dim.extent_var = length.value->var;
    } else {
        Var* size = b_.scalar(array.name + "_size" + std::to_string(number), Scalar::kI64);
        size->user_name = array.shown();
        if (stable(*length.written, array)) size->meaning = clone(context_.module, length.written);
        const Expr* value = at_entry != nullptr ? at_entry : length.value;
        out.push_back(b_.assign(size, b_.convert(clone(context_.module, value), Scalar::kI64)));
        dim.extent_var = size;
    }
    return dim;
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
        return lasts(*var) || (counts && place.dominated);
    });
}

// Nothing in the function sets the variable.
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
