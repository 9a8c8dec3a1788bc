// See halos.h. One walk finds the nests; each of their loops is then compared with the accesses in
// it.
#include "analysis/halos/halos.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/geometry.h"
#include "analysis/halos/reaches.h"
#include "analysis/memory/dependences.h"
#include "analysis/memory/occurrence_text.h"
#include "analysis/stencils/stencils.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace parpy {

using namespace ir;

namespace {

using Node = Halos::Node;

std::string event(const Occurrence& o) {
    const bool reads = o.access->kind == Access::Kind::kRead;
    return iteration_text(o) + (reads ? " reads " : " writes ") + element_text(o);
}

class HaloWalk {
public:
    HaloWalk(Module& module, std::optional<std::size_t> arguments,
             std::vector<HaloLeaf>* leaves = nullptr)
        : module_(module),
          leaves_(leaves),
          arguments_(arguments),
          dependences_(*module.entry_function()),
          keys_(mapping_keys(*module.entry_function())) {
        for (const Stencil& stencil : find_stencils(*module.entry_function()).found) {
            if (can_fail(*stencil.time)) continue;
            std::vector<const Var*>& renewed = overlapping_[stencil.time];
            for (const StencilArray& each : stencil.arrays) {
                if (!each.carried) renewed.push_back(each.array);
            }
        }
    }

    void walk(Body& body, std::vector<Node>& out) {
        for (Stmt* stmt : body)
            add(*stmt, out);
    }

private:
    // Whether some operands would end the program with an error.
    static bool can_fail(const For& loop) {
        return any_expr(loop.body, [](const Expr& e) {
            return (e.op == Op::kFloorDiv || e.op == Op::kMod || e.op == Op::kPow) &&
                   is_integer(e.type.scalar);
        });
    }

    Node node(Node::Kind kind, const Stmt& stmt) const {
        Node result;
        result.kind = kind;
        result.line = stmt.span.line;
        result.text = source_line(module_.sources, stmt.span);
        return result;
    }

    void add(Stmt& stmt, std::vector<Node>& out) {
        switch (stmt.kind) {
            case StmtKind::kFor:
                statement(stmt, out);  // the bounds
                loop(static_cast<For&>(stmt), out);
                break;
            case StmtKind::kWhile: {
                Node repeat = node(Node::Kind::kRepeat, stmt);
                statement(stmt, repeat.inside);
                if (!repeat.inside.empty()) repeat.inside.front().repeated = true;
                walk(static_cast<While&>(stmt).body, repeat.inside);
                if (!repeat.inside.empty()) out.push_back(std::move(repeat));
                break;
            }
            case StmtKind::kIf: {
                auto& it = static_cast<If&>(stmt);
                statement(stmt, out);  // the condition
                Node branch = node(Node::Kind::kBranch, stmt);
                walk(it.then_body, branch.inside);
                walk(it.else_body, branch.otherwise);
                if (!branch.inside.empty() || !branch.otherwise.empty())
                    out.push_back(std::move(branch));
                break;
            }
            case StmtKind::kGpu:
                walk(static_cast<Gpu&>(stmt).body, out);
                break;
            default:
                statement(stmt, out);
        }
    }

    static bool has_parallel(const std::vector<Node>& nodes) {
        return std::ranges::any_of(nodes, [](const Node& each) {
            return each.kind == Node::Kind::kNest || has_parallel(each.inside) ||
                   has_parallel(each.otherwise);
        });
    }

    // Whether there are only nests whose outermost loop is proved.
    static bool all_proved(const std::vector<Node>& nodes) {
        return !nodes.empty() && std::ranges::all_of(nodes, [](const Node& each) {
            if (each.kind == Node::Kind::kNest) return each.loops.front().proved;
            return each.kind != Node::Kind::kSerial && all_proved(each.inside) &&
                   (each.otherwise.empty() || all_proved(each.otherwise));
        });
    }

