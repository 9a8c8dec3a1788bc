// neighbourhood() of tune.h. It varies the decisions that the planners make by rules of thumb:
// which legal loop of a nest is spread, over how many threads, in blocks of which size, which
// innermost loops are vectors, how far short loops are unrolled, whether loops are interchanged.
#include "parpy/tune.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/geometry.h"
#include "analysis/traffic.h"
#include "dialects/dialect.h"
#include "ir/clone.h"
#include "ir/depth.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/pass.h"
#include "support/deep_stack.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostThreads = std::int64_t{1} << 30;  // of one loop
constexpr double kResident = 65536;                           // threads that fill a large card
constexpr std::int64_t kUnrollCounts[] = {1, 4, 8};

struct Loop {
    const For* loop = nullptr;
    std::string key;
    int parent = -1;  // index; -1: an outermost loop
    bool innermost = true;
    bool may_run = false;  // in parallel
    bool reduces = false;
    double trips = 0;   // of one execution, at most
    double starts = 0;  // executions per call
};
using Requests = std::vector<LoopPar>;  // one per loop

// A function with its loops in their final order, and the mapping requested for each.
struct Mapped {
    std::vector<Loop> loops;
    Requests requests;
};

std::int64_t whole(const Loop& loop) {
    return std::clamp(static_cast<std::int64_t>(std::ceil(std::min(loop.trips, 1e18))),
                      std::int64_t{1}, kMostThreads);
}

// ---------------------------------------------------------------- one mapping's neighbours

// How a target runs nests of parallel loops.
struct Machine {
    bool grid = false;   // as blocks of threads
    double at_once = 1;  // iterations
    std::int64_t workers = 1;
};

class Steps {
public:
    Steps(const Mapped& program, const Tuned& from, const Machine& machine)
        : loops_(program.loops), from_(from), base_(program.requests), machine_(machine) {}

    std::vector<Neighbour> all() {
        everywhere();
        for (int i = 0; i < size(); ++i)
            structure(i);
        for (int i = 0; i < size(); ++i) {
            if (parallel(base_, i)) counts(i);
        }
        unrolling();
        clusters();
        return std::move(found_);
    }

private:
    [[nodiscard]] int size() const { return static_cast<int>(loops_.size()); }
    [[nodiscard]] const Loop& loop(int i) const { return loops_[static_cast<std::size_t>(i)]; }
    static LoopPar& at(Requests& r, int i) { return r[static_cast<std::size_t>(i)]; }
    static const LoopPar& at(const Requests& r, int i) { return r[static_cast<std::size_t>(i)]; }
    static bool parallel(const Requests& r, int i) { return at(r, i).threads > 0; }

    [[nodiscard]] bool is_inside(int i, int outer) const {
        for (i = loop(i).parent; i >= 0; i = loop(i).parent) {
            if (i == outer) return true;
        }
        return false;
    }
    [[nodiscard]] bool any_inside(const Requests& r, int i) const {
        for (int other = i + 1; other < size(); ++other) {
            if (parallel(r, other) && is_inside(other, i)) return true;
        }
        return false;
    }
    // The innermost parallel loop around the loop; -1: none.
    [[nodiscard]] int around(const Requests& r, int i) const {
        for (i = loop(i).parent; i >= 0 && !parallel(r, i);)
            i = loop(i).parent;
        return i;
    }
    [[nodiscard]] int root(const Requests& r, int i) const {
        for (int outer = around(r, i); outer >= 0; outer = around(r, i))
            i = outer;
        return i;
    }
    [[nodiscard]] bool is_leaf(const Requests& r, int i) const {
        return parallel(r, i) && !any_inside(r, i);
    }

    // ------------------------------------------------------------ the cost of a step

