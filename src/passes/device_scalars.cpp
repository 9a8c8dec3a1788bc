// See device_scalars.h. A forward walk over host code tracks who may have assigned each scalar
// last.
#include "passes/device_scalars.h"

#include <unordered_set>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool is_kernel_root(const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    return stmt.kind == StmtKind::kGpu || (loop != nullptr && loop->mapping.parallel());
}

class DefinitionWalk {
public:
    DefinitionWalk(DeviceScalars& result, const std::unordered_map<const Stmt*, VarSet>& inputs,
                   Diagnostics& diagnostics)
        : result_(result), inputs_(inputs), diagnostics_(diagnostics) {}

    void run(const Function& entry) {
        State state;
        for (const Var* scalar : result_.scalars_)
            state[scalar] = kByHost;
        body(entry.body, state);
    }

    // By whom the inputs of each root may have been assigned, over all visits.
    std::unordered_map<const Stmt*, std::unordered_map<const Var*, unsigned>> at_roots;

private:
    static constexpr unsigned kByHost = 1, kByDevice = 2;
    using State = std::unordered_map<const Var*, unsigned>;  // empty: not reached

    struct Targets {
        State on_break, on_continue;
    };

    static bool join(State& into, const State& other) {
        bool changed = false;
        for (const auto& [scalar, kinds] : other) {
            unsigned& known = into[scalar];
            changed = changed || (known | kinds) != known;
            known |= kinds;
        }
        return changed;
    }

    void body(const Body& stmts, State& state) {
        for (const Stmt* s : stmts)
            stmt(*s, state);
    }

    void stmt(const Stmt& s, State& state) {
        if (is_kernel_root(s)) {
            for (const Var* input : inputs_.at(&s))
                at_roots[&s][input] |= state[input];
            for (const Var* output : result_.traffic_.at(&s).stores)
                state[output] = kByDevice;
            return;
        }
        for_each_slot(s, [&](const Expr* e) { host_read(*e, state); });
        if (const auto* assign = s.as<Assign>()) {
            if (!result_.scalars_.contains(assign->var)) return;
            if (assign->update) host_read(*assign->var, s.span, state);
            state[assign->var] = kByHost;
        } else if (const auto* branch = s.as<If>()) {
            State other = state;
            body(branch->then_body, state);
            body(branch->else_body, other);
            join(state, other);
        } else if (const auto* loop = s.as<For>()) {
            if (result_.scalars_.contains(loop->var)) state[loop->var] = kByHost;
            repeat(s, loop->body, state);
        } else if (const auto* spin = s.as<While>()) {
            repeat(s, spin->body, state);
        } else if (s.kind == StmtKind::kBreak && !targets_.empty()) {
            join(targets_.back().on_break, state);
            state.clear();
        } else if (s.kind == StmtKind::kContinue && !targets_.empty()) {
            join(targets_.back().on_continue, state);
            state.clear();
        } else if (s.kind == StmtKind::kReturn) {
            state.clear();
        }
    }

    void repeat(const Stmt& loop, const Body& loop_body, State& state) {
        for (;;) {
            targets_.emplace_back();
            State iteration = state;
            if (loop.kind == StmtKind::kWhile) {
                for_each_slot(loop, [&](const Expr* e) { host_read(*e, state); });
            }
            body(loop_body, iteration);
            join(iteration, targets_.back().on_continue);
            const State broken = targets_.back().on_break;
            targets_.pop_back();
            if (!join(state, iteration)) {
                join(state, broken);
                return;
            }
        }
    }

    void host_read(const Expr& expr, const State& state) {
        for_each_expr(expr, [&](const Expr& e) {
            if (e.op == Op::kVar) host_read(*e.var, e.span, state);
        });
    }

    void host_read(const Var& scalar, Span at, const State& state) {
        const auto found = state.find(&scalar);
        if (found == state.end() || (found->second & kByDevice) == 0) return;
        if (!reported_.insert(&scalar).second) return;
        diagnostics_
            .error(Code::kP307, at, "host code reads '" + scalar.name + "', which the GPU computes")
            .help =
            "store it to an element of an array, or put the code that reads it into `with "
            "parpy.gpu:`";
    }

    DeviceScalars& result_;
    const std::unordered_map<const Stmt*, VarSet>& inputs_;
    Diagnostics& diagnostics_;
    std::vector<Targets> targets_;
    std::unordered_set<const Var*> reported_;
};

namespace {

void collect_roots(const Body& body, std::vector<Stmt*>& roots) {
    for (Stmt* stmt : body) {
        if (is_kernel_root(*stmt)) {
            roots.push_back(stmt);
        } else {
            for_each_body(*stmt, [&](const Body& inner) { collect_roots(inner, roots); });
        }
    }
}

}  // namespace

DeviceScalars::DeviceScalars(const Function& entry, Diagnostics& diagnostics) {
    const Liveness liveness(entry);
    std::vector<Stmt*> roots;
    collect_roots(entry.body, roots);
    std::unordered_map<const Stmt*, VarSet> inputs;
    for (Stmt* root : roots) {
        VarSet wanted;
        for (Var* scalar : uses_of(*root).written) {
            if (liveness.after(root).contains(scalar)) wanted.insert(scalar);
        }
        for (Var* scalar : wanted)
            traffic_[root].stores.push_back(scalar);
        scalars_.insert(wanted);
        inputs[root] = exposed_reads({root}, wanted);
        traffic_[root];
    }
    if (scalars_.empty()) return;
    for (auto& [root, needed] : inputs) {
        VarSet on_device;
        for (Var* scalar : needed) {
            if (scalars_.contains(scalar)) on_device.insert(scalar);
        }
        needed = std::move(on_device);
    }
    DefinitionWalk walk(*this, inputs, diagnostics);
    walk.run(entry);
    for (const Stmt* root : roots) {
        for (Var* input : inputs[root]) {
            const unsigned kinds = walk.at_roots[root][input];
            if ((kinds & 2U) == 0) continue;
            traffic_[root].loads.push_back(input);
            if ((kinds & 1U) != 0) mirrored_.insert(input);
        }
    }
}

const DeviceScalars::Traffic& DeviceScalars::traffic(const Stmt* root) const {
    static const Traffic kNone;
    const auto found = traffic_.find(root);
    return found == traffic_.end() ? kNone : found->second;
}

}  // namespace parpy
