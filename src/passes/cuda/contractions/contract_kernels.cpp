// See contract_kernels.h.
#include "passes/cuda/contractions/contract_kernels.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "analysis/contractions/products.h"
#include "analysis/uses.h"
#include "dialects/dialect.h"
#include "ir/visit.h"
#include "mapping/contraction_tile.h"
#include "mapping/plan.h"
#include "passes/cuda/contractions/contraction_kernel.h"
#include "passes/legality/legality_text.h"
#include "support/architecture.h"

namespace parpy {

using namespace ir;

namespace {

struct Decision {
    std::optional<KernelTile> tile;
    std::string reason = "it is in code that the GPU runs";
};

bool holds_tiles(std::string_view architecture) {
    return compute_capability(architecture) >= 80;
}

class KernelContractor {
public:
    explicit KernelContractor(PassContext& context)
        : context_(context),
          entry_(*context.module.entry_function()),
          loops_(entry_, context.options.deterministic) {
        all_ = find_contractions(context.module, loops_.judge(), context.options.deterministic,
                                 /*batches=*/true);
        for (const Contraction& c : all_.found)
            decisions_[c.top] = {};
        if (!decisions_.empty()) walk(entry_.body, false);
    }

    void run() {
        if (!decisions_.empty()) host(entry_.body);
    }

    [[nodiscard]] std::vector<For*> steps() const {
        std::vector<For*> result;
        for (const Contraction& c : all_.found) {
            if (!decisions_.at(c.top).tile) continue;
            for (const ContractionSteps& steps : c.steps) {
                for (const ContractionSteps::Range& range : steps.ranges)
                    result.insert(result.end(), range.loops.begin(), range.loops.end());
            }
        }
        return result;
    }

    [[nodiscard]] std::vector<ContractionNote> notes() const {
        std::vector<ContractionNote> result;
        for (const Contraction& c : all_.found) {
            const Decision& decision = decisions_.at(c.top);
            if (!decision.tile) {
                result.push_back({c.top, "a contraction without tiles: " + decision.reason});
                continue;
            }
            const KernelTile& tile = *decision.tile;
            std::string over;
            for (const ContractionSteps& steps : c.steps) {
                for (const For* loop : steps.ranges.front().loops)
                    over += (over.empty() ? "" : ", ") + quoted(*loop);
            }
            result.push_back({c.top, "a contraction of rows " + quoted(*c.rows) + " and columns " +
                                         quoted(*c.columns) + " over " + over + ", in tiles of " +
                                         std::to_string(tile.rows) + " × " +
                                         std::to_string(tile.columns) + ", " +
                                         std::to_string(tile.products) + " products at a time" +
                                         (tile.matrices ? ", by matrix units" : "")});
        }
        for (const NearContraction& missed : all_.missed)
            result.push_back({missed.top, "no contraction: " + missed.reason});
        return result;
    }

private:
    static std::string quoted(const For& loop) { return "'" + loop.var->shown() + "'"; }

    // Works before and after loops are mapped.
    static bool on_gpu(const For& loop) {
        return loop.mapping.parallel() || loop.mapping.threads > 0;
    }

    const Contraction& of_top(const Stmt* top) const {
        return *std::ranges::find_if(all_.found,
                                     [&](const Contraction& c) { return c.top == top; });
    }

    // Decides on contractions in host code, and in Gpu blocks whose statements exchange no scalars.
    void walk(Body& body, bool in_loop) {
        for (Stmt* stmt : body) {
            if (decisions_.contains(stmt)) {
                decide(of_top(stmt), in_loop);
                continue;
            }
            const auto* loop = stmt->as<For>();
            if (loop != nullptr && on_gpu(*loop)) continue;
            const auto* gpu = stmt->as<Gpu>();
            if (gpu != nullptr) {
                if (separable(*gpu)) tops(*gpu, in_loop);
                continue;
            }
            const bool repeats = loop != nullptr || stmt->kind == StmtKind::kWhile;
            for_each_body(*stmt, [&](Body& inner) { walk(inner, in_loop || repeats); });
        }
    }

    // A kernel of its own can only take the place of a statement that the block runs once.
    void tops(const Gpu& gpu, bool in_loop) {
        for (const Stmt* stmt : gpu.body) {
            if (decisions_.contains(stmt)) decide(of_top(stmt), in_loop);
        }
    }

    bool separable(const Gpu& gpu) const {
        if (gpu.body.size() == 1) return true;
        const Uses all = uses_of(gpu.body);
        if (!all.allocated.empty()) return false;
        return std::ranges::all_of(gpu.body, [&](const Stmt* stmt) {
            const VarSet read = exposed_reads(Body{const_cast<Stmt*>(stmt)});
            return std::ranges::none_of(read, [&](Var* v) { return all.written.contains(v); });
        });
    }

