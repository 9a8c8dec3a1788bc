// See inline_calls.h.
#include "passes/types/inline_calls.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "analysis/callers.h"
#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

// The names in the mapping: labels, and places of loops from the automatic mode's mapping.
class MappedLoops {
public:
    explicit MappedLoops(const Options& options) : options_(options) {
        for (const auto& [name, request] : options.mapping) {
            if (const auto place = place_named(name)) places_.insert(*place);
            if (const auto line = line_of_place(name)) lines_.insert(*line);
        }
    }

    [[nodiscard]] bool has_places() const { return !places_.empty(); }

    // A statement without a label has a name only from the automatic mode.
    [[nodiscard]] bool names(const Stmt& stmt) const {
        if (stmt.labels.empty()) return false;
        if (has_pragma(stmt)) return true;
        const auto* loop = stmt.as<For>();
        const bool by_place = loop != nullptr ? places_.contains(place_of(*loop))
                                              : lines_.contains(stmt.span.line);  // of slices
        return by_place || std::ranges::any_of(stmt.labels, [&](const std::string& label) {
                   return options_.mapping.contains(label);
               });
    }

    // Whether it names a loop of the function, or there is a mapping and a Gpu block.
    [[nodiscard]] bool in(const Function& function) const {
        return any_stmt(function.body, [&](const Stmt& stmt) {
            return (stmt.kind == StmtKind::kGpu && !options_.mapping.empty()) || names(stmt);
        });
    }

private:
    const Options& options_;
    std::unordered_set<std::string> places_;
    std::unordered_set<std::uint32_t> lines_;  // of them
};

// Whether a statement stores slices of an array and reads other elements of it: the values may need
// separate memory, which only the entry has (lower_slices).
bool shifts_slices(const Function& function) {
    const auto is_slice = [](const Expr* e) { return e->op == Op::kSlice; };
    return any_stmt(function.body, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        return store != nullptr && std::ranges::any_of(store->indices, is_slice) &&
               any_expr(*store->value, [&](const Expr& e) {
                   return e.var == store->array && e.op == Op::kLoad &&
                          !same(e.operands, store->indices);
               });
    });
}

// Whether it has a loop over elements, or slices and sums over them, which become loops.
bool has_loops(const Function& function) {
    const auto is_sum = [](const Expr* slot) {
        return any_expr(*slot, [](const Expr& e) { return e.op == Op::kReduce; });
    };
    return any_stmt(function.body, [&](const Stmt& stmt) {
        bool sums = false;
        for_each_slot(stmt, [&](const Expr* slot) { sums = sums || is_sum(slot); });
        if (sums) return true;
        const auto* store = stmt.as<Store>();
        if (store == nullptr) return stmt.kind == StmtKind::kFor && uses_arrays(stmt);
        return std::ranges::any_of(store->indices,
                                   [](const Expr* e) { return e->op == Op::kSlice; });
    });
}

// Whether a variable may be unassigned where it is read. In a loop of the caller it would have the
// value of the previous call.
bool may_leave_unassigned(const Function& function) {
    const VarSet exposed = exposed_reads(function.body);
    return std::ranges::any_of(exposed, [&](const Var* var) {
        return var->constant == nullptr && std::ranges::count(function.params, var) == 0;
    });
}

bool is_update(const Stmt& stmt) {
    const auto* store = stmt.as<Store>();
    return store != nullptr && store->update;
}

bool is_launch(const Stmt& stmt) {
    const auto* gpu = stmt.as<Gpu>();
    return gpu != nullptr && gpu->by_hand();
}

// Effects that show the order in which code runs.
struct Effects {
    bool reads = false;  // elements of arrays, or it may fail
    bool acts = false;   // on arrays, or on other threads

    Effects& operator|=(const Effects& other) {
        reads = reads || other.reads;
        acts = acts || other.acts;
        return *this;
    }
    // Whether it may run before the code that precedes it.
    [[nodiscard]] bool may_overtake(const Effects& other) const {
        return !(acts && (other.reads || other.acts)) && !(reads && other.acts);
    }
};

// The most statements that are inlined into one function without a mark: later passes take more
// than linear time in them.
constexpr std::size_t kMostUnasked = 256;

// The effects of a module's functions, including those of the functions that they call.
class Functions {
public:
    explicit Functions(const PassContext& context) : Functions(context.module, context.options) {}

