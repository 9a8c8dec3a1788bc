// Statements of infer_types, and the variables they assign.
#include <algorithm>

#include "analysis/pragmas.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

bool leaves_loop(const Body& body) {
    bool found = false;
    for (const Stmt* stmt : body) {
        found = found || stmt->kind == StmtKind::kBreak;
        if (stmt->kind != StmtKind::kFor && stmt->kind != StmtKind::kWhile) {
            for_each_body(*stmt, [&](const Body& inner) { found = found || leaves_loop(inner); });
        }
    }
    return found;
}

// Whether the end of `body` is reachable; split_variables has removed unreachable statements.
bool falls_through(const Body& body) {
    if (body.empty()) {
        return true;
    }
    const Stmt& last = *body.back();
    switch (last.kind) {
        case StmtKind::kReturn:
        case StmtKind::kFail:
            return false;
        case StmtKind::kIf: {
            const auto& branch = static_cast<const If&>(last);
            return falls_through(branch.then_body) || falls_through(branch.else_body);
        }
        case StmtKind::kWhile: {
            const auto& loop = static_cast<const While&>(last);
            return loop.condition->op != Op::kConst ||
                   loop.condition->constant == Constant{false} || leaves_loop(loop.body);
        }
        case StmtKind::kGpu:
            return falls_through(static_cast<const Gpu&>(last).body);
        default:
            return true;
    }
}

}  // namespace

Typer::Typer(PassContext& context, Instances& instances, Instance& instance, Phase phase)
    : context_(context), instances_(instances), instance_(instance), phase_(phase) {}

bool Typer::run() {
    walk(instance_.function->body);
    if (phase_ == Phase::kNarrow) {
        for (const auto& [var, type] : narrowed_) {
            changed_ = changed_ || var->type != type;
            var->type = type;
        }
        if (!narrowed_result_.is_unknown()) {
            changed_ = changed_ || instance_.result != narrowed_result_;
            instance_.result = narrowed_result_;
        }
    }
    if (!rewriting()) {
        for (const auto& [array, type] : results_) {
            instances_.results[array] = type;
        }
        return changed_;
    }
    Function& function = *instance_.function;
    if (instance_.result.is_scalar() &&
        (instance_.bare_return_span.valid() || falls_through(function.body))) {
        const Span span =
            instance_.bare_return_span.valid() ? instance_.bare_return_span : function.span;
        if (Diagnostic* error = report(Code::kP211, span,
                                       "'" + instance_.source->name +
                                           "' returns a value on some paths and nothing on others",
                                       "end every path with 'return' and a value")) {
            error->notes.push_back({instance_.result_span, "a value is returned here"});
        }
    }
    drop_results_of_arrays();
    strip_weak_types();
    rejoin_variables(function, instance_.webs);
    return changed_;
}

void Typer::strip_weak_types() {
    for (Var* param : instance_.function->params) {
        param->type = kept_type(*param);
    }
    for (const Webs::Split& split : instance_.webs.splits) {
        split.var->type = storage(split.var->type);
    }
    instance_.function->result =
        instance_.result.is_unknown() ? Type::none() : storage(instance_.result);
}

void Typer::walk(Body& body) {
    Body out;
    if (rewriting()) {
        out.reserve(body.size());
    }
    for (Stmt* stmt : body) {
        walk(*stmt, out);
    }
    if (rewriting()) {
        body = std::move(out);
    }
}

