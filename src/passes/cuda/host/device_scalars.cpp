// See device_scalars.h. A forward walk over host code tracks the possible places of each scalar's
// value.
#include "passes/cuda/host/device_scalars.h"

#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool is_kernel_root(const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    return stmt.kind == StmtKind::kGpu || (loop != nullptr && loop->mapping.parallel());
}

class DefinitionWalk {
public:
    DefinitionWalk(DeviceScalars& result, const std::unordered_map<const Stmt*, VarSet>& inputs)
        : result_(result), inputs_(inputs) {}

    void run(const Function& entry) {
        State state;
        for (const Var* scalar : result_.scalars_)
            state[scalar] = kOnHost;
        body(entry.body, state);
    }

    // The places of a value on the paths to a statement: the host alone, the device alone, or both.
    static constexpr unsigned kOnHost = 1, kOnDevice = 2, kOnBoth = 4;
    using State = std::unordered_map<const Var*, unsigned>;  // empty: not reached

    // The places of each root's inputs and of scalars fetched before a statement, over all visits.
    std::unordered_map<const Stmt*, State> places;

private:
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
                places[&s][input] |= state[input];
            for (const Var* output : result_.traffic_.at(&s).stores)
                state[output] = kOnDevice;
            return;
        }
        if (s.kind != StmtKind::kWhile) read_by(s, state);
        if (const auto* assign = s.as<Assign>()) {
            if (result_.scalars_.contains(assign->var)) state[assign->var] = kOnHost;
        } else if (const auto* branch = s.as<If>()) {
            State other = state;
            body(branch->then_body, state);
            body(branch->else_body, other);
            join(state, other);
        } else if (const auto* loop = s.as<For>()) {
            if (result_.scalars_.contains(loop->var)) state[loop->var] = kOnHost;
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
            State head = state;
            if (loop.kind == StmtKind::kWhile) read_by(loop, head);
            State iteration = head;
            body(loop_body, iteration);
            join(iteration, targets_.back().on_continue);
            const State broken = targets_.back().on_break;
            targets_.pop_back();
            if (!join(state, iteration)) {
                state = std::move(head);
                join(state, broken);
                return;
            }
        }
    }

    // The statement's own expressions, evaluated on the host.
    void read_by(const Stmt& s, State& state) {
        const auto read = [&](Var* scalar) {
            const auto found = state.find(scalar);
            if (found == state.end() || (found->second & kOnDevice) == 0) return;
            result_.fetched_[&s].insert(scalar);
            places[&s][scalar] |= found->second;
            found->second = kOnBoth;
        };
        for_each_slot(s, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) {
                if (e.op == Op::kVar) read(e.var);
            });
        });
        const auto* assign = s.as<Assign>();
        if (assign != nullptr && assign->update) read(assign->var);
        if (s.kind == StmtKind::kAlloc) {  // the sizes of the array
            for (Var* size : uses_of(s).read)
                read(size);
        }
    }

    DeviceScalars& result_;
    const std::unordered_map<const Stmt*, VarSet>& inputs_;
    std::vector<Targets> targets_;
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

DeviceScalars::DeviceScalars(const Function& entry) {
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
    DefinitionWalk walk(*this, inputs);
    walk.run(entry);
    const auto on_device = [&](const Stmt* at, Var* scalar) {
        const unsigned places = walk.places[at][scalar];
        if ((places & DefinitionWalk::kOnDevice) == 0) return false;
        if ((places & DefinitionWalk::kOnHost) != 0) mirrored_.insert(scalar);
        return true;
    };
    for (const Stmt* root : roots) {
        for (Var* input : inputs[root]) {
            if (on_device(root, input)) traffic_[root].loads.push_back(input);
        }
    }
    for_each_stmt(entry.body, [&](const Stmt& stmt) {  // in the order of the program
        const auto found = fetched_.find(&stmt);
        if (found == fetched_.end()) return;
        for (Var* scalar : found->second)
            static_cast<void>(on_device(&stmt, scalar));
    });
}

const DeviceScalars::Traffic& DeviceScalars::traffic(const Stmt* root) const {
    static const Traffic kNone;
    const auto found = traffic_.find(root);
    return found == traffic_.end() ? kNone : found->second;
}

const VarSet& DeviceScalars::fetched(const Stmt* stmt) const {
    static const VarSet kNone;
    const auto found = fetched_.find(stmt);
    return found == fetched_.end() ? kNone : found->second;
}

}  // namespace parpy
