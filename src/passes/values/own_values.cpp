// See own_values.h. Walks along the paths of the function, and knows at each statement which
// elements the names may refer to there, and whether they have been stored to since the names were
// bound.
#include "passes/values/own_values.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/memory/sharing.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

using Vars = std::set<const Var*>;

struct State {
    bool reached = false;
    std::map<const Var*, Vars> sources;  // of names that may refer to elements of other arrays here
    Vars stale;                          // … whose elements may have other values by now

    friend bool operator==(const State&, const State&) = default;
};

void join(State& into, const State& from) {
    if (!from.reached) return;
    into.reached = true;
    for (const auto& [name, sources] : from.sources)
        into.sources[name].insert(sources.begin(), sources.end());
    into.stale.insert(from.stale.begin(), from.stale.end());
}

class Walk {
public:
    Walk(const Function& function, const std::unordered_set<const Var*>& names)
        : part_(function.part), names_(names) {
        for_each_stmt(function.body, [&](const Stmt& stmt) {
            const auto* bind = stmt.as<Bind>();
            if (bind != nullptr && bind->fresh) made_.insert(bind->array);
            if (bind == nullptr || bind->fresh) return;
            stands_for_[bind->array].insert(viewed(*bind->value).var);
            if (bind->array->space == Space::kResult) returned_.push_back(bind);
        });
        state_.reached = true;
        body(function.body);
    }

    std::unordered_set<const Var*> copyable() const {
        auto result = names_;
        std::erase_if(result, [&](const Var* name) { return told_.contains(name); });
        return result;
    }

private:
    // ------------------------------------------------------------ shared memory

    // `array`, and the arrays that it may be a name of.
    Vars roots(const Var* array) const {
        Vars found{array};
        std::vector<const Var*> open{array};
        while (!open.empty()) {
            const auto names = stands_for_.find(open.back());
            open.pop_back();
            if (names == stands_for_.end()) continue;
            for (const Var* each : names->second)
                if (found.insert(each).second) open.push_back(each);
        }
        return found;
    }

    static bool share(const Vars& a, const Vars& b) {
        return std::ranges::any_of(a, [&](const Var* each) { return may_share(b, *each); });
    }

    // ------------------------------------------------------------ effects of statements

    // Follows the order of evaluation: later operands read the stores of earlier calls.
    void use(const Expr& value) {
        for (const Expr* operand : value.operands)
            use(*operand);
        const Var* array = value.op == Op::kExtent ? nullptr : value.var;
        if (array != nullptr && array->type.is_array()) read(*array);
        if (value.op == Op::kAtomic) write(array);
        if (value.op != Op::kCall) return;
        const auto passed = [&](std::size_t i) { return array_passed(*value.operands[i]); };
        for (std::size_t i = 0; i < value.operands.size(); ++i) {
            const bool known = i < value.callee->params.size() &&
                               !value.callee->params[i]->written &&
                               value.callee->kind != FunctionKind::kForeign;
            if (passed(i) != nullptr && !known) write(passed(i));
        }
        for (std::size_t i = 0; i < value.operands.size(); ++i) {  // it may read its own stores
            if (passed(i) != nullptr) read(*passed(i));
        }
    }

    void read(const Var& array) {
        for (const Var* name : roots(&array))
            if (state_.stale.contains(name)) told_.insert(name);
    }

    void write(const Var* array) {
        const Vars written = roots(array);
        for (const auto& [name, sources] : state_.sources) {
            if (written.contains(name)) told_.insert(name);
            Vars read;
            for (const Var* source : sources)
                read.merge(roots(source));
            if (share(written, read)) state_.stale.insert(name);
        }
    }

    // The receiver of the array may store to it, and see that it shares memory with another result.
    // A caller gets a copy of an argument that no iteration replaced.
    void hand_over(const Bind& stmt) {
        if (stmt.value->op == Op::kTranspose || stmt.value->op == Op::kReshape) {
            const Vars from = roots(viewed(*stmt.value).var);
            Vars others;
            for (const Bind* other : returned_)
                if (other != &stmt) others.merge(roots(viewed(*other->value).var));
            const bool given = std::ranges::any_of(from, [&](const Var* array) {
                return !stands_for_.contains(array) && !made_.contains(array);
            });
            if (part_ || given || share(others, from)) told_.insert(stmt.array);
        }
        for (const Var* name : roots(stmt.array)) {
            const auto found = state_.sources.find(name);
            if (found == state_.sources.end()) continue;
            Vars seen;
            for (const Bind* other : returned_) {
                if (other->array->origin.argument != stmt.array->origin.argument)
                    seen.merge(roots(viewed(*other->value).var));
            }
            for (const Var* source : found->second) {
                if (part_ || share(seen, roots(source))) told_.insert(name);
            }
        }
    }

    void bind(const Bind& stmt) {
        if (stmt.array->space == Space::kResult) hand_over(stmt);
        state_.sources.erase(stmt.array);
        state_.stale.erase(stmt.array);
        if (!stmt.fresh && names_.contains(stmt.array))
            state_.sources[stmt.array] = {viewed(*stmt.value).var};
    }

    void statement(const Stmt& stmt) {
        switch (stmt.kind) {
            case StmtKind::kFor:
            case StmtKind::kWhile:
                loop(stmt);
                return;
            case StmtKind::kIf: {
                const auto& branch = *stmt.as<If>();
                use(*branch.condition);
                State other = state_;
                body(branch.then_body);
                std::swap(state_, other);
                body(branch.else_body);
                join(state_, other);
                return;
            }
            case StmtKind::kBreak:
                join(breaks_.back(), std::exchange(state_, {}));
                return;
            case StmtKind::kContinue:
                join(continues_.back(), std::exchange(state_, {}));
                return;
            default:
                break;
        }
        for_each_slot(stmt, [&](const Expr* slot) { use(*slot); });
        if (const auto* bound = stmt.as<Bind>()) bind(*bound);
        if (const auto* store = stmt.as<Store>()) write(store->array);
        for_each_body(stmt, [&](const Body& inner) { body(inner); });
        if (stmt.kind == StmtKind::kReturn || stmt.kind == StmtKind::kFail) state_ = {};
    }

    void loop(const Stmt& stmt) {
        breaks_.emplace_back();
        continues_.emplace_back();
        for (State before; before != state_;) {
            before = state_;
            for_each_slot(stmt, [&](const Expr* slot) { use(*slot); });
            for_each_body(stmt, [&](const Body& inner) { body(inner); });
            join(state_, continues_.back());
            join(state_, before);
        }
        join(state_, breaks_.back());
        breaks_.pop_back();
        continues_.pop_back();
    }

    void body(const Body& stmts) {
        for (const Stmt* stmt : stmts) {
            if (!state_.reached) return;
            statement(*stmt);
        }
    }

    const bool part_;
    const std::unordered_set<const Var*>& names_;
    std::vector<const Bind*> returned_;
    Vars made_;  // names of values
    std::unordered_map<const Var*, Vars> stands_for_;
    State state_;
    std::vector<State> breaks_, continues_;  // of the loops around
    Vars told_;                              // names whose elements a copy would not replace
};

}  // namespace

std::unordered_set<const Var*> copyable_names(const Function& function,
                                              const std::unordered_set<const Var*>& names) {
    return names.empty() ? names : Walk(function, names).copyable();
}

}  // namespace parpy