    // Iterations that run at once, if loop `i` contains no parallel loop.
    [[nodiscard]] double at_once(const Requests& r, int i) const {
        double product = 1;
        for (; i >= 0; i = loop(i).parent) {
            const bool counts = machine_.grid || around(r, i) < 0;
            if (parallel(r, i) && counts)
                product *= std::min(static_cast<double>(at(r, i).threads), loop(i).trips);
        }
        return std::clamp(product, 1.0, machine_.at_once);
    }
    [[nodiscard]] double slowdown(const Requests& r) const {
        double most = 1;
        for (int i = 0; i < size(); ++i) {
            if (loop(i).innermost) most = std::max(most, at_once(base_, i) / at_once(r, i));
        }
        return most;
    }
    [[nodiscard]] double starts(const Requests& r) const {
        double sum = 0;
        for (int i = 0; i < size(); ++i) {
            if (parallel(r, i) && around(r, i) < 0) sum += loop(i).starts;
        }
        return sum;
    }

    // ------------------------------------------------------------ the description of a step

    void add(std::string change, const Requests& r, Tuned tuned) {
        tuned.automatic = false;
        tuned.mapping.clear();
        for (int i = 0; i < size(); ++i) {
            if (parallel(r, i)) tuned.mapping[loop(i).key] = at(r, i);
        }
        if (machine_.grid && !tuned.mapping.empty()) tuned.mapping[kGpuCode].threads = 1;
        if (tuned == from_) return;
        if (std::ranges::find(found_, tuned, &Neighbour::tuned) != found_.end()) return;
        found_.push_back({std::move(change), std::move(tuned), slowdown(r), starts(r)});
    }
    void add(std::string change, const Requests& r) { add(std::move(change), tidy(r), from_); }

    // Block sizes belong to the threads of a nest, which must have the same.
    [[nodiscard]] Requests tidy(Requests r) const {
        std::unordered_map<int, std::int64_t> sizes;  // by root
        for (int i = 0; i < size(); ++i) {
            if (!parallel(r, i)) continue;
            at(r, i).reduce = loop(i).reduces;
            std::int64_t& tpb = at(r, i).threads_per_block;
            if (!machine_.grid || !is_leaf(r, i)) {
                tpb = LoopPar::kDefaultThreadsPerBlock;
            } else {
                tpb = sizes.try_emplace(root(r, i), tpb).first->second;
            }
        }
        return r;
    }

    // ------------------------------------------------------------ steps

    static std::string threads_text(std::int64_t n) {
        return std::to_string(n) + (n == 1 ? " thread" : " threads");
    }

    // Adds changes that apply to all nests at once.
    void everywhere() {
        std::vector<int> leaves, roots;
        for (int i = 0; i < size(); ++i) {
            if (!parallel(base_, i)) continue;
            if (is_leaf(base_, i)) leaves.push_back(i);
            if (around(base_, i) < 0) roots.push_back(i);
        }
        if (machine_.grid) {
            if (roots.size() < 2) return;
            for (const std::int64_t tpb : {64, 128, 256, 512}) {
                Requests r = base_;
                for (const int i : leaves)
                    at(r, i).threads_per_block = tpb;
                add("blocks of " + std::to_string(tpb), r);
            }
            return;
        }
        Requests scalar = base_;
        std::size_t vectors = 0;
        for (const int i : leaves) {
            if (around(base_, i) < 0) continue;
            at(scalar, i).threads = 0;
            ++vectors;
        }
        if (vectors > 1) add("no vectors", scalar);
        if (roots.size() < 2) return;
        for (const std::int64_t n : worker_counts()) {
            Requests r = base_;
            for (const int i : roots)
                at(r, i).threads = std::min(n, whole(loop(i)));
            add(threads_text(n), r);
        }
    }

