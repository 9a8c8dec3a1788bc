// See instrument_races.h.
#include "passes/checks/instrument_races.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

// A mark is a stamp, a multiple of 2^kPlaceBits, plus the number of a site.
constexpr std::int64_t kPlaceBits = 20;
constexpr std::int64_t kTick = std::int64_t{1} << kPlaceBits;

// A parallel loop that is running, as variables of the current function.
struct Level {
    std::string name;                                    // of the loop's variable
    Var* clock = nullptr;                                // u64: the stamp of this iteration
    Var* start = nullptr;                                // u64: the stamp before the first one
    Var* value = nullptr;                                // the loop's variable
    Var* begin = nullptr;                                // i64
    Var* step = nullptr;                                 // i64
    const std::vector<Reduction>* reductions = nullptr;  // null: the loop is the caller's
};

// The marks of one array, by depth of parallel loops.
struct Marks {
    std::vector<Var*> writes;
    std::vector<Var*> reads;  // empty: no statement of a parallel loop loads the array
    // The offset of the first element, for an array that shares its marks with arrays that overlap
    // it.
    std::optional<std::int64_t> origin;
};

// Arguments that overlap, and the lowest and highest of their elements in bytes, relative to the
// origin of their placements.
struct Overlap {
    std::vector<Var*> arrays;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

// False if the array's elements have another size or alignment, or only the call knows their place.
bool join(Overlap& overlap, Var* array) {
    const std::int64_t size = size_in_bytes(array->type.scalar);
    std::int64_t lowest = array->placement->offset;
    std::int64_t highest = lowest;
    for (const Dim& dim : array->dims) {
        if (!dim.extent || !dim.stride) return false;
        const std::int64_t reach = *dim.stride * (*dim.extent - 1) * size;
        (reach < 0 ? lowest : highest) += reach;
    }
    if (!overlap.arrays.empty()) {
        const Var* first = overlap.arrays.front();
        if (size != size_in_bytes(first->type.scalar) ||
            (array->placement->offset - first->placement->offset) % size != 0) {
            return false;
        }
        lowest = std::min(lowest, overlap.lowest);
        highest = std::max(highest, overlap.highest);
    }
    overlap.arrays.push_back(array);
    overlap.lowest = lowest;
    overlap.highest = highest;
    return true;
}

struct Access {
    const Stmt* stmt;
    const Var* array;
    const std::vector<Expr*>* indices;
    bool writes;
};

// The loops and watched arrays of one function.
struct Scope {
    std::vector<Level> levels;
    std::unordered_map<const Var*, Marks> marks;
};

bool is_parallel(const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    return loop != nullptr && loop->mapping.parallel();
}

std::size_t depth_of(const Body& body) {
    std::size_t deepest = 0;
    for (const Stmt* stmt : body) {
        std::size_t inner = 0;
        for_each_body(*stmt, [&](const Body& b) { inner = std::max(inner, depth_of(b)); });
        deepest = std::max(deepest, inner + (is_parallel(*stmt) ? 1 : 0));
    }
    return deepest;
}

// Collects the arrays that parallel loops store to, and those among them that they also load.
void find_watched(const Body& body, VarSet& stored, VarSet& loaded) {
    for (const Stmt* stmt : body) {
        if (!is_parallel(*stmt)) {
            for_each_body(*stmt, [&](const Body& b) { find_watched(b, stored, loaded); });
            continue;
        }
        const Uses uses = uses_of(*stmt);
        for (Var* array : uses.stored) {
            if (uses.allocated.contains(array)) continue;
            stored.insert(array);
            if (uses.loaded.contains(array)) loaded.insert(array);
        }
    }
}

class RaceChecks {
public:
    explicit RaceChecks(Module& module) : b_(module) {}

