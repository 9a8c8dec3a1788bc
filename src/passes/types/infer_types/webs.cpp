// Reaching definitions over the statement tree, webs by union-find, renaming.
#include "passes/types/infer_types/webs.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {
namespace {

using namespace ir;

using Definition = std::uint32_t;
using Definitions = std::vector<Definition>;  // sorted

class UnionFind {
public:
    std::uint32_t add() {
        parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
        return parent_.back();
    }
    std::uint32_t find(std::uint32_t x) {
        while (parent_[x] != x) {
            x = parent_[x] = parent_[parent_[x]];
        }
        return x;
    }
    // The smaller index represents both sets.
    void unite(std::uint32_t a, std::uint32_t b) {
        a = find(a);
        b = find(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }
    [[nodiscard]] std::size_t size() const { return parent_.size(); }

private:
    std::vector<std::uint32_t> parent_;
};

// The definitions of each name that may hold here.
struct State {
    bool reachable = true;
    std::vector<Definitions> at;  // by index of the name

    bool merge(const State& other) {
        if (!other.reachable) {
            return false;
        }
        if (!reachable) {
            *this = other;
            return true;
        }
        bool changed = false;
        for (std::size_t i = 0; i < at.size(); ++i) {
            for (Definition d : other.at[i]) {
                auto place = std::ranges::lower_bound(at[i], d);
                if (place == at[i].end() || *place != d) {
                    at[i].insert(place, d);
                    changed = true;
                }
            }
        }
        return changed;
    }
};

bool is_true(const Expr& expr) {
    if (expr.op != Op::kConst) {
        return false;
    }
    return std::visit([](auto value) { return value != decltype(value){}; }, expr.constant.value);
}

class Splitter {
public:
    Splitter(Module& module, Function& function, Diagnostics& diagnostics)
        : module_(module), function_(function), diagnostics_(diagnostics) {}

    Webs run() {
        State state;
        for_each_stmt(function_.body, [&](const Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            if (assign != nullptr && !assign->update) assigned_.insert(assign->var);
        });
        for (Var* param : function_.params) {
            if (is_name(param)) {
                const std::size_t index = add_name(param);
                parameters_.push_back(define(index));
            }
        }
        for_each_stmt(function_.body, [&](Stmt& stmt) {
            for_each_var(stmt, [&](Var* var) { add_constant(var); });
        });
        for_each_expr(function_.body, [&](Expr& expr) { add_constant(expr.var); });
        for_each_stmt(function_.body, [&](Stmt& stmt) {
            if (auto* assign = stmt.as<Assign>(); assign && is_name(assign->var)) {
                of_stmt_.emplace(&stmt, define(add_name(assign->var)));
            } else if (auto* loop = stmt.as<For>(); loop && is_name(loop->var)) {
                of_stmt_.emplace(&stmt, define(add_name(loop->var)));
                loop_definitions_.push_back(of_stmt_.at(&stmt));
            }
        });
        for_each_stmt(function_.body, [&](Stmt& stmt) {
            auto* store = stmt.as<Store>();
            if (store != nullptr && is_name(store->array)) add_name(store->array);
        });
        for_each_expr(function_.body, [&](Expr& expr) {
            if (is_name(expr.var)) add_name(expr.var);
        });
        state.at.resize(names_.size());
        for (Definition d : parameters_) {
            state.at[name_of_[d]] = {d};
        }
        walk(function_.body, state);
        make_variables();
        rename();
        enter_parameters();
        return std::move(webs_);
    }

private:
    struct Loop {
        State breaks, continues;
    };

    std::size_t add_name(Var* var) {
        auto [place, added] = index_.emplace(var, names_.size());
        if (added) {
            names_.push_back(var);
        }
        return place->second;
    }

    // A parameter with a known value is none at run time, but it has a value at entry.
    void add_constant(Var* var) {
        if (var != nullptr && var->constant != nullptr && !index_.contains(var)) {
            parameters_.push_back(define(add_name(var)));
        }
    }

    Definition define(std::size_t name) {
        name_of_.push_back(name);
        return webs_of_.add();
    }

    // Whether the variable's values are split: all but arrays that keep their memory.
    bool is_name(const Var* var) const {
        return var != nullptr && (!var->type.is_array() || assigned_.contains(var));
    }

    // ---- reaching definitions

    State unreachable() const {
        State state;
        state.reachable = false;
        state.at.resize(names_.size());
        return state;
    }

