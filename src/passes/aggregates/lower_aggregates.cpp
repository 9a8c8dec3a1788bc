// See lower_aggregates.h. This file has the statements, results.cpp returns, values.cpp
// expressions, calls.cpp calls.
#include "passes/aggregates/lower_aggregates.h"

#include <algorithm>

#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/aggregates/lowering.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

Lowering::Lowering(PassContext& context, KindInstances& instances, Function& function)
    : context_(context),
      module_(context.module),
      instances_(instances),
      function_(function),
      walk_([this](const Function& callee,
                   const std::vector<Kind>& kinds) { return instances_.result_of(callee, kinds); },
            instances.has_operators()),
      b_(context.module) {
    for (const Var* param : function.params)
        names_.insert(param->name);
    for_each_stmt(function.body, [&](const Stmt& stmt) {
        for_each_var(stmt, [&](const Var* name) { names_.insert(name->name); });
    });
    for_each_expr(function.body, [&](const Expr& e) {
        if (e.var != nullptr) names_.insert(e.var->name);
    });
    by_hand_ = any_stmt(module_.entry_function()->body, [](const Stmt& stmt) {
        const auto* gpu = stmt.as<Gpu>();
        return gpu != nullptr && gpu->by_hand();
    });
    last_ = function.body.empty() ? nullptr : function.body.back();
}

void Lowering::run(const std::vector<Kind>& kinds) {
    std::vector<Var*> params;
    for (std::size_t i = 0; i < function_.params.size(); ++i) {
        Var* param = function_.params[i];
        if (function_.kind == FunctionKind::kEntry || i >= kinds.size() || kinds[i].is_number()) {
            params.push_back(param);
            if (i < kinds.size()) here_.of[param] = kinds[i];
            continue;
        }
        here_.of[param] = lent(kinds[i]);
        for (Var* part : variables(param, kinds[i]))
            params.push_back(part);
    }
    function_.params = std::move(params);
    if (function_.kind == FunctionKind::kEntry) {
        KindsHere begin = here_;
        walk_.walk(function_.body, begin);
        result_kind_ = walk_.result();
    }
    body(function_.body);
    allocate_in(function_.body);
    end_entry();
}

void Lowering::body(Body& stmts) {
    Body out;
    Body* const outer = std::exchange(out_, &out);
    for (Stmt* stmt : stmts) {
        if (!here_.reachable) break;
        statement(*stmt);
    }
    out_ = outer;
    stmts = std::move(out);
}

void Lowering::statement(Stmt& stmt) {
    switch (stmt.kind) {
        case StmtKind::kAssign:
            assign(static_cast<Assign&>(stmt));
            return;
        case StmtKind::kStore:
            store(static_cast<Store&>(stmt));
            return;
        case StmtKind::kIf:
            branch(static_cast<If&>(stmt));
            return;
        case StmtKind::kWhile:
            repeat(static_cast<While&>(stmt));
            return;
        case StmtKind::kFor: {
            auto& loop = static_cast<For&>(stmt);
            if (const auto apart = walk_.unrolled(loop, here_)) {
                unroll(loop, *apart);
                return;
            }
            const std::vector<Expr*> bounds = numbers({loop.begin, loop.end, loop.step});
            loop.begin = bounds[0];
            loop.end = bounds[1];
            loop.step = bounds[2];
            inside(loop, loop.body);
            return;
        }
        case StmtKind::kReturn:
            leave(static_cast<Return&>(stmt));
            return;
        case StmtKind::kEvaluate: {
            auto& evaluate = static_cast<Evaluate&>(stmt);
            const bool aggregate = concerns(*evaluate.value);
            const Parts value = lower(evaluate.value);
            if (aggregate && (value.leaves.size() != 1 || value.leaves[0]->op == Op::kVar)) return;
            evaluate.value = value.leaves[0];
            break;
        }
        case StmtKind::kPrint:
            print(static_cast<Print&>(stmt));
            break;
        case StmtKind::kAssert: {
            auto& assertion = static_cast<Assert&>(stmt);
            assertion.condition = condition(assertion.condition);
            break;
        }
        case StmtKind::kFail: {
            auto& failure = static_cast<Fail&>(stmt);
            tell_texts(failure);
            failure.values = numbers(failure.values);
            out_->push_back(&stmt);
            here_.reachable = false;
            return;
        }
        case StmtKind::kGpu: {
            auto& gpu = static_cast<Gpu&>(stmt);
            for_each_slot(stmt, [&](Expr*& slot) { slot = lowered(slot); });
            ++on_device_;
            body(gpu.body);
            allocate_in(gpu.body);
            --on_device_;
            out_->push_back(&stmt);
            return;
        }
        case StmtKind::kBreak:
        case StmtKind::kContinue:
            if (!loops_.empty()) {
                const KindWalk::Known& around = loops_.back().known;
                become(stmt.kind == StmtKind::kBreak ? around.behind : around.head, *out_);
            }
            here_.reachable = false;
            break;
        case StmtKind::kAlloc:
            if (in_place_.empty()) break;
            allocations_.push_back(&stmt);
            return;
        default:
            break;
    }
    out_->push_back(&stmt);
}