    void loop(For& loop, std::vector<Node>& out) {
        const int number = dependences_.accesses().loop_of(&loop);
        if (number < 0) return;  // never reached
        const LoopFacts facts = dependences_.of(loop);
        const bool proved = facts.verdict == Verdict::kProved;
        if (proved && !touches_arrays(number)) return;
        Node repeat = node(Node::Kind::kRepeat, loop);
        const std::size_t known = leaves_ != nullptr ? leaves_->size() : 0;
        const auto forget_inner = [&] {
            if (leaves_ != nullptr) leaves_->resize(known);
        };
        // The iterations of a loop that runs once cannot be shared.
        const bool once = proved && constant_trip_count(loop).value_or(2) < 2;
        if (!proved || once) {
            if (const auto trips = constant_trip_count(loop)) repeat.trips = *trips;
            walk(loop.body, repeat.inside);
            if (const auto found = overlapping_.find(&loop); found != overlapping_.end()) {
                repeat.overlaps = true;
                for (const Var* array : found->second)
                    repeat.renewed.push_back(name_of(*array));
            }
            const bool reduction = facts.verdict == Verdict::kReduction;
            const bool numbers = std::ranges::any_of(facts.reductions, [](const UpdateGroup& g) {
                return g.updates.front().indices == nullptr;
            });
            const bool inner = reduction && !numbers && all_proved(repeat.inside);
            const bool keep = once ? !has_parallel(repeat.inside) : reduction && !inner;
            if (!keep) {
                if (has_parallel(repeat.inside)) {
                    out.push_back(std::move(repeat));
                    return;
                }
                forget_inner();
                if (touches_arrays(number)) {
                    Node serial = node(Node::Kind::kSerial, loop);
                    serial.why = why(loop, facts);
                    std::vector<const Access*> all;
                    for (const Access& access : dependences_.accesses().all()) {
                        if (counts(access, number)) all.push_back(&access);
                    }
                    serial.arrays = everywhere(all);
                    add_leaf(loop, all, {});
                    out.push_back(std::move(serial));
                }
                return;
            }
        }
        forget_inner();
        Node nest = node(Node::Kind::kNest, loop);
        nest.loops.push_back(described(loop, number, facts, 0, true));
        inner_loops(loop.body, 1, nest.loops);
        out.push_back(std::move(nest));
    }

    // Only proved loops: loops inside an unproved one would run several times, one after the other.
    void inner_loops(Body& body, int depth, std::vector<Halos::Loop>& out) {
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            if (loop == nullptr) {
                if (stmt->kind == StmtKind::kWhile) continue;
                for_each_body(*stmt, [&](Body& inside) { inner_loops(inside, depth, out); });
                continue;
            }
            const int number = dependences_.accesses().loop_of(loop);
            if (number < 0 || !touches_arrays(number)) continue;
            const LoopFacts facts = dependences_.of(*loop);
            if (facts.verdict != Verdict::kProved) continue;
            out.push_back(described(*loop, number, facts, depth, false));
            inner_loops(loop->body, depth + 1, out);
        }
    }

