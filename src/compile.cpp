// The pipeline: which passes run for which back end, in which order, and why in that order.
// `parpy-opt --print-pipeline` prints this table.
#include "parpy/compile.h"

#include <algorithm>

#include "analysis/pragmas.h"
#include "dialects/dialect.h"
#include "ir/visit.h"
#include "passes/aggregates/lower_aggregates.h"
#include "passes/checks/check_bounds.h"
#include "passes/checks/count_loops.h"
#include "passes/checks/guard_operands.h"
#include "passes/checks/guard_recursion.h"
#include "passes/checks/guard_steps.h"
#include "passes/checks/guard_subscripts.h"
#include "passes/checks/guard_variables.h"
#include "passes/checks/instrument_bounds.h"
#include "passes/checks/instrument_races.h"
#include "passes/checks/normalize_accesses.h"
#include "passes/cpu/block_columns.h"
#include "passes/cpu/contract_loops.h"
#include "passes/cpu/legalize_cpu.h"
#include "passes/cpu/lower_divisions.h"
#include "passes/cpu/outline_workers.h"
#include "passes/cpu/simplify_signs.h"
#include "passes/cuda/contractions/contract_kernels.h"
#include "passes/cuda/jam_loops.h"
#include "passes/cuda/kernels/split_kernels.h"
#include "passes/cuda/legalize_cuda_barriers.h"
#include "passes/cuda/legalize_cuda_calls.h"
#include "passes/cuda/legalize_cuda_loops.h"
#include "passes/cuda/legalize_cuda_reductions.h"
#include "passes/cuda/narrow_indices.h"
#include "passes/cuda/outline_kernels.h"
#include "passes/cuda/overlap_launches.h"
#include "passes/cuda/pair_iterations.h"
#include "passes/cuda/promote_elements.h"
#include "passes/legality/check_legality.h"
#include "passes/legality/check_pragmas.h"
#include "passes/loops/fold_constants.h"
#include "passes/loops/lower_assertions.h"
#include "passes/loops/narrow_math.h"
#include "passes/loops/normalize_indices.h"
#include "passes/loops/normalize_loops.h"
#include "passes/loops/normalize_returns.h"
#include "passes/loops/settle_reductions.h"
#include "passes/mapped/atomic_updates.h"
#include "passes/mapped/choose_mapping.h"
#include "passes/mapped/flatten_loops.h"
#include "passes/mapped/infer_reductions.h"
#include "passes/mapped/map_loops.h"
#include "passes/mapped/normalize_reductions.h"
#include "passes/mapped/note_host_loops.h"
#include "passes/mapped/simplify_divisions.h"
#include "passes/nests/collapse_loops.h"
#include "passes/nests/contract_arrays.h"
#include "passes/nests/distribute_loops.h"
#include "passes/nests/expand_arrays.h"
#include "passes/nests/factor_reductions.h"
#include "passes/nests/fuse_loops.h"
#include "passes/nests/fuse_outer_loops.h"
#include "passes/nests/inline_producers.h"
#include "passes/nests/inline_selections.h"
#include "passes/nests/interchange_loops.h"
#include "passes/parts/part_text.h"
#include "passes/parts/partition_loops.h"
#include "passes/pass.h"
#include "passes/scans/split_scans.h"
#include "passes/scans/split_searches.h"
#include "passes/scans/split_updates.h"
#include "passes/slices/lower_slices.h"
#include "passes/slices/order_calls.h"
#include "passes/stencils/tile_time.h"
#include "passes/steps/block_steps.h"
#include "passes/types/check_doubles.h"
#include "passes/types/check_labels.h"
#include "passes/types/infer_types/infer_types.h"
#include "passes/types/inline_calls.h"
#include "passes/types/make_workers.h"
#include "passes/types/normalize_labels.h"
#include "passes/types/specialize_arguments.h"
#include "passes/values/inline_arrays.h"
#include "passes/values/lower_names.h"
#include "passes/values/place_arrays.h"
#include "passes/waves/skew_loops.h"

