// See note_host_loops.h.
#include "passes/mapped/note_host_loops.h"

#include <optional>
#include <string>

#include "analysis/geometry.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/cuda/host/device_scalars.h"
#include "passes/legality/legality_text.h"

namespace parpy {

using namespace ir;

namespace {

class HostLoops {
public:
    explicit HostLoops(PassContext& context)
        : context_(context), entry_(*context.module.entry_function()) {}

    void run() { walk(entry_.body); }

private:
    void walk(Body& body) {
        for (Stmt* stmt : body) {
            if (is_kernel_root(*stmt)) continue;
            if (auto* loop = stmt->as<For>(); loop != nullptr && launches(*loop)) judge(*loop);
            for_each_body(*stmt, [&](Body& inner) { walk(inner); });
        }
    }

    static bool launches(const For& loop) {
        return any_stmt(loop, [](const Stmt& inner) { return is_kernel_root(inner); });
    }

    void judge(For& loop) {
        if (!loops_) loops_.emplace(entry_, context_.options.deterministic);
        if (!loops_->legal(loop) || loops_->reduces(loop) || !is_certain(loop)) return;
        if (keys_.empty()) keys_ = mapping_keys(entry_);
        const auto trips = constant_trip_count(loop);
        loop.noted = context_.module.sites.size();
        Site& site = context_.module.sites.emplace_back();
        site.code = Code::kP314;
        site.span = loop.span;
        site.message = "a call launches {0} kernels and more from loop '" + loop.var->shown() +
                       "', which runs on the host though its iterations are independent";
        site.help = "add it to the mapping: '" + keys_.at(&loop) + "': parpy.threads(" +
                    (trips ? std::to_string(*trips) : "n") + ")";
    }

    // Whether the loop is independent for all arguments that the program accepts.
    bool is_certain(For& loop) {
        Module& module = context_.module;
        const std::size_t known = module.requirements.size();
        add_requirements(module, loops_->accesses(), loops_->facts(loop).conditions);
        const bool certain = module.requirements.size() == known;
        module.requirements.resize(known);
        return certain;
    }

    PassContext& context_;
    Function& entry_;
    std::optional<ParallelLoops> loops_;  // made for the first such loop
    std::unordered_map<const For*, std::string> keys_;
};

}  // namespace

void note_host_loops(PassContext& context) {
    HostLoops(context).run();
}

}  // namespace parpy
