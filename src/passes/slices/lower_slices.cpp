// See lower_slices.h. slice_shapes.cpp has the shapes, slice_elements.cpp the expressions of one
// iteration; this file makes nests of statements and fuses neighbouring nests.
#include "passes/slices/lower_slices.h"

#include <algorithm>

#include "analysis/memory/sharing.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/slices/slice_elements.h"
#include "passes/slices/value_memory.h"

namespace parpy {

using namespace ir;

namespace {

// A statement over slices as loops.
struct Lowered {
    Body before;           // statements that precede the loops
    Stmt* nest = nullptr;  // the outermost of `depth` loops, or a store without loops
    std::vector<Extent> lengths;
    bool backwards = false;
};

class Lowering {
public:
    Lowering(PassContext& context, Function& function)
        : context_(context), module_(context.module), function_(function), intervals_(function) {}

    void run() {
        body(function_.body);
        function_.body.insert(function_.body.begin(), at_entry_.begin(), at_entry_.end());
    }

private:
    // The nest at the end of the current body, as long as another one may join it.
    struct Last {
        Stmt* nest = nullptr;
        std::vector<Extent> lengths;
    };

    // ------------------------------------------------------------ statements

    void body(Body& stmts) {
        Body out;
        Last last;
        for (Stmt* stmt : stmts) {
            statement(stmt, out, last);
        }
        stmts = std::move(out);
    }

    void statement(Stmt* stmt, Body& out, Last& last) {
        auto* store = stmt->as<Store>();
        const bool sliced = store != nullptr && is_sliced(*store);
        if (sliced && rank_of(*store) > 0) {
            slices(*store, out, last);
            return;
        }
        last = {};
        if (auto* loop = stmt->as<While>(); loop != nullptr && has_slices(*loop->condition)) {
            repeat_condition(*loop);
        } else if (has_sliced_slot(*stmt)) {
            stmt = scalars(*stmt, out);
        }
        out.push_back(stmt);
        const bool parallel = stmt->kind == StmtKind::kFor && has_own_values(*stmt->as<For>());
        const bool on_gpu = stmt->kind == StmtKind::kGpu;
        if (parallel) parallel_.push_back(stmt->as<For>());
        gpu_ += on_gpu ? 1 : 0;
        for_each_body(*stmt, [&](Body& inner) { body(inner); });
        if (parallel) parallel_.pop_back();
        gpu_ -= on_gpu ? 1 : 0;
    }

    // Whether each iteration needs its own memory for values: the loop is mapped, or a pragma
    // allows it to run in parallel and its number of iterations is known when the function is
    // entered.
    bool has_own_values(const For& loop) const {
        if (is_mapped(loop.labels)) return true;
        if (!pragma_of(loop).spreads() || constant_integer(loop.step) != 1) return false;
        const Uses uses = uses_of(function_.body);
        return known_at_entry(*loop.begin, function_, uses) &&
               known_at_entry(*loop.end, function_, uses);
    }

    static bool has_sliced_slot(const Stmt& stmt) {
        bool found = false;
        for_each_slot(stmt, [&](const Expr* slot) { found = found || has_slices(*slot); });
        return found;
    }

    static bool is_sliced(const Store& store) {
        return has_sliced_slot(store) ||
               std::ranges::any_of(store.indices, [](const Expr* e) { return has_slices(*e); });
    }

    static std::size_t rank_of(const Store& store) {
        return static_cast<std::size_t>(std::ranges::count_if(store.indices, [](const Expr* e) {
            return e->op == Op::kSlice || e->op == Op::kNewAxis;
        }));
    }

    // Lowers a statement over numbers, whose reductions precede it. Returns its replacement.
    Stmt* scalars(Stmt& stmt, Body& out) {
        Body before;
        Shapes shapes(context_, intervals_, stmt.span, before);
        const bool runs_over = stmt.kind == StmtKind::kStore || stmt.kind == StmtKind::kAssign;
        const std::vector<std::string> labels =
            runs_over ? std::exchange(stmt.labels, {}) : std::vector<std::string>();
        SliceElements elements(context_, shapes, stmt.span, before, labels);
        for_each_slot(stmt, [&](Expr*& slot) { slot = elements.element(*slot, {}); });
        check_labels(stmt, elements, labels.size());
        // If the device computes the values, it also runs the rest of the statement.
        const bool on_device = runs_over && is_host() && is_mapped(labels);
        if (!on_device) {
            out.insert(out.end(), before.begin(), before.end());
            return &stmt;
        }
        auto* gpu = module_.make<Gpu>(stmt.span);
        gpu->body = std::move(before);
        gpu->body.push_back(&stmt);
        return gpu;
    }

