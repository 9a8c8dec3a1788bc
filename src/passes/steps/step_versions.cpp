// See step_versions.h.
#include "passes/steps/step_versions.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/memory/sharing.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;  // of the rows of an array

// How often scalars are assigned in a loop; its variables count as well.
std::unordered_map<const Var*, int> assignments(const Body& body) {
    std::unordered_map<const Var*, int> result;
    for_each_stmt(body, [&](const Stmt& stmt) {
        if (const auto* assign = stmt.as<Assign>()) ++result[assign->var];
        if (const auto* loop = stmt.as<For>()) ++result[loop->var];
    });
    return result;
}

bool is_var(const Expr& e, const Var& var) {
    return e.op == Op::kVar && e.var == &var;
}

// Whether the statement stores the result of an operator that may add to an element.
bool may_update(const Stmt& stmt) {
    const auto* store = stmt.as<Store>();
    if (store == nullptr || store->atomic) return false;
    switch (store->value->op) {
        case Op::kMin:
        case Op::kMax:
        case Op::kMinimum:
        case Op::kMaximum:
        case Op::kAdd:
        case Op::kSub:
        case Op::kFma:
            return true;
        default:
            return store->update.has_value();
    }
}

}  // namespace

bool StepVersions::may_help(For& loop) {
    VarSet steps;
    steps.insert(loop.var);
    for (Stmt* stmt : loop.body) {
        const auto* assign = stmt->as<Assign>();
        if (assign != nullptr && !assign->update && is_var(*assign->value, *loop.var))
            steps.insert(assign->var);
    }
    const auto is_step = [&](const Expr* index) {
        return index->op == Op::kVar && steps.contains(index->var);
    };
    const Uses uses = uses_of(loop.body);
    bool loads = false, updates = false;
    for_each_expr(loop.body, [&](const Expr& e) {
        loads =
            loads || (e.op == Op::kLoad && e.operands.size() > 1 && uses.stored.contains(e.var) &&
                      std::ranges::count_if(e.operands, is_step) == 1);
    });
    for_each_stmt(loop.body, [&](const Stmt& stmt) {
        const auto* outer = stmt.as<For>();
        updates = updates || (outer != nullptr && any_stmt(outer->body, [&](const Stmt& inner) {
                                  const auto* nested = inner.as<For>();
                                  return nested != nullptr && any_stmt(nested->body, may_update);
                              }));
    });
    return loads && updates;
}

StepVersions::StepVersions(Module& module, For& loop, const StepBlock& block, std::int64_t most)
    : module_(module), loop_(loop), block_(block), most_(most) {
    replace_copies();
    uses_ = uses_of(loop.body);
    Nest around;
    find_loads(loop.body, around);
}

// Replaces scalars that are copies of the step's number.
void StepVersions::replace_copies() {
    const auto assigned = assignments(loop_.body);
    Substitution copies;
    std::erase_if(loop_.body, [&](const Stmt* stmt) {
        const auto* assign = stmt->as<Assign>();
        if (assign == nullptr || assign->update || assigned.at(assign->var) != 1 ||
            !is_var(*assign->value, *loop_.var)) {
            return false;
        }
        copies.values[assign->var] = assign->value;
        return true;
    });
    if (!copies.values.empty()) loop_.body = clone(module_, loop_.body, copies);
}

// ---------------------------------------------------------------- loads

void StepVersions::find_loads(Body& body, Nest& around) {
    Body out;
    for (Stmt* stmt : body) {
        if (auto* loop = stmt->as<For>()) {
            around.push_back(loop);
            find_loads(loop->body, around);
            around.pop_back();
        } else if (auto* branch = stmt->as<If>()) {
            find_loads(branch->then_body, around);
            find_loads(branch->else_body, around);
        } else if (auto* assign = stmt->as<Assign>(); assign == nullptr || !note(*assign, around)) {
            rewrite_slots(*stmt, [&](Expr* e) {
                if (e->op != Op::kLoad || !axis_of(*e, around)) return e;
                Builder b(module_, e->span);
                Var* found = b.scalar(e->var->name + "_found", e->var->type.scalar);
                Assign* own = b.assign(found, e);
                note(*own, around);
                out.push_back(own);
                return b.var(found);
            });
        }
        overwritten_.insert(uses_of(*stmt).stored);
        out.push_back(stmt);
    }
    body = std::move(out);
}

