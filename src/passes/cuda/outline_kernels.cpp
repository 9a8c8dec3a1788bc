// See outline_kernels.h. The statements of a kernel move unchanged from the entry into the kernel;
// the kernel's own variables replace the entry's.
#include "passes/cuda/outline_kernels.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "analysis/geometry.h"
#include "analysis/host_calls.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/cuda/host/device_scalars.h"
#include "passes/cuda/host/scalar_blocks.h"

namespace parpy {

using namespace ir;

namespace {

class Outliner {
public:
    explicit Outliner(PassContext& context)
        : context_(context),
          module_(context.module),
          entry_(*context.module.entry_function()),
          scalars_(entry_) {
        for (const Function* function : module_.functions)
            names_.insert(function->name);
    }

    void run() {
        Body body = std::move(entry_.body);
        Body initial = mirror_parameters();
        host(body);
        entry_.body.clear();
        for (const auto& [scalar, array] : memory_) {
            Builder builder(module_, scalar->span);
            entry_.body.push_back(builder.alloc(array));
        }
        entry_.body.insert(entry_.body.end(), initial.begin(), initial.end());
        entry_.body.insert(entry_.body.end(), body.begin(), body.end());
    }

private:
    void host(Body& body) {
        Body out;
        for (Stmt* stmt : body) {
            if (is_kernel_root(*stmt)) {
                out.push_back(outline(*stmt));
                continue;
            }
            const auto* noted = stmt->as<For>();
            const bool outermost = noted != nullptr && noted->noted && !noted_loop_;
            if (outermost) noted_loop_ = noted->noted;
            for_each_body(*stmt, [&](Body& inner) { host(inner); });
            if (outermost) noted_loop_.reset();
            const Body fetches = fetches_before(*stmt);
            if (auto* loop = stmt->as<While>(); loop != nullptr && !fetches.empty()) {
                fetch_each_time(*loop, fetches);
            } else {
                out.insert(out.end(), fetches.begin(), fetches.end());
            }
            out.push_back(stmt);
            const auto* assign = stmt->as<Assign>();
            if (assign != nullptr && scalars_.mirrored().contains(assign->var)) {
                out.push_back(mirror(assign->var));
            }
        }
        body = std::move(out);
    }

    // ------------------------------------------------------------ scalars on the device

    Var* memory_of(Var* scalar) {
        for (const auto& [known, array] : memory_) {
            if (known == scalar) return array;
        }
        Builder builder(module_, scalar->span);
        Var* array = builder.local_array(scalar->name + "_device", scalar->type.scalar, {1},
                                         Space::kScratch);
        memory_.emplace_back(scalar, array);
        return array;
    }

    Body fetches_before(const Stmt& reader) {
        Body out;
        for (Var* scalar : scalars_.fetched(&reader)) {
            auto* fetch = module_.make<Fetch>(reader.span);
            fetch->var = scalar;
            fetch->array = memory_of(scalar);
            fetch->site = module_.sites.size();
            out.push_back(fetch);
            const std::string what =
                "host code reads '" + scalar->shown() + "', which the GPU computes";
            const std::string help =
                "let the GPU decide: put the code that reads it into `with parpy.gpu:`";
            module_.sites.push_back({Code::kP532,
                                     reader.span,
                                     what + ": it waits for the GPU, but the stream is captured "
                                            "into a graph",
                                     {},
                                     false,
                                     help});
            if (noted_.insert(scalar)) {
                context_.diagnostics
                    .performance(Code::kP307, reader.span, what + ": it waits for the GPU")
                    .help = help;
            }
        }
        return out;
    }

    // Rewrites `while condition: …` as `while true: fetch …; if not condition: break; …`.
    void fetch_each_time(While& loop, const Body& fetches) {
        Builder builder(module_, loop.span);
        Body body = fetches;
        body.push_back(builder.if_(builder.not_(loop.condition), {builder.break_()}));
        body.insert(body.end(), loop.body.begin(), loop.body.end());
        loop.condition = builder.boolean(true);
        loop.body = std::move(body);
    }

    Stmt* store_to_memory(Var* scalar) {
        Builder builder(module_, scalar->span);
        return builder.store(memory_of(scalar), {builder.integer(0)}, builder.var(scalar));
    }

    Launch* mirror(Var* scalar) {
        auto* block = module_.make<Gpu>(scalar->span);
        block->body = {store_to_memory(scalar)};
        return outline(*block);
    }

    Body mirror_parameters() {
        Body out;
        for (Var* scalar : scalars_.mirrored()) {
            if (std::find(entry_.params.begin(), entry_.params.end(), scalar) !=
                entry_.params.end()) {
                out.push_back(mirror(scalar));
            }
        }
        return out;
    }

    // ------------------------------------------------------------ kernels

    Launch* outline(Stmt& root) {
        Builder builder(module_, root.span);
        const DeviceScalars::Traffic& traffic = scalars_.traffic(&root);
        Body body;
        for (Var* scalar : traffic.loads) {
            body.push_back(
                builder.assign(scalar, builder.load(memory_of(scalar), {builder.integer(0)})));
        }
        if (auto* block = root.as<Gpu>()) {
            body.insert(body.end(), block->body.begin(), block->body.end());
        } else {
            body.push_back(&root);
        }
        for (Var* scalar : traffic.stores)
            body.push_back(store_to_memory(scalar));

        const std::vector<Var*> captured = captures(body);
        Launch* launch = builder.launch(nullptr, {});
        for (Var* var : captured) {
            launch->arguments.push_back(var->type.is_array() ? builder.array(var)
                                                             : builder.var(var));
        }
        Function* kernel = module_.make_function(name_for(root), FunctionKind::kKernel, root.span);
        kernel->result = Type::none();
        kernel->params = captured;
        kernel->body = std::move(body);
        own_variables(*kernel);
        launch->kernel = kernel;
        launch->noted = noted_loop_;
        set_geometry(*launch, root.as<Gpu>(), builder);
        return launch;
    }

