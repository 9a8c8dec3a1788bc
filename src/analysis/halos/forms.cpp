// See forms.h.
#include "analysis/halos/forms.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/geometry.h"
#include "ir/builder.h"
#include "ir/text/print.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace parpy {

using namespace ir;

namespace {

// coefficient * variable + … + constant, counted modulo `extent` if it is not 0.
struct Subscript {
    std::map<const Var*, std::int64_t> terms;
    std::int64_t constant = 0;
    std::int64_t extent = 0;
};

class Forms {
public:
    Forms(Module& module, Halos& halos) : module_(module), halos_(halos), builder_(module) {
        const auto keys = mapping_keys(*module.entry_function());
        std::unordered_map<std::string, For*> loops;
        for_each_stmt(module.entry_function()->body, [&](Stmt& stmt) {
            if (auto* loop = stmt.as<For>()) loops[keys.at(loop)] = loop;
        });
        collect(halos.nodes, loops);
    }

    void take() {
        Body& body = module_.entry_function()->body;
        find_definitions(body);
        for (const auto& [loop, facts] : loops_)
            look_at(*loop, *facts);
        for (const auto& [loop, facts] : loops_)
            erase_bounds(*loop);
        erase_subscripts(body);
        for_each_stmt(body, [&](Stmt& stmt) {
            auto* assign = stmt.as<Assign>();
            if (assign != nullptr && erased_.contains(assign->var))
                assign->value = builder_.integer(0, assign->var->type.scalar);
        });
        for (Var* array : arrays_)
            array->dims.assign(array->dims.size(), Dim{0, 0, nullptr, nullptr});
        halos_.form += print(module_, {.spans = true});
    }

private:
    void collect(std::vector<Halos::Node>& nodes,
                 const std::unordered_map<std::string, For*>& loops) {
        for (Halos::Node& node : nodes) {
            for (Halos::Loop& facts : node.loops)
                loops_.emplace_back(loops.at(facts.key), &facts);
            collect(node.inside, loops);
            collect(node.otherwise, loops);
        }
    }

    // Finds integer scalars that are assigned once, a sum that may be a subscript.
    void find_definitions(Body& body) {
        std::unordered_map<const Var*, int> count;
        for_each_stmt(body, [&](Stmt& stmt) {
            if (const auto* loop = stmt.as<For>()) count[loop->var] += 2;
            if (auto* assign = stmt.as<Assign>()) {
                ++count[assign->var];
                const bool integer = is_integer(assign->var->type.scalar);
                if (integer && !assign->update) definitions_[assign->var] = assign->value;
            }
            if (auto* alloc = stmt.as<Alloc>()) arrays_.push_back(alloc->array);
        });
        for (Var* parameter : module_.entry_function()->params) {
            ++count[parameter];
            if (parameter->type.is_array()) arrays_.push_back(parameter);
        }
        std::erase_if(definitions_, [&](const auto& each) { return count[each.first] != 1; });
        std::vector<const Var*> others;
        for (const auto& [var, value] : definitions_) {
            if (!subscript(*value)) others.push_back(var);
        }
        for (const Var* var : others)
            definitions_.erase(var);
    }

    [[nodiscard]] bool mentions(const Expr& expr, const Var* var) const {
        bool found = false;
        for_each_expr(expr, [&](const Expr& e) {
            if (e.op != Op::kVar || found) return;
            const auto definition = definitions_.find(e.var);
            found = e.var == var ||
                    (definition != definitions_.end() && mentions(*definition->second, var));
        });
        return found;
    }

    [[nodiscard]] std::optional<Subscript> subscript(const Expr& expr) const {
        if (const auto constant = constant_integer(&expr)) return Subscript{{}, *constant, 0};
        switch (expr.op) {
            case Op::kVar: {
                const auto definition = definitions_.find(expr.var);
                if (definition != definitions_.end()) return subscript(*definition->second);
                return Subscript{{{expr.var, 1}}, 0, 0};
            }
            case Op::kConvert:
                return is_integer(expr.type.scalar) ? subscript(*expr.operands[0]) : std::nullopt;
            case Op::kNeg:
                return combined(Subscript{}, subscript(*expr.operands[0]), -1);
            case Op::kAdd:
            case Op::kSub:
                return combined(subscript(*expr.operands[0]), subscript(*expr.operands[1]),
                                expr.op == Op::kAdd ? 1 : -1);
            case Op::kMul: {
                for (const std::size_t side : {0u, 1u}) {
                    const auto factor = constant_integer(expr.operands[side]);
                    if (factor)
                        return combined(Subscript{}, subscript(*expr.operands[1 - side]), *factor);
                }
                return std::nullopt;
            }
            case Op::kMod:
            case Op::kRemainder:
            case Op::kIndex: {
                auto inside = subscript(*expr.operands[0]);
                const auto extent = constant_integer(expr.operands[1]);
                if (!inside || !extent || *extent < 1) return std::nullopt;
                if (inside->extent != 0 && inside->extent != *extent) return std::nullopt;
                inside->extent = *extent;
                return inside;
            }
            default:
                return std::nullopt;
        }
    }

    // a + factor * b; nothing if one of the two wraps around.
    static std::optional<Subscript> combined(std::optional<Subscript> a,
                                             const std::optional<Subscript>& b,
                                             std::int64_t factor) {
        if (!a || !b || a->extent != 0 || b->extent != 0) return std::nullopt;
        const auto add = [&](std::int64_t& to, std::int64_t value) {
            std::int64_t product = 0;
            return !__builtin_mul_overflow(value, factor, &product) &&
                   !__builtin_add_overflow(to, product, &to);
        };
        if (!add(a->constant, b->constant)) return std::nullopt;
        for (const auto& [var, coefficient] : b->terms) {
            if (!add(a->terms[var], coefficient)) return std::nullopt;
        }
        std::erase_if(a->terms, [](const auto& each) { return each.second == 0; });
        return a;
    }