    // Whether calls must be inlined though they have no mark.
    [[nodiscard]] bool wants(const Function& function) const { return wanted_.contains(&function); }
    // Whether inlining in a parallel loop may show that the loop is a reduction.
    [[nodiscard]] bool may_reduce(const Function& function) const {
        return reducing_.contains(&function);
    }
    // Whether it has loops that the automatic mode may run in parallel when inlined.
    [[nodiscard]] bool may_spread(const Function& function) const {
        return spreading_.contains(&function);
    }
    // The number of statements that would be inlined, including those of calls in them, up to
    // kMostUnasked + 1.
    [[nodiscard]] std::size_t size_of(const Function& function) const {
        return sizes_.at(&function);
    }

    // The effects of the operator itself; effects_of() has those of the whole expression.
    [[nodiscard]] Effects own_effects(const Expr& expr) const {
        if (expr.op == Op::kCall)
            return {reading_.contains(expr.callee), acting_.contains(expr.callee)};
        return {reads(expr), has_effects(expr.op)};
    }
    [[nodiscard]] Effects effects_of(const Expr& expr) const {
        Effects all = own_effects(expr);
        for (const Expr* operand : expr.operands)
            all |= effects_of(*operand);
        return all;
    }

    // Whether the mapping names the loop, or the automatic mode may run it in parallel.
    [[nodiscard]] bool may_be_parallel(const Stmt& stmt) const {
        if (stmt.kind != StmtKind::kFor || by_hand_) return false;
        return automatic_ || mapped_.names(stmt);
    }

private:
    Functions(const Module& module, const Options& options)
        : mapped_(options),
          wanted_(with_callers(module,
                               [&](const Function& function) {
                                   return mapped_.in(function) || shifts_slices(function);
                               })),
          reducing_(with_callers(
              module, [](const Function& function) { return any_stmt(function.body, is_update); })),
          reading_(with_callers(module,
                                [](const Function& function) {
                                    return gets_arrays(function) ||
                                           any_expr(function.body, reads) ||
                                           any_stmt(function.body, may_fail);
                                })),
          acting_(with_callers(module,
                               [](const Function& function) {
                                   return gets_arrays(function) || any_stmt(function.body, acts) ||
                                          any_expr(function.body, [](const Expr& e) {
                                              return e.op != Op::kCall && has_effects(e.op);
                                          });
                               })),
          automatic_(options.automatic || mapped_.has_places()),
          by_hand_(std::ranges::any_of(module.functions, [](const Function* function) {
              return any_stmt(function->body, is_launch);
          })) {
        if (automatic_ && !by_hand_) spreading_ = with_callers(module, has_loops);
        for (FunctionSet* functions : {&reducing_, &spreading_})
            std::erase_if(*functions, [](const Function* f) { return may_leave_unassigned(*f); });
        for (const Function* function : module.functions)
            measure(*function);
    }

    std::size_t measure(const Function& function) {
        const auto [known, added] = sizes_.try_emplace(&function, 0);
        if (!added) return known->second;  // it is being measured: a recursive call is not inlined
        std::size_t size = 0;
        for_each_stmt(function.body, [&](const Stmt&) { ++size; });
        for_each_expr(function.body, [&](const Expr& e) {
            if (e.op != Op::kCall) return;
            if (e.index == kInlineCall || wants(*e.callee) || may_reduce(*e.callee) ||
                may_spread(*e.callee)) {
                size += measure(*e.callee);
            }
        });
        return sizes_[&function] = std::min(size, kMostUnasked + 1);
    }

    static bool is_array(const Expr* expr) { return expr->op == Op::kArray; }
    static bool reads(const Expr& expr) {
        return expr.op == Op::kLoad ||
               (expr.op != Op::kCall && std::ranges::any_of(expr.operands, is_array));
    }
    static bool may_fail(const Stmt& stmt) {
        return stmt.kind == StmtKind::kFail || stmt.kind == StmtKind::kAssert;
    }
    static bool acts(const Stmt& stmt) {
        return stmt.kind == StmtKind::kStore || stmt.kind == StmtKind::kPrint ||
               stmt.kind == StmtKind::kBarrier;
    }
    // A foreign function with arrays may do anything with them.
    static bool gets_arrays(const Function& function) {
        return function.kind == FunctionKind::kForeign &&
               std::ranges::any_of(function.params,
                                   [](const Var* param) { return param->type.is_array(); });
    }

    MappedLoops mapped_;
    FunctionSet wanted_, reducing_, reading_, acting_, spreading_;
    std::unordered_map<const Function*, std::size_t> sizes_;
    bool automatic_;  // or a mapping with places, which are those of its loops
    bool by_hand_;    // such kernels have no parallel loops
};

class Inliner {
public:
    Inliner(PassContext& context, const Functions& functions, const Function& function)
        : context_(context), module_(context.module), functions_(functions), open_{&function} {}