namespace parpy {
namespace {

enum class On : std::uint8_t { kAll, kCpu, kCuda };

struct Row {
    Pass pass;
    On on;
    void (*on_cuda)(PassContext&) = nullptr;  // the function for CUDA, if it differs
};

using enum ir::Profile;

bool chooses(const PassContext& context) {
    return context.options.automatic;
}
bool chooses_some(const PassContext& context) {
    return context.options.automatic || has_pragmas(context.module);
}
bool restructures(const PassContext& context) {
    return context.options.restructures();
}
bool factors(const PassContext& context) {
    return context.options.restructures() && !context.options.deterministic;
}
bool searches(const PassContext& context) {
    // The user's flags may fuse operations of one reduction and not of the other.
    const Options& options = context.options;
    return options.restructures() && !options.fast_math && options.extra_flags.empty();
}
// A mapping by hand has no names for the loops over blocks.
bool scans(const PassContext& context) {
    return context.options.automatic && searches(context);
}
bool is_part(const PassContext& context) {
    return part_text(context.module) != nullptr;
}
bool has_settled_bits(const PassContext& context) {
    return context.options.deterministic;
}
bool chosen_by_hand(const PassContext& context) {
    return !context.options.automatic;
}
bool asks_for_loops(const PassContext& context) {
    return chosen_by_hand(context) && context.options.legality != Legality::kTrust;
}
bool lacks_double(const PassContext& context) {
    return !kernel_dialect(context.options.backend).has_double;
}
bool overlaps(const PassContext& context) {
    return kernel_dialect(context.options.backend).overlaps_launches;
}
bool reports(const PassContext& context) {
    return kernel_dialect(context.options.backend).reports_failures;
}
bool guards_subscripts(const PassContext& context) {
    return reports(context) && !checks_subscripts(context);
}
bool checks_races(const PassContext& context) {
    return context.options.checks_races();
}
// clang-format off
const std::vector<Row>& table() {
    static const std::vector<Row> rows = {
        {{"make-workers", make_workers, kSurface,
          "before normalize-labels, which drops the pragmas that a mapping by hand replaces: the names of loops in a mapping must not depend on pragmas"}, On::kCuda},
        {{"normalize-labels", normalize_labels, kSurface,
          "before all later passes, which look up labels by the name that a mapping gives"}, On::kAll},
        {{"check-labels", check_labels, kSurface,
          "before any code is folded away: a label in a branch that this call never takes is not a mistake"}, On::kAll},
        {{"specialize-arguments", specialize_arguments, kSurface,
          "before every pass that depends on the call: types and shapes come from its arguments"}, On::kAll},
        {{"lower-aggregates", lower_aggregates, kSurface,
          "after specialize-arguments, which sets the number of dimensions of arrays; later passes know only numbers and arrays"}, On::kAll},
        {{"inline-calls", inline_calls, kSurface,
          "before types are inferred: afterwards a function is copied for each combination of arguments"}, On::kAll},
        {{"check-doubles", check_doubles, kSurface,
          "as soon as the arguments are known: types that the device does not have are refused before inference", lacks_double}, On::kAll},
        {{"infer-types", infer_types, kValues,
          "as soon as parameters have types: nothing else works on untyped expressions"}, On::kAll},
        {{"inline-arrays", inline_arrays, kValues,
          "right after infer-types, which finds the functions that return arrays; later passes know only names of arrays"}, On::kAll},
        {{"fold-constants", fold_constants, kValues,
          "before every pass that needs constants: bounds, subscripts, conversions of literals"}, On::kAll},
        {{"lower-names", lower_names, kTyped,
          "after fold-constants, which turns sizes into numbers; before every pass that asks which arrays share memory, because a name shares the memory of its array"}, On::kAll},
        {{"order-calls", order_calls, kTyped,
          "as soon as types tell which arrays a call writes; before passes hoist the bounds of slices and loops"}, On::kAll},
        {{"lower-assertions", lower_assertions, kTyped,
          "after constants are folded, which decides some assertions; before uses are counted: dropped assertions read nothing"}, On::kAll},
        {{"narrow-math", narrow_math, kTyped,
          "after constants have their final type: it looks at conversions to and from f64"}, On::kAll},
        {{"normalize-loops", normalize_loops, kTyped,
          "before intervals are computed: they need loop variables that only the loop assigns"}, On::kAll},
        {{"lower-slices", lower_slices, kTyped,
          "after fold-constants and normalize-loops: intervals of values decide how sizes compare and which bounds are clamped"}, On::kAll},
        {{"normalize-indices", normalize_indices, kLoops,
          "after the other normal forms: signs of subscripts follow from the ranges of the final loop variables"}, On::kAll},
        {{"check-bounds", check_bounds, kLoops,
          "as soon as subscripts have their final form: a refused program needs no mapping"}, On::kAll},
        {{"check-new-doubles", check_new_doubles, kLoops,
          "after infer-types and lower-slices, which make arrays; before any loop is judged or moved", lacks_double}, On::kAll},
        {{"partition-loops", partition_cpu_loops, kLoops,
          "opts.devices: while nests are as written, because the partition refers to them so; before any loop is judged or moved", is_part}, On::kAll, partition_cuda_loops},
        {{"expand-arrays", expand_cpu_arrays, kLoops,
          "before check-pragmas, which runs loops in order whose iterations share memory for their values"}, On::kAll, expand_cuda_arrays},
        {{"check-pragmas", check_pragmas, kLoops,
          "while loops are still those that the pragmas name: later passes split, merge and move them"}, On::kAll},
        {{"settle-reductions", settle_reductions, kLoops,
          "opts.deterministic: before loops are moved, merged or mapped, which must not decide which operations are fused", has_settled_bits}, On::kAll},
        {{"inline-selections", inline_selections, kLoops,
          "before every pass that moves statements between the selection and its uses; before inline-producers, which computes masks where they are used", restructures}, On::kAll},
        {{"block-steps", block_cpu_steps, kLoops,
          "before distribute-loops, which splits steps whose parts still depend on each other", restructures}, On::kAll, block_cuda_steps},
        {{"distribute-loops", distribute_cpu_loops, kLoops,
          "before fuse-loops, which may join the separated parts with their neighbours", restructures}, On::kAll, distribute_cuda_loops},
        {{"inline-producers", inline_cpu_producers, kLoops,
          "before fuse-loops: nests that store arrays of their own are still separate", restructures}, On::kAll, inline_cuda_producers},
        {{"fuse-loops", fuse_loops, kLoops,
          "while nests are as written: interchange-loops may give two of them different orders", restructures}, On::kAll},
        {{"contract-arrays", contract_arrays, kLoops,
          "after fuse-loops, which puts loads and stores of an array into one loop; before any loop is judged that shares the array's memory", restructures}, On::kAll},
        {{"interchange-loops", interchange_cpu_loops, kLoops,
          "before choose-mapping, which maps the loops in their new order", restructures}, On::kAll, interchange_cuda_loops},
        {{"fuse-outer-loops", fuse_cpu_outer_loops, kLoops,
          "after interchange-loops, which moves independent loops outwards, so that neighbouring loops may be alike", restructures}, On::kAll, fuse_cuda_outer_loops},
        {{"skew-loops", skew_loops, kLoops,
          "after every pass that finds more parallel loops in nests as written; before collapse-loops and choose-mapping, which judge the new loops", restructures}, On::kCuda},
        {{"collapse-loops", collapse_cpu_loops, kLoops,
          "after interchange-loops, which decides which loops are directly inside of each other", restructures}, On::kAll, collapse_cuda_loops},
        {{"factor-reductions", factor_reductions, kLoops,
          "after collapse-loops, which may merge several loops over columns into one", factors}, On::kCuda},
        {{"split-searches", split_searches, kLoops,
          "after every pass that moves loops, because its cost model judges a search where it will run; before choose-mapping, which maps the two reductions", searches}, On::kCuda},
        {{"split-scans", split_scans, kLoops,
          "after split-searches, for the same reasons; before choose-mapping, which maps the blocks of iterations", scans}, On::kCuda},
        {{"split-updates", split_updates, kLoops,
          "after every pass that moves loops, because its cost model judges a loop where it will run; before choose-mapping, which maps the blocks of iterations", restructures}, On::kCpu},
        {{"normalize-returns", normalize_cpu_returns, kLoops,
          "before choose-mapping and map-loops put code into Gpu blocks, which no return may leave"}, On::kAll, normalize_cuda_returns},
        {{"choose-mapping", choose_cpu_mapping, kLoops,
          "automatic mode and pragmas: before map-loops, which treats the choice like a user's", chooses_some}, On::kAll, choose_cuda_mapping},
        {{"map-loops", map_cpu_loops, kMapped,
          "after the loops have their final form: levels follow from the nesting of parallel loops"}, On::kAll, map_cuda_loops},
        {{"infer-reductions", infer_reductions, kMapped,
          "after map-loops: only parallel loops are examined, and each gets the list of its reductions"}, On::kAll},
        {{"atomic-updates", atomic_updates, kMapped,
          "after infer-reductions: reductions need no atomics; before check-legality, which refuses the remaining updates"}, On::kAll},
        {{"check-legality", check_legality, kMapped,
          "after infer-reductions, whose updates may run in any order; before anything is rewritten for a target", chosen_by_hand}, On::kAll},
        {{"note-host-loops", note_host_loops, kMapped,
          "after check-legality, which refuses first and finds the conditions that calls must satisfy; while loops are those of the source", asks_for_loops}, On::kCuda},
        {{"normalize-reductions", normalize_reductions, kMapped,
          "before passes place code around the loops, which must not touch an element that no iteration updates"}, On::kAll},
        {{"guard-operands", guard_operands, kMapped,
          "after every pass that rejects or maps loops; before normalize-accesses, which splits the expressions that the guards read", reports}, On::kAll},
        {{"guard-subscripts", guard_subscripts, kMapped,
          "after and before the same passes as guard-operands, where instrument-bounds does not check all subscripts", guards_subscripts}, On::kAll},
        {{"normalize-accesses", normalize_accesses, kMapped,
          "opts.check, and on the simulator: after every pass that rejects or maps loops, so that diagnostics are the same with checking on or off", checks_subscripts}, On::kAll},
        {{"instrument-bounds", instrument_bounds, kMapped,
          "opts.check: before instrument-races, whose marks have the subscripts of the accesses that they watch", checks_subscripts}, On::kAll},
        {{"guard-variables", guard_variables, kMapped,
          "after every pass that asks which scalars an iteration passes on, because it adds some; before instrument-races, which makes all loops sequential"}, On::kAll},
        {{"instrument-races", instrument_races, kMapped,
          "opts.check: after the other checks, because it makes all loops sequential", checks_races}, On::kCpu},
        {{"guard-recursion", guard_recursion, kMapped,
          "after every pass that compares calls with the called functions; before their callers become kernels"}, On::kAll},
        {{"guard-steps", guard_steps, kMapped,
          "while loops are those of the source; before count-loops, which computes numbers of iterations from steps that are not zero"}, On::kAll},
        {{"count-loops", count_loops, kMapped,
          "after the last pass that identifies iterations by the loop variable; before loops are spread over threads, which lengthens their steps"}, On::kAll},
        {{"simplify-divisions", simplify_divisions, kMapped,
          "after every pass that makes divisions; while the ranges of parameters and variables hold in the whole function"}, On::kAll},
        {{"place-arrays", place_arrays, kMapped,
          "as soon as the threads of each statement are known; before split-kernels, which finds the arrays that kernels share"}, On::kCuda},
        {{"tile-time", tile_cpu_time, kMapped,
          "automatic mode: after every pass that compares or analyses subscripts, on CUDA also after place-arrays; before split-kernels, which splits nests", chooses}, On::kAll, tile_cuda_time},
        {{"contract-kernels", contract_kernels, kMapped,
          "automatic mode: after every pass that compares or analyses subscripts, and after place-arrays, which gives memory to arrays of loops; before split-kernels, which splits nests", chooses}, On::kCuda},
        {{"flatten-loops", flatten_loops, kMapped,
          "after contract-kernels, which computes some of these nests in tiles, and after every pass that analyses subscripts; before split-kernels, which splits nests", chooses}, On::kCuda},
        {{"split-kernels", split_kernels, kMapped,
          "after infer-reductions: several kernels may update a reduced scalar, but statements that share another scalar stay in one kernel"}, On::kCuda},
        {{"narrow-indices", narrow_indices, kMapped,
          "before kernels are outlined: variables that are narrow there are narrow in their parameters too"}, On::kCuda},
        {{"outline-kernels", outline_kernels, kKernels,
          "after split-kernels: every nest is now one kernel"}, On::kCuda},
        {{"jam-loops", jam_loops, kKernels,
          "while loops still have levels, which say how many iterations a thread runs; before legalize-cuda-reductions, which splits updates"}, On::kCuda},
        {{"legalize-cuda-calls", legalize_cuda_calls, kKernels,
          "before legalize-cuda-reductions, which adds calls that every thread must make"}, On::kCuda},
        {{"legalize-cuda-reductions", legalize_cuda_reductions, kKernels,
          "while loops still have levels: they say which threads hold partial values"}, On::kCuda},
        {{"legalize-cuda-barriers", legalize_cuda_barriers, kKernels,
          "after legalize-cuda-reductions, whose exchange through shared memory needs barriers too"}, On::kCuda},
        {{"legalize-cuda-loops", legalize_cuda_loops, kTarget,
          "after the passes that read levels, which it replaces by hardware indices"}, On::kCuda},
        {{"promote-elements", promote_elements, kTarget,
          "after the loops of threads have their final form: it keeps elements in registers that one thread touches in several of them"}, On::kCuda},
        {{"pair-iterations", pair_iterations, kTarget,
          "after promote-elements, which recognises loops only in the form that they have before"}, On::kCuda},
        {{"overlap-launches", overlap_launches, kTarget,
          "last on the GPU: all launches exist, and no statement may precede the wait that it adds at the start of a kernel", overlaps}, On::kCuda},
        {{"contract-loops", contract_loops, kMapped,
          "after every pass that compares or analyses subscripts, because it makes new ones; before simplify-signs, for the subscripts that it copies"}, On::kCpu},
        {{"block-columns", block_columns, kMapped,
          "after contract-loops, which makes faster code where both apply; otherwise for the same reasons", restructures}, On::kCpu},
        {{"simplify-signs", simplify_signs, kMapped,
          "after every pass that compares or analyses subscripts: it writes each subscript in two forms"}, On::kCpu},
        {{"lower-divisions", lower_divisions, kMapped,
          "after every pass that analyses subscripts, and simplify-signs, whose conditions may divide; while ranges of loop variables are known"}, On::kCpu},
        {{"outline-workers", outline_workers, kKernels,
          "after every pass that needs a whole nest: it turns the loops of the workers into functions"}, On::kCpu},
        {{"legalize-cpu", legalize_cpu, kTarget,
          "after every pass that recognises reductions by their updates, because it leaves none"}, On::kCpu},
    };
    return rows;
}
// clang-format on

std::vector<Pass> passes_for(On target) {
    std::vector<Pass> passes;
    for (const Row& row : table()) {
        if (row.on != On::kAll && row.on != target) continue;
        passes.push_back(row.pass);
        if (target == On::kCuda && row.on_cuda != nullptr) passes.back().run = row.on_cuda;
    }
    return passes;
}

}  // namespace

std::span<const Pass> pipeline(Backend backend) {
    static const std::vector<Pass> cpu = passes_for(On::kCpu);
    static const std::vector<Pass> cuda = passes_for(On::kCuda);
    return backend == Backend::kCpu ? cpu : cuda;
}

const Pass* find_pass(std::string_view name, Backend backend) {
    for (const Backend searched : {backend, Backend::kCpu, Backend::kCuda}) {
        const std::span<const Pass> passes = pipeline(searched);
        const auto found = std::ranges::find(passes, name, &Pass::name);
        if (found != passes.end()) return &*found;
    }
    return nullptr;
}

}  // namespace parpy
