// See guard_variables.h. One walk in the order of execution keeps the variables that certainly have
// a value, and notes the reads of others; a second one inserts the guards.
#include "passes/checks/guard_variables.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

using Vars = std::unordered_set<const Var*>;

// Variables that certainly have a value; nothing: the place is not reached.
using Known = std::optional<Vars>;

Known meet(const Known& a, const Known& b) {
    if (!a || !b) return a ? a : b;
    Vars both;
    std::ranges::copy_if(*a, std::inserter(both, both.end()),
                         [&](const Var* var) { return b->contains(var); });
    return both;
}

// The read happens if these conditions have the given truths, tested one after the other.
using Conditions = std::vector<std::pair<const Expr*, bool>>;

struct Read {
    Var* var;
    Span span;
    Conditions conditions;
};

class Reads {
public:
    Reads(const Function& function, bool in_sequence) : in_sequence_(in_sequence) {
        known_.emplace(function.params.begin(), function.params.end());
        body(function.body);
    }

    // By statement: its reads of variables that may have no value then.
    std::unordered_map<const Stmt*, std::vector<Read>> doubtful;
    // Statements of parallel iterations, whose flags no later statement reads.
    std::unordered_set<const Stmt*> of_iterations;

private:
    struct Loop {
        Known at_break;
        Known at_continue;
    };

    void body(const Body& stmts) {
        for (const Stmt* stmt : stmts)
            visit(*stmt);
    }

    void visit(const Stmt& stmt) {
        if (!known_) return;
        for_each_slot(stmt, [&](const Expr* slot) { expression(stmt, *slot, {}); });
        switch (stmt.kind) {
            case StmtKind::kAssign: {
                const auto& assign = *stmt.as<Assign>();
                if (assign.update) read(stmt, assign.var, stmt.span, {});
                known_->insert(assign.var);
                break;
            }
            case StmtKind::kIf: {
                const auto& branch = *stmt.as<If>();
                const Known before = known_;
                body(branch.then_body);
                const Known then = std::exchange(known_, before);
                body(branch.else_body);
                known_ = meet(then, known_);
                break;
            }
            case StmtKind::kFor: {
                const auto& loop = *stmt.as<For>();
                const bool parallel = loop.mapping.parallel() && !in_sequence_;
                if (parallel) {
                    private_.push_back(uses_of(loop.body).written);
                    for_each_stmt(loop.body, [&](const Stmt& s) { of_iterations.insert(&s); });
                }
                const Known before = known_;
                known_->insert(loop.var);
                const Loop ends = iterate(loop.body);
                const Known after = meet(meet(known_, ends.at_continue), ends.at_break);
                known_ = runs(loop) && !parallel ? after : before;
                if (parallel) private_.pop_back();
                break;
            }
            case StmtKind::kWhile: {
                const auto& loop = *stmt.as<While>();
                const bool endless =
                    loop.condition->constant == Constant{true} && loop.condition->op == Op::kConst;
                const Known before = known_;
                const Loop ends = iterate(loop.body);
                known_ = endless ? ends.at_break : meet(before, ends.at_break);
                break;
            }
            case StmtKind::kGpu:
                body(stmt.as<Gpu>()->body);
                break;
            case StmtKind::kBreak:
                leave(loops_.back().at_break);
                break;
            case StmtKind::kContinue:
                leave(loops_.back().at_continue);
                break;
            case StmtKind::kReturn:
            case StmtKind::kFail:
                known_.reset();
                break;
            default:
                break;
        }
    }

    Loop iterate(const Body& stmts) {
        loops_.emplace_back();
        body(stmts);
        const Loop ends = loops_.back();
        loops_.pop_back();
        return ends;
    }

    void leave(Known& to) {
        to = meet(to, known_);
        known_.reset();
    }

    static bool runs(const For& loop) { return constant_trip_count(loop).value_or(0) > 0; }

    void expression(const Stmt& stmt, const Expr& e, const Conditions& conditions) {
        if (e.op == Op::kVar) read(stmt, e.var, e.span, conditions);
        for (std::size_t i = 0; i < e.operands.size(); ++i) {
            const bool lazy = e.op == Op::kSelect || e.op == Op::kAnd || e.op == Op::kOr;
            if (i == 0 || !lazy) {
                expression(stmt, *e.operands[i], conditions);
                continue;
            }
            Conditions inner = conditions;
            inner.emplace_back(e.operands[0], e.op == Op::kSelect ? i == 1 : e.op == Op::kAnd);
            expression(stmt, *e.operands[i], inner);
        }
    }