    // Free variables; arrays are followed by the scalars that hold their run-time shape.
    static std::vector<Var*> captures(const Body& body) {
        VarSet result;
        for (Var* var : free_variables(body)) {
            result.insert(var);
            for (const Dim& dim : var->dims) {
                if (!dim.extent) result.insert(dim.extent_var);
                if (!dim.stride) result.insert(dim.stride_var);
            }
        }
        return {result.begin(), result.end()};
    }

    // Replaces the entry's variables by the kernel's own.
    void own_variables(Function& kernel) {
        const Uses uses = uses_of(kernel.body);
        std::unordered_map<const Var*, Var*> copies;
        const auto copy_of = [&](Var* var) {
            auto [found, is_new] = copies.try_emplace(var, nullptr);
            if (is_new) {
                Var* copy = module_.make_like(*var);
                copy->dims = var->dims;
                copy->space = is_made_by_host(var->space) ? Space::kGlobal : var->space;
                copy->written = uses.stored.contains(var);
                copy->aliased = var->aliased;
                copy->placement = var->placement;
                copy->limit = var->limit;
                found->second = copy;
            }
            return found->second;
        };
        for (Var*& param : kernel.params)
            param = copy_of(param);
        for_each_stmt(kernel.body, [&](Stmt& stmt) {
            for_each_var(stmt, [&](Var*& var) { var = copy_of(var); });
        });
        for_each_expr(kernel.body, [&](Expr& expr) {
            if (expr.var != nullptr) expr.var = copy_of(expr.var);
        });
        const auto originals = copies;  // copying the variables of dims adds to the map
        for (const auto& [original, copy] : originals) {
            for (Dim& dim : copy->dims) {
                if (dim.extent_var != nullptr) dim.extent_var = copy_of(dim.extent_var);
                if (dim.stride_var != nullptr) dim.stride_var = copy_of(dim.stride_var);
            }
        }
    }

    void set_geometry(Launch& launch, const Gpu* gpu, Builder& builder) {
        if (gpu != nullptr && gpu->by_hand()) {
            std::ranges::copy(gpu->grid, launch.grid);
            std::ranges::copy(gpu->block, launch.block);
            launch.shared_bytes = gpu->shared_bytes;
            return;
        }
        const KernelShape shape = shape_of(launch.kernel->body);
        bool too_large = false;
        std::int64_t blocks = 1;
        for (const GridLevel& level : shape.levels) {
            too_large = too_large || level.size > kMaxGridX / blocks;
            blocks *= too_large ? 1 : level.size;
        }
        if (too_large) {
            context_.diagnostics
                .error(Code::kP312, launch.span,
                       "the nest is mapped to more thread blocks than one kernel can have (" +
                           std::to_string(kMaxGridX) + ")")
                .help = "map its loops to fewer threads: each then runs several iterations";
            return;
        }
        const std::array<std::int64_t, 3> grid = shape.grid();
        for (std::size_t i = 0; i < grid.size(); ++i) {
            if (i == 0 || grid[1] > 1 || grid[2] > 1) launch.grid[i] = builder.integer(grid[i]);
        }
        if (shape.block > 1) launch.block[0] = builder.integer(shape.block);
    }

    // FUNCTION_LABEL; without a label, the loop's variable takes its place.
    std::string name_for(const Stmt& root) {
        if (const auto* gpu = root.as<Gpu>(); gpu != nullptr && gpu->by_hand()) {
            return unique(entry_.name + "_kernel");
        }
        std::string suffix = "gpu";
        const auto label = std::ranges::find_if_not(root.labels, is_pragma);
        if (label != root.labels.end()) {
            suffix = *label;
        } else if (const auto* loop = root.as<For>()) {
            suffix = loop->var->name;
        }
        for (char& c : suffix) {
            if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
        }
        return unique(entry_.name + "_" + suffix);
    }

    std::string unique(const std::string& base) {
        std::string name = base;
        for (int n = 2; !names_.insert(name).second; ++n)
            name = base + "_" + std::to_string(n);
        return name;
    }

    PassContext& context_;
    Module& module_;
    Function& entry_;
    std::optional<std::size_t> noted_loop_;  // For::noted of the outermost around
    const DeviceScalars scalars_;
    std::vector<std::pair<Var*, Var*>> memory_;  // scalar, its array
    VarSet noted_;  // scalars for which the user has had a note that the host waits
    std::unordered_set<std::string> names_;
};

}  // namespace

void outline_kernels(PassContext& context) {
    if (context.options.automatic || context.options.mapping.contains(kGpuCode))
        join_scalar_blocks(context.module);
    Outliner(context).run();
    for_each_expr(context.module.entry_function()->body, [&](const Expr& e) {
        if (e.op != Op::kCall || e.callee->kind != FunctionKind::kForeign ||
            is_of_host(*e.callee)) {
            return;
        }
        context.diagnostics
            .error(
                Code::kP029, e.span,
                "'" + e.callee->name + "' is a function of the device, but is called on the host")
            .help = "call it in a parallel loop, or put the statement into 'with parpy.gpu:'";
    });
}

}  // namespace parpy
