// See scalar_blocks.h.
#include "passes/cuda/host/scalar_blocks.h"

#include <algorithm>

#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/visit.h"
#include "passes/cuda/host/device_scalars.h"

namespace parpy {

using namespace ir;

namespace {

// Whether the statement only assigns scalars, under conditions or not.
bool is_scalar_code(const Stmt& stmt) {
    return !any_stmt(stmt,
                     [](const Stmt& inner) {
                         return inner.kind != StmtKind::kAssign && inner.kind != StmtKind::kIf;
                     }) &&
           !uses_of(stmt).calls && !uses_arrays(stmt);
}

// The scalars of host code whose values kernels or the host need.
class Wanted {
public:
    explicit Wanted(const Function& entry) {
        look_at(entry.body);
        // A scalar is needed by whoever needs the results of scalar code that reads it.
        for (bool grows = true; grows;) {
            grows = false;
            for (const auto& [result, operand] : flows_) {
                for (VarSet* wanted : {&by_kernels_, &by_host_})
                    grows |= wanted->contains(result) && wanted->insert(operand);
            }
        }
    }

    [[nodiscard]] bool on_gpu_alone(const Stmt& code) const {
        const VarSet results = uses_of(code).written;
        const auto is_of_host = [&](const Var* var) { return by_host_.contains(var); };
        return std::ranges::any_of(results,
                                   [&](const Var* var) { return by_kernels_.contains(var); }) &&
               std::ranges::none_of(results, is_of_host);
    }

private:
    void look_at(const Body& body) {
        for (const Stmt* stmt : body) {
            if (is_kernel_root(*stmt)) {
                by_kernels_.insert(uses_of(*stmt).read);
            } else if (is_scalar_code(*stmt)) {
                const Uses uses = uses_of(*stmt);
                for (Var* result : uses.written) {
                    for (Var* operand : uses.read)
                        flows_.emplace_back(result, operand);
                }
            } else {
                if (stmt->kind != StmtKind::kReturn) by_host_.insert(own_reads(*stmt));
                for_each_body(*stmt, [&](const Body& inner) { look_at(inner); });
            }
        }
    }

    static VarSet own_reads(const Stmt& stmt) {
        if (stmt.kind == StmtKind::kAlloc) return uses_of(stmt).read;  // the sizes of the array
        VarSet read;
        for_each_slot(stmt, [&](const Expr* slot) { read.insert(uses_of(*slot).read); });
        return read;
    }

    VarSet by_kernels_, by_host_;  // by_host_: other than for results of scalar code
    std::vector<std::pair<Var*, Var*>> flows_;
};

class ScalarBlocks {
public:
    explicit ScalarBlocks(Module& module) : module_(module), entry_(*module.entry_function()) {}

    void run() {
        // Code that reads scalars of moved blocks fetches them, until it moves as well.
        const Wanted wanted(entry_);
        for (bool moves = true; moves;) {
            const DeviceScalars places(entry_);
            moves = host_body(entry_.body, wanted, places);
        }
    }

private:
    bool host_body(Body& stmts, const Wanted& wanted, const DeviceScalars& places) {
        bool moves = false;
        Body out;
        for (Stmt* stmt : stmts) {
            if (is_kernel_root(*stmt)) {
                join(out, stmt);
            } else if (is_scalar_code(*stmt) && waits(*stmt, places) &&
                       wanted.on_gpu_alone(*stmt)) {
                auto* gpu = module_.make<Gpu>(stmt->span);
                gpu->body = {stmt};
                made_.insert(gpu);
                join(out, gpu);
                moves = true;
            } else {
                for_each_body(*stmt,
                              [&](Body& inner) { moves |= host_body(inner, wanted, places); });
                out.push_back(stmt);
            }
        }
        stmts = std::move(out);
        return moves;
    }

    // Merges two consecutive blocks if one of them was made here.
    void join(Body& out, Stmt* root) {
        auto* gpu = root->as<Gpu>();
        auto* before = out.empty() ? nullptr : out.back()->as<Gpu>();
        const bool joined = gpu != nullptr && before != nullptr && !gpu->by_hand() &&
                            !before->by_hand() && (made_.contains(gpu) || made_.contains(before));
        if (!joined) {
            out.push_back(root);
            return;
        }
        before->body.insert(before->body.end(), gpu->body.begin(), gpu->body.end());
        made_.insert(before);
    }

    // Whether the host would wait for the GPU before the code.
    static bool waits(const Stmt& code, const DeviceScalars& places) {
        return any_stmt(code, [&](const Stmt& inner) { return !places.fetched(&inner).empty(); });
    }

    Module& module_;
    Function& entry_;
    std::unordered_set<const Stmt*> made_;
};

// ---------------------------------------------------------------- beside loops that reduce

class Joins {
public:
    explicit Joins(Module& module) : module_(module) {}

    void host_body(Body& stmts) {
        Body out;
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop == nullptr || !is_kernel_root(*loop) || loop->mapping.reductions.empty()) {
                if (!is_kernel_root(*stmts[i]))
                    for_each_body(*stmts[i], [&](Body& inner) { host_body(inner); });
                out.push_back(stmts[i]);
                continue;
            }
            auto* before = out.empty() ? nullptr : out.back()->as<Gpu>();
            auto* after = i + 1 < stmts.size() ? stmts[i + 1]->as<Gpu>() : nullptr;
            if (before != nullptr && !may_precede(*before, *loop)) before = nullptr;
            if (after != nullptr && !is_plain(*after)) after = nullptr;
            if (before == nullptr && after == nullptr) {
                out.push_back(loop);
                continue;
            }
            auto* joined = module_.make<Gpu>(loop->span);
            joined->labels = loop->labels;  // the kernel has the loop's name
            if (std::ranges::all_of(joined->labels, is_pragma))
                joined->labels.push_back(loop->var->name);
            if (before != nullptr) {
                joined->body = before->body;
                out.pop_back();
            }
            joined->body.push_back(loop);
            if (after != nullptr) {
                joined->body.insert(joined->body.end(), after->body.begin(), after->body.end());
                ++i;
            }
            out.push_back(joined);
        }
        stmts = std::move(out);
    }

private:
    static bool is_plain(const Gpu& gpu) {
        return !gpu.by_hand() && !uses_of(gpu).calls && !any_stmt(gpu.body, [](const Stmt& stmt) {
            return stmt.kind != StmtKind::kAssign && stmt.kind != StmtKind::kIf &&
                   stmt.kind != StmtKind::kStore;
        });
    }

    // One block of threads may run it late, when others are in the loop already.
    static bool may_precede(const Gpu& gpu, const For& loop) {
        if (!is_plain(gpu)) return false;
        const Uses first = uses_of(gpu), then = uses_of(loop);
        return first.stored.empty() && std::ranges::none_of(first.loaded, [&](Var* array) {
                   return then.may_store(*array);
               });
    }

    Module& module_;
};

}  // namespace

void put_scalars_on_gpu(Module& module) {
    ScalarBlocks(module).run();
}

void join_scalar_blocks(Module& module) {
    Joins(module).host_body(module.entry_function()->body);
}

}  // namespace parpy