    // A variable that has been checked once has a value.
    void read(const Stmt& stmt, Var* var, Span span, const Conditions& conditions) {
        if (var->constant || known_->contains(var)) return;
        if (conditions.empty()) known_->insert(var);
        // A condition with a call cannot be evaluated again.
        if (std::ranges::any_of(conditions,
                                [](const auto& c) { return uses_of(*c.first).calls; })) {
            return;
        }
        const bool carried = std::ranges::any_of(
            private_, [&](const VarSet& written) { return written.contains(var); });
        if (!carried) doubtful[&stmt].push_back({var, span.valid() ? span : stmt.span, conditions});
    }

    const bool in_sequence_;
    Known known_;
    std::vector<Loop> loops_;
    std::vector<VarSet> private_;  // variables that the parallel loops around assign
};

class VariableGuards {
public:
    VariableGuards(Module& module, Function& function, bool in_sequence)
        : b_(module), function_(function), reads_(function, in_sequence) {}

    void run() {
        if (reads_.doubtful.empty()) return;
        guard_conditions();
        Body head;
        for_each_stmt(function_.body, [&](const Stmt& stmt) {
            const auto found = reads_.doubtful.find(&stmt);
            if (found == reads_.doubtful.end()) return;
            for (const Read& read : found->second) {
                if (set_.contains(read.var)) continue;
                set_[read.var] = b_.scalar(read.var->name + "_set", Scalar::kBool);
                head.push_back(b_.assign(set_[read.var], b_.boolean(false)));
            }
        });
        LoopStack loops;
        insert_before(function_.body, loops, [&](Stmt& stmt, const LoopStack& around, Body& out) {
            guard(stmt, around, out);
        });
        rewrite_stmts(function_.body, [&](Stmt* stmt, Body& out) {
            out.push_back(stmt);
            const auto* assign = stmt->as<Assign>();
            if (assign == nullptr || assign->update || !set_.contains(assign->var)) return;
            if (reads_.of_iterations.contains(assign)) return;
            b_.span = stmt->span;
            out.push_back(b_.assign(set_[assign->var], b_.boolean(true)));
        });
        function_.body.insert(function_.body.begin(), head.begin(), head.end());
    }

private:
    // Rewrites `while c:` as `while True: if not c: break`, since guards precede each evaluation of
    // c.
    void guard_conditions() {
        for_each_stmt(function_.body, [&](Stmt& stmt) {
            auto* loop = stmt.as<While>();
            const auto found = reads_.doubtful.find(&stmt);
            if (loop == nullptr || found == reads_.doubtful.end()) return;
            b_.span = stmt.span;
            If* leave = b_.if_(b_.not_(loop->condition), {b_.break_()});
            loop->condition = b_.boolean(true);
            loop->body.insert(loop->body.begin(), leave);
            reads_.doubtful[leave] = std::move(found->second);
            reads_.doubtful.erase(&stmt);
        });
    }

    void guard(const Stmt& stmt, const LoopStack& loops, Body& out) {
        const auto found = reads_.doubtful.find(&stmt);
        if (found == reads_.doubtful.end()) return;
        for (const Read& read : found->second) {
            b_.span = read.span;
            FailBuilder fail(b_, Code::kP423);
            fail.site().message = "'" + read.var->shown() + "' is read before it has a value";
            fail.site().help = "assign it on every path that leads here";
            fail.note_iterations(loops);
            Fail* failure = fail.make();
            b_.span = failure->span = stmt.span;
            Expr* unset = b_.not_(b_.var(set_.at(read.var)));
            for (auto it = read.conditions.rbegin(); it != read.conditions.rend(); ++it) {
                Expr* condition = clone(b_.module(), it->first);
                unset = b_.binary(Op::kAnd, it->second ? condition : b_.not_(condition), unset);
            }
            out.push_back(b_.if_(unset, {failure}));
            for (For* loop : loops) {  // SIMD lanes cannot stop
                if (loop->mapping.level == Level::kVector) loop->mapping = {};
            }
        }
    }

    Builder b_;
    Function& function_;
    Reads reads_;
    std::unordered_map<const Var*, Var*> set_;  // the flag that the variable has a value
};

}  // namespace

void guard_variables(PassContext& context) {
    for (Function* function : context.module.functions)
        VariableGuards(context.module, *function, context.options.checks_races()).run();
}

}  // namespace parpy
