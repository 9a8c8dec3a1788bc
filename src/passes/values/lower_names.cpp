// See lower_names.h.
#include "passes/values/lower_names.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/slices/slice_shapes.h"
#include "passes/values/name_changes.h"
#include "passes/values/name_doubts.h"
#include "passes/values/name_forms.h"
#include "passes/values/name_memory.h"
#include "passes/values/name_places.h"
#include "passes/values/name_subscripts.h"
#include "passes/values/name_uses.h"

namespace parpy {

using namespace ir;

namespace {

class NameLowering {
public:
    // `names`: the arrays that parameters refer to.
    NameLowering(PassContext& context, Function& function, NameVariants& variants, Names names,
                 NameChanges& changes)
        : context_(context),
          module_(context.module),
          function_(function),
          places_(function),
          by_hand_(is_by_hand(*context.module.entry_function())),
          doubts_(function, places_, by_hand_),
          intervals_(function),
          b_(context.module),
          changes_(changes),
          names_(std::move(names)),
          memory_(context, function, places_, intervals_, names_),
          subscripts_(context, intervals_, names_),
          uses_(context, places_, names_, intervals_, subscripts_, variants) {}

    // False: `changes` has grown, and the original function must be lowered again.
    [[nodiscard]] bool run() {
        bind_none();
        if (places_.empty() && names_.empty() && !passes_names()) return true;
        doubts_.copy_elements();
        if (!check() || !results()) return true;
        bodies(function_.body);
        if (changed_) return false;
        if (context_.diagnostics.has_errors()) return true;
        uses_.replace(function_.body);
        const Body& first = memory_.at_entry();
        Body& body = of_threads();
        body.insert(body.begin(), first.begin(), first.end());
        return true;
    }

private:
    // The body that each thread of a kernel written by hand runs, or the whole function.
    Body& of_threads() {
        for (Stmt* stmt : function_.body) {
            auto* gpu = stmt->as<Gpu>();
            if (gpu != nullptr && gpu->by_hand()) return gpu->body;
        }
        return function_.body;
    }

    // Handles names whose binds were removed with a branch that the call does not take.
    void bind_none() {
        const auto use = [&](Var* var) {
            const bool is_name = var != nullptr && is_open(*var) && !places_.has(var);
            if (is_name && !names_.contains(var) &&
                std::ranges::find(function_.params, var) == function_.params.end()) {
                memory_.allocate_none(*var);
            }
        };
        for_each_expr(function_.body, [&](const Expr& e) { use(e.var); });
        for_each_stmt(function_.body, [&](const Stmt& stmt) {
            if (const auto* store = stmt.as<Store>()) use(store->array);
        });
    }

    bool passes_names() const {
        return any_expr(function_.body, [](const Expr& e) {
            return e.op == Op::kCall && std::ranges::any_of(e.callee->params, [](const Var* param) {
                       return is_open(*param);
                   });
        });
    }

    bool check() {
        for (const Var* name : places_.names()) {
            const NameDoubt found = doubts_.of(*name);
            if (found.bind != nullptr) return refuse(*found.bind, found.why, *found.other);
        }
        return true;
    }