    void body(Body& stmts) {
        Body out;
        for (Stmt* stmt : stmts) {
            const auto* assign = stmt->as<Assign>();
            const Expr* call = assign != nullptr && !assign->update ? assign->value : nullptr;
            Body before;
            expressions(*stmt, before);
            const bool parallel = functions_.may_be_parallel(*stmt);
            parallel_ += parallel ? 1 : 0;
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            parallel_ -= parallel ? 1 : 0;
            const auto* evaluate = stmt->as<Evaluate>();
            bool done = evaluate != nullptr && evaluate->value == nullptr;
            if (call != nullptr && assign->value != nullptr && assign->value != call &&
                !mentions(before, *assign->var)) {
                before = clone(module_, before, {.vars = {{assign->value->var, assign->var}}});
                done = true;
            }
            out.insert(out.end(), before.begin(), before.end());
            if (!done) out.push_back(stmt);
        }
        stmts = std::move(out);
    }

private:
    static bool mentions(const Body& body, const Var& var) {
        bool found = false;
        for_each_stmt(body, [&](const Stmt& stmt) {
            for_each_var(stmt, [&](const Var* v) { found = found || v == &var; });
        });
        for_each_expr(body, [&](const Expr& e) { found = found || e.var == &var; });
        return found;
    }

    // Inlines calls in the expressions of the statement, in their order of evaluation.
    void expressions(Stmt& stmt, Body& out) {
        Effects ahead;
        const auto* evaluate = stmt.as<Evaluate>();
        const Expr* const around =
            std::exchange(for_effects_, evaluate ? evaluate->value : nullptr);
        auto* store = stmt.as<Store>();
        if (store != nullptr && !store->update) {
            expression(store->value, ahead, out);
            for (Expr*& index : store->indices)
                expression(index, ahead, out);
        } else if (store != nullptr) {
            for (Expr*& index : store->indices)
                expression(index, ahead, out);
            ahead.reads = true;  // the element
            expression(store->value, ahead, out);
        } else if (!stmt.as<While>()) {
            for_each_slot(stmt, [&](Expr*& slot) { expression(slot, ahead, out); });
        }
        for_effects_ = around;
    }

    // Inlines calls in `slot`; their bodies go to `out`. A call for its effects becomes null.
    // `ahead`: effects of the parts of the statement that are evaluated earlier and stay there.
    void expression(Expr*& slot, Effects& ahead, Body& out) {
        if (slot->op == Op::kAnd || slot->op == Op::kOr || slot->op == Op::kSelect) {
            expression(slot->operands[0], ahead, out);
            for (std::size_t i = 1; i < slot->operands.size(); ++i)
                ahead |= functions_.effects_of(*slot->operands[i]);
            return;
        }
        const Effects before = ahead;
        for (Expr*& operand : slot->operands)
            expression(operand, ahead, out);
        if (slot->op == Op::kCall && put_in_place(slot, before, out)) {
            ahead = before;
        } else {
            ahead |= functions_.own_effects(*slot);
        }
    }

    bool put_in_place(Expr*& slot, const Effects& ahead, Body& out) {
        if (!functions_.effects_of(*slot).may_overtake(ahead)) return false;
        const Function& callee = *slot->callee;
        const bool asked = slot->index == kInlineCall;
        const bool unasked = !asked && !functions_.wants(callee);
        if (unasked && !functions_.may_spread(callee) &&
            (parallel_ == 0 || !functions_.may_reduce(callee))) {
            return false;
        }
        const std::size_t size = unasked && unasked_ == 0 ? functions_.size_of(callee) : 0;
        if (size > room_) return false;
        slot->index = 0;
        const std::string problem = problem_of(*slot);
        if (problem.empty()) {
            room_ -= size;
            unasked_ += unasked ? 1 : 0;
            slot = expand(*slot, out);
            unasked_ -= unasked ? 1 : 0;
            return true;
        }
        if (asked && problem != kReportedLater) {
            context_.diagnostics
                .error(Code::kP228, slot->span,
                       "'" + slot->callee->name + "' cannot be inlined: it " + problem)
                .help = "call it without parpy.builtin.inline";
        }
        return false;
    }

    // The reason why the call cannot be inlined, for a message; empty: it can be.
    std::string problem_of(const Expr& call) {
        const Function& callee = *call.callee;
        if (callee.params.size() != call.operands.size()) return kReportedLater;
        if (callee.kind == FunctionKind::kForeign) return "has no body";
        if (&call != for_effects_ && !ends_with_value(callee.body)) return kReportedLater;
        std::string problem;
        const Body& body = callee.body;
        for_each_stmt(body, [&](const Stmt& stmt) {
            if (stmt.kind == StmtKind::kReturn && &stmt != body.back()) {
                problem = "returns before its end";
            }
        });
        return std::ranges::count(open_, &callee) != 0 ? "calls itself" : problem;
    }