// Inserted at the front, since arrays of inlined functions may be results.
void Lowering::allocate_in(Body& stmts) {
    stmts.insert(stmts.begin(), allocations_.begin(), allocations_.end());
    allocations_.clear();
}

void Lowering::assign(Assign& stmt) {
    if (!stmt.update) {
        // Two functions or texts under one name are no error until the name is used.
        if (Kind kind = walk_.of(*stmt.value, here_);
            kind.form == Kind::Form::kMixed && !kind.parts.empty() && !has_effects(*stmt.value)) {
            here_.of[stmt.var] = std::move(kind);
            return;
        }
        Parts value = lower(stmt.value);
        if (value.kind.form == Kind::Form::kMixed && !value.leaves.empty())
            fail_mixed(*stmt.value, value.kind);
        if (value.kind.is_number()) {
            stmt.value = value.leaves.front();
            here_.of[stmt.var] = std::move(value.kind);
            out_->push_back(&stmt);
            return;
        }
        set(stmt.var, std::move(value), stmt.span);
        return;
    }
    const Kind before = kind_of(*stmt.var, here_);
    Expr* updated = surface(*stmt.update, {var(stmt.var, stmt.span), stmt.value}, stmt.span);
    if (Expr* call = operator_call(*updated)) {
        Parts value = lower(call);
        if (!value.kind.is_number()) {
            set(stmt.var, std::move(value), stmt.span);
            return;
        }
        stmt.update.reset();
        stmt.value = value.leaves.front();
        here_.of[stmt.var] = std::move(value.kind);
        out_->push_back(&stmt);
        return;
    }
    if (before.is_tuple() && *stmt.update == Op::kAdd) {
        set(stmt.var, lower(updated), stmt.span);
        return;
    }
    if (!before.is_number())
        (void)number_in(read(*var(stmt.var, stmt.span)), *var(stmt.var, stmt.span));
    const auto rank_of = [](const Kind& kind) {
        return kind.is_optional() ? kind.parts[0].rank : kind.rank;
    };
    const int rank = rank_of(walk_.of(*stmt.value, here_));
    stmt.value = lowered(stmt.value);
    const bool known = rank_of(before) >= 0 && rank >= 0;
    here_.of[stmt.var] = Kind::number(known ? std::max(rank_of(before), rank) : -1);
    out_->push_back(&stmt);
}

void Lowering::store(Store& stmt) {
    const Kind whole = kind_of(*stmt.array, here_);
    if (whole.is_tuple()) {
        Parts owner = read(stmt.array, whole, stmt.span);
        std::size_t taken = 0;
        while (owner.kind.is_tuple() && taken + 1 < stmt.indices.size()) {
            const auto place = walk_.place(*stmt.indices[taken], owner.kind.parts.size(), here_);
            if (!place) break;
            owner = part_of(owner, *place);
            ++taken;
        }
        if (!owner.kind.is_number()) {
            fail(Code::kP016, stmt.span,
                 "'" + stmt.array->shown() + "' is a tuple, which cannot be changed",
                 "make a new one, t = (t[0], value), or use an array");
            return;
        }
        stmt.array = owner.leaves.front()->var;
        stmt.indices.erase(stmt.indices.begin(),
                           stmt.indices.begin() + static_cast<std::ptrdiff_t>(taken));
    } else if (!whole.is_number()) {
        (void)number_in(read(*var(stmt.array, stmt.span)), *var(stmt.array, stmt.span));
        return;
    }
    const int rank = kind_of(*stmt.array, here_).rank;
    if (whole.cell) {
        stmt.exact = true;
        stmt.indices = {number(0, stmt.span)};
    }
    if (stmt.update) {
        stmt.indices = subscripts(stmt.indices, rank);
        stmt.value = lowered(stmt.value);
        out_->push_back(&stmt);
        return;
    }
    Parts value = lower(stmt.value);
    const std::size_t at = out_->size();
    std::vector<Expr*> indices = subscripts(stmt.indices, rank);
    if (out_->size() > at && value.leaves.size() == 1 && value.leaves[0]->op != Op::kConst)
        value.leaves[0] = held(value.leaves[0], stmt.span, at);
    stmt.indices = std::move(indices);
    if (value.kind.is_tuple()) {
        store_tuple(stmt, std::move(value));
        return;
    }
    stmt.value = number_in(std::move(value), *stmt.value);
    out_->push_back(&stmt);
}