void Typer::walk(Stmt& stmt, Body& out) {
    before_ = ahead_ = &out;
    stmt_ = &stmt;
    switch (stmt.kind) {
        case StmtKind::kAssign:
            if (walk_assign(static_cast<Assign&>(stmt), out)) return;
            break;
        case StmtKind::kStore:
            if (walk_store(static_cast<Store&>(stmt), out)) return;
            break;
        case StmtKind::kFor:
            walk_for(static_cast<For&>(stmt));
            break;
        case StmtKind::kWhile: {
            auto& loop = static_cast<While&>(stmt);
            Body before;  // of each iteration
            before_ = ahead_ = &before;
            walk_test(loop.condition);
            const Reach around = reach_;
            reach_.certain = false;
            walk(loop.body);
            reach_ = around;
            if (!before.empty()) {
                Builder(context_.module, loop.span).test_inside(loop, std::move(before));
            }
            break;
        }
        case StmtKind::kIf: {
            auto& branch = static_cast<If&>(stmt);
            if (asks_for_types(*branch.condition)) {
                if (is_declared_check(context_.module, stmt))
                    check_type(branch);
                else
                    choose_by_types(branch, out);
                return;
            }
            walk_test(branch.condition);
            const Reach around = reach_;
            reach_.certain = false;
            assume(*branch.condition, true);
            walk(branch.then_body);
            reach_ = around;
            reach_.certain = false;
            assume(*branch.condition, false);
            walk(branch.else_body);
            if (!branch.else_body.empty() || falls_through(branch.then_body)) {
                reach_ = around;
            }
            break;
        }
        case StmtKind::kReturn:
            walk_return(static_cast<Return&>(stmt));
            break;
        case StmtKind::kEvaluate: {
            auto& evaluate = static_cast<Evaluate&>(stmt);
            named_ = evaluate.value;
            const Operand value = walk(evaluate.value);
            named_ = nullptr;
            if (rewriting() && value.rank > 0 && evaluate.value->op == Op::kCall) {
                // The array is not used, nor are the numbers of calls for its elements.
                if (instances_.element_functions.acts(*evaluate.value))
                    name_value(evaluate.value, value.rank);
                return;
            }
            const bool checked =
                context_.options.check != Check::kNothing && evaluate.value->type.is_scalar() &&
                any_expr(*evaluate.value, [](const Expr& e) { return e.op == Op::kLoad; });
            if (!has_effects(*evaluate.value) && !checked) {
                return;
            }
            break;
        }
        case StmtKind::kAssert:
            walk_test(static_cast<Assert&>(stmt).condition);
            break;
        case StmtKind::kPrint:
            for_each_slot(stmt, [&](Expr*& slot) { walk_scalar(slot); });
            break;
        case StmtKind::kFail:
            walk_fail(static_cast<Fail&>(stmt));
            break;
        case StmtKind::kGpu:
            for_each_slot(stmt, [&](Expr*& slot) { walk_integer(slot, Scalar::kI64, "a launch"); });
            walk(static_cast<Gpu&>(stmt).body);
            if (takes_results_out(static_cast<Gpu&>(stmt).body, out)) return;
            break;
        case StmtKind::kBind:
        case StmtKind::kBreak:
        case StmtKind::kContinue:
        case StmtKind::kAlloc:
        case StmtKind::kBarrier:
        case StmtKind::kLaunch:
        case StmtKind::kFetch:
            break;
    }
    if (rewriting()) {
        out.push_back(&stmt);
    }
}

// Chooses the branch of `if static_types_eq(a.dtype, b.dtype)` on the types of computed values.
void Typer::choose_by_types(If& branch, Body& out) {
    const auto chosen = answer(*branch.condition);
    if (!chosen) return;
    for (Stmt* stmt : *chosen ? branch.then_body : branch.else_body)
        walk(*stmt, out);
}

// The value of a condition made of comparisons of types; nothing while they are unknown.
std::optional<bool> Typer::answer(const Expr& condition) {
    const auto& sides = condition.operands;
    if (condition.op == Op::kConst) return std::get<bool>(condition.constant.value);
    if (condition.op == Op::kTypesEqual) {
        const Type a = storage(typed_copy(*sides[0]).type), b = storage(typed_copy(*sides[1]).type);
        if (a.is_scalar() && b.is_scalar()) return a.scalar == b.scalar;
        if (rewriting()) {
            report(Code::kP213, condition.span,
                   "the types that are compared here cannot be inferred",
                   "use the type of a parameter or of an array, x.dtype");
        }
        return std::nullopt;
    }
    const auto first = answer(*sides[0]);
    if (!first || condition.op == Op::kPyBool) return first;
    if (condition.op == Op::kNot) return !*first;
    return *first == (condition.op == Op::kOr) ? first : answer(*sides[1]);
}