    void run() {
        Function& entry = *b_.module().entry_function();
        VarSet stored;
        VarSet loaded;
        find_watched(entry.body, stored, loaded);
        const std::size_t depth = depth_of(entry.body);
        Scope scope;
        Body head;
        for (std::size_t d = 0; d < depth; ++d) {
            clocks_.push_back(b_.scalar("clock", Scalar::kU64));
            head.push_back(b_.assign(clocks_[d], b_.integer(0, Scalar::kU64)));
        }
        std::unordered_map<const Var*, Body> behind;  // of allocations, by array
        share_marks(entry, stored, depth, scope, head);
        for (Var* array : stored) {
            if (scope.marks.contains(array)) continue;
            const bool is_parameter = std::ranges::find(entry.params, array) != entry.params.end();
            Body& made = is_parameter ? head : behind[array];
            scope.marks[array] = make_marks(*array, depth, loaded.contains(array), made);
        }
        rewrite_stmts(entry.body, [&](Stmt* stmt, Body& out) {
            out.push_back(stmt);
            if (const auto* alloc = stmt->as<Alloc>(); alloc != nullptr) {
                const auto found = behind.find(alloc->array);
                if (found == behind.end()) return;
                out.insert(out.end(), found->second.begin(), found->second.end());
            }
        });
        LoopStack loops;
        body(entry.body, scope, loops);
        entry.body.insert(entry.body.begin(), head.begin(), head.end());
        for_each_stmt(entry.body, [](Stmt& stmt) {
            if (auto* loop = stmt.as<For>()) loop->mapping = {};
        });
    }

private:
    // ------------------------------------------------------------ marks

    // Makes one set of marks for arguments that overlap, if one of them is stored to.
    void share_marks(const Function& entry, const VarSet& stored, std::size_t depth, Scope& scope,
                     Body& out) {
        std::map<std::size_t, Overlap> overlaps;
        for (Var* param : entry.params) {
            if (param->placement) static_cast<void>(join(overlaps[param->placement->group], param));
        }
        for (const auto& [group, overlap] : overlaps) {
            const auto is_stored = [&](Var* array) { return stored.contains(array); };
            if (overlap.arrays.size() < 2 || std::ranges::none_of(overlap.arrays, is_stored)) {
                continue;
            }
            const std::int64_t size = size_in_bytes(overlap.arrays.front()->type.scalar);
            const std::int64_t elements = (overlap.highest - overlap.lowest) / size + 1;
            Marks marks;
            add_marks(marks, overlap.arrays.front()->name, elements, nullptr, depth, true, out);
            for (Var* array : overlap.arrays) {
                scope.marks[array] = marks;
                scope.marks[array].origin = (array->placement->offset - overlap.lowest) / size;
            }
        }
    }

    Marks make_marks(const Var& array, std::size_t depth, bool reads, Body& out) {
        std::int64_t elements = 1;
        bool constant = true;
        for (const Dim& dim : array.dims) {
            constant = constant && dim.extent;
            elements *= dim.extent.value_or(1);
        }
        Var* size = nullptr;
        if (!constant) {
            size = b_.scalar(array.name + "_size", Scalar::kI64);
            Expr* product = nullptr;
            for (const Dim& dim : array.dims) {
                Expr* e = b_.extent(dim);
                product = product == nullptr ? e : b_.binary(Op::kMul, product, e);
            }
            out.push_back(b_.assign(size, product));
        }
        Marks marks;
        add_marks(marks, array.name, elements, size, depth, reads, out);
        return marks;
    }

    void add_marks(Marks& marks, const std::string& name, std::int64_t elements, Var* size,
                   std::size_t depth, bool reads, Body& out) {
        const auto add = [&](std::vector<Var*>& list, const char* suffix) {
            for (std::size_t d = 0; d < depth; ++d) {
                list.push_back(mark_array(name + suffix, elements, size));
                list.back()->space = Space::kZeroed;
                out.push_back(b_.alloc(list.back()));
            }
        };
        add(marks.writes, "_writes");
        if (reads) add(marks.reads, "_reads");
    }

    Var* mark_array(const std::string& name, std::int64_t elements, Var* size) {
        Var* marks = b_.local_array(name, Scalar::kU64, {elements}, Space::kGlobal);
        if (size != nullptr) {
            marks->dims[0].extent.reset();
            marks->dims[0].extent_var = size;
        }
        return marks;
    }

    // ------------------------------------------------------------ statements