    // Values that the entry returns under the name that it made them for are allocated as results
    // from the start; other parts are copied. `returned`: by the names that made them.
    bool results() {
        std::unordered_map<std::size_t, int> returns;  // of each result
        for (const Var* name : places_.names()) {
            if (name->space == Space::kResult) ++returns[name->origin.argument];
        }
        std::unordered_map<const Var*, const Bind*> returned;
        for (const Var* name : places_.names()) {
            const Bind& bind = *places_.of(name).binds.front();
            if (name->space != Space::kResult || bind.fresh) continue;
            const Var* made = viewed(*bind.value).var;
            std::unordered_set<const Var*> seen;
            while (places_.has(made) && !places_.of(made).binds.front()->fresh &&
                   seen.insert(made).second) {
                made = viewed(*places_.of(made).binds.front()->value).var;
            }
            if (names_.contains(made)) continue;  // it is never bound
            if (!places_.has(made)) {
                if (returns[name->origin.argument] != 1 || !is_argument(bind, *made))
                    return refuse_argument(bind, *made);
                function_.given.emplace_back(name->origin.argument, made->origin.argument);
                delivered_.insert(&bind);
                continue;
            }
            const auto [first, is_first] = returned.try_emplace(made, &bind);
            const Origin& other = first->second->array->origin;
            if (!is_first && other.argument != name->origin.argument) {
                const bool once =
                    returns[name->origin.argument] == 1 && returns[other.argument] == 1;
                if (!once || !are_one(bind, *first->second, *made))
                    return refuse_shared(bind, *first->second, *made);
                function_.given.emplace_back(name->origin.argument, other.argument);
                delivered_.insert(&bind);
                continue;
            }
            const NamePlace& place = places_.of(made);
            const bool whole = is_whole(*bind.value);
            const bool once = place.binds.size() == 1 && place.body == &function_.body;
            if (made == viewed(*bind.value).var && whole && once &&
                returns[name->origin.argument] == 1) {
                memory_.give_away(*made, name->origin);
                delivered_.insert(&bind);
            }
        }
        return true;
    }

    static bool is_whole(const Expr& value) {
        return value.op == Op::kLoad && std::ranges::all_of(value.operands, [](const Expr* index) {
                   return index->op == Op::kSlice && index->operands.empty();
               });
    }

    // Whether the entry returns the argument itself.
    bool is_argument(const Bind& bind, const Var& array) const {
        const auto param = std::ranges::find(function_.params, &array);
        return is_all_of(bind, array) && param != function_.params.end() &&
               array.origin.kind == Origin::Kind::kArgument;
    }

    // Whether the bind gives another name to the whole array, directly or through such names.
    bool is_all_of(const Bind& bind, const Var& array) const {
        const Bind* at = &bind;
        while (is_whole(*at->value) && at->value->var != &array &&
               places_.of(at->array).binds.size() == 1) {
            at = places_.of(at->value->var).binds.front();
        }
        return places_.of(at->array).binds.size() == 1 && is_whole(*at->value) &&
               at->value->var == &array;
    }

    // Whether one statement returns an array under both names: return y, y.
    bool are_one(const Bind& a, const Bind& b, const Var& array) const {
        return a.span == b.span && is_all_of(a, array) && is_all_of(b, array);
    }

    bool refuse_argument(const Bind& bind, const Var& array) {
        auto& error =
            context_.diagnostics.error(Code::kP217, bind.span,
                                       "the function returns elements of '" + array.shown() +
                                           "', which belong to its caller already");
        error.help = "return a copy of them: np.copy(…)";
        error.python_may_call = true;
        return false;
    }

    bool refuse_shared(const Bind& bind, const Bind& other, const Var& array) {
        auto& error = context_.diagnostics.error(
            Code::kP217, bind.span,
            "two results of the function have the same elements" +
                (array.user_name.empty() ? "" : ", those of '" + array.shown() + "'"));
        error.python_may_call = true;
        if (bind.span != other.span) error.notes.push_back({other.span, "the other one is this"});
        error.help = "return a copy of one of them: np.copy(…)";
        return false;
    }

    bool refuse(const Bind& bind, const std::string& why, const Bind& other) {
        auto& error = context_.diagnostics.error(Code::kP217, bind.span,
                                                 "the name '" + bind.array->shown() + "' " + why);
        error.python_may_call = true;
        if (&other != &bind) error.notes.push_back({other.span, "they are made here"});
        error.help = "copy the elements into an array of its own: " + bind.array->shown() +
                     (bind.value->op == Op::kLoad ? "[:] = …" : " = ….copy()");
        if (by_hand_ && bind.value->op == Op::kLoad) {
            error.help =
                "give each of them a name of its own, or choose among subscripts: x[i if c else j]";
        } else if (by_hand_) {
            error.help = "subscript the array itself: x.T[i, j] is x[j, i]";
        }
        return false;
    }

