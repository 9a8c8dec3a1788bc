// A launch: its blocks over the worker threads. What happens inside of one block is
// simulated_block.cpp's.
#include "runtime/simulator.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "runtime/abi.h"
#include "runtime/simulated_block.h"
#include "runtime/thread_pool.h"

namespace parpy::sim {

namespace {

// Rounds of waiting loops in which nothing changed, after which nothing will.
constexpr std::uint64_t kIdlePauses = std::uint64_t{1} << 22;

std::vector<std::uint64_t> shuffled(std::uint64_t count, std::uint64_t seed) {
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    RandomOrder random(seed);
    for (std::uint64_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

// Blocks one after the other, each to its end.
void run_blocks(Grid& grid, std::uint64_t begin, std::uint64_t end) {
    Worker worker(grid);
    Block block(worker);
    if ((grid.launch.kernel->needs & kWaits) == 0) {
        block.run_rows(begin, end);
        return;
    }
    for (std::uint64_t i = begin; i < end && !grid.stopped(); ++i) {
        block.start(i);
        block.resume();
    }
}

// Kernels whose threads may wait for those of other blocks: one worker, which goes to another block
// when all threads of the one it is at are in waiting loops, and starts one more when all are.
void run_together(Grid& grid, std::uint64_t count) {
    Worker worker(grid);
    std::deque<std::unique_ptr<Block>> resident;
    std::uint64_t started = 0;
    std::uint64_t fibers = 0;
    const std::uint64_t each = grid.threads_per_block();
    const std::uint64_t most = most_threads(*grid.launch.kernel);
    std::size_t enough = 16;  // blocks that wait, before they are looked after
    while (!grid.stopped() && (started < count || !resident.empty())) {
        if (started < count && (resident.empty() || fibers + each <= most)) {
            resident.push_back(std::make_unique<Block>(worker));
            resident.back()->start(started);
            ++started;
            fibers += each;
            // Most kernels of this kind wait for nobody: only what spins stays.
            if (resident.back()->resume()) {
                resident.pop_back();
                fibers -= each;
                continue;
            }
            if (resident.size() < enough && started < count && fibers + each <= most) continue;
            enough = 2 * resident.size();
        }
        std::erase_if(resident, [&](const std::unique_ptr<Block>& block) {
            if (grid.stopped() || !block->resume()) return false;
            fibers -= each;
            return true;
        });
        const bool full = started == count || fibers + each > most;
        if (full && grid.idle_pauses > kIdlePauses && !resident.empty()) {
            resident.front()->report_spinning(started < count);
        }
    }
}

}  // namespace

Fault simulate(const Launch& launch) {
    const std::uint64_t count = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    Grid grid(launch);
    if (launch.settings.seed != 0) grid.order = shuffled(count, launch.settings.seed);
    if ((launch.kernel->needs & kSpins) != 0) {
        run_together(grid, count);
        return grid.take_fault();
    }
    if (!grid.order.empty() || launch.settings.watched) {
        run_blocks(grid, 0, count);
        return grid.take_fault();
    }
    // About what a thread costs in itself; kernels that do more only start helpers too late for a
    // few microseconds.
    const double cost = 20.0 * static_cast<double>(grid.threads_per_block());
    const std::int64_t workers = (launch.kernel->needs & kWaits) == 0
                                     ? 0
                                     : std::max(1U, kGuardedFibers / grid.threads_per_block());
    const auto blocks = static_cast<std::int64_t>(count);
    parpy_parallel_for(
        nullptr, blocks, parpy_chunks(nullptr, blocks, cost, workers), workers,
        [](void* frame, std::int64_t begin, std::int64_t end, std::int64_t) {
            run_blocks(*static_cast<Grid*>(frame), static_cast<std::uint64_t>(begin),
                       static_cast<std::uint64_t>(end));
        },
        &grid);
    return grid.take_fault();
}

}  // namespace parpy::sim
