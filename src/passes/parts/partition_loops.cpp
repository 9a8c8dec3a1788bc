// See partition_loops.h.
#include "passes/parts/partition_loops.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/halos/halos.h"
#include "analysis/host_calls.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/parts/part_text.h"

namespace parpy {

using namespace ir;

namespace {

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

class Partition {
public:
    Partition(PassContext& context, const Halos& halos, const std::vector<HaloLeaf>& leaves,
              const std::vector<PartStep>& part, std::string_view target)
        : context_(context), part_(part), target_(target), builder_(context.module) {
        std::size_t next = 0;
        collect(halos.nodes, leaves, next);
        site_ = context.module.sites.size();
        context.module.sites.push_back({Code::kP401, context.module.entry_function()->span,
                                        "another part of the call failed", "", false, "", ""});
        source_ = static_cast<std::uint32_t>(context.module.sources.size());
        context.module.sources.push_back(
            {"parts.cu",
             "// The other parts of the call; they end it by parpy_fail where one of them fails.\n"
             "extern \"C\" void parpy_part_array(long site, long action, void* array);\n"
             "extern \"C\" double parpy_part_f64(long site, long action, double value);\n"
             "extern \"C\" long parpy_part_i64(long site, long action, long value);",
             1});
    }

    void run(Body& body) {
        Body out;
        for (Stmt* stmt : body) {
            const auto found = steps_.find(stmt);
            if (found == steps_.end()) {
                const std::vector<const Work*> spaced = spaced_in(*stmt);
                if (spaced.empty()) {
                    for_each_body(*stmt, [&](Body& inside) { run(inside); });
                    out.push_back(stmt);
                } else {
                    space(static_cast<For&>(*stmt), spaced, out);
                }
                continue;
            }
            builder_.span = stmt->span;
            for (const Work& work : found->second)
                exchanges(*work.step, *work.leaf, false, out);
            const Work& last = found->second.back();
            if (last.loop != nullptr) {
                clip(static_cast<For&>(*stmt), last, last.step->low, last.step->high);
            } else {
                for_each_body(*stmt, [&](Body& inside) { run(inside); });
            }
            out.push_back(stmt);
            for (const Work& work : found->second)
                exchanges(*work.step, *work.leaf, true, out);
        }
        body = std::move(out);
    }

private:
    struct Work {
        const PartStep* step;
        const HaloLeaf* leaf;
        const Halos::Loop* loop;  // of a nest
    };

    void collect(const std::vector<Halos::Node>& nodes, const std::vector<HaloLeaf>& leaves,
                 std::size_t& next) {
        for (const Halos::Node& node : nodes) {
            const bool nest = node.kind == Halos::Node::Kind::kNest;
            if (nest || node.kind == Halos::Node::Kind::kSerial) {
                const HaloLeaf& leaf = leaves[next];
                steps_[leaf.stmt].push_back(
                    {&part_[next], &leaf, nest ? &node.loops.front() : nullptr});
                ++next;
            }
            collect(node.inside, leaves, next);
            collect(node.otherwise, leaves, next);
        }
    }

    // Makes one function for each array, since its dimensions are part of its type.
    Function* function(const std::string& name, Type type, const Var* array = nullptr) {
        for (const Known& known : functions_) {
            if (known.name == name && known.array == array) return known.made;
        }
        std::string own = name;
        if (array != nullptr) {
            own += "_" + std::to_string(functions_.size());
            context_.module.sources[source_].text +=
                "\nstatic inline void " + own + "(long site, long action, void* array) {\n    " +
                name + "(site, action, array);\n}";
        }
        Function* made = context_.module.make_function(own, FunctionKind::kForeign);
        made->target = target_;
        made->span.source = source_;
        const Type integer = Type::of(Scalar::kI64);
        made->params = {context_.module.make_var("site", integer),
                        context_.module.make_var("action", integer),
                        context_.module.make_var("value", type)};
        made->result = array == nullptr ? type : Type::none();
        if (array != nullptr) {
            made->params[2]->dims = array->dims;
            made->params[2]->written = true;
        }
        functions_.push_back({name, array, made});
        return made;
    }