    // ------------------------------------------------------------ the arrays that names refer to

    void bodies(Body& stmts) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            if (changed_ || context_.diagnostics.has_errors()) return;  // names may have no sizes
            b_.span = stmt->span;
            put_back(*stmt);
            if (auto* bind = stmt->as<Bind>()) {
                const bool computes = bind->fresh && bind->value->op != Op::kEmpty;
                if (!computes && !bind->labels.empty()) names_no_loop(*bind);
                if (delivered_.contains(bind)) continue;
                if (bind->array->space == Space::kResult) bind->fresh = true;
                if (bind->fresh) {
                    make(*bind, out);
                } else {
                    name(*bind, out);
                }
                continue;
            }
            memory_.pass_by(*stmt);
            for_each_body(*stmt, [&](Body& inner) {
                memory_.enter_or_leave();
                bodies(inner);
                memory_.enter_or_leave();
                memory_.leave(*stmt);
            });
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    // Inserts values for which there is no memory where their names are used.
    void put_back(Stmt& stmt) {
        if (without_room_.empty()) return;
        rewrite_slots(stmt, [&](Expr* e) {
            const auto found =
                e->op == Op::kLoad ? without_room_.find(e->var) : without_room_.end();
            return found == without_room_.end() ? e : clone(module_, found->second);
        });
    }

    void names_no_loop(const Bind& bind) {
        context_.diagnostics
            .error(Code::kP020, bind.span,
                   "label '" + bind.labels.front() +
                       "' names no loop: the statement only gives elements a name")
            .help = "label the statement that computes with them";
    }

    // A constant, or a variable that is assigned here and where the name is bound again (`known`).
    const Expr* held(const Expr& value, const std::string& what, const Var& name, Body& out,
                     const Part* known, const Expr* Part::* place) {
        const NamePlace& bound = places_.of(&name);
        const bool needed = bound.unbound && place == &Part::begin;
        const bool once = bound.binds.size() == 1 && !needed;
        if (once && constant_integer(&value)) return &value;
        Var* var = known != nullptr ? (known->*place)->var : nullptr;
        if (var == nullptr) {
            var = b_.scalar(name.name + "_" + what, value.type.scalar);
            var->user_name = name.shown();
        }
        out.push_back(b_.assign(var, clone(module_, &value)));
        return b_.var(var);
    }

