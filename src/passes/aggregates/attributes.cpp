// Attributes of objects, entries of dicts and elements of named tuples (lower_aggregates.h).
#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/clone.h"
#include "passes/aggregates/lowering.h"

namespace parpy {

using namespace ir;

// The number in an attribute of an object that is an argument; it may be assigned to.
Parts Lowering::cell(Parts array, FieldName::Use use, Span span) {
    if (use != FieldName::Use::kRead) {
        array.kind.cell = true;
        return array;
    }
    Expr* held_array = array.leaves.front();
    if (held_array->op != Op::kVar) held_array = held(held_array, span, out_->size());
    Expr* load = surface(Op::kLoad, {number(0, span)}, span);
    load->var = held_array->var;
    return {Kind::number(), {load}};
}

// Reports an assignment to an attribute that is neither such a number nor a writable array.
bool Lowering::refuses_assignment(const Kind& owner, const FieldName& field, Span span) {
    const auto place = owner.place_of_name(field.name);
    if (field.use == FieldName::Use::kRead || !place) return false;
    const Kind& value = owner.parts[*place];
    const bool is_array = value.is_number() && value.rank != 0;
    if (is_array && field.use == FieldName::Use::kUpdated) return false;
    const std::string named = "'" + field.name + "' of " + a_kind(owner);
    Diagnostic* const made =
        is_array
            ? fail(Code::kP016, span, "the array " + named + " cannot be replaced",
                   "change its elements, with [:] after the name")
            : fail(Code::kP016, span, named + " cannot be assigned to",
                   value.is_number() ? "only numeric attributes of arguments can be assigned to; "
                                       "assign the value to a variable"
                                     : "only numbers and elements of arrays can be assigned to");
    if (made != nullptr) made->python_may_call = true;
    poisoned_ = true;
    return true;
}

// A method or a property of a named tuple.
Parts Lowering::member(Kind function, Span span) {
    Parts made{std::move(function), {}};
    for (const auto& [type, value] : std::exchange(made.kind.constants, {})) {
        made.leaves.push_back(module_.make_expr(Op::kConst, type, span));
        made.leaves.back()->constant = value;
    }
    return made;
}

// An attribute of an object, an entry of a dict, an element of a named tuple.
Parts Lowering::field(Expr& e) {
    Expr& written = *e.operands[0];
    Parts owner = lower(&written);
    const FieldName named = field_name(e);
    const std::string& name = named.name;
    const Kind& kind = owner.kind;
    if (const auto place = kind.place_of_name("*" + name))
        return cell(part_of(owner, *place), named.use, e.span);
    if (refuses_assignment(kind, named, e.span)) return poison(e.span);
    const auto method = kind.place_of_name(name + "()"), property = kind.place_of_name("@" + name);
    if (const auto place = kind.place_of_name(name)) return part_of(owner, *place);
    const bool is_method = method || kind.member(name + "()") != nullptr;
    if (is_method || property || kind.member("@" + name) != nullptr) {
        owner = held(carried(std::move(owner), e.span), e.span);
        Parts function;
        if (method || property)
            function = part_of(owner, method ? *method : *property);
        else
            function = member(*owner.kind.member(is_method ? name + "()" : "@" + name), e.span);
        for (Expr*& leaf : function.leaves)
            leaf = clone(module_, leaf);
        if (is_method) {
            const auto at = std::accumulate(
                function.kind.parts.begin(),
                function.kind.parts.begin() + static_cast<std::ptrdiff_t>(function.kind.defaults),
                std::ptrdiff_t{0}, [](std::ptrdiff_t count, const Kind& part) {
                    return count + static_cast<std::ptrdiff_t>(part.leaf_count());
                });
            function.leaves.insert(function.leaves.begin() + at, owner.leaves.begin(),
                                   owner.leaves.end());
            function.kind = bound_to(std::move(function.kind), std::move(owner.kind));
            return function;
        }
        auto& callee = const_cast<Function&>(*function.kind.function);
        std::vector<Parts> arguments{std::move(owner)};
        for (std::size_t i = 0; i < function.kind.parts.size(); ++i)
            arguments.push_back(part_of(function, i));
        const std::vector<Span> spans(arguments.size(), e.span);
        return call_of(e, callee, std::move(arguments), spans);
    }
    if (poisoned_ && kind == Kind::number()) return poison(e.span);
    const std::string called = shown(written);
    const std::string subject = called.empty() ? "this" : called;
    if (!kind.names.empty() || kind.is_record())
        fail(Code::kP024, e.span,
             subject + " is " + a_kind(kind) + " without '" + name +
                 "', or with one that compiled code cannot use",
             "numbers, arrays, tuples, None, functions, texts and objects of these can be used");
    else if (e.index == 1)
        fail(Code::kP104, e.span,
             subject + " has a string subscript but is neither a dict nor a record",
             "a dict is an argument of the function that Python calls, a record an element of an "
             "array of them: write r[i].pos.x in full");
    else
        fail(Code::kP024, e.span, "the attribute '" + name + "' cannot be compiled",
             "shape, ndim, size, real and imag can be used, and dtype where types are compared");
    return poison(e.span);
}

}  // namespace parpy