void Typer::widen(Var* var, const Operand& value) {
    if (!value.type.is_scalar() || rewriting()) {
        return;
    }
    if (phase_ == Phase::kNarrow) {
        Type& type = narrowed_[var];
        type = join(type, value);
        return;
    }
    const Type type = join(var->type, value);
    changed_ = changed_ || type != var->type;
    var->type = type;
}

// Refuses labels that precede a statement over numbers, which no loop computes.
void Typer::refuse_labels(Assign& stmt) {
    const bool written =
        !stmt.labels.empty() && !stmt.labels.back().empty() && !is_pragma(stmt.labels.back());
    if (!rewriting() || !written || has_slices(*stmt.value)) return;
    report(
        Code::kP020, stmt.span,
        "label '" + stmt.labels.front() + "' names no loop: the next statement computes a number",
        "write the label directly before the loop or slices that it names");
    stmt.labels.clear();
}

bool Typer::walk_assign(Assign& stmt, Body& out) {
    if (Var* array = updated_array(stmt)) {
        update_array(stmt, *array, out);
        return true;
    }
    const Op op = stmt.value->op;
    Operand operands[2];
    operands[0].type = stmt.var->type;
    named_ = stmt.update ? nullptr : stmt.value;
    operands[1] = walk_value(stmt.value);
    named_ = nullptr;
    if (!operands[1].type.is_scalar()) {
        return false;
    }
    if (!stmt.update && (operands[1].rank > 0 || stmt.var->type.is_array())) {
        name_array(stmt, operands[1], op, out);
        return true;
    }
    if (!needs_scalar(*stmt.value, operands[1].rank)) {
        return false;
    }
    refuse_labels(stmt);
    if (!stmt.update) {
        widen(stmt.var, operands[1]);
        if (rewriting()) {
            stmt.value = convert(stmt.value, operands[1].type, stmt.var->type);
        }
        return false;
    }
    const Typing typing = type_operation(*stmt.update, operands);
    if (!typing.error.empty()) {
        report(typing, stmt.span);
        return false;
    }
    Operand result;
    result.type = typing.result;
    widen(stmt.var, result);
    if (!rewriting() || !typing.result.is_scalar()) {
        return false;
    }
    const Type kept = storage(stmt.var->type);
    if (storage(typing.operand) == kept && storage(typing.result) == kept &&
        !is_simple_power(typing, *stmt.value)) {
        stmt.update = typing.op;
        stmt.value = convert(stmt.value, operands[1].type, kept);
        return false;
    }
    Builder b(context_.module, stmt.span);
    Expr* read = b.var(stmt.var);
    read->type = kept;
    Expr* operation =
        context_.module.make_expr(*stmt.update, Type::unknown(), stmt.span, {read, stmt.value});
    stmt.value = convert(apply(typing, operation, operands), typing.result, kept);
    stmt.update.reset();
    return false;
}