    void name(Bind& bind, Body& out) {
        Shapes shapes(context_, intervals_, bind.span, out);
        Var& array = *bind.array;
        const Expr& load = viewed(*bind.value);
        const Name root = subscripts_.found(*load.var);
        // A part of a name that moves dimensions is a part of the moved dimensions.
        const bool moved = !root.moves.empty();
        const Var& base = moved ? *load.var : *root.root;
        const auto known = names_.find(&array);
        const Name* const before = known != names_.end() ? &known->second : nullptr;
        const Bind& first = *places_.of(&array).binds.front();
        const bool unbound = places_.of(&array).unbound;  // a variable records whether it is bound
        const bool several = places_.of(&array).binds.size() > 1;
        const std::vector<Expr*> indices =
            moved ? load.operands
                  : subscripts_.composed(*load.var, load.operands, shapes, load.span);
        const std::vector<Subscript> subscripts = shapes.subscripts(base, indices);
        if (before != nullptr && moved)
            return (void)refuse(bind, "refers to parts of different forms", first);
        Name made{root.root, {}, {}, {}};
        std::vector<Dim> dims;
        std::size_t axis = 0;
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const Expr& index = *indices[i];
            const Subscript& s = subscripts[i];
            const std::string number = std::to_string(axis);
            Part part;
            const bool whole = index.operands.empty() && !(unbound && made.parts.empty()) &&
                               !changes_.parts.contains({&array, i});
            part.kind = s.is_new_axis() ? Part::Kind::kAdded
                        : !s.is_slice() ? Part::Kind::kFixed
                        : whole         ? Part::Kind::kWhole
                                        : Part::Kind::kSome;
            const Part* const was =
                before != nullptr && i < before->parts.size() ? &before->parts[i] : nullptr;
            if (before != nullptr && (was == nullptr || was->kind != part.kind)) {
                const bool may = was != nullptr && is_range(*was) && is_range(part);
                if (may) {
                    changed_ = changes_.parts.emplace(&array, i).second;
                } else {
                    refuse(bind, "refers to parts of different forms", first);
                }
                return;
            }
            if (part.kind == Part::Kind::kFixed) {
                Expr* at =
                    moved ? subscripts_.inside(clone(module_, s.index), base, axis) : nullptr;
                part.begin =
                    held(moved ? *at : *s.index, "at" + number, array, out, was, &Part::begin);
            } else if (part.kind == Part::Kind::kWhole) {
                dims.push_back(base.dims[axis]);
            } else {
                if (part.kind == Part::Kind::kSome) {
                    part.begin = held(*s.begin, "begin" + number, array, out, was, &Part::begin);
                    part.step = step(*s.step, i, array, out, was);
                }
                const bool own = several && (!s.length.constant() ||
                                             changes_.sizes.contains({&array, dims.size()}));
                const bool again = before != nullptr && part.kind == Part::Kind::kSome;
                dims.push_back(own && again
                                   ? resized(s.length, array, dims.size(), out)
                                   : memory_.sized(s.length, array, dims.size(), out, own));
            }
            axis += part.kind != Part::Kind::kAdded ? 1 : 0;
            made.parts.push_back(part);
        }
        if (moved) made = moved_further(root, std::move(made.parts), dims);
        move(*bind.value, made, dims, shapes, array, out);
        NameMemory::strides(dims);
        if (before == nullptr) {
            array.dims = std::move(dims);
            names_.emplace(&array, std::move(made));
        } else if (!keeps_sizes(array, dims)) {
            refuse(bind, "refers to parts of different sizes", first);
        }
    }

    static Name moved_further(Name name, std::vector<Part> parts, const std::vector<Dim>& sizes) {
        name.moves.push_back({{}, std::move(parts), sizes});
        return name;
    }

    // Adds the transpositions and new shapes of `value` to the name; `dims`: the resulting sizes.
    void move(const Expr& value, Name& name, std::vector<Dim>& dims, Shapes& shapes,
              const Var& array, Body& out) {
        if (value.op == Op::kLoad) return;
        move(*value.operands[0], name, dims, shapes, array, out);
        if (name.moves.empty()) name.sizes = dims;
        Move& made = name.moves.emplace_back();
        if (value.op == Op::kTranspose) {
            made.order = transposed_axes(value, dims.size());
            for (const std::size_t axis : made.order)
                made.sizes.push_back(dims[axis]);
        } else {
            const Shape shape = shapes.of(value);
            for (std::size_t i = 0; i < shape.size(); ++i)
                made.sizes.push_back(memory_.sized(shape[i], array, i, out));
        }
        dims = made.sizes;
    }

    static bool is_range(const Part& part) {
        return part.kind == Part::Kind::kWhole || part.kind == Part::Kind::kSome;
    }

    // The step of a part, which is a constant if all binds have the same step.
    const Expr* step(const Expr& value, std::size_t axis, const Var& name, Body& out,
                     const Part* known) {
        const auto constant = constant_integer(&value);
        const bool varies = changes_.steps.contains({&name, axis});
        if (!varies && constant && known == nullptr) return &value;
        if (!varies && known != nullptr) {
            const auto before = constant_integer(known->step);
            if (before && before == constant) return known->step;
            if (before) changed_ = changes_.steps.emplace(&name, axis).second;
        }
        return held(value, "step" + std::to_string(axis), name, out, known, &Part::step);
    }

    // The size of a name that is bound again, in the variable of the first bind.
    Dim resized(const Extent& length, const Var& array, std::size_t number, Body& out) {
        const Dim& dim = array.dims[number];
        if (dim.extent) {
            changed_ = changes_.sizes.emplace(&array, number).second || changed_;
        } else {
            out.push_back(
                b_.assign(dim.extent_var, b_.convert(clone(module_, length.value), Scalar::kI64)));
        }
        return dim;
    }

