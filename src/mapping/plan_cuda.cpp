// The GPU's cost model. A nest becomes a kernel at its outermost legal loop, or further inside if
// that is faster; within a kernel one loop of each branch becomes threads, and the loops around it
// become blocks. The cost of a choice is the greater of two times: that of the memory it moves (32
// threads whose elements are neighbours share transactions), at the bandwidth of this many threads,
// and that of the longest thread. The figures are those of a large card; a program has the same
// mapping everywhere.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/geometry.h"
#include "analysis/jams.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/stencils/stencils.h"
#include "analysis/uses.h"
#include "ir/visit.h"
#include "mapping/plan.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kFetch = 10000;          // ns until the host has a result of a kernel
constexpr double kBytesPerNs = 4000;      // of the whole card
constexpr double kBlockBytesPerNs = 140;  // of one block, for data that it has used before
constexpr double kSector = 32;            // bytes: the smallest transfer
constexpr double kStep = 400;             // ns from one loop of a single block to the next
constexpr double kLatency = 4;            // of the threads of one block: too few to hide it
constexpr double kWhileSteps = 64;        // iterations of a while loop
constexpr double kSlower = 30;            // one GPU thread relative to one CPU core
constexpr std::int64_t kThreadsPerBlock = 256;
constexpr std::int64_t kMostPerBlock = 1024;
constexpr std::int64_t kThreadsPerJam = 128;  // per block, if threads have many registers each
constexpr std::int64_t kMostAlone = std::int64_t{1} << 30;  // of a loop without a loop around it
constexpr std::int64_t kMostReducing = kMultiprocessors * kResidentThreads;  // resident at once
// Iterations of a reducing thread before more threads join it: threads of the block, on a card that
// is busy in any case; threads of other blocks.
constexpr std::int64_t kPerReducingThread = 64;
constexpr std::int64_t kPerSpreadThread = 16;
constexpr double kUneven = 4;                    // times the mean number of iterations are rare
constexpr double kUnknownReduced = 64;           // iterations of a reduction if nothing is known
constexpr std::int64_t kMostReducingBusy = 512;  // threads of a block: several fit a processor

// The iterations of two loops that a thread runs side by side.
struct Jammed {
    const For* outer = nullptr;
    const For* inner = nullptr;
    std::int64_t rows = 1, columns = 1;
};

class CudaPlanner {
public:
    explicit CudaPlanner(ParallelLoops& loops)
        : loops_(loops), traffic_(loops.traffic()), time_(traffic_) {}

    Plan host(Body& stmts) {
        Plan plan;
        for (Stmt* stmt : stmts)
            plan.append(host(*stmt));
        return plan;
    }

private:
    // ------------------------------------------------------------ host code

    Plan host(Stmt& stmt) {
        if (!uses_arrays(stmt)) return {};
        const Plan alone{kLaunchTime + kSlower * time_.of(stmt), {}};
        if (stmt.kind == StmtKind::kGpu) return alone;
        bool nested = false, fetched = false;
        for_each_body(stmt, [&](const Body&) { nested = true; });
        for_each_slot(stmt, [&](const Expr* slot) { fetched = fetched || uses_arrays(*slot); });
        Plan best = alone;
        if (nested) {
            auto* loop = stmt.as<For>();
            const double times = loop != nullptr                 ? traffic_.trips(*loop)
                                 : stmt.kind == StmtKind::kWhile ? kWhileSteps
                                                                 : 1;
            Plan inside;
            if (fetched) inside.nanoseconds = kFetch * (stmt.kind == StmtKind::kWhile ? times : 1);
            for_each_body(stmt, [&](Body& inner) { inside.append(host(inner), times); });
            if (!inside.choices.empty() && inside.nanoseconds < best.nanoseconds) best = inside;
            if (const auto block = one_block(stmt); block && block->nanoseconds < best.nanoseconds)
                best = *block;
        }
        if (auto* loop = stmt.as<For>()) {
            if (may_run(*loop)) {
                executions_ = executions(*loop);
                Plan kernel = threads(*loop, 1, true);
                kernel.nanoseconds += kLaunchTime;
                if (kernel.nanoseconds <= best.nanoseconds) best = kernel;
            }
        }
        return best;
    }

    // ------------------------------------------------------------ one block