    // Adds mappings in which other loops of the nest run in parallel.
    void structure(int i) {
        if (parallel(base_, i)) {
            in_sequence(i);
            return;
        }
        if (!loop(i).may_run) return;
        Requests r = base_;
        const int outer = around(base_, i);
        at(r, i).threads = whole(loop(i));
        if (!any_inside(base_, i)) {
            as_threads(r, i);
            // The threads become blocks.
            if (machine_.grid && outer >= 0) at(r, outer).threads = whole(loop(outer));
        } else if (!machine_.grid && outer >= 0) {
            return;  // runs in parallel already
        }
        add("loop '" + loop(i).key + "' in parallel", r);
    }

    void in_sequence(int i) {
        Requests r = base_;
        at(r, i).threads = 0;
        const int outer = around(base_, i);
        if (!any_inside(base_, i)) {
            inward(i);
            if (machine_.grid) {
                if (outer < 0) return;  // one thread would remain
                if (!any_inside(r, outer)) as_threads(r, outer);
            }
        }
        add("loop '" + loop(i).key + "' in sequence", r);
    }

    // Moves the threads to a loop inside.
    void inward(int i) {
        for (int inner = i + 1; inner < size() && is_inside(inner, i); ++inner) {
            if (!loop(inner).may_run) continue;
            Requests r = base_;
            at(r, i).threads = 0;
            as_threads(r, inner);
            add("loop '" + loop(inner).key + "' instead of '" + loop(i).key + "'", r);
        }
    }

    // Requests threads for the innermost parallel loop of its branch.
    void as_threads(Requests& r, int i) const {
        LoopPar& request = at(r, i);
        const std::int64_t most = whole(loop(i));
        request.threads = most;
        if (!machine_.grid) return;
        constexpr std::int64_t kTypical = 256;
        request.threads_per_block = LoopPar::kDefaultThreadsPerBlock;
        if (around(r, i) < 0) {
            request.threads_per_block = kTypical;
        } else {
            request.threads = std::min(most, kTypical);
        }
    }

    void counts(int i) {
        if (!machine_.grid) {
            if (around(base_, i) >= 0) return;
            for (const std::int64_t n : worker_counts())
                with_threads(i, std::min(n, whole(loop(i))));
        } else if (!is_leaf(base_, i)) {
            for (const std::int64_t part : {1, 2, 4, 8, 16})
                with_threads(i, (whole(loop(i)) + part - 1) / part);
        } else if (around(base_, i) < 0) {
            alone_on_grid(i);
        } else {
            inside_blocks(i);
        }
    }

    // Bounds with different degrees of parallelism; the last one is no bound.
    [[nodiscard]] std::vector<std::int64_t> worker_counts() const {
        std::vector<std::int64_t> counts{1};
        for (std::int64_t n = 2; n < machine_.workers; n *= 2)
            counts.push_back(n);
        if (machine_.workers > 1) counts.push_back(kMostWorkers);
        std::ranges::reverse(counts);
        return counts;
    }

    void alone_on_grid(int i) {
        for (const std::int64_t tpb : {64, 128, 256, 512, 1024, 32}) {
            Requests r = base_;
            at(r, i).threads_per_block = tpb;
            add("blocks of " + std::to_string(tpb) + " for '" + loop(i).key + "'", r);
        }
        constexpr std::int64_t kFewest = 1 << 12;
        for (std::int64_t n = whole(loop(i)); n >= kFewest; n = n / 2 + n % 2)
            with_threads(i, n);
    }

    void inside_blocks(int i) {
        constexpr std::int64_t kMostSpread = 1 << 16;
        const std::int64_t most = whole(loop(i));
        for (std::int64_t n = kWarpSize; n < 2 * most && n <= kMaxThreadsPerBlock; n *= 2)
            with_threads(i, n);
        for (std::int64_t n = 2 * kMaxThreadsPerBlock; n < most && n <= kMostSpread; n *= 2)
            with_threads(i, n);
        if (loop(i).reduces || most <= kMaxThreadsPerBlock) return;
        for (const std::int64_t tpb : {128, 256, 512}) {
            Requests r = base_;
            at(r, i).threads = most;
            at(r, i).threads_per_block = tpb;
            add("blocks of " + std::to_string(tpb) + " for '" + loop(i).key + "'", r);
        }
    }

