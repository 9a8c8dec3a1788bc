// Calls of functions and their results: the part of infer_types that selects instances.
#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/function_names.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

const Operand kUnknownOperand{};

// The end of all paths of the function, if it is an exception or a static_fail.
const Fail* failure_of(const Function& function) {
    return function.body.empty() ? nullptr : function.body.back()->as<Fail>();
}

}  // namespace

ArgumentKey Typer::argument_key(Expr*& slot) {
    ArgumentKey key;
    if ((slot->op == Op::kVar || slot->op == Op::kArray) && slot->var->type.is_array()) {
        const Var& array = *slot->var;
        key.type = array.type;
        key.space = array.space;
        key.limit = array.limit;
        for (const Dim& dim : array.dims) {
            key.dims.push_back({dim.extent, dim.stride});
        }
        if (rewriting()) {
            slot->op = Op::kArray;
            slot->type = array.type;
        }
        return key;
    }
    // Captured constants stay constants in the functions that they are passed to.
    const bool hands_on = slot->op == Op::kVar && slot->var->constant != nullptr;
    const bool fresh = computes(slot->op), returned = slot->op == Op::kCall;
    const Operand operand = walk_value(slot);
    const bool named = returned && (!rewriting() || slot->op != Op::kCall);
    if (operand.rank > 0 && named) {
        key.type = Type::array(storage(operand.type).scalar, operand.rank);
        if (rewriting() && slot->op == Op::kLoad)
            slot = Builder(context_.module, slot->span).array(slot->var);
        return key;
    }
    if (operand.rank > 0) return named_key(slot, operand, fresh || returned);
    key.type = operand.type;
    if (hands_on) {
        key.constant = operand.constant;
    }
    return key;
}

int Typer::rank_of_copy(const Expr& expr) const {
    Typer typer(context_, instances_, instance_, Phase::kFind);
    Body before;
    typer.before_ = typer.ahead_ = &before;
    Expr* copy = clone(context_.module, &expr);
    return typer.walk(copy).rank;
}

// Whether the argument is an array, as far as the types of variables are known.
bool Typer::is_array_valued(const Expr& argument) const {
    const auto valued = [&](const Expr* e) { return is_array_valued(*e); };
    const auto is_part = [](const Expr* e) { return e->op == Op::kSlice || e->op == Op::kNewAxis; };
    switch (argument.op) {
        case Op::kVar:
        case Op::kArray:
            return argument.var->type.is_array();
        case Op::kLoad:
            return argument.var->type.is_array() &&
                   (std::ranges::any_of(argument.operands, is_part) ||
                    std::ssize(argument.operands) < argument.var->type.rank ||
                    std::ranges::any_of(argument.operands, valued));
        case Op::kExtent:
        case Op::kRank:
        case Op::kSize:
            return false;
        case Op::kCall:
            if (instances_.element_functions.computes_numbers(*argument.callee))
                return std::ranges::any_of(argument.operands, valued);
            return rank_of_copy(argument) > 0;
        default:
            return is_of_slices(argument.op) ? rank_of_copy(argument) > 0
                                             : std::ranges::any_of(argument.operands, valued);
    }
}

std::vector<bool> Typer::element_arguments(const Expr& call) const {
    std::vector<bool> arrays;
    if (!instances_.element_functions.computes_numbers(*call.callee)) return arrays;
    for (const Expr* argument : call.operands)
        arrays.push_back(is_array_valued(*argument));
    if (std::ranges::none_of(arrays, [](bool array) { return array; })) return {};
    const ElementFunctions::Way way = instances_.element_functions.way(*call.callee, arrays);
    const bool each = way == ElementFunctions::Way::kEach ||
                      (way == ElementFunctions::Way::kEither && stmt_ != nullptr &&
                       std::ranges::any_of(stmt_->labels, [&](const std::string& label) {
                           return context_.options.mapping.contains(label);
                       }));
    if (!each) return {};
    instances_.element_functions.add(*call.callee);
    return arrays;
}