    // Rewrites `while c: …` as `while True: if not c: break; …`.
    void repeat_condition(While& loop) {
        Builder b(module_, loop.condition->span);
        Body head;
        Shapes shapes(context_, intervals_, loop.condition->span, head);
        SliceElements elements(context_, shapes, loop.condition->span, head, {});
        Expr* test = elements.element(*loop.condition, {});
        head.push_back(b.if_(b.not_(test), {b.break_()}));
        loop.body.insert(loop.body.begin(), head.begin(), head.end());
        loop.condition = b.boolean(true);
    }

    void check_labels(const Stmt& stmt, const SliceElements& elements, std::size_t given) {
        const std::vector<std::string>& left = elements.labels_left();
        if (left.empty() || left.back().empty() || is_pragma(left.back())) {
            return;  // implicit (normalize_labels.h), or checked by the frontend
        }
        const std::size_t loops = given - left.size();
        context_.diagnostics
            .error(Code::kP020, stmt.span,
                   "label '" + left.front() + "' names no loop: the statement has " +
                       std::to_string(loops) + (loops == 1 ? " dimension" : " dimensions") +
                       " to run over")
            .help =
            "give one label for each dimension of the target, then one for each that is "
            "reduced";
    }

    [[nodiscard]] bool is_mapped(const std::vector<std::string>& labels) const {
        return std::ranges::any_of(labels, [&](const std::string& label) {
            const auto found = context_.options.mapping.find(label);
            return found != context_.options.mapping.end() && found->second.threads > 0;
        });
    }

    // Whether a statement here runs on the host, where CUDA programs launch kernels.
    [[nodiscard]] bool is_host() const {
        return &function_ == module_.entry_function() && parallel_.empty() && gpu_ == 0;
    }

    // ------------------------------------------------------------ slices as targets

    void slices(Store& store, Body& out, Last& last) {
        Lowered lowered;
        if (!lower(store, *store.array, store.indices, store.update, nullptr, lowered)) {
            buffered(store, out);
            last = {};
            return;
        }
        if (context_.diagnostics.has_errors()) {
            return;
        }
        if (lowered.before.empty() && join(last, lowered)) {
            return;
        }
        emit(lowered, store, out);
        last = {lowered.backwards ? nullptr : lowered.nest, lowered.lengths};
    }

    // False: the right side reads elements that the loops store, and no order of them avoids that.
    // `from`: the scratch array that holds the values.
    bool lower(const Store& store, Var& array, const std::vector<Expr*>& indices,
               std::optional<Op> update, Var* from, Lowered& result) {
        Builder b(module_, store.span);
        Shapes shapes(context_, intervals_, store.span, result.before);
        SliceElements elements(context_, shapes, store.span, result.before, store.labels);
        elements.target = {&array, shapes.subscripts(array, indices), {}};
        Shape shape;
        for (const Subscript& s : elements.target.subscripts) {
            if (s.index == nullptr) shape.push_back(s.length);
        }
        const bool to_scratch = &array != store.array;  // of the same size
        if (!to_scratch && from == nullptr &&
            !shapes.fits(shapes.of(*store.value), shape, store.value->span,
                         "a slice of '" + store.array->name + "'")) {
            return true;
        }
        Place place;
        for (const Subscript& s : elements.target.subscripts) {
            if (s.is_slice()) {
                place.push_back(elements.open(s.length));
                result.lengths.push_back(s.length);
            } else if (s.is_new_axis()) {
                place.push_back(nullptr);
            }
        }
        const std::vector<SliceLoop*> loops = elements.open_loops();
        elements.target.loops = loops;
        Expr* value = from != nullptr ? value_of(b, *from, loops) : nullptr;
        if (from == nullptr) {
            value = elements.element(*store.value, part(place, shapes.of(*store.value)));
        }
        std::vector<Expr*> at = elements.indices(elements.target.subscripts, place);
        check_labels(store, elements, store.labels.size());
        const bool spread = is_mapped(store.labels) || pragma_of(store).spreads();
        if (!order(elements.hazards, loops, spread, result)) {
            return false;
        }
        Store* made = b.store(&array, std::move(at), value);
        made->update = update;
        if (loops.empty()) {
            result.nest = made;
        } else {
            Body& inner = loops.back()->body;
            inner.push_back(made);
            // Only its reductions are mapped, and the device runs the rest of an iteration, too.
            if (is_host() && is_mapped(store.labels) &&
                std::ranges::none_of(loops, [&](SliceLoop* l) { return is_mapped(l->labels); })) {
                auto* gpu = module_.make<Gpu>(store.span);
                gpu->body = std::exchange(inner, {});
                inner.push_back(gpu);
            }
            result.nest = elements.nest(loops);
        }
        return true;
    }