    void body(Body& stmts, Scope& scope, LoopStack& loops) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            b_.span = stmt->span;
            if (is_parallel(*stmt)) {
                parallel(*stmt->as<For>(), scope, loops, out);
                continue;
            }
            if (!scope.levels.empty()) watch(*stmt, scope, loops, out);
            if (auto* loop = stmt->as<For>()) loops.push_back(loop);
            for_each_body(*stmt, [&](Body& inner) { body(inner, scope, loops); });
            if (stmt->as<For>() != nullptr) loops.pop_back();
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    void parallel(For& loop, Scope& scope, LoopStack& loops, Body& out) {
        const auto named = [&](const char* suffix, Expr* value) {
            Var* var = b_.scalar(loop.var->name + suffix, value->type.scalar);
            out.push_back(b_.assign(var, value));
            return var;
        };
        Level level;
        level.name = loop.var->shown();
        level.clock = clocks_.at(scope.levels.size());
        level.value = loop.var;
        out.push_back(tick(level.clock));
        level.start = named("_start", b_.var(level.clock));
        level.begin = named("_begin", bound(loop.begin));
        level.step = named("_step", bound(loop.step));
        for (auto [expr, var] : {std::pair(&loop.begin, level.begin), {&loop.step, level.step}}) {
            if (!constant_integer(*expr)) {
                *expr = b_.convert(b_.var(var), loop.var->type.scalar);
            }
        }
        level.reductions = &loop.mapping.reductions;
        scope.levels.push_back(level);
        loops.push_back(&loop);
        body(loop.body, scope, loops);
        loops.pop_back();
        scope.levels.pop_back();
        b_.span = loop.span;
        loop.body.insert(loop.body.begin(), tick(level.clock));
        out.push_back(&loop);
    }

    Expr* bound(const Expr* expr) { return b_.convert(clone(b_.module(), expr), Scalar::kI64); }

    Stmt* tick(Var* clock) {
        return b_.assign(clock, b_.binary(Op::kAdd, b_.var(clock), mark(kTick)));
    }

    void watch(Stmt& stmt, const Scope& scope, const LoopStack& loops, Body& out) {
        const auto* assign = stmt.as<Assign>();
        if (assign != nullptr && assign->value->op == Op::kLoad) {
            access({&stmt, assign->value->var, &assign->value->operands, false}, scope, loops, out);
        }
        for_each_slot(stmt, [&](Expr* slot) {
            if (slot->op == Op::kCall) pass_marks(*slot, scope);
        });
        if (const auto* store = stmt.as<Store>(); store != nullptr && !store->atomic) {
            access({&stmt, store->array, &store->indices, true}, scope, loops, out);
        }
    }

    // ------------------------------------------------------------ accesses

    void access(const Access& at, const Scope& scope, const LoopStack& loops, Body& out) {
        const auto found = scope.marks.find(at.array);
        if (found == scope.marks.end()) return;
        const Marks& marks = found->second;
        Var* element = b_.scalar(at.array->name + "_at", Scalar::kI64);
        out.push_back(b_.assign(element, marks.origin ? address(at, *marks.origin) : position(at)));
        const std::size_t place = b_.module().sites.size();
        Site& here = b_.module().sites.emplace_back();
        here.code = Code::kP422;
        here.span = at.stmt->span;
        here.message = (at.writes ? "write of " : "read of ") + at.array->name;
        for (std::size_t d = 0; d < scope.levels.size(); ++d) {
            const Level& level = scope.levels[d];
            if (at.writes && reduces(level, at)) continue;
            out.push_back(conflict(at, d, marks.writes[d], "writes", element,
                                   marks.origin.has_value(), scope, loops));
            if (at.writes && !marks.reads.empty()) {
                out.push_back(conflict(at, d, marks.reads[d], "reads", element,
                                       marks.origin.has_value(), scope, loops));
            }
        }
        const std::vector<Var*>& own = at.writes ? marks.writes : marks.reads;
        Body keep;
        Expr* keeps_none = nullptr;
        for (std::size_t d = 0; d < scope.levels.size() && !own.empty(); ++d) {
            const Level& level = scope.levels[d];
            keep.push_back(b_.store(
                own[d], {b_.var(element)},
                b_.binary(Op::kAdd, b_.var(level.clock), mark(static_cast<std::int64_t>(place)))));
            Expr* not_concurrent = b_.not_(concurrent(level, own[d], element));
            keeps_none = keeps_none == nullptr ? not_concurrent
                                               : b_.binary(Op::kAnd, keeps_none, not_concurrent);
        }
        if (at.writes) {
            out.insert(out.end(), keep.begin(), keep.end());
        } else if (keeps_none != nullptr) {
            out.push_back(b_.if_(keeps_none, std::move(keep)));
        }
    }