    void with_threads(int i, std::int64_t n) {
        Requests r = base_;
        at(r, i).threads = n;
        add(threads_text(n) + " for '" + loop(i).key + "'", r);
        // Consecutive loops in the same blocks share their threads.
        bool several = false;
        for (int other = 0; other < size(); ++other) {
            if (other == i || !is_leaf(base_, other)) continue;
            if (around(base_, other) < 0 || around(base_, other) != around(base_, i)) continue;
            if (at(base_, other).threads != at(base_, i).threads) continue;
            at(r, other).threads = n;
            several = true;
        }
        if (several) add(threads_text(n) + " for '" + loop(i).key + "' and those like it", r);
    }

    void unrolling() {
        for (const std::int64_t count : kUnrollCounts) {
            Tuned tuned = from_;
            tuned.max_unroll_count = count;
            add("unrolled up to " + std::to_string(count), base_, tuned);
        }
    }

    // Adds clusters for reductions that several blocks make together.
    void clusters() {
        const auto spread = [&](const LoopPar& request) {
            return request.reduce && request.threads > request.threads_per_block;
        };
        if (!machine_.grid || std::ranges::none_of(base_, spread)) return;
        Tuned tuned = from_;
        tuned.use_cuda_thread_block_clusters = false;
        add("no clusters", base_, tuned);
        tuned.use_cuda_thread_block_clusters = true;
        for (const std::int64_t blocks : {8, 16}) {
            tuned.max_thread_blocks_per_cluster = blocks;
            add("clusters of up to " + std::to_string(blocks) + " blocks", base_, tuned);
        }
    }

    static constexpr std::int64_t kMostWorkers = 1024;

    const std::vector<Loop>& loops_;
    const Tuned& from_;
    const Requests& base_;
    const Machine machine_;
    std::vector<Neighbour> found_;
};

// ---------------------------------------------------------------- from the surface to the loops

// Finds the loops with their requests in `options`; with the planner's choice if `planned`.
bool analyse(const Module& surface, const Signature& signature, const Options& options,
             bool planned, Mapped& out, Diagnostics& diagnostics) {
    Module module = clone(surface);
    const std::span<const Pass> passes = pipeline(options.backend);
    const auto place = [&](std::string_view name) {
        const auto found = std::ranges::find(passes, name, &Pass::name);
        return static_cast<std::size_t>(found - passes.begin());
    };
    PassContext context{module, options, signature, diagnostics};
    const std::size_t chosen = place("choose-mapping");
    if (!run_passes(context, passes.first(chosen))) return false;

    Function& entry = *module.entry_function();
    const auto keys = mapping_keys(entry), places = place_names(entry);
    ParallelLoops legal(entry, options.deterministic);
    const Traffic traffic = legal.traffic();
    std::vector<For*> order;
    const auto walk = [&](const auto& self, Body& body, int parent) -> void {
        for (Stmt* stmt : body) {
            int around = parent;
            if (auto* loop = stmt->as<For>()) {
                around = static_cast<int>(order.size());
                order.push_back(loop);
                if (parent >= 0) out.loops[static_cast<std::size_t>(parent)].innermost = false;
                const LoopFacts& facts = legal.facts(*loop);
                const int above =
                    parent >= 0 ? legal.accesses().loop_of(order[static_cast<std::size_t>(parent)])
                                : -1;
                Loop& made = out.loops.emplace_back();
                made.loop = loop;
                made.key = keys.at(loop);
                made.parent = parent;
                made.reduces = legal.reduces(*loop);
                made.may_run =
                    legal.legal(*loop) || !legal.scattered(*loop).empty() ||
                    (options.legality == Legality::kTrust && facts.verdict == Verdict::kUnknown);
                made.trips = traffic.most_trips(*loop);
                made.starts = traffic.runs(above);
            }
            for_each_body(*stmt, [&](Body& inner) { self(self, inner, around); });
        }
    };
    walk(walk, entry.body, -1);

    if (planned) passes[chosen].run(context);
    for (For* loop : order) {
        LoopPar& request = out.requests.emplace_back();
        const LoopMapping& mapping = loop->mapping;
        if (planned) {
            request = {mapping.threads, mapping.threads > 0 && mapping.reduce,
                       mapping.threads_per_block};
            continue;
        }
        std::vector<std::string> names = loop->labels;
        names.push_back(places.at(loop));
        for (const std::string& name : names) {
            const auto asked = options.mapping.find(name);
            if (asked != options.mapping.end()) request = asked->second;
        }
    }
    return !diagnostics.has_errors();
}