// Takes a scalar that is assigned such an element, and nothing else.
bool StepVersions::note(Assign& assign, const Nest& around) {
    if (assign.update || assign.value->op != Op::kLoad) return false;
    const auto axis = axis_of(*assign.value, around);
    const auto assigned = assignments(loop_.body);
    const auto times = assigned.find(assign.var);
    if (!axis || (times != assigned.end() && times->second != 1)) return false;
    loads_.push_back({&assign, *axis, around});
    Var& array = *assign.value->var;
    fits_ = fits_ && !overwritten_.contains(&array);
    version_of(array, *axis);
    return true;
}

// The axis along which the steps walk, if loops inside the step walk along the others.
std::optional<std::size_t> StepVersions::axis_of(const Expr& load, const Nest& around) const {
    if (!uses_.stored.contains(load.var) || load.operands.size() < 2) return std::nullopt;
    std::optional<std::size_t> axis;
    VarSet walked;
    for (std::size_t i = 0; i < load.operands.size(); ++i) {
        const Expr& index = *load.operands[i];
        if (is_var(index, *loop_.var)) {
            if (axis) return std::nullopt;
            axis = i;
        } else if (!std::ranges::any_of(
                       around, [&](const For* loop) { return is_var(index, *loop->var); }) ||
                   !walked.insert(index.var)) {
            return std::nullopt;
        }
    }
    return axis;
}

const StepVersions::Version& StepVersions::version_of(Var& array, std::size_t axis) {
    for (const Version& version : versions_)
        if (version.array == &array && version.axis == axis) return version;
    std::vector<std::int64_t> extents = {most_};
    std::int64_t bytes = most_ * size_in_bytes(array.type.scalar);
    for (std::size_t i = 0; i < array.dims.size(); ++i) {
        if (i == axis) continue;
        const std::int64_t extent = array.dims[i].extent.value_or(kMostBytes + 1);
        fits_ = fits_ && extent > 0 && extent <= kMostBytes / bytes;
        if (fits_) bytes *= extent;
        extents.push_back(fits_ ? extent : 1);
    }
    Builder b(module_, loop_.span);
    Var* rows = b.local_array(array.name + "_found", array.type.scalar, extents, Space::kScratch);
    return versions_.emplace_back(&array, axis, rows);
}

bool StepVersions::proved(ParallelLoops& loops,
                          const std::function<bool(For*)>& independent) const {
    if (loads_.empty() || !fits_) return false;
    return std::ranges::all_of(loads_, [&](const Load& load) {
        return std::ranges::all_of(load.around, [&](For* loop) {
            return loops.reads_apart(*loop, *load.assign) ||
                   (loop == load.around.front() && independent(loop));
        });
    });
}

std::vector<Var*> StepVersions::arrays() const {
    std::vector<Var*> result;
    for (const Version& version : versions_)
        result.push_back(version.rows);
    return result;
}

// ---------------------------------------------------------------- rewriting