// Returns whether `out` has got a replacement of the statement: an array that the entry returns.
bool Typer::walk_store(Store& stmt, Body& out) {
    Operand operands[2];
    if (stmt.array->type.is_array() && stmt.array->type.weak) {
        return find_result(stmt, out);
    }
    if (store_selected(stmt, out)) return true;
    complete_subscripts(stmt.array, stmt.indices, stmt.span);
    const std::vector<Expr*> written = stmt.update ? cloned(stmt.indices) : std::vector<Expr*>();
    int scattered = 0;
    for (Expr*& index : stmt.indices) {
        const bool is_slice = index->op == Op::kSlice || index->op == Op::kNewAxis;
        const int rank = walk_index(index, stmt.array);
        operands[0].rank += is_slice ? rank : 0;
        scattered = is_slice ? scattered : std::max(scattered, rank);
    }
    if (scattered > 0) return scatter(stmt, scattered, written, out);
    const bool is_output = stmt.value->op == Op::kOutput;
    operands[1] = walk_value(stmt.value);
    if (operands[0].rank == 0) {
        needs_scalar(*stmt.value, operands[1].rank, stmt.array);
    }
    hold_broadcast(stmt.value, operands[1], operands[0].rank);
    if (!check_subscripts(stmt.array, stmt.indices, stmt.span) || !rewriting()) {
        return false;
    }
    stmt.array->written = true;
    instances_.writes.emplace(stmt.array, stmt.span);
    if (!operands[1].type.is_scalar()) {
        return false;
    }
    if (is_output && !check_output(stmt, operands[1].type)) return false;
    const Type element = Type::of(stmt.array->type.scalar);
    const bool exact = std::exchange(stmt.exact, false);
    if (!stmt.update) {
        if (exact && !check_exact(stmt, operands[1].type)) return false;
        stmt.value = convert(stmt.value, operands[1].type, element);
        return false;
    }
    operands[0].type = element;
    const Typing typing = type_operation(*stmt.update, operands);
    if (!typing.error.empty()) {
        report(typing, stmt.span);
        return false;
    }
    if (operands[0].rank > 0 && !check_update(stmt, typing.result)) {
        return false;
    }
    if (exact && !check_exact(stmt, typing.result)) return false;
    if (storage(typing.operand) == element && typing.result == element &&
        !is_simple_power(typing, *stmt.value)) {
        stmt.update = typing.op;
        stmt.value = convert(stmt.value, operands[1].type, element);
        return false;
    }
    // Rewrites as array[i] = element(array[i] <update> value), with i evaluated once.
    Builder b(context_.module, stmt.span);
    std::vector<Expr*> again;
    const auto evaluate_once = [&](Expr*& index) {
        if (has_effects(*index)) {
            Var* once = context_.module.make_var("index", index->type, index->span);
            instance_.webs.splits.push_back({once, "index"});
            out.push_back(b.assign(once, index));
            index = b.var(once);
        }
    };
    for (Expr*& index : stmt.indices) {
        if (index->op == Op::kSlice) {
            std::ranges::for_each(index->operands, evaluate_once);
        } else {
            evaluate_once(index);
        }
        again.push_back(clone(context_.module, index));
    }
    Expr* operation = context_.module.make_expr(*stmt.update, Type::unknown(), stmt.span,
                                                {b.load(stmt.array, again), stmt.value});
    stmt.value = convert(apply(typing, operation, operands), typing.result, element);
    stmt.update.reset();
    return false;
}

void Typer::walk_integer(Expr*& slot, Scalar scalar, const std::string& what) {
    const Operand operand = walk_scalar(slot);
    if (!operand.type.is_scalar()) {
        return;
    }
    const bool python_bool = operand.type == Type::weak_of(Scalar::kBool);
    if (!is_integer(operand.type.scalar) && !python_bool) {
        report(Code::kP209, slot->span,
               what + " takes integers, this is " + a_python_name(operand.type),
               "convert it: int(…)" +
                   std::string(is_float(operand.type.scalar) ? ", or divide with '//'" : ""));
        return;
    }
    if (rewriting()) {
        slot = convert(slot, operand.type, Type::of(scalar));
    }
}