Operand Typer::walk_call(Expr*& slot) {
    Expr& call = *slot;
    const Function& callee = *call.callee;
    std::vector<ArgumentKey> key;
    const bool foreign = callee.kind == FunctionKind::kForeign;
    const std::vector<bool> elements = element_arguments(call);
    int rank = 0;  // of the arrays for whose elements the call is made
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        Expr*& argument = call.operands[i];
        if (!elements.empty() && elements[i]) {
            const Operand each = walk_value(argument);
            rank = std::max(rank, each.rank);
            key.emplace_back().type = each.type;
            continue;
        }
        const bool points =
            foreign && i < callee.params.size() && callee.params[i]->type.is_array();
        key.push_back(points && argument->op == Op::kLoad ? row_key(argument, callee)
                                                          : argument_key(argument));
    }
    if (callee.kind == FunctionKind::kEntry) {
        report(Code::kP206, call.span,
               "'" + callee.name +
                   "' is the function that Python calls, which compiled code cannot call",
               "move the part that is called again into a function of its own");
        return kUnknownOperand;
    }
    if (key.size() != callee.params.size()) {
        if (Diagnostic* error = report(
                Code::kP206, call.span,
                "'" + shown_name(context_.module, callee) + "' takes " +
                    std::to_string(callee.params.size()) +
                    (callee.params.size() == 1 ? " argument, " : " arguments, ") +
                    std::to_string(key.size()) + (key.size() == 1 ? " is" : " are") + " given",
                "give one argument per parameter")) {
            error->notes.push_back(
                {callee.span, "'" + shown_name(context_.module, callee) + "' is defined here"});
        }
        return kUnknownOperand;
    }
    if (std::ranges::any_of(key, [](const ArgumentKey& k) { return k.type.is_unknown(); })) {
        return kUnknownOperand;
    }
    if (foreign) {
        Operand operand = walk_foreign(slot, key);
        operand.rank = rank;
        return operand;
    }
    Instance& instance = instances_.find_or_make(&callee, key);
    Operand operand;
    operand.type = rank > 0 ? storage(instance.result) : instance.result;
    operand.rank = rank > 0 ? rank : instance.result_rank;
    if (!rewriting()) {
        return operand;
    }
    check_declared(call, key, instance);
    Builder b(context_.module, call.span);
    std::vector<Expr*> arguments;
    std::vector<Expr*> layout;
    NumberPass numbers{&instance_, &instance, call.span, {}, reach_};
    for (std::size_t i = 0; i < key.size(); ++i) {
        Expr* argument = call.operands[i];
        if (key[i].type == Type::weak_of(Scalar::kI64) && !key[i].constant) {
            numbers.numbers.emplace_back(instance.inputs[i], in_parameters(*argument));
        }
        if (key[i].type.is_array()) {
            instances_.passes.push_back({argument->var, instance.inputs[i], argument->span});
            for (const Dim& dim : argument->var->dims) {
                if (dim.extent_var != nullptr) {
                    layout.push_back(b.var(dim.extent_var));
                }
                if (dim.stride_var != nullptr) {
                    layout.push_back(b.var(dim.stride_var));
                }
            }
            arguments.push_back(argument);
        } else if (!key[i].constant) {
            arguments.push_back(argument);
        }
    }
    if (!numbers.numbers.empty()) instances_.number_passes.push_back(std::move(numbers));
    arguments.insert(arguments.end(), layout.begin(), layout.end());
    if (operand.type.is_unknown())
        instances_.untyped_calls.push_back({call.span, shown_name(context_.module, callee)});
    instance.called = true;
    call.operands = std::move(arguments);
    call.callee = instance.function;
    call.type = storage(operand.type);
    if (rank > 0) instances_.element_functions.add(*instance.function);
    return operand.rank > 0 && rank == 0 ? named_result(slot, instance) : operand;
}

// An array that a call returns is assigned to a name before the statement, unless the statement
// itself does so.
Operand Typer::named_result(Expr*& slot, const Instance& callee) {
    Operand operand;
    operand.type = slot->type;
    operand.rank = callee.result_rank;
    if (slot == named_) return operand;
    if (before_ == nullptr) {
        refuse_call(Code::kP223, slot->span,
                    "'" + shown_name(context_.module, *callee.source) +
                        "' returns an array, but this call of it may not be evaluated",
                    "give its result a name on a line of its own");
        return operand;
    }
    instances_.moved_calls.push_back({slot->span, &callee, stmt_});
    Var* name = context_.module.make_var(callee.source->name + "_result",
                                         Type::array(slot->type.scalar, operand.rank), slot->span);
    instance_.webs.splits.push_back({name, name->name});
    returned_.emplace(name, shown_name(context_.module, *callee.source));
    bind(name, slot, true, slot->span, *before_);
    slot = Builder(context_.module, slot->span).array(name);
    return walk_var(slot);
}

// Handles a call of a function without a result where a value is needed.
Operand Typer::walk_nothing(Expr*& slot) {
    const Fail* fail = failure_of(*slot->callee);
    if (fail != nullptr && context_.module.sites[fail->site].code == Code::kP232) {
        const Site& site = context_.module.sites[fail->site];
        if (Diagnostic* made = report(Code::kP232, fail->span, site.message))
            made->python_may_call = site.python_may_call;
        return kUnknownOperand;
    }
    if (fail != nullptr && before_ != nullptr) {  // the value is not used
        Builder b(context_.module, slot->span);
        if (rewriting()) before_->push_back(b.evaluate(slot));
        Expr* none = b.constant(Type::weak_of(Scalar::kI64), Constant{std::int64_t{0}});
        if (!rewriting()) return walk(none);
        slot = none;
        return walk(slot);
    }
    report(Code::kP214, slot->span,
           "'" + slot->callee->name + "' returns nothing, but its result is used here",
           "return a number from '" + slot->callee->name + "', or call it as a statement");
    return kUnknownOperand;
}

}  // namespace parpy