void StepVersions::apply() {
    Substitution found;
    VarSet scalars;
    for (const Load& load : loads_) {
        const Expr& element = *load.assign->value;
        found.values[load.assign->var] =
            kept(version_of(*element.var, load.axis), element.operands);
        scalars.insert(load.assign->var);
    }
    rewrite_stmts(loop_.body, [&](Stmt* stmt, Body& out) {
        const auto* assign = stmt->as<Assign>();
        if (assign == nullptr || !scalars.contains(assign->var)) out.push_back(stmt);
    });
    Body body = sunk(clone(module_, loop_.body, found), nullptr);
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
        auto *first = body[i]->as<For>(), *second = body[i + 1]->as<For>();
        if (first != nullptr && second != nullptr && join_stores(*first, *second))
            body.erase(body.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    loop_.body.clear();
    for (const Version& version : versions_) {
        const Body copy = copy_of(version);
        loop_.body.insert(loop_.body.end(), copy.begin(), copy.end());
    }
    loop_.body.insert(loop_.body.end(), body.begin(), body.end());
}

// The element with these subscripts of the array, as the step found it.
Expr* StepVersions::kept(const Version& version, const std::vector<Expr*>& indices) {
    Builder b(module_, loop_.span);
    std::vector<Expr*> places = {b.binary(Op::kSub, b.var(loop_.var), b.var(block_.first))};
    for (std::size_t i = 0; i < indices.size(); ++i)
        if (i != version.axis) places.push_back(clone(module_, indices[i]));
    return b.load(version.rows, std::move(places));
}

Body StepVersions::copy_of(const Version& version) {
    Builder b(module_, loop_.span);
    std::vector<Expr*> indices;
    std::vector<Var*> vars;
    for (std::size_t i = 0; i < version.array->dims.size(); ++i) {
        Var* var = i == version.axis ? loop_.var : b.scalar("at" + std::to_string(i), Scalar::kI64);
        indices.push_back(b.var(var));
        if (i != version.axis) vars.push_back(var);
    }
    const Expr* place = kept(version, indices);
    Body body = {
        b.store(version.rows, clone(module_, place)->operands, b.load(version.array, indices))};
    std::size_t axis = version.array->dims.size();
    for (std::size_t i = vars.size(); i-- > 0;) {
        if (--axis == version.axis) --axis;
        body = {b.loop(vars[i], b.integer(0), b.integer(*version.array->dims[axis].extent),
                       std::move(body))};
    }
    return body;
}

// Stores the new elements of the first nest where the second one copies them to.
bool StepVersions::join_stores(For& first, For& second) {
    const Nest from = nest_of(first), to = nest_of(second);
    if (from.size() != to.size() || from.back()->body.size() != 1 || to.back()->body.size() != 1)
        return false;
    auto* computed = from.back()->body.front()->as<Store>();
    const auto* copied = to.back()->body.front()->as<Store>();
    if (computed == nullptr || copied == nullptr || computed->update || copied->update ||
        copied->value->op != Op::kLoad || copied->value->var != computed->array ||
        computed->array->space != Space::kScratch) {
        return false;
    }
    Substitution renamed;
    for (std::size_t i = 0; i < from.size(); ++i)
        renamed.vars[to[i]->var] = from[i]->var;
    const auto same_range = [&](std::size_t i) {
        return same(*clone(module_, to[i]->begin, renamed), *from[i]->begin) &&
               same(*clone(module_, to[i]->end, renamed), *from[i]->end) &&
               same(*to[i]->step, *from[i]->step);
    };
    for (std::size_t i = 0; i < from.size(); ++i)
        if (!same_range(i)) return false;
    Expr* value = clone(module_, copied->value, renamed);
    if (!same(value->operands, computed->indices)) return false;
    std::vector<Expr*> indices;
    for (const Expr* index : copied->indices)
        indices.push_back(clone(module_, index, renamed));
    // The nest reads no other elements of the array, and nothing else uses the memory in between.
    bool apart = true;
    for_each_expr(static_cast<const Stmt&>(*computed), [&](const Expr& e) {
        if (e.op != Op::kLoad) return;
        apart = apart && (e.var == copied->array ? same(e.operands, indices)
                                                 : !may_share(*e.var, *copied->array));
    });
    int uses = 0;
    const Body& all = module_.entry_function()->body;
    for_each_expr(all, [&](const Expr& e) { uses += e.var == computed->array; });
    for_each_stmt(all, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        uses += store != nullptr && store->array == computed->array;
    });
    if (!apart || uses != 2) return false;
    unused_.push_back(computed->array);
    computed->array = copied->array;
    computed->indices = std::move(indices);
    return true;
}

// Whether it reads nothing but variables of loops and values from outside of the loop.
bool StepVersions::is_fixed(const Expr& condition) const {
    const Uses uses = uses_of(condition);
    return uses.loaded.empty() && !uses.calls && !any_stmt(loop_.body, [&](const Stmt& stmt) {
               const auto* assign = stmt.as<Assign>();
               return assign != nullptr && uses.read.contains(assign->var);
           });
}

// The statements, with conditions in the innermost loops.
Body StepVersions::sunk(const Body& body, const Expr* condition) {
    Builder b(module_, loop_.span);
    Body out;
    for (Stmt* stmt : body) {
        if (auto* loop = stmt->as<For>()) {
            loop->body = sunk(loop->body, condition);
            out.push_back(loop);
            continue;
        }
        const auto* branch = stmt->as<If>();
        const auto has_loop = [](const Body& inside) {
            return any_stmt(inside, [](const Stmt& each) { return each.kind == StmtKind::kFor; });
        };
        const bool fixed = branch != nullptr && is_fixed(*branch->condition);
        if (fixed && branch->else_body.empty() && has_loop(branch->then_body)) {
            Expr* both = clone(module_, branch->condition);
            if (condition != nullptr) both = b.binary(Op::kAnd, clone(module_, condition), both);
            const Body inside = sunk(branch->then_body, both);
            out.insert(out.end(), inside.begin(), inside.end());
        } else {
            out.push_back(condition == nullptr ? stmt : b.if_(clone(module_, condition), {stmt}));
        }
    }
    return out;
}

}  // namespace parpy