    Expr* call(Function* callee, std::int64_t action, Expr* value) {
        return builder_.call(callee, {builder_.integer(static_cast<std::int64_t>(site_)),
                                      builder_.integer(action), value});
    }

    // Arrays before numbers in front of a loop, and behind them after it: a number that the next
    // part waits for must not wait for arrays of all parts.
    void exchanges(const PartStep& step, const HaloLeaf& leaf, bool behind, Body& out) {
        if (behind) numbers(step, leaf, behind, out);
        for (const PartStep::Exchange& each : step.exchanges) {
            if (each.behind != behind) continue;
            out.push_back(exchange(leaf, each.array, each.action));
        }
        if (!behind) numbers(step, leaf, behind, out);
    }

    void numbers(const PartStep& step, const HaloLeaf& leaf, bool behind, Body& out) {
        for (const PartStep::Number& each : step.numbers) {
            Var* var = leaf.reduced.at(static_cast<std::size_t>(each.reduced));
            const Scalar own = var->type.scalar;
            const Scalar wide = is_float(own) ? Scalar::kF64 : Scalar::kI64;
            Function* callee =
                function(is_float(own) ? "parpy_part_f64" : "parpy_part_i64", Type::of(wide));
            Expr* value = builder_.convert(builder_.var(var), wide);
            Expr* other = call(callee, behind ? each.behind : each.before, value);
            out.push_back(builder_.assign(var, builder_.convert(other, own)));
        }
    }

    // The nests of a loop before whose iterations there are spaced exchanges.
    std::vector<const Work*> spaced_in(Stmt& stmt) const {
        std::vector<const Work*> result;
        const auto* loop = stmt.as<For>();
        if (loop == nullptr) return result;
        for (const Stmt* inside : loop->body) {
            const auto found = steps_.find(inside);
            if (found == steps_.end()) continue;
            for (const Work& work : found->second) {
                if (!work.step->spaced.empty()) result.push_back(&work);
            }
        }
        return result;
    }

    Stmt* exchange(const HaloLeaf& leaf, std::int64_t place, std::int64_t action) {
        Var* array = leaf.arrays.at(static_cast<std::size_t>(place));
        Function* callee = function("parpy_part_array", array->type, array);
        return builder_.evaluate(call(callee, action, builder_.array(array)));
    }

    void space(For& loop, const std::vector<const Work*>& works, Body& out) {
        builder_.span = loop.span;
        const std::int64_t steps = works.front()->step->spaced.front().steps;
        Body body;
        for (const Work* work : works) {
            for (const PartStep::Spaced& each : work->step->spaced)
                body.push_back(exchange(*work->leaf, each.array, each.action));
        }
        const Scalar type = loop.var->type.scalar;
        Var* first = builder_.scalar("first", type);
        const Body ahead = first_of_group(loop, *first, works);
        for_each_body(loop, [&](Body& inside) { run(inside); });
        builder_.span = loop.span;
        const auto after_first = [&](std::int64_t distance) {
            return builder_.binary(Op::kAdd, builder_.var(first), builder_.integer(distance, type));
        };
        Expr* begin = loop.begin;
        Expr* end = clone(context_.module, loop.end);
        loop.begin = ahead.empty() ? builder_.var(first) : after_first(1);
        loop.end = builder_.binary(Op::kMin, after_first(steps), loop.end);
        body.insert(body.end(), ahead.begin(), ahead.end());
        if (ahead.empty() || steps > 1) body.push_back(&loop);
        out.push_back(
            builder_.loop(first, begin, end, std::move(body), builder_.integer(steps, type)));
    }