    // Whether the subscript is a sum of terms and, as the facts about its array and axis say, moves
    // with the loop's row alone.
    [[nodiscard]] bool moves(const Expr& expr, const Var& array, std::size_t axis,
                             const Halos::Loop& facts) const {
        const auto found = subscript(expr);
        if (!found) return false;
        const auto extent = array.dims[axis].extent;
        if (found->extent != 0 && extent != found->extent) return false;
        return std::ranges::any_of(facts.arrays, [&](const Halos::Array& each) {
            if (each.name != array.shown() || axis >= each.axes.size()) return false;
            const auto bounded = [](const std::optional<Halos::Reach>& reach) {
                return !reach || reach->kind <= Halos::Reach::Kind::kPeriodic;
            };
            return bounded(each.axes[axis].reads) && bounded(each.axes[axis].writes);
        });
    }

    // Finds uses of the loop's variable other than such subscripts.
    void look_at(For& loop, Halos::Loop& facts) {
        const auto note = [&](const Span& span) {
            if (facts.position) return;
            facts.position = span.line;
        };
        const auto value = [&](const Expr& expr, const Span& span) {
            see(expr, span, loop.var, facts, note);
        };
        for_each_stmt(loop.body, [&](Stmt& stmt) {
            if (auto* assign = stmt.as<Assign>()) {
                if (definitions_.contains(assign->var)) return;  // each use is checked instead
            }
            if (auto* store = stmt.as<Store>()) {
                for (std::size_t axis = 0; axis < store->indices.size(); ++axis) {
                    if (!mentions(*store->indices[axis], loop.var)) continue;
                    if (!moves(*store->indices[axis], *store->array, axis, facts)) note(stmt.span);
                }
                value(*store->value, stmt.span);
                return;
            }
            for_each_slot(stmt, [&](Expr* slot) { value(*slot, stmt.span); });
        });
    }

    template <class F>
    void see(const Expr& expr, const Span& span, const Var* var, const Halos::Loop& facts,
             const F& note) {
        if (expr.op == Op::kVar) {
            if (mentions(expr, var)) note(expr.span.valid() ? expr.span : span);
            return;
        }
        for (std::size_t i = 0; i < expr.operands.size(); ++i) {
            const Expr& operand = *expr.operands[i];
            const bool fits = expr.op == Op::kLoad && mentions(operand, var) &&
                              moves(operand, *expr.var, i, facts);
            if (!fits) see(operand, span, var, facts, note);
        }
    }

    void erase_bounds(For& loop) {
        const auto step = constant_integer(loop.step);
        const bool constant = constant_integer(loop.begin) && constant_integer(loop.end) && step;
        if (!constant) return;
        Expr*& last = *step > 0 ? loop.end : loop.begin;
        last = builder_.integer(0, last->type.scalar);
    }

    // Replaces subscripts by their terms, so that no extent is left in those that wrap around.
    void erase_subscripts(Body& body) {
        const auto erase = [&](Expr*& index, const Var& array, std::size_t axis) {
            const auto found = subscript(*index);
            const bool varies = found && !found->terms.empty();
            if (!varies) return;
            const auto extent = axis < array.dims.size() ? array.dims[axis].extent : std::nullopt;
            if (found->extent != 0 && extent != found->extent) return;
            std::int64_t constant = found->constant;
            if (found->extent != 0) {
                constant = ((constant % found->extent) + found->extent) % found->extent;
                if (constant > found->extent / 2) constant -= found->extent;
            }
            std::vector<std::string> terms;
            for (const auto& [var, coefficient] : found->terms)
                terms.push_back(std::to_string(coefficient) + "*" + var->name);
            std::ranges::sort(terms);
            halos_.form += found->extent != 0 ? "periodic" : "block";
            for (const std::string& term : terms)
                halos_.form += " " + term;
            halos_.form += " " + std::to_string(constant) + "\n";
            forget(*index);
            index = builder_.integer(0);
        };
        for_each_stmt(body, [&](Stmt& stmt) {
            if (auto* store = stmt.as<Store>()) {
                for (std::size_t axis = 0; axis < store->indices.size(); ++axis)
                    erase(store->indices[axis], *store->array, axis);
            }
            for_each_expr(stmt, [&](Expr& expr) {
                if (expr.op != Op::kLoad) return;
                for (std::size_t axis = 0; axis < expr.operands.size(); ++axis)
                    erase(expr.operands[axis], *expr.var, axis);
            });
        });
        // A variable that has other uses keeps its value.
        for_each_expr(body, [&](const Expr& expr) {
            if (expr.op == Op::kVar) erased_.erase(expr.var);
        });
    }

    void forget(const Expr& index) {
        for_each_expr(index, [&](const Expr& expr) {
            const auto found =
                expr.op == Op::kVar ? definitions_.find(expr.var) : definitions_.end();
            if (found == definitions_.end()) return;
            erased_.insert(expr.var);
            forget(*found->second);
        });
    }

    Module& module_;
    Halos& halos_;
    Builder builder_;
    std::vector<std::pair<For*, Halos::Loop*>> loops_;
    std::unordered_map<const Var*, Expr*> definitions_;
    std::unordered_set<const Var*> erased_;
    std::vector<Var*> arrays_;
};

}  // namespace

void take_form(Module& module, Halos& halos) {
    Forms(module, halos).take();
}

}  // namespace parpy