    Halos::Loop described(For& loop, int number, const LoopFacts& facts, int depth,
                          bool outermost) {
        Halos::Loop out;
        out.key = keys_.at(&loop);
        out.variable = loop.var->shown();
        out.text = source_line(module_.sources, loop.span);
        out.line = loop.span.line;
        out.depth = depth;
        out.proved = facts.verdict == Verdict::kProved;
        std::vector<Var*> reduced;
        const auto add_reduced = [&](Var* var, Op op, bool array, bool scattered) {
            reduced.push_back(var);
            out.reduced.push_back({array ? name_of(*var) : var->shown(), std::string(text(op)),
                                   var->type.scalar, array, scattered,
                                   !array || updated_alone(*var, number)});
        };
        for (const UpdateGroup& group : facts.reductions) {
            const Update& update = group.updates.front();
            const bool array = update.indices != nullptr;
            const bool known = array && std::ranges::find(reduced, update.var) != reduced.end();
            if (!known) add_reduced(update.var, group.op, array, false);
        }
        if (facts.scatters) {
            for (const Dependence& d : facts.dependences) {
                auto* array = const_cast<Var*>(d.source->array);  // a variable of the module
                if (d.commutes && std::ranges::find(reduced, array) == reduced.end())
                    add_reduced(array, d.source->update, true, true);
            }
        }
        if (const auto trips = constant_trip_count(loop)) out.trips = *trips;
        Reaches reaches(dependences_.accesses(), number, module_.sources);
        out.scale = reaches.row().coefficient(reaches.counter());
        out.shift = reaches.row().constant;
        const auto begin = constant_integer(loop.begin);
        const std::int64_t factor = reaches.value().coefficient(reaches.counter());
        if (begin && reaches.value().terms.size() == 1 && factor != 0)
            out.first = out.scale * ((*begin - reaches.value().constant) / factor) + out.shift;
        std::vector<const Access*> all;
        for (const Access& access : dependences_.accesses().all()) {
            if (counts(access, number)) all.push_back(&access);
        }
        out.arrays = grouped(
            all, [&](const Access& access, std::size_t axis) { return reaches.of(access, axis); });
        if (outermost) add_leaf(loop, all, std::move(reduced), &reaches);
        return out;
    }

    void add_leaf(Stmt& stmt, const std::vector<const Access*>& all, std::vector<Var*> reduced,
                  const Reaches* reaches = nullptr) {
        if (leaves_ == nullptr) return;
        HaloLeaf& leaf = leaves_->emplace_back();
        leaf.stmt = &stmt;
        leaf.reduced = std::move(reduced);
        for (const Access* access : all) {
            auto* array = const_cast<Var*>(access->array);  // a variable of the module
            if (std::ranges::find(leaf.arrays, array) == leaf.arrays.end())
                leaf.arrays.push_back(array);
        }
        if (reaches == nullptr) return;
        const Affine& value = reaches->value();
        if (value.terms.size() != 1 || value.terms.front().first != reaches->counter()) return;
        leaf.factor = value.terms.front().second;
        leaf.offset = value.constant;
    }

    // Whether the loop touches the array by updates of one operator alone.
    bool updated_alone(const Var& array, int loop) const {
        std::optional<Op> op;
        return std::ranges::all_of(dependences_.accesses().all(), [&](const Access& access) {
            if (access.array != &array || !counts(access, loop)) return true;
            const bool same =
                access.kind == Access::Kind::kUpdate && op.value_or(access.update) == access.update;
            op = access.update;
            return same;
        });
    }

    // The user's name of the array, unless another array has the same name.
    const std::string& name_of(const Var& array) {
        const auto [found, made] = array_names_.try_emplace(&array, array.shown());
        if (made && std::ranges::count_if(array_names_, [&](const auto& each) {
                        return each.second == array.shown();
                    }) > 1) {
            found->second = array.name;
        }
        return found->second;
    }

    std::string why(const For& loop, const LoopFacts& facts) const {
        const std::string start = "loop '" + loop.var->shown() + "' cannot be partitioned: ";
        if (facts.decisive && facts.decisive->exact)
            return start + event(facts.decisive->witness[0]) + ", " +
                   event(facts.decisive->witness[1]);
        return start +
               (facts.reason.empty() ? "its iterations depend on each other" : facts.reason);
    }

    bool counts(const Access& access, int loop) const {
        const Accesses& accesses = dependences_.accesses();
        return accesses.inside(access.loop, loop) && !accesses.local_to(access.array, loop) &&
               !is_number(*access.array);
    }

    // Whether the array holds a number that the call returns.
    bool is_number(const Var& array) const {
        return arguments_ && array.space == Space::kGlobal &&
               array.origin.kind == Origin::Kind::kArgument && array.origin.argument >= *arguments_;
    }