    // A loop of the host whose parallel loops are so short that a block runs all of it sooner than
    // kernels are launched.
    std::optional<Plan> one_block(Stmt& stmt) {
        auto* loop = stmt.as<For>();
        const bool spins = stmt.kind == StmtKind::kWhile;
        if ((loop == nullptr && !spins) || !only_computes({&stmt}) || has_pragma(stmt) ||
            (loop != nullptr && is_stencil(*loop))) {
            return std::nullopt;
        }
        std::vector<For*> children;
        for_each_body(stmt, [&](Body& body) { legal_children(body, children); });
        if (children.empty()) return std::nullopt;
        // The traffic does not count the iterations of while loops.
        const double times = spins ? kWhileSteps : 1;
        executions_ = loop != nullptr ? executions(*loop) : executions(*children[0]);
        Plan plan;
        plan.in_one_block = {&stmt};
        double outside = time_.of(stmt);
        for (For* child : children) {
            if (!loops_.legal(*child)) return std::nullopt;
            const double runs = times * executions(*child) / executions_;
            outside -= runs * time_.of(*child);
            plan.append(in_block(*child), times);
            plan.nanoseconds += runs * kStep;
        }
        plan.nanoseconds += kLaunchTime + kSlower * std::max(outside, 0.0);
        return plan;
    }

    bool is_stencil(const For& loop) {
        if (!stencils_) stencils_ = find_stencils(loops_.entry);
        return std::ranges::any_of(stencils_->found,
                                   [&](const Stencil& s) { return s.time == &loop; });
    }

    // The threads of a block run the loop, or all iterations of nested loops (flatten_loops).
    Plan in_block(For& loop) {
        Plan plan;
        For* lanes = &loop;
        double trips = traffic_.most_trips(loop);
        while (For* inner = nested_in(*lanes)) {
            plan.choices.push_back({lanes, blocks_of(*lanes)});
            lanes = inner;
            trips *= traffic_.most_trips(*inner);
        }
        trips = std::clamp(std::ceil(trips), 1.0, static_cast<double>(kMostPerBlock));
        LoopPar request{.threads = static_cast<std::int64_t>(trips)};
        request.reduce = loops_.reduces(*lanes);
        plan.choices.push_back({lanes, request});
        const double bytes = moved(loop, loops_.accesses().loop_of(lanes), nullptr);
        plan.nanoseconds = std::max(bytes / kBlockBytesPerNs, kLatency * longest(loop, trips));
        return plan;
    }

    // The loop that ends the body of `outer`, behind assignments, if the iterations of both are
    // independent.
    For* nested_in(For& outer) {
        const auto independent = [&](For& each) {
            return loops_.legal(each) && !loops_.reduces(each);
        };
        auto* inner = outer.body.empty() ? nullptr : outer.body.back()->as<For>();
        if (inner == nullptr || !independent(outer) || !independent(*inner)) return nullptr;
        const bool only = std::ranges::all_of(outer.body, [&](const Stmt* stmt) {
            return stmt == inner || stmt->kind == StmtKind::kAssign;
        });
        return only ? inner : nullptr;
    }

    // ------------------------------------------------------------ inside a kernel

    // Plans `loop` and its body as part of a kernel that has `around` blocks so far. `alone`: these
    // blocks run nothing else. `together`: the number of threads that consecutive loops in a block
    // share; 0: each loop chooses its own.
    Plan threads(For& loop, double around, bool alone, std::int64_t together = 0) {
        Plan best = as_threads(loop, around, alone, together);
        std::vector<For*> children;
        legal_children(loop.body, children);
        // A single block has only threads.
        if (children.empty() || single_) return best;
        const double blocks = around * traffic_.trips(loop);
        Plan nested{rest(loop, children, blocks), {{&loop, blocks_of(loop)}}};
        const bool single = blocks == 1 && constant_trip_count(loop) == 1 &&
                            std::ranges::any_of(children, [&](For* child) {
                                return executions(*child) > executions(loop);
                            });
        const bool before = std::exchange(single_, single_ || single);
        if (single) {
            for (For* child : children)
                nested.nanoseconds += kStep * executions(*child) / executions_;
        }
        const bool only = alone && children.size() == 1 && tight(loop, *children[0]);
        // Threads beyond the number of the narrowest loop would idle in it.
        std::int64_t common = 0;
        for (For* child : children) {
            if (children.size() > 1 && loops_.reduces(*child))
                common = std::max(common, reducing_threads(*child, blocks));
        }
        for (For* child : children)
            nested.append(threads(*child, blocks, only, common));
        single_ = before;
        if (nested.nanoseconds < best.nanoseconds) best = nested;
        if (only) {
            if (const auto plan = jammed(loop, *children[0], around);
                plan && plan->nanoseconds < best.nanoseconds)
                best = *plan;
        }
        return best;
    }