    // The element's number, counted along rows.
    Expr* position(const Access& at) {
        Expr* sum = nullptr;
        for (std::size_t d = 0; d < at.indices->size(); ++d) {
            Expr* index = b_.convert(clone(b_.module(), (*at.indices)[d]), Scalar::kI64);
            if (sum == nullptr) {
                sum = index;
            } else {
                sum = b_.binary(Op::kAdd, b_.binary(Op::kMul, sum, b_.extent(at.array->dims[d])),
                                index);
            }
        }
        return sum != nullptr ? sum : b_.integer(0);
    }

    // The element's number in memory.
    Expr* address(const Access& at, std::int64_t origin) {
        Expr* sum = b_.integer(origin);
        for (std::size_t d = 0; d < at.indices->size(); ++d) {
            const Dim& dim = at.array->dims[d];
            Expr* stride = dim.stride ? b_.integer(*dim.stride)
                                      : b_.convert(b_.var(dim.stride_var), Scalar::kI64);
            Expr* index = b_.convert(clone(b_.module(), (*at.indices)[d]), Scalar::kI64);
            sum = b_.binary(Op::kAdd, sum, b_.binary(Op::kMul, index, stride));
        }
        return sum;
    }

    static bool reduces(const Level& level, const Access& at) {
        const auto* store = at.stmt->as<Store>();
        return store->update && level.reductions != nullptr &&
               std::ranges::any_of(*level.reductions, [&](const Reduction& r) {
                   return r.var == at.array && same(r.indices, *at.indices);
               });
    }

    Expr* mark(std::int64_t value) { return b_.integer(value, Scalar::kU64); }

    Expr* since_start(const Level& level, Expr* stamp) {
        return b_.binary(Op::kSub, stamp, b_.var(level.start));
    }
    Expr* mark_of(Var* marks, Var* element) { return b_.load(marks, {b_.var(element)}); }

    // Whether another iteration of this run of the loop made the mark.
    Expr* concurrent(const Level& level, Var* marks, Var* element) {
        return b_.binary(Op::kLt, since_start(level, mark_of(marks, element)),
                         since_start(level, b_.var(level.clock)));
    }

    If* conflict(const Access& at, std::size_t depth, Var* marks, const char* other, Var* element,
                 bool shared, const Scope& scope, const LoopStack& loops) {
        const Level& level = scope.levels[depth];
        FailBuilder fail(b_, Code::kP422);
        Site& site = fail.site();
        fail.value(b_.binary(Op::kBitAnd, mark_of(marks, element), mark(kTick - 1)));
        site.other = true;
        Expr* iteration = b_.binary(
            Op::kSub,
            b_.convert(
                b_.binary(Op::kShr, since_start(level, mark_of(marks, element)), mark(kPlaceBits)),
                Scalar::kI64),
            b_.integer(1));
        const std::string earlier = fail.value(b_.binary(
            Op::kAdd, b_.var(level.begin), b_.binary(Op::kMul, iteration, b_.var(level.step))));
        const std::string now = fail.value(b_.var(level.value));
        std::string what = at.array->name + "[";
        for (const Expr* index : *at.indices) {
            what += (what.back() == '[' ? "" : ", ") + fail.value(clone(b_.module(), index));
        }
        what += "]";
        const std::string first = level.name + "=" + earlier + " " + other;
        const std::string second = level.name + "=" + now + " " + (at.writes ? "writes" : "reads");
        site.message = "loop '" + level.name + "' cannot run in parallel: iteration " + first;
        site.message += shared ? " the element that iteration " + second + " as " + what
                               : " " + what + ", iteration " + second + " " + what;
        site.help =
            "let each iteration use elements of its own, or leave the loop out of the mapping to "
            "run it sequentially";
        for (const Level& around : scope.levels) {
            if (around.reductions == nullptr) fail.note_iteration(around.name, around.value);
        }
        fail.note_iterations(loops);
        return b_.if_(concurrent(level, marks, element), {fail.make()});
    }

    // ------------------------------------------------------------ calls

    // How a function watches one of its parameters.
    struct Watched {
        bool writes = false;
        bool reads = false;
        std::optional<std::int64_t> elements;  // of the marks; empty: a run-time value
        std::optional<std::int64_t> origin;    // as in Marks
        friend auto operator<=>(const Watched&, const Watched&) = default;
    };