    // The numbers, from 0, of the iterations of the parallel loops around.
    std::vector<Expr*> iterations(Builder& b) {
        std::vector<Expr*> numbers;
        for (const For* loop : parallel_) {
            Expr* number = b.var(loop->var);
            if (constant_integer(loop->begin) != 0) {
                number = b.binary(Op::kSub, number, clone(module_, loop->begin));
            }
            numbers.push_back(number);
        }
        return numbers;
    }

    Expr* value_of(Builder& b, Var& from, const std::vector<SliceLoop*>& loops) {
        std::vector<Expr*> indices = iterations(b);
        for (const SliceLoop* loop : loops) {
            indices.push_back(b.var(loop->var));
        }
        return b.load(&from, std::move(indices));
    }

    // Finds directions of the loops in which every element is read before it is overwritten.
    static bool order(const std::vector<SliceElements::Hazard>& hazards,
                      const std::vector<SliceLoop*>& loops, bool mapped, Lowered& result) {
        if (hazards.empty()) {
            return true;
        }
        if (mapped) {
            return false;
        }
        std::vector<const std::vector<std::int64_t>*> open;
        for (const SliceElements::Hazard& hazard : hazards) {
            if (hazard.ahead.empty()) return false;
            open.push_back(&hazard.ahead);
        }
        for (std::size_t i = 0; i < loops.size(); ++i) {
            const auto any = [&](int sign) {
                return std::ranges::any_of(open, [&](const auto* ahead) {
                    return sign > 0 ? (*ahead)[i] > 0 : (*ahead)[i] < 0;
                });
            };
            if (any(1) && any(-1)) {
                return false;
            }
            loops[i]->backwards = any(-1);
            result.backwards = result.backwards || loops[i]->backwards;
            std::erase_if(open, [&](const auto* ahead) { return (*ahead)[i] != 0; });
        }
        return true;
    }

    // Stores the values to scratch memory first.
    void buffered(Store& store, Body& out) {
        const auto refuse = [&](const std::string& why) {
            auto& error = context_.diagnostics.error(Code::kP227, store.span,
                                                     "this statement reads elements of '" +
                                                         store.array->name +
                                                         "' that it also overwrites, and " + why);
            error.help = "pass another array for the values, and copy them in a second statement";
        };
        Body before;
        Shapes shapes(context_, intervals_, store.span, before);
        std::vector<Extent> lengths;
        std::vector<Expr*> whole;
        Builder b(module_, store.span);
        const bool in_entry = &function_ == module_.entry_function();
        for (const For* loop : parallel_) {  // iterations have values of their own
            if (!in_entry) break;
            lengths.emplace_back().form = linear(*loop->end) - linear(*loop->begin);
            if (constant_integer(loop->step) != 1) {
                refuse("the loop around it does not count by one");
                return;
            }
        }
        if (in_entry) whole = iterations(b);
        std::vector<const Dim*> sliced(lengths.size(), nullptr);  // dimensions, none for loops
        std::size_t axis = 0;
        for (const Subscript& s : shapes.subscripts(*store.array, store.indices)) {
            const std::size_t own = axis;
            axis += s.is_new_axis() ? 0 : 1;
            if (!s.is_slice()) continue;
            lengths.push_back(s.length);
            sliced.push_back(&store.array->dims[own]);
            whole.push_back(module_.make_expr(Op::kSlice, Type::none(), store.span));
        }
        const Scalar element = store.value->type.scalar;
        Var* scratch = in_entry ? make_scratch(b, element, lengths, sliced)
                                : make_local(b, element, lengths, out);
        if (scratch == nullptr) {
            refuse(in_entry ? "the number of these values is not known when the function is entered"
                            : "a function that is called has no memory for so many values, or for "
                              "an unknown number of them");
            return;
        }
        for (std::size_t i = 0; in_entry && i < lengths.size(); ++i) {
            const bool part = sliced[i] != nullptr && is_extent_of(*sliced[i], scratch->dims[i]) &&
                              (lengths[i].form - linear(*b.extent(*sliced[i]))).value() != 0;
            if (!part) continue;
            out.insert(out.end(), before.begin(), before.end());  // these compute sizes
            before.clear();
            whole[i]->index = kSliceBegin | kSliceLength;
            whole[i]->operands = {b.integer(0, shapes.index_type()),
                                  clone(module_, lengths[i].value)};
        }
        Lowered first;
        Lowered second;
        lower(store, *scratch, whole, std::nullopt, nullptr, first);
        lower(store, *store.array, store.indices, store.update, scratch, second);
        if (context_.diagnostics.has_errors()) {
            return;
        }
        emit(first, store, out);
        emit(second, store, out);
    }