    static bool ends_with_value(const Body& body) {
        const auto* last = body.empty() ? nullptr : body.back()->as<Return>();
        return last != nullptr && last->value != nullptr;
    }

    static bool assigned_here(const Var& var, const Body& body) {
        return any_stmt(body, [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            return assign != nullptr && assign->var == &var;
        });
    }

    // The statements at the front of the body that check the types of the numbers passed to it:
    // infer_types decides them.
    std::vector<std::size_t> number_checks(const Function& callee) const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < callee.body.size(); ++i) {
            if (!is_declared_check(module_, *callee.body[i])) break;
            if (asks_for_number(*callee.body[i])) found.push_back(i);
        }
        return found;
    }
    static Expr* number_of(const Stmt& check) {
        return check.as<If>()->condition->operands[0]->operands[0];
    }

    // Assigns the value to a variable, and returns it.
    Expr* held(Var* var, Expr* value, Span span, Body& out) {
        auto* assign = module_.make<Assign>(span);
        assign->var = var;
        assign->value = value;
        out.push_back(assign);
        Expr* read = module_.make_expr(Op::kVar, Type::unknown(), span);
        read->var = assign->var;
        return read;
    }

    Expr* expand(const Expr& call, Body& out) {
        const Function& callee = *call.callee;
        std::unordered_set<const Var*> assigned;
        Substitution names;
        const auto own = [&](Var* var) {
            Var*& mine = names.vars[var];
            if (mine == nullptr) {
                mine = module_.make_like(*var);
                mine->constant = var->constant;
            }
        };
        for_each_stmt(callee.body, [&](const Stmt& stmt) {
            for_each_var(stmt, [&](Var* var) {
                if (stmt.kind != StmtKind::kStore) assigned.insert(var);
            });
        });
        const std::vector<std::size_t> checks = number_checks(callee);
        Substitution given;  // the operands of the checks: arguments, whatever is assigned later
        for (std::size_t i = 0; i < callee.params.size(); ++i) {
            Var* param = callee.params[i];
            Expr* argument = call.operands[i];
            bool names_variable = argument->op == Op::kVar || argument->op == Op::kArray;
            if (!names_variable && assigned.contains(param) && !checks.empty()) {
                argument = held(module_.make_like(*param), argument, argument->span, out);
                names_variable = true;
            }
            if (names_variable) given.vars[param] = argument->var;
            if (names_variable && !assigned.contains(param)) {
                names.vars[param] = argument->var;
                continue;
            }
            own(param);
            given.vars.try_emplace(param, names.vars[param]);
            auto* copy = module_.make<Assign>(argument->span);
            copy->var = names.vars[param];
            copy->value = argument;
            out.push_back(copy);
        }
        for_each_stmt(callee.body, [&](const Stmt& stmt) { for_each_var(stmt, own); });
        for_each_expr(callee.body, [&](const Expr& expr) {
            if (expr.var != nullptr) own(expr.var);
        });
        Body copy = clone(module_, callee.body, names);
        for (const std::size_t at : checks) {
            copy[at] = clone(module_, callee.body[at], given);
            Expr* number = number_of(*copy[at]);
            for (std::size_t i = 0; i < callee.params.size(); ++i) {
                if (callee.params[i] == number_of(*callee.body[at])->var)
                    number->span = call.operands[i]->span;
            }
        }
        open_.push_back(&callee);
        body(copy);
        open_.pop_back();
        Expr* result = nullptr;
        if (auto* last = copy.empty() ? nullptr : copy.back()->as<Return>()) {
            result = last->value;
            copy.pop_back();
        }
        out.insert(out.end(), copy.begin(), copy.end());
        if (result == nullptr || (result->op == Op::kVar && assigned_here(*result->var, copy))) {
            return result;
        }
        return held(module_.make_var(callee.name, Type::unknown(), call.span), result, call.span,
                    out);
    }

    static constexpr const char* kReportedLater = "-";  // with the types

    PassContext& context_;
    Module& module_;
    const Functions& functions_;
    const Expr* for_effects_ = nullptr;  // a call that is a whole statement, without a value
    int parallel_ = 0;                   // loops around that are or may be parallel
    int unasked_ = 0;                    // statements inlined around without a mark
    std::size_t room_ = kMostUnasked;
    std::vector<const Function*> open_;  // whose bodies are being expanded, outermost first
};

}  // namespace

void inline_calls(PassContext& context) {
    const Functions functions(context);
    for (Function* function : context.module.functions) {
        Inliner(context, functions, *function).body(function->body);
    }
}

}  // namespace parpy