// The values of an exception become words (ir/site.h): only here are their types known.
void Typer::walk_fail(Fail& stmt) {
    if (context_.module.sites[stmt.site].code != Code::kP431) {
        for_each_slot(stmt, [&](Expr*& slot) { walk_integer(slot, Scalar::kI64, "a message"); });
        return;
    }
    Builder b(context_.module, stmt.span);
    std::vector<Expr*> words;
    for (Expr*& slot : stmt.values) {
        const Type type = walk_scalar(slot).type;
        if (!type.is_scalar()) continue;
        if (is_complex(type.scalar)) {
            report(Code::kP209, slot->span, "an exception takes no complex number",
                   "give its parts: x.real and x.imag");
        }
        if (!rewriting()) continue;
        words.push_back(b.integer(static_cast<std::int64_t>(type.scalar)));
        const bool real = is_float(type.scalar);
        Expr* value = convert(slot, type, Type::of(real ? Scalar::kF64 : Scalar::kI64));
        words.push_back(real ? b.unary(Op::kBits, value) : value);
    }
    if (rewriting()) stmt.values = std::move(words);
}

void Typer::walk_for(For& stmt) {
    if (stmt.var->type.is_array()) {
        refuse_call(Code::kP217, stmt.span,
                    "'" + stmt.var->shown() + "' is an array elsewhere, and a number here",
                    "use another name for the loop variable");
        return;
    }
    for (Expr** slot : {&stmt.begin, &stmt.end, &stmt.step}) {
        walk_integer(*slot, index_scalar(), "range()");
    }
    Operand counter;
    counter.type = Type::weak_of(Scalar::kI64);
    widen(stmt.var, counter);
    const Reach around = reach_;
    reach_.certain = false;
    assume(stmt);
    walk(stmt.body);
    reach_ = around;
    if (!rewriting()) {
        return;
    }
    if (stmt.step->op == Op::kConst && constant_integer(stmt.step) == 0) {
        refuse_zero_step(stmt);
    }
}

// Reported at compile time if the loop is certainly reached, else the loop fails at run time.
void Typer::refuse_zero_step(For& stmt) {
    const Function& function = *instance_.function;
    const std::string message = "range() arg 3 must not be zero";
    if (function.kind == FunctionKind::kEntry && std::ranges::count(function.body, &stmt) != 0) {
        report(Code::kP210, stmt.step->span, message, "use a positive or negative step");
        return;
    }
    Builder b(context_.module, stmt.span);
    FailBuilder fail(b, Code::kP425);
    fail.site().message = message;
    stmt.begin = b.integer(0);
    stmt.end = b.integer(1);
    stmt.step = b.integer(1);
    stmt.body = {fail.make()};
}

namespace {

std::string a_value_of_rank(int rank) {
    if (rank == 0) return "a number";
    return "an array with " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions");
}

}  // namespace

void Typer::walk_return(Return& stmt) {
    if (stmt.value == nullptr) {
        instance_.bare_return_span = stmt.span;
        return;
    }
    if (instance_.function->kind == FunctionKind::kEntry) {
        report(Code::kP212, stmt.span,
               "'" + instance_.source->name +
                   "' returns a value, but the function that Python calls must return nothing",
               "store the result in an array argument");
        return;
    }
    const bool computed = computes(stmt.value->op);
    const Operand value = walk_value(stmt.value);
    if (!value.type.is_scalar()) {
        return;
    }
    if (rewriting() && computed && is_view(*stmt.value)) name_value(stmt.value, value.rank);
    if (!rewriting() && value.rank > instance_.result_rank) {
        instance_.result_rank = value.rank;
        changed_ = true;
    } else if (value.rank != instance_.result_rank) {
        refuse_call(Code::kP217, stmt.span,
                    "'" + instance_.source->name + "' returns " + a_value_of_rank(value.rank) +
                        " here, and " + a_value_of_rank(instance_.result_rank) + " elsewhere",
                    "return arrays of one number of dimensions, or numbers, on every path");
    }
    instance_.result_span = stmt.span;
    if (rewriting()) {
        stmt.value = convert(stmt.value, value.type, instance_.result);
        return;
    }
    if (phase_ == Phase::kNarrow) {
        narrowed_result_ = join(narrowed_result_, value);
        return;
    }
    const Type type = join(instance_.result, value);
    changed_ = changed_ || type != instance_.result;
    instance_.result = type;
}

}  // namespace parpy