    // Allocates the array before the statement, for each thread; null if a size is not known, or
    // there are too many values.
    Var* make_local(Builder& b, Scalar element, const std::vector<Extent>& lengths, Body& out) {
        std::vector<std::int64_t> extents;
        std::int64_t bytes = size_in_bytes(element);
        for (const Extent& length : lengths) {
            if (!length.constant() || *length.constant() > kMostLocalBytes) return nullptr;
            extents.push_back(std::max<std::int64_t>(*length.constant(), 1));
            bytes *= extents.back();
            if (bytes > kMostLocalBytes) return nullptr;
        }
        Var* array = b.local_array("values", element, extents, Space::kLocal);
        array->written = true;
        out.push_back(b.alloc(array));
        return array;
    }

    // The number of iterations of this loop around the statement, if it is known and small.
    std::optional<std::int64_t> most_iterations(std::size_t number) const {
        constexpr std::int64_t kMost = 1 << 16;
        if (number >= parallel_.size()) return std::nullopt;
        const std::int64_t first = intervals_.of(parallel_[number]->begin).low;
        const std::int64_t end = intervals_.of(parallel_[number]->end).high;
        if (first < -kMost || end > kMost || end - first > kMost) return std::nullopt;
        return std::max<std::int64_t>(end - first, 0);
    }

    static bool is_extent_of(const Dim& dim, const Dim& other) {
        return dim.extent ? dim.extent == other.extent : dim.extent_var == other.extent_var;
    }

    // Allocates the array at the entry of the function; null if a size is not known there. If other
    // loops determine the bounds of a loop around, an upper bound of its iterations suffices; for a
    // slice the extent of its dimension, `sliced`.
    Var* make_scratch(Builder& b, Scalar element, const std::vector<Extent>& lengths,
                      const std::vector<const Dim*>& sliced) {
        Var* array = module_.make_var(
            "values", Type::array(element, static_cast<int>(lengths.size())), b.span);
        array->space = Space::kScratch;
        array->written = true;
        array->dims.resize(lengths.size());
        const Uses uses = uses_of(function_.body);
        IndexMath math(b, Scalar::kI64);
        Body sizes;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            Dim& dim = array->dims[i];
            dim.extent = lengths[i].constant();
            if (dim.extent) {
                dim.extent = std::max<std::int64_t>(*dim.extent, 0);
                continue;
            }
            Expr* length = b.binary(Op::kMax, math.sum(lengths[i].form), math.number(0));
            if (known_at_entry(*length, function_, uses)) {
                dim.extent_var = b.scalar("size", Scalar::kI64);
                sizes.push_back(b.assign(dim.extent_var, b.convert(length, Scalar::kI64)));
            } else if (const auto most = most_iterations(i)) {
                dim.extent = most;
            } else if (sliced[i] != nullptr && sliced[i]->extent) {
                dim.extent = sliced[i]->extent;
            } else if (sliced[i] != nullptr &&
                       std::ranges::count(function_.params, sliced[i]->extent_var) != 0) {
                dim.extent_var = sliced[i]->extent_var;
            } else {
                return nullptr;
            }
        }
        row_major(b, *array, sizes);
        at_entry_.insert(at_entry_.end(), sizes.begin(), sizes.end());
        at_entry_.push_back(b.alloc(array));
        return array;
    }