    // The first iteration of each group, if its first nest computes the interior rows before the
    // part waits for rows of other parts; else empty.
    Body first_of_group(const For& loop, Var& first, const std::vector<const Work*>& works) {
        Body out;
        const bool overlaps = std::ranges::any_of(
            works, [](const Work* work) { return work->step->interior.has_value(); });
        if (!overlaps) return out;
        for (const Stmt* stmt : loop.body) {
            builder_.span = stmt->span;
            const auto found = steps_.find(stmt);
            const auto add = [&](std::optional<std::int64_t> low,
                                 std::optional<std::int64_t> high) {
                Stmt* copy = copied(*stmt, loop, first);
                const Work& work = found->second.back();
                clip(static_cast<For&>(*copy), work, low, high);
                out.push_back(copy);
            };
            if (found == steps_.end() || found->second.back().loop == nullptr) {
                out.push_back(copied(*stmt, loop, first));
                continue;
            }
            const PartStep& step = *found->second.back().step;
            if (!step.interior) {
                add(step.low, step.high);
                continue;
            }
            const auto [low, high] = *step.interior;
            add(low, high);
            for (const Work* work : works) {
                for (const PartStep::Awaited& each : work->step->awaited)
                    out.push_back(exchange(*work->leaf, each.array, each.action));
            }
            if (low) add(step.low, low);
            if (high) add(high, step.high);
        }
        return out;
    }

    // A statement of the loop with variables of its own, for the iteration `first`.
    Stmt* copied(const Stmt& stmt, const For& loop, Var& first) {
        Substitution own;
        own.vars[loop.var] = &first;
        for_each_stmt(stmt, [&](const Stmt& each) {
            const auto* inner = each.as<For>();
            if (inner != nullptr) own.vars[inner->var] = context_.module.make_like(*inner->var);
        });
        return clone(context_.module, &stmt, own);
    }

    // The first iteration whose row is at least `row` (at most, if rows fall).
    static std::int64_t counter_at(const Halos::Loop& loop, std::int64_t row) {
        if (loop.scale > 0) return -floor_divided(-(row - loop.shift), loop.scale);
        return floor_divided(row - loop.shift, loop.scale) + 1;
    }

    // Restricts the loop of a nest to the rows low … high - 1.
    void clip(For& stmt, const Work& work, std::optional<std::int64_t> low,
              std::optional<std::int64_t> high) {
        const HaloLeaf& leaf = *work.leaf;
        const Halos::Loop& loop = *work.loop;
        std::optional<std::int64_t> first, last;
        if (low) (loop.scale > 0 ? first : last) = counter_at(loop, *low);
        if (high) (loop.scale > 0 ? last : first) = counter_at(loop, *high);
        if (!first && !last) return;
        if (loop.scale == 0 || leaf.factor == 0) {
            context_.diagnostics.internal(stmt.span, "a loop without rows is partitioned");
            return;
        }
        const bool up = leaf.factor > 0;
        const auto bound = [&](Expr*& expr, std::int64_t counter, bool least) {
            const std::int64_t value = leaf.factor * counter + leaf.offset;
            const auto known = constant_integer(expr);
            if (known) {
                expr = builder_.integer(least ? std::max(*known, value) : std::min(*known, value),
                                        expr->type.scalar);
            } else {
                expr = builder_.binary(least ? Op::kMax : Op::kMin, expr,
                                       builder_.integer(value, expr->type.scalar));
            }
        };
        if (first) bound(stmt.begin, *first, up);
        if (last) bound(stmt.end, *last, !up);
    }

    PassContext& context_;
    const std::vector<PartStep>& part_;
    std::string target_;
    Builder builder_;
    std::size_t site_ = 0;
    std::uint32_t source_ = 0;
    struct Known {
        std::string name;
        const Var* array;
        Function* made;
    };
    std::vector<Known> functions_;
    // A loop whose bounds use arrays has two: that of its bounds comes first.
    std::unordered_map<const Stmt*, std::vector<Work>> steps_;
};

// `target`: that of the functions that exchange (Function::target).
void partition(PassContext& context, std::string_view target) {
    std::vector<HaloLeaf> leaves;
    const std::optional<std::size_t> arguments =
        context.signature.empty() ? std::nullopt : std::optional(context.signature.size());
    const Halos halos = halos_of(context.module, arguments, leaves);
    const auto part = parse_part(*part_text(context.module));
    if (!part || leaves.size() != part->size()) {
        context.diagnostics.internal(context.module.entry_function()->span,
                                     "the part was made for another program");
        return;
    }
    Partition(context, halos, leaves, *part, target).run(context.module.entry_function()->body);
}

}  // namespace

void partition_cpu_loops(PassContext& context) {
    partition(context, "cpu");
}

void partition_cuda_loops(PassContext& context) {
    partition(context, kCudaHost);
}

}  // namespace parpy