    // `outer` becomes blocks and `inner` threads, each with several iterations that share loads
    // (jam_loops).
    std::optional<Plan> jammed(For& outer, For& inner, double around) {
        const auto rows = constant_trip_count(outer), columns = constant_trip_count(inner);
        const auto independent = [&](For& loop) {
            return loops_.legal(loop) && !loops_.reduces(loop);
        };
        if (!rows || !columns || !independent(outer) || !independent(inner)) return std::nullopt;
        const std::optional<Jam> jam = jam_of({&outer, &inner});
        if (!jam) return std::nullopt;
        std::optional<Plan> best;
        for (std::int64_t r = jam->shares[0] ? kMostJammed : 1; r > 0; r /= 2) {
            for (std::int64_t c = jam->shares[1] ? kMostJammed : 1; c > 0; c /= 2) {
                // A loop over one block is no dimension of the grid.
                if (r * c == 1 || r * c > jam->most || r >= *rows) continue;
                const Choice blocks{&outer, {.threads = (*rows + r - 1) / r}};
                const Choice threads{
                    &inner,
                    {.threads = (*columns + c - 1) / c, .threads_per_block = kThreadsPerJam}};
                const double busy = around * static_cast<double>(blocks.request.threads) *
                                    static_cast<double>(threads.request.threads);
                const double bytes = moved(outer, loops_.accesses().loop_of(&inner), nullptr,
                                           {&outer, &inner, r, c});
                Plan plan{std::max(bytes / bandwidth(busy), longest(inner, busy)),
                          {blocks, threads}};
                if (!best || plan.nanoseconds < best->nanoseconds) best = plan;
            }
        }
        return best;
    }

    // Adds the outermost loops in `stmts` that may run in parallel.
    void legal_children(Body& stmts, std::vector<For*>& found) {
        for (For* loop : outermost_loops(stmts)) {
            if (may_run(*loop)) {
                found.push_back(loop);
            } else {
                legal_children(loop->body, found);
            }
        }
    }

    bool may_run(For& loop) { return loops_.legal(loop) || !loops_.scattered(loop).empty(); }

    static bool tight(const For& outer, const For& inner) {
        return outer.body.size() == 1 && outer.body[0] == &inner;
    }

    // Threads per block of a reduction: as few as keep the card busy, for they wait the least.
    [[nodiscard]] std::int64_t reducing_threads(const For& loop, double blocks) const {
        const double most = traffic_.known_trips(loop).value_or(kUnknownReduced);
        const double trips = std::min(most, kUneven * traffic_.trips(loop));
        std::int64_t threads = kWarpSize;
        const auto enough = [&] {
            const bool busy = blocks * static_cast<double>(threads) >= kThreadsAtOnce;
            if (!busy) return static_cast<double>(threads) >= trips;
            return threads >= kMostReducingBusy ||
                   static_cast<double>(threads * kPerReducingThread) >= trips;
        };
        while (threads < kMostPerBlock && !enough())
            threads *= 2;
        return threads;
    }

    Plan as_threads(For& loop, double around, bool alone, std::int64_t together) {
        LoopPar request;
        request.reduce = loops_.reduces(loop);
        const double trips = traffic_.most_trips(loop);
        const auto whole = static_cast<std::int64_t>(
            std::clamp(std::ceil(trips), 1.0, static_cast<double>(kMostAlone)));
        if (around == 1 && !single_) {
            request.threads = request.reduce ? std::min(whole, kMostReducing) : whole;
            request.threads_per_block = kThreadsPerBlock;
        } else if (together > 0) {
            request.threads = together;
        } else if (request.reduce) {
            request.threads = reducing_threads(loop, around);
        } else if (!alone || single_ || whole <= kMostPerBlock) {
            request.threads = std::min(whole, kMostPerBlock);
        } else {
            request.threads = whole;
            request.threads_per_block = kThreadsPerBlock;
        }
        Plan plan = timed(loop, around, request);
        const std::int64_t spread = many_blocks(trips, around);
        if (around > 1 && together == 0 && spread > kMostPerBlock && reduces_elements(loop)) {
            request.threads = spread;
            Plan other = timed(loop, around, request);
            if (!alone) other.nanoseconds += 2 * kLaunchTime;  // the kernels before and after it
            if (other.nanoseconds < plan.nanoseconds) plan = other;
        }
        return plan;
    }

    // The partial sums of several blocks are combined in memory, which scalars do not have.
    bool reduces_elements(For& loop) {
        const std::vector<UpdateGroup>& reductions = loops_.facts(loop).reductions;
        return loops_.reduces(loop) &&
               std::ranges::all_of(reductions, [](const UpdateGroup& group) {
                   return group.updates.front().indices != nullptr;
               });
    }

    // Threads for the reduction of each of `around` elements, to fill the card; whole blocks.
    static std::int64_t many_blocks(double trips, double around) {
        const double threads = std::min(trips / static_cast<double>(kPerSpreadThread),
                                        static_cast<double>(kMostReducing) / around);
        return static_cast<std::int64_t>(threads) / kMostPerBlock * kMostPerBlock;
    }