// Lowers `x[i] = (a, b)`: the elements of a row.
void Lowering::store_tuple(Store& stmt, Parts value) {
    const auto is_number = [](const Kind& kind) { return kind.is_number(); };
    const Span span = stmt.span;
    if (!std::ranges::all_of(value.kind.parts, is_number)) {
        fail(Code::kP204, span, "a tuple of tuples is stored to an array",
             "store each of its elements on a line of its own");
        return;
    }
    Expr* part = surface(Op::kLoad, stmt.indices, span);
    part->var = stmt.array;
    if (walk_.of(*part, here_) == Kind::number(0)) {
        (void)number_in(std::move(value), *stmt.value);
        return;
    }
    value = held(std::move(value), span);
    Var* const row = held(part, span, out_->size())->var;
    const auto count = static_cast<std::int64_t>(value.leaves.size());
    b_.span = span;
    FailBuilder failing(b_, Code::kP433);
    failing.site().message = std::to_string(count) + " values are stored to " +
                             failing.value(extent(row, span)) + " elements";
    Stmt* failure = failing.make();
    out_->push_back(
        b_.if_(surface(Op::kNe, {extent(row, span), number(count, span)}, span), {failure}));
    for (std::int64_t i = 0; i < count; ++i) {
        auto* each = module_.make<Store>(span);
        each->array = row;
        each->indices = {number(i, span)};
        each->value = value.leaves[static_cast<std::size_t>(i)];
        out_->push_back(each);
    }
}

void Lowering::branch(If& stmt) {
    if (const auto known = walk_.truth(*stmt.condition, here_)) {
        const bool written = stmt.condition->op == Op::kConst;  // the user's own constant stays
        if (!written) {
            for (Stmt* each : *known ? stmt.then_body : stmt.else_body) {
                if (!here_.reachable) break;
                statement(*each);
            }
            return;
        }
    }
    KindsHere then = here_, other = here_;
    walk_.assume(*stmt.condition, true, then);
    walk_.assume(*stmt.condition, false, other);
    stmt.condition = condition(stmt.condition);
    here_ = std::move(then);
    body(stmt.then_body);
    std::swap(here_, other);
    body(stmt.else_body);
    KindsHere both = here_;
    both.merge(other);
    become(both, stmt.else_body);
    std::swap(here_, other);
    become(both, stmt.then_body);
    here_ = std::move(both);
    out_->push_back(&stmt);
}

void Lowering::repeat(While& loop) {
    // The condition is evaluated again in each iteration.
    const KindWalk::Known known = walk_.around(loop, here_);
    become(known.head, *out_);
    here_ = known.head;
    KindsHere inside = here_;
    walk_.assume(*loop.condition, true, inside);
    Body before;
    Body* const outer = std::exchange(out_, &before);
    Expr* condition = this->condition(loop.condition);
    out_ = outer;
    loop.condition = condition;
    here_ = std::move(inside);
    loops_.push_back({known});
    body(loop.body);
    become(known.head, loop.body);
    const bool returns = loops_.back().returns;
    loops_.pop_back();
    if (!before.empty()) {
        b_.span = loop.condition->span;
        before.push_back(b_.if_(surface(Op::kNot, {condition}, condition->span), {b_.break_()}));
        loop.body.insert(loop.body.begin(), before.begin(), before.end());
        loop.condition = truth(true, condition->span);
    }
    here_ = known.behind;
    out_->push_back(&loop);
    if (returns) leave_too(loop.span);
}

void Lowering::unroll(const For& loop, const KindWalk::Unrolled& unrolled) {
    for (const std::int64_t i : unrolled.numbers) {
        Substitution substitution;
        substitution.values[loop.var] = number(i, loop.span);
        for (const Var* copy : unrolled.copies)
            substitution.values[copy] = number(i, loop.span);
        // Behind the loop the variable has its last value.
        if (here_.reachable) out_->push_back(assigned(loop.var, number(i, loop.span), loop.span));
        for (Stmt* stmt : clone(module_, loop.body, substitution)) {
            if (here_.reachable) statement(*stmt);
        }
    }
}

void Lowering::inside(Stmt& loop, Body& stmts) {
    const KindWalk::Known known = walk_.around(loop, here_);
    become(known.head, *out_);
    here_ = known.head;
    here_.of[static_cast<For&>(loop).var] = Kind::number();
    loops_.push_back({known, &static_cast<For&>(loop)});
    body(stmts);
    become(known.head, stmts);
    const bool returns = loops_.back().returns;
    loops_.pop_back();
    here_ = known.behind;
    out_->push_back(&loop);
    if (returns) leave_too(loop.span);
}