    bool touches_arrays(int loop) const {
        return std::ranges::any_of(dependences_.accesses().all(),
                                   [&](const Access& access) { return counts(access, loop); });
    }

    // Adds a statement beside the nests, or the head of one that contains statements.
    void statement(Stmt& stmt, std::vector<Node>& out) {
        std::vector<const Access*> own;
        for (const Access& access : dependences_.accesses().all()) {
            if (access.made_by(&stmt) && !is_number(*access.array)) own.push_back(&access);
        }
        bool calls = false;
        for_each_slot(stmt, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) {
                const bool call = e.op == Op::kCall && e.callee != nullptr;
                calls = calls || (call && std::ranges::any_of(e.operands, [](const Expr* operand) {
                                      return operand->type.is_array();
                                  }));
            });
        });
        if (own.empty() && !calls) return;
        Node serial = node(Node::Kind::kSerial, stmt);
        serial.why = calls ? "the loops of the functions that it calls are not partitioned"
                           : "the statement is in no loop that may run in parallel";
        serial.calls = calls;
        serial.arrays = everywhere(own);
        add_leaf(stmt, own, {});
        out.push_back(std::move(serial));
    }

    std::vector<Halos::Array> everywhere(const std::vector<const Access*>& all) {
        return grouped(all, [&](const Access& access, std::size_t) {
            Halos::Reach reach;
            reach.kind = Halos::Reach::Kind::kAll;
            reach.text = access_text(module_.sources, access);
            reach.line = access.span.line;
            return reach;
        });
    }

    // Groups accesses by array and axis; arrays are in the order of their first access.
    template <class F>
    std::vector<Halos::Array> grouped(const std::vector<const Access*>& all, F&& reach_of) {
        std::vector<Halos::Array> out;
        std::unordered_map<const Var*, std::size_t> places;
        for (const Access* access : all) {
            const Var& array = *access->array;
            const auto [place, made] = places.try_emplace(&array, out.size());
            if (made) {
                Halos::Array& fresh = out.emplace_back();
                fresh.name = name_of(array);
                fresh.scalar = array.type.scalar;
                if (array.origin.kind == Origin::Kind::kArgument)
                    fresh.argument = array.origin.argument;
                fresh.axes.resize(array.dims.size());
                for (std::size_t axis = 0; axis < array.dims.size(); ++axis)
                    fresh.axes[axis].extent = array.dims[axis].extent.value_or(0);
            }
            Halos::Array& into = out[place->second];
            ++into.accesses;
            for (std::size_t axis = 0; axis < into.axes.size(); ++axis) {
                const Halos::Reach reach = reach_of(*access, axis);
                if (access->kind != Access::Kind::kWrite) join(into.axes[axis].reads, reach);
                if (access->writes()) join(into.axes[axis].writes, reach);
            }
        }
        return out;
    }

    Module& module_;
    std::vector<HaloLeaf>* const leaves_;
    std::unordered_map<const Var*, std::string> array_names_;
    const std::optional<std::size_t> arguments_;
    Dependences dependences_;
    const std::unordered_map<const For*, std::string> keys_;
    // The loops of Halos::Node::overlaps, with their arrays of Halos::Node::renewed.
    std::unordered_map<const For*, std::vector<const Var*>> overlapping_;
};

}  // namespace

Halos halos_of(Module& module, std::optional<std::size_t> arguments) {
    Halos out;
    HaloWalk(module, arguments).walk(module.entry_function()->body, out.nodes);
    return out;
}

Halos halos_of(Module& module, std::optional<std::size_t> arguments,
               std::vector<HaloLeaf>& leaves) {
    Halos out;
    HaloWalk(module, arguments, &leaves).walk(module.entry_function()->body, out.nodes);
    return out;
}

}  // namespace parpy