    Plan timed(For& loop, double around, const LoopPar& request) {
        const double own = std::min(static_cast<double>(request.threads),
                                    std::max(1.0, kUneven * traffic_.trips(loop)));
        const double idle =
            static_cast<double>((request.threads + kWarpSize - 1) / kWarpSize * kWarpSize) / own;
        const double busy = around * own;
        const double bytes = moved(loop, loops_.accesses().loop_of(&loop), nullptr);
        return {std::max(bytes / bandwidth(busy) * idle, longest(loop, busy)), {{&loop, request}}};
    }

    // Nanoseconds of one of `busy` threads.
    double longest(For& loop, double busy) {
        return executions(loop) / executions_ * time_.of(loop) / busy * kSlower;
    }

    // Each block of a reduction has partial results in scratch memory.
    LoopPar blocks_of(For& loop) {
        LoopPar request;
        request.reduce = loops_.reduces(loop);
        const std::int64_t most = request.reduce ? kMostReducing : kMostAlone;
        request.threads = static_cast<std::int64_t>(
            std::clamp(std::ceil(traffic_.most_trips(loop)), 1.0, static_cast<double>(most)));
        return request;
    }

    // The time of one thread of each block outside of the loops `children`.
    double rest(For& loop, const std::vector<For*>& children, double blocks) {
        return moved(loop, -1, &children) / bandwidth(blocks);
    }

    [[nodiscard]] double bandwidth(double threads) const {
        const double all = kBytesPerNs * std::min(1.0, threads / kThreadsAtOnce);
        return single_ ? std::max(all, kBlockBytesPerNs) : all;
    }

    // The number of executions of `loop` per call of the function.
    [[nodiscard]] double executions(const For& loop) const {
        const int number = loops_.accesses().loop_of(&loop);
        return number < 0 ? 1
                          : traffic_.runs(
                                loops_.accesses().loops()[static_cast<std::size_t>(number)].parent);
    }

    // The innermost loop around `access`, at most `outermost`, in which its element changes: a
    // register keeps an invariant one. The iterations of `lanes` are not consecutive in a thread.
    [[nodiscard]] int loop_that_moves(const Access& access, int outermost, int lanes) const {
        int loop = access.loop;
        while (loop != outermost && loop != lanes && traffic_.stride(access, loop) == 0)
            loop = loops_.accesses().loops()[static_cast<std::size_t>(loop)].parent;
        return loop;
    }

    // Bytes that the accesses of `loop` outside of `except` move per run of the kernel, if the
    // iterations of `lanes` run side by side.
    double moved(For& loop, int lanes, const std::vector<For*>* except, const Jammed& jam = {}) {
        const Accesses& accesses = loops_.accesses();
        const int number = accesses.loop_of(&loop);
        double sum = 0;
        for (const Access& access : accesses.all()) {
            if (!accesses.inside(access.loop, number)) continue;
            const bool elsewhere =
                except != nullptr && std::ranges::any_of(*except, [&](const For* other) {
                    return accesses.inside(access.loop, accesses.loop_of(other));
                });
            if (elsewhere) continue;
            const double size = static_cast<double>(size_in_bytes(access.array->type.scalar));
            double each = kSector;
            if (lanes >= 0) {
                const auto stride = traffic_.stride(access, lanes);
                if (stride) {
                    const double apart = std::abs(static_cast<double>(*stride));
                    each = apart == 0 ? size / kWarpSize : std::clamp(apart, size, kSector);
                }
            }
            sum += traffic_.runs(loop_that_moves(access, number, lanes)) * each /
                   together(access, jam);
        }
        return sum / executions_;
    }

    // How many of the iterations of a thread load the same element.
    double together(const Access& access, const Jammed& jam) const {
        const auto same = [&](const For* loop, std::int64_t copies) {
            const int number = loop != nullptr ? loops_.accesses().loop_of(loop) : -1;
            return number >= 0 && traffic_.stride(access, number) == 0 ? copies : 1;
        };
        return static_cast<double>(same(jam.outer, jam.rows) * same(jam.inner, jam.columns));
    }

    ParallelLoops& loops_;
    Traffic traffic_;
    SequentialTime time_;
    std::optional<Stencils> stencils_;
    double executions_ = 1;  // of the planned kernel, per call of the function
    bool single_ = false;    // the planned code is inside a loop that one block runs in order
};

}  // namespace

Plan plan_cuda(ParallelLoops& loops) {
    return CudaPlanner(loops).host(loops.entry.body);
}

}  // namespace parpy