    void use(const void* site, Var* var, const State& state) {
        const Definitions& reaching = state.at[index_.at(var)];
        if (reaching.empty()) {
            uses_.emplace(site, kUndefined);
            return;
        }
        for (Definition d : reaching) {
            webs_of_.unite(reaching.front(), d);
        }
        only_[site] = reaching.size() == 1 ? reaching.front() : kUndefined;
        auto [place, added] = uses_.emplace(site, reaching.front());
        if (place->second == kUndefined) {
            place->second = reaching.front();
        }
        webs_of_.unite(place->second, reaching.front());
    }

    void uses(Stmt& stmt, const State& state) {
        for_each_slot(stmt, [&](Expr* slot) { uses(*slot, state); });
        auto* store = stmt.as<Store>();
        if (store != nullptr && is_name(store->array)) use(&stmt, store->array, state);
    }
    void uses(Expr& root, const State& state) {
        for_each_expr(root, [&](Expr& expr) {
            if (is_name(expr.var)) use(&expr, expr.var, state);
        });
    }

    void assign(Stmt& stmt, State& state) {
        if (auto found = of_stmt_.find(&stmt); found != of_stmt_.end()) {
            state.at[name_of_[found->second]] = {found->second};
        }
    }

    void walk(Body& body, State& state) {
        for (std::size_t i = 0; i < body.size(); ++i) {
            walk(*body[i], state);
            if (!state.reachable) {
                body.resize(i + 1);
            }
        }
    }

    void walk(Stmt& stmt, State& state) {
        switch (stmt.kind) {
            case StmtKind::kAssign: {
                uses(stmt, state);
                auto& assignment = static_cast<Assign&>(stmt);
                if (assignment.update && is_name(assignment.var)) {
                    use(&stmt, assignment.var, state);
                }
                assign(stmt, state);
                break;
            }
            case StmtKind::kFor: {
                auto& loop = static_cast<For&>(stmt);
                uses(stmt, state);
                iterate(loop.body, state, [&](State& head) { assign(stmt, head); }, true);
                break;
            }
            case StmtKind::kWhile: {
                auto& loop = static_cast<While&>(stmt);
                iterate(
                    loop.body, state, [&](State& head) { uses(*loop.condition, head); },
                    !is_true(*loop.condition));
                break;
            }
            case StmtKind::kIf: {
                auto& branch = static_cast<If&>(stmt);
                uses(stmt, state);
                State other = state;
                walk(branch.then_body, state);
                walk(branch.else_body, other);
                state.merge(other);
                break;
            }
            case StmtKind::kBreak:
            case StmtKind::kContinue:
                if (!loops_.empty()) {
                    (stmt.kind == StmtKind::kBreak ? loops_.back().breaks : loops_.back().continues)
                        .merge(state);
                }
                state.reachable = false;
                break;
            case StmtKind::kReturn:
            case StmtKind::kFail:
                uses(stmt, state);
                state.reachable = false;
                break;
            case StmtKind::kGpu:
                uses(stmt, state);
                walk(static_cast<Gpu&>(stmt).body, state);
                break;
            default:
                uses(stmt, state);
                break;
        }
    }

    // Runs `begin` and the body until the state at the head of the loop no longer grows.
    template <class F>
    void iterate(Body& body, State& state, F&& begin, bool ends) {
        State head = state;
        for (;;) {
            loops_.push_back({unreachable(), unreachable()});
            State inside = head;
            begin(inside);
            walk(body, inside);
            const Loop loop = std::move(loops_.back());
            loops_.pop_back();
            bool grew = head.merge(inside);
            grew = head.merge(loop.continues) || grew;
            if (!grew) {
                state = ends ? head : unreachable();
                state.merge(loop.breaks);
                return;
            }
        }
    }

    // ---- variables

    void make_variables() {
        std::vector<std::size_t> size(webs_of_.size(), 0);
        for (Definition d = 0; d < webs_of_.size(); ++d) {
            ++size[webs_of_.find(d)];
        }
        std::unordered_set<std::size_t> taken;  // names whose own variable is in use
        variables_.resize(webs_of_.size(), nullptr);
        for (Definition p : parameters_) {
            taken.insert(name_of_[p]);
            if (size[webs_of_.find(p)] == 1) {
                variables_[p] = names_[name_of_[p]];
            }
        }
        for (Definition d = 0; d < webs_of_.size(); ++d) {
            if (webs_of_.find(d) != d || variables_[d] != nullptr) {
                continue;
            }
            Var* name = names_[name_of_[d]];
            variables_[d] = taken.insert(name_of_[d]).second
                                ? name
                                : module_.make_var(name->name, Type::unknown(), name->span);
            webs_.splits.push_back({variables_[d], name->name});
        }
        for (Definition d : loop_definitions_) {
            if (size[webs_of_.find(d)] > 1) {
                Var* name = names_[name_of_[d]];
                counters_[d] = module_.make_var(name->name, Type::unknown(), name->span);
                webs_.splits.push_back({counters_[d], name->name});
            }
        }
    }