    void emit(Lowered& lowered, const Store& store, Body& out) {
        const bool on_device = is_host() && is_mapped(store.labels);
        for (Stmt* stmt : lowered.before) {
            const bool mapped = any_stmt(*stmt, [&](const Stmt& s) { return is_mapped(s.labels); });
            if (on_device && !mapped && !uses_of(*stmt).loaded.empty()) {
                auto* gpu = module_.make<Gpu>(stmt->span);
                gpu->body = {stmt};
                stmt = gpu;
            }
            out.push_back(stmt);
        }
        out.push_back(lowered.nest);
    }

    // ------------------------------------------------------------ fusion

    // Fuses `next` with the nest before it, if that changes no result.
    bool join(const Last& last, Lowered& next) {
        if (last.nest == nullptr || next.backwards || last.lengths.size() != next.lengths.size()) {
            return false;
        }
        std::vector<For*> first;
        std::vector<For*> second;
        Stmt* a = last.nest;
        Stmt* b = next.nest;
        for (std::size_t i = 0; i < next.lengths.size(); ++i) {
            if ((last.lengths[i].form - next.lengths[i].form).value() != 0) {
                return false;
            }
            if (i > 0) {
                Body& outer_a = first.back()->body;
                Body& outer_b = second.back()->body;
                if (outer_a.size() != 1 || outer_b.size() != 1) return false;
                a = outer_a[0];
                b = outer_b[0];
            }
            first.push_back(a->as<For>());
            second.push_back(b->as<For>());
            if (first.back() == nullptr || second.back() == nullptr || a->labels != b->labels) {
                return false;
            }
        }
        if (first.empty()) {
            return false;
        }
        Substitution names;
        for (std::size_t i = 0; i < first.size(); ++i) {
            names.vars[second[i]->var] = first[i]->var;
        }
        const Body added = clone(module_, second.back()->body, names);
        if (!independent(first.back()->body, added)) {
            return false;
        }
        Body& body = first.back()->body;
        body.insert(body.end(), added.begin(), added.end());
        return true;
    }

    struct Access {
        const Var* array = nullptr;
        const std::vector<Expr*>* indices = nullptr;
        bool writes = false;
    };

    static std::vector<Access> accesses(const Body& body) {
        std::vector<Access> all;
        for_each_stmt(body, [&](const Stmt& stmt) {
            if (const auto* store = stmt.as<Store>()) {
                all.push_back({store->array, &store->indices, true});
            }
        });
        for_each_expr(body, [&](const Expr& e) {
            if (e.op == Op::kLoad) all.push_back({e.var, &e.operands, false});
        });
        return all;
    }

    // Whether each element that one body stores is accessed only by the same iteration of the
    // other: stores of slices use every loop, so equal subscripts mean equal iterations.
    static bool independent(const Body& a, const Body& b) {
        if (uses_of(a).calls || uses_of(b).calls) {
            return false;
        }
        const std::vector<Access> of_b = accesses(b);
        for (const Access& x : accesses(a)) {
            for (const Access& y : of_b) {
                if ((!x.writes && !y.writes) || !may_share(*x.array, *y.array)) continue;
                if (x.array != y.array || !is_injective(*x.array) ||
                    !same(*x.indices, *y.indices)) {
                    return false;
                }
            }
        }
        return true;
    }

    PassContext& context_;
    Module& module_;
    Function& function_;
    const Intervals intervals_;
    Body at_entry_;
    std::vector<const For*> parallel_;  // loops around, outermost first
    int gpu_ = 0;
};

}  // namespace

void lower_slices(PassContext& context) {
    for (Function* function : context.module.functions) {
        if (any_expr(function->body, [](const Expr& e) { return is_of_slices(e.op); })) {
            Lowering(context, *function).run();
        }
    }
}

}  // namespace parpy