    void decide(const Contraction& c, bool in_loop) {
        Decision& decision = decisions_[c.top];
        if (!holds_tiles(context_.options.cuda_arch)) {
            decision.reason = "a block of this GPU has too little shared memory for tiles";
        } else if (context_.options.deterministic && c.algebra.adds() && !c.fused) {
            decision.reason = "deterministic=True rounds these products before they are added";
        } else if (c.copies_rights && in_loop) {
            decision.reason = "a surrounding loop would copy its right factors in each iteration";
        } else {
            decision.tile = plan_kernel_tile(c, sizes_of(c, loops_.traffic()),
                                             shared_bytes_of_block(context_.options.cuda_arch),
                                             decision.reason);
        }
    }

    void host(Body& body) {
        Body out;
        for (Stmt* stmt : body) {
            if (contracts(stmt)) {
                append(out, stmt);
                continue;
            }
            auto* gpu = stmt->as<Gpu>();
            if (gpu != nullptr && std::ranges::any_of(gpu->body, [&](const Stmt* inner) {
                    return contracts(inner);
                })) {
                take_apart(*gpu, out);
                continue;
            }
            for_each_body(*stmt, [&](Body& inner) { host(inner); });
            out.push_back(stmt);
        }
        body = std::move(out);
    }

    [[nodiscard]] bool contracts(const Stmt* stmt) const {
        const auto found = decisions_.find(stmt);
        return found != decisions_.end() && found->second.tile;
    }

    void take_apart(const Gpu& gpu, Body& out) {
        Gpu* rest = nullptr;
        for (Stmt* stmt : gpu.body) {
            if (contracts(stmt)) {
                append(out, stmt);
                rest = nullptr;
                continue;
            }
            if (rest == nullptr) {
                rest = context_.module.make<Gpu>(gpu.span);
                out.push_back(rest);
            }
            rest->body.push_back(stmt);
        }
    }

    // Removes the constant by which all left factors are multiplied, so that they are plain
    // elements, and returns it; null if there is none. Steps behind the last one are -0 times 0
    // with it, too.
    static const Expr* take_scale(Contraction& c) {
        const Expr* scale = nullptr;
        std::vector<std::pair<Expr**, Expr*>> elements;
        for (ContractionSteps& steps : c.steps) {
            for (ContractionSteps::Range& range : steps.ranges) {
                for (Expr*& left : range.lefts) {
                    if (left->op != Op::kMul) return nullptr;
                    const bool second = left->operands[1]->op == Op::kLoad;
                    Expr* factor = left->operands[second ? 0 : 1];
                    Expr* element = left->operands[second ? 1 : 0];
                    const auto* value = std::get_if<double>(&factor->constant.value);
                    if (factor->op != Op::kConst || element->op != Op::kLoad || value == nullptr ||
                        !std::isfinite(*value) || *value <= 0 ||
                        (scale != nullptr && !same(*scale, *factor))) {
                        return nullptr;
                    }
                    scale = factor;
                    elements.emplace_back(&left, element);
                }
            }
        }
        for (const auto& [left, element] : elements)
            *left = element;
        return scale;
    }

    void append(Body& out, const Stmt* top) {
        Contraction c = of_top(top);
        const Expr* scale = take_scale(c);
        for (For* loop : c.asked)
            add_requirements(context_.module, loops_.accesses(), loops_.facts(*loop).conditions);
        const Body code =
            ContractionKernel(context_.module, c, *decisions_.at(top).tile, scale).run();
        out.insert(out.end(), code.begin(), code.end());
    }

    PassContext& context_;
    Function& entry_;
    ParallelLoops loops_;
    Contractions all_;
    std::unordered_map<const Stmt*, Decision> decisions_;  // by the top
};

bool may_contract(PassContext& context) {
    return kernel_dialect(context.options.backend).contracts &&
           adds_products(context.module.entry_function()->body, 2);
}

}  // namespace

void contract_kernels(PassContext& context) {
    if (may_contract(context)) KernelContractor(context).run();
}

std::vector<For*> steps_of_kernels(PassContext& context) {
    return may_contract(context) ? KernelContractor(context).steps() : std::vector<For*>();
}

std::vector<ContractionNote> kernel_contraction_notes(PassContext& context) {
    return may_contract(context) ? KernelContractor(context).notes()
                                 : std::vector<ContractionNote>();
}

}  // namespace parpy