    Var* variable(Definition d) { return variables_[webs_of_.find(d)]; }

    // Whether it is a parameter, or the variable of a loop, which keeps its role.
    bool is_fixed(Definition d) {
        const Definition web = webs_of_.find(d);
        return std::ranges::any_of(parameters_,
                                   [&](Definition p) { return webs_of_.find(p) == web; }) ||
               std::ranges::any_of(loop_definitions_,
                                   [&](Definition l) { return webs_of_.find(l) == web; });
    }

    // `own`: the definition by the statement of the use, which cannot be its own first value.
    Var* resolve(const void* site, Var* name, Span span, Definition own) {
        const auto found = uses_.find(site);
        if (found != uses_.end() && found->second != kUndefined &&
            (own == kUndefined || only_.at(site) != own)) {
            if (auto counter = counters_.find(only_.at(site)); counter != counters_.end()) {
                return counter->second;
            }
            const Definition web = webs_of_.find(found->second);
            ++use_count_[web];
            return variables_[web];
        }
        auto& error = diagnostics_.error(Code::kP110, span,
                                         "'" + name->name + "' is read before it has a value");
        error.help = "assign it before this line, on every path that leads here";
        return module_.make_var(name->name, Type::unknown(), name->span);
    }

    void rename() {
        struct Candidate {
            Webs::Step step;
            Definition source;
        };
        std::vector<Candidate> candidates;
        for_each_stmt(function_.body, [&](Stmt& stmt) {
            if (copies_.contains(&stmt)) {
                return;
            }
            auto* assignment = stmt.as<Assign>();
            const auto own = of_stmt_.find(&stmt);
            Var* const name = assignment != nullptr ? assignment->var : nullptr;
            const Definition defines =
                assignment != nullptr && own != of_stmt_.end() ? own->second : kUndefined;
            for_each_slot(stmt, [&](Expr* slot) {
                for_each_expr(*slot, [&](Expr& expr) {
                    if (!is_name(expr.var)) {
                        return;
                    }
                    Var* const read = expr.var;
                    expr.var = resolve(&expr, read, expr.span, defines);
                    if (read == name && own != of_stmt_.end() && reaches(&expr)) {
                        candidates.push_back(
                            {{assignment, expr.var, variable(own->second), false, false},
                             uses_.at(&expr)});
                    }
                });
            });
            auto* store = stmt.as<Store>();
            if (store != nullptr && is_name(store->array)) {
                store->array = resolve(&stmt, store->array, stmt.span, kUndefined);
            }
            if (own == of_stmt_.end()) {
                return;
            }
            Var* const target = variable(own->second);
            if (auto* loop = stmt.as<For>()) {
                set_loop_variable(*loop, own->second, target);
                return;
            }
            assignment->var = target;
            if (!assignment->update) {
                return;
            }
            Var* const source = resolve(&stmt, name, stmt.span, defines);
            if (source != target) {
                Expr* read = module_.make_expr(Op::kVar, Type::unknown(), stmt.span);
                read->var = source;
                assignment->value = module_.make_expr(*assignment->update, Type::unknown(),
                                                      stmt.span, {read, assignment->value});
                assignment->update.reset();
                webs_.augmented.insert(assignment);
                if (reaches(&stmt)) {
                    candidates.push_back(
                        {{assignment, source, target, true, false}, uses_.at(&stmt)});
                }
            }
        });
        for (Candidate& candidate : candidates) {
            Webs::Step& step = candidate.step;
            if (step.source != step.target && !is_fixed(candidate.source) &&
                !is_fixed(of_stmt_.at(step.stmt))) {
                step.only_use = use_count_[webs_of_.find(candidate.source)] == 1;
                webs_.steps.push_back(step);
            }
        }
    }

    // A name that has other values, too, is a copy of the loop's own variable.
    void set_loop_variable(For& loop, Definition d, Var* target) {
        const auto counter = counters_.find(d);
        if (counter == counters_.end()) {
            loop.var = target;
            return;
        }
        loop.var = counter->second;
        Expr* read = module_.make_expr(Op::kVar, Type::unknown(), loop.span);
        read->var = counter->second;
        auto* copy = module_.make<Assign>(loop.span);
        copy->var = target;
        copy->value = read;
        copies_.insert(copy);
        loop.body.insert(loop.body.begin(), copy);
    }