    // Makes `call` one of a copy that watches the arrays passed to it. Accesses of foreign
    // functions are unknown.
    void pass_marks(Expr& call, const Scope& scope) {
        if (call.callee->kind == FunctionKind::kForeign) return;
        std::vector<Watched> watched;
        bool any = false;
        for (const Expr* argument : call.operands) {
            const auto found =
                argument->op == Op::kArray ? scope.marks.find(argument->var) : scope.marks.end();
            Watched& how = watched.emplace_back();
            if (found == scope.marks.end()) continue;
            const Marks& marks = found->second;
            how = {true, !marks.reads.empty(), marks.writes[0]->dims[0].extent, marks.origin};
            any = true;
        }
        if (!any) return;
        std::vector<std::string> names;
        for (const Level& level : scope.levels)
            names.push_back(level.name);
        Function*& copy = copies_[{call.callee, names, watched}];
        if (copy == nullptr) copy = make_copy(*call.callee, scope, watched, copy);
        const std::vector<Expr*> arguments = call.operands;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (!watched[i].writes) continue;
            const Marks& marks = scope.marks.at(arguments[i]->var);
            if (Var* size = marks.writes[0]->dims[0].extent_var) {
                call.operands.push_back(b_.var(size));
            }
            for (const auto* list : {&marks.writes, &marks.reads}) {
                for (std::size_t d = 0; d < std::min(list->size(), scope.levels.size()); ++d)
                    call.operands.push_back(b_.array((*list)[d]));
            }
        }
        for (const Level& level : scope.levels) {
            for (Var* var : {level.clock, level.start, level.begin, level.step})
                call.operands.push_back(b_.var(var));
            call.operands.push_back(b_.convert(b_.var(level.value), Scalar::kI64));
        }
        call.callee = copy;
    }

    // `copy` is set before the body is visited, which may call the function again.
    Function* make_copy(const Function& callee, const Scope& caller,
                        const std::vector<Watched>& watched, Function*& copy) {
        const Span outside = b_.span;
        Substitution substitution;
        copy = clone_function(b_.module(), callee, unused_name(callee.name + "_watched"),
                              substitution);
        Function& made = *copy;
        const std::size_t own = callee.params.size();
        Scope scope;
        for (std::size_t i = 0; i < own; ++i) {
            if (!watched[i].writes) continue;
            Var* array = made.params[i];
            const auto add = [&](Var* param) {
                made.params.push_back(param);
                return param;
            };
            Var* size =
                watched[i].elements ? nullptr : add(b_.scalar(array->name + "_size", Scalar::kI64));
            const std::int64_t elements = watched[i].elements.value_or(1);
            Marks& marks = scope.marks[array];
            marks.origin = watched[i].origin;
            for (std::size_t d = 0; d < caller.levels.size(); ++d)
                marks.writes.push_back(add(mark_array(array->name + "_writes", elements, size)));
            for (std::size_t d = 0; d < caller.levels.size() && watched[i].reads; ++d)
                marks.reads.push_back(add(mark_array(array->name + "_reads", elements, size)));
        }
        for (const Level& outer : caller.levels) {
            Level level;
            level.name = outer.name;
            const auto add = [&](const std::string& name, Scalar type) {
                made.params.push_back(b_.scalar(name, type));
                return made.params.back();
            };
            level.clock = add("clock", Scalar::kU64);
            level.start = add(outer.name + "_start", Scalar::kU64);
            level.begin = add(outer.name + "_begin", Scalar::kI64);
            level.step = add(outer.name + "_step", Scalar::kI64);
            level.value = add(outer.name, Scalar::kI64);
            scope.levels.push_back(level);
        }
        LoopStack loops;
        body(made.body, scope, loops);
        b_.span = outside;
        return copy;
    }

    std::string unused_name(const std::string& base) const {
        const auto taken = [&](const std::string& name) {
            return std::ranges::any_of(b_.module().functions,
                                       [&](const Function* f) { return f->name == name; });
        };
        std::string name = base;
        for (int suffix = 1; taken(name); ++suffix)
            name = base + "_" + std::to_string(suffix);
        return name;
    }

    Builder b_;
    std::vector<Var*> clocks_;  // by depth
    // Copies by function, the parallel loops around the call, and the watched parameters.
    std::map<std::tuple<const Function*, std::vector<std::string>, std::vector<Watched>>, Function*>
        copies_;
};

}  // namespace

void instrument_races(PassContext& context) {
    RaceChecks(context.module).run();
}

}  // namespace parpy