    bool keeps_sizes(const Var& array, const std::vector<Dim>& dims) {
        if (array.dims.size() != dims.size()) return false;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (array.dims[i].extent == dims[i].extent &&
                (array.dims[i].extent || array.dims[i].extent_var == dims[i].extent_var))
                continue;
            if (!changes_.sizes.emplace(&array, i).second) return false;
            changed_ = true;
        }
        return true;
    }

    // ------------------------------------------------------------ memory of its own

    void make(Bind& bind, Body& out) {
        const bool returned = bind.array->space == Space::kResult;
        uses_.replace_sizes(bind.value);
        memory_.hold_bounds(bind, out);
        Body sizes;
        Shapes shapes(context_, intervals_, bind.span, sizes);
        Var& array = *bind.array;
        const Shape shape = shapes.of(*bind.value);
        if (context_.diagnostics.has_errors()) return;
        if (bind.spare && !memory_.has_room(bind, shape, sizes)) {
            without_room_.emplace(&array, bind.value);
            return;
        }
        if (array.dims.empty()) {
            const NameDoubt* const doubt = doubts_.copied(array);
            if (by_hand_ && doubt != nullptr && !memory_.has_room(bind, shape, sizes)) {
                refuse(*doubt->bind, doubt->why, *doubt->other);
                return;
            }
            if (!memory_.allocate(bind, shape, sizes, out)) return;
        } else {
            for (std::size_t i = 0; i < shape.size(); ++i) {
                if (!shape[i].constant() || shape[i].constant() != array.dims[i].extent) {
                    refuse(bind, "refers to values of another shape here",
                           *places_.of(&array).binds.front());
                    return;
                }
            }
        }
        if (bind.value->op == Op::kEmpty) {
            out.insert(out.end(), sizes.begin(), sizes.end());
            return;
        }
        std::vector<Expr*> whole;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            whole.push_back(module_.make_expr(Op::kSlice, Type::none(), bind.span));
        }
        Store* store = b_.store(&array, std::move(whole), bind.value);
        store->labels = bind.labels;
        if (returned && bind.labels.empty() && !context_.options.automatic) {
            auto* gpu = module_.make<Gpu>(bind.span);  // as for a number that is returned
            gpu->body = {store};
            out.push_back(gpu);
        } else {
            out.push_back(store);
        }
    }

    PassContext& context_;
    Module& module_;
    Function& function_;
    const NamePlaces places_;
    const bool by_hand_;  // the program is a kernel written by hand
    NameDoubts doubts_;
    Intervals intervals_;
    Builder b_;
    NameChanges& changes_;
    bool changed_ = false;
    Names names_;
    NameMemory memory_;
    std::unordered_map<const Var*, const Expr*> without_room_;
    std::unordered_set<const Bind*> delivered_;  // binds of values that were made as results
    NameSubscripts subscripts_;
    NameUses uses_;
};

}  // namespace

void lower_names(PassContext& context) {
    Module& module = context.module;
    const auto has_open = [](const Function* function) {
        return function->kind != FunctionKind::kForeign &&
               std::ranges::any_of(function->params, [](const Var* p) { return is_open(*p); });
    };
    NameVariants variants(context);
    const auto lower = [&](Function& function, const Names& names) {
        NameChanges changes;
        const OriginalFunction original(module, function);
        while (!NameLowering(context, function, variants, names, changes).run()) {
            original.restore();
        }
    };
    const std::vector<Function*> functions = module.functions;  // variants are appended
    for (Function* function : functions) {
        if (!has_open(function)) lower(*function, {});
    }
    while (auto made = variants.next()) {
        lower(*made->function, made->names);
    }
    if (context.diagnostics.has_errors()) return;
    const Function* entry = module.entry_function();
    std::erase_if(module.functions, has_open);
    module.entry = static_cast<std::size_t>(std::ranges::find(module.functions, entry) -
                                            module.functions.begin());
}

}  // namespace parpy