void Lowering::print(Print& stmt) {
    std::vector<std::string> texts{stmt.texts.front()};
    std::vector<Expr*> values;
    std::vector<Parts> all = lower_all(stmt.values);
    for (std::size_t i = 0; i < all.size(); ++i) {
        spell(all[i], *stmt.values[i], texts, values);
        texts.back() += stmt.texts[i + 1];
    }
    stmt.texts = std::move(texts);
    stmt.values = std::move(values);
}

// Adds a value in the form in which Python prints it.
void Lowering::spell(const Parts& value, const Expr& written, std::vector<std::string>& texts,
                     std::vector<Expr*>& values) {
    if (value.kind.is_none()) {
        texts.back() += "None";
        return;
    }
    if (value.kind.form == Kind::Form::kText) {
        texts.back() += value.kind.text;
        return;
    }
    if (value.kind.is_optional()) {
        fail(Code::kP204, written.span, "a value that may be None is printed",
             "test it before it is printed: if y is not None");
        return;
    }
    if (!value.kind.is_tuple()) {
        values.push_back(number_in(value, written));
        texts.emplace_back();
        return;
    }
    texts.back() += "(";
    for (std::size_t i = 0; i < value.kind.parts.size(); ++i) {
        const std::string quote = value.kind.parts[i].form == Kind::Form::kText ? "'" : "";
        texts.back() += (i > 0 ? ", " : "") + quote;
        spell(part_of(value, i), written, texts, values);
        texts.back() += quote;
    }
    texts.back() += value.kind.parts.size() == 1 ? ",)" : ")";
}

// ------------------------------------------------------------ the pass

namespace {

// If a function returns values, its other paths return None.
void return_none_elsewhere(Module& module, Function& function) {
    const auto none = [&](Span span) { return module.make_expr(Op::kNone, Type::none(), span); };
    for_each_stmt(function.body, [&](Stmt& stmt) {
        auto* end = stmt.as<Return>();
        if (end != nullptr && end->value == nullptr) end->value = none(stmt.span);
    });
    if (never_ends(function.body)) return;
    auto* end = module.make<Return>(function.body.back()->span);
    end->value = none(end->span);
    function.body.push_back(end);
}

bool returns_value(const Function& function) {
    return any_stmt(function.body, [](const Stmt& stmt) {
        return stmt.kind == StmtKind::kReturn && static_cast<const Return&>(stmt).value != nullptr;
    });
}

bool has_aggregates(const Module& module) {
    return std::ranges::any_of(module.functions, [](const Function* function) {
        return any_expr(function->body, [](const Expr& e) { return is_aggregate(e.op); });
    });
}

}  // namespace

void lower_aggregates(PassContext& context) {
    Module& module = context.module;
    Function& entry = *module.entry_function();
    const bool by_hand = any_stmt(entry.body, [](const Stmt& stmt) {
        const auto* gpu = stmt.as<Gpu>();
        return gpu != nullptr && gpu->by_hand();
    });
    for (Function* function : module.functions) {
        if (!by_hand && returns_value(*function)) return_none_elsewhere(module, *function);
    }
    if (!returns_value(entry) && !has_aggregates(module)) return;
    // Functions as the frontend made them are lowered for each combination of kinds; so is the
    // entry if a function calls it.
    std::vector<Function*> sources = module.functions;
    const auto calls_entry = [&](const Function* function) {
        return any_expr(function->body, [&](const Expr& e) { return e.callee == &entry; });
    };
    if (std::ranges::any_of(sources, calls_entry)) {
        Substitution own;
        Function* called = clone_function(module, entry, entry.name, own);
        called->kind = FunctionKind::kHelper;
        sources.push_back(called);
        for (Function* function : sources) {
            for_each_expr(function->body, [&](Expr& e) {
                if (e.callee == &entry) e.callee = called;
            });
        }
    }
    KindInstances instances(context, module);
    Lowering(context, instances, entry).run({});
    while (KindInstance* next = instances.next())
        Lowering(context, instances, *next->function).run(next->kinds);
    if (context.diagnostics.has_errors()) return;
    std::erase_if(module.functions, [&](const Function* function) {
        return function != &entry && function->kind != FunctionKind::kForeign &&
               std::ranges::find(sources, function) != sources.end();
    });
    module.entry = static_cast<std::size_t>(std::ranges::find(module.functions, &entry) -
                                            module.functions.begin());
}

}  // namespace parpy