Tuned as_mapping(const Mapped& program, const Options& options, bool grid) {
    Tuned tuned = tuned_part(options);
    tuned.automatic = false;
    tuned.restructure = options.restructures();
    tuned.mapping.clear();
    for (std::size_t i = 0; i < program.loops.size(); ++i) {
        if (program.requests[i].threads > 0)
            tuned.mapping[program.loops[i].key] = program.requests[i];
    }
    if (grid && !tuned.mapping.empty()) tuned.mapping[kGpuCode].threads = 1;
    return tuned;
}

void neighbours_here(const Module& surface, const Signature& signature, const Options& options,
                     std::int64_t workers, Diagnostics& diagnostics, Neighbourhood& out) {
    Mapped program;
    if (!analyse(surface, signature, options, options.automatic, program, diagnostics)) return;
    const bool grid = device_dialect(options.backend) != nullptr;
    const Machine machine{grid, grid ? kResident : static_cast<double>(workers), workers};
    out.loops = program.loops.size();
    out.parallel = static_cast<std::size_t>(
        std::ranges::count_if(program.loops, [](const Loop& loop) { return loop.may_run; }));
    out.start = as_mapping(program, options, grid);

    // The loops in their original order, with the planner's mapping.
    Options written = options;
    written.automatic = written.restructure = false;
    written.mapping.clear();
    Mapped plain;
    Diagnostics unused;
    if (options.automatic && analyse(surface, signature, written, true, plain, unused)) {
        const Tuned tuned = as_mapping(plain, written, grid);
        constexpr double kSlower = 8;  // allowed slowdown by their order
        if (tuned.mapping != out.start.mapping)
            out.neighbours.push_back({"loops as written", tuned, kSlower, 0});
    }
    for (Neighbour& each : Steps(program, out.start, machine).all()) {
        out.neighbours.push_back(std::move(each));
    }
}

}  // namespace

Tuned tuned_part(const Options& options) {
    return {options.mapping,
            options.automatic,
            options.restructure,
            options.max_unroll_count,
            options.use_cuda_thread_block_clusters,
            options.max_thread_blocks_per_cluster};
}

Options with_tuned(Options options, const Tuned& tuned) {
    options.mapping = tuned.mapping;
    options.automatic = tuned.automatic;
    options.restructure = tuned.restructure;
    options.max_unroll_count = tuned.max_unroll_count;
    options.use_cuda_thread_block_clusters = tuned.use_cuda_thread_block_clusters;
    options.max_thread_blocks_per_cluster = tuned.max_thread_blocks_per_cluster;
    return options;
}

Neighbourhood neighbourhood(const Module& surface, const Signature& signature,
                            const Options& options, std::int64_t workers,
                            Diagnostics& diagnostics) {
    Neighbourhood out;
    try {
        where_it_fits(nests_deeply(surface), [&] {
            neighbours_here(surface, signature, options, workers, diagnostics, out);
        });
    } catch (const std::exception& e) {
        diagnostics.internal({}, std::string("the compiler failed: ") + e.what());
    }
    return out;
}

}  // namespace parpy