    bool reaches(const void* site) const {
        const auto found = uses_.find(site);
        return found != uses_.end() && found->second != kUndefined;
    }

    // Assigns n_1 = n for each parameter n that the function assigns.
    void enter_parameters() {
        Body entry;
        for (Definition p : parameters_) {
            Var* param = names_[name_of_[p]];
            if (variable(p) == param) {
                continue;
            }
            Expr* read = module_.make_expr(Op::kVar, Type::unknown(), param->span);
            read->var = param;
            auto* assignment = module_.make<Assign>(param->span);
            assignment->var = variable(p);
            assignment->value = read;
            entry.push_back(assignment);
        }
        function_.body.insert(function_.body.begin(), entry.begin(), entry.end());
    }

    static constexpr Definition kUndefined = ~Definition{0};

    Module& module_;
    Function& function_;
    Diagnostics& diagnostics_;
    std::unordered_set<const Var*> assigned_;  // by other statements than updates
    std::vector<Var*> names_;
    std::unordered_map<const Var*, std::size_t> index_;
    std::vector<std::size_t> name_of_;  // definition -> name
    UnionFind webs_of_;
    std::vector<Definition> parameters_;
    std::unordered_map<const Stmt*, Definition> of_stmt_;
    std::vector<Definition> loop_definitions_;
    std::unordered_map<Definition, Var*> counters_;     // of loops whose name is shared with others
    std::unordered_set<const Stmt*> copies_;            // of counters to names
    std::unordered_map<const void*, Definition> uses_;  // of a kVar, or of an update's target
    std::unordered_map<const void*, Definition> only_;  // the definition, if only one reaches it
    std::unordered_map<Definition, std::size_t> use_count_;
    std::vector<Loop> loops_;
    std::vector<Var*> variables_;
    Webs webs_;
};

}  // namespace

Webs split_variables(Module& module, Function& function, Diagnostics& diagnostics) {
    return Splitter(module, function, diagnostics).run();
}

void rejoin_variables(Function& function, const Webs& webs) {
    std::unordered_map<Var*, Var*> joined;  // to the earlier variable
    const auto root = [&](Var* var) {
        for (auto found = joined.find(var); found != joined.end(); found = joined.find(var)) {
            var = found->second;
        }
        return var;
    };
    std::vector<Assign*> updates;
    for (const Webs::Step& step : webs.steps) {
        const bool array = step.target->type.is_array();
        if (step.source->type != step.target->type || (array && !step.update)) {
            continue;
        }
        Expr* value = step.stmt->value;
        const bool restores = !array && step.update && is_update(value->op) &&
                              value->operands.size() == 2 && value->operands[0]->op == Op::kVar &&
                              value->operands[0]->var == step.source &&
                              value->type == step.target->type;
        if (restores) {
            updates.push_back(step.stmt);
        }
        if (Var* from = root(step.target), *to = root(step.source); from != to) {
            joined.emplace(from, to);
        }
    }
    for (Assign* assignment : updates) {
        Expr* value = assignment->value;
        assignment->update = value->op;
        assignment->value = value->operands[1];
    }
    if (!joined.empty()) {
        for_each_stmt(function.body, [&](Stmt& stmt) {
            for_each_var(stmt, [&](Var*& var) { var = root(var); });
            for_each_slot(stmt, [&](Expr* slot) {
                for_each_expr(*slot, [&](Expr& expr) { expr.var = root(expr.var); });
            });
        });
    }
    std::unordered_set<const Var*> own;
    for (const Webs::Split& split : webs.splits) {
        own.insert(split.var);
    }
    std::unordered_set<std::string> names;
    for (const Var* param : function.params) {
        names.insert(param->name);
    }
    for_each_stmt(function.body, [&](Stmt& stmt) {
        for_each_var(stmt, [&](const Var* var) {
            if (!own.contains(var)) {
                names.insert(var->name);
            }
        });
    });
    for (const Webs::Split& split : webs.splits) {
        if (joined.contains(split.var)) {
            continue;
        }
        std::string name = split.name;
        for (int suffix = 1; !names.insert(name).second; ++suffix) {
            name = split.name + "_" + std::to_string(suffix);
        }
        if (name != split.name && split.var->user_name.empty()) split.var->user_name = split.name;
        split.var->name = std::move(name);
    }
}

}  // namespace parpy
