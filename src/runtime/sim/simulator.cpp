// A launch distributes its blocks over the worker threads. simulated_block.cpp runs one block.
#include "runtime/sim/simulator.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "runtime/cpu/thread_pool.h"
#include "runtime/interruption.h"
#include "runtime/sim/simulated_block.h"
#include "runtime/sim/simulated_cluster.h"
#include "support/abi.h"

namespace parpy::sim {

namespace {

// Rounds of waiting loops without progress after which there will be none.
constexpr std::uint64_t kIdlePauses = std::uint64_t{1} << 22;

std::vector<std::uint64_t> shuffled(std::uint64_t count, std::uint64_t seed) {
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    if (seed == 0) return order;
    RandomOrder random(seed);
    for (std::uint64_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

// Cluster by cluster, in a random order determined by `seed`.
std::vector<std::uint64_t> order_of(const Launch& launch, std::uint64_t count) {
    const auto& [cx, cy, cz] = launch.kernel->cluster;
    const std::uint64_t x = launch.grid.x, y = launch.grid.y;
    std::vector<std::uint64_t> order;
    order.reserve(count);
    for (const std::uint64_t cluster :
         shuffled(count / launch.kernel->cluster_size(), launch.settings.seed)) {
        const std::uint64_t first_x = cluster % (x / cx) * cx;
        const std::uint64_t first_y = cluster / (x / cx) % (y / cy) * cy;
        const std::uint64_t first_z = cluster / (x / cx) / (y / cy) * cz;
        for (std::uint64_t k = first_z; k < first_z + cz; ++k) {
            for (std::uint64_t j = first_y; j < first_y + cy; ++j) {
                for (std::uint64_t i = first_x; i < first_x + cx; ++i)
                    order.push_back(i + x * (j + y * k));
            }
        }
    }
    return order;
}

// Runs clusters one after the other, each to its end.
void run_clusters(Grid& grid, std::uint64_t begin, std::uint64_t end) {
    Worker worker(grid);
    Cluster cluster(worker);
    for (std::uint64_t i = begin; i < end && !grid.stopped(); ++i) {
        cluster.start(i);
        cluster.resume();
    }
}

// Runs blocks whose threads do not wait.
void run_blocks(Grid& grid, std::uint64_t begin, std::uint64_t end) {
    Worker worker(grid);
    Block(worker).run_rows(begin, end);
}

// Runs kernels whose threads may wait for other clusters, on one worker: it switches to another
// cluster when all threads of one are in waiting loops, and starts one more when all clusters are.
void run_together(Grid& grid, std::uint64_t count) {
    Worker worker(grid);
    std::deque<std::unique_ptr<Cluster>> resident;
    std::uint64_t started = 0;
    std::uint64_t fibers = 0;
    const std::uint64_t each =
        std::uint64_t{grid.threads_per_block()} * grid.launch.kernel->cluster_size();
    const std::uint64_t most = most_threads(*grid.launch.kernel);
    std::size_t enough = 16;  // clusters that wait before they are resumed
    while (!grid.stopped() && (started < count || !resident.empty())) {
        if (started < count && (resident.empty() || fibers + each <= most)) {
            resident.push_back(std::make_unique<Cluster>(worker));
            resident.back()->start(started);
            ++started;
            fibers += each;
            // Most kernels of this kind never wait: only clusters in waiting loops stay.
            if (resident.back()->resume()) {
                resident.pop_back();
                fibers -= each;
                continue;
            }
            if (resident.size() < enough && started < count && fibers + each <= most) continue;
            enough = 2 * resident.size();
        }
        std::erase_if(resident, [&](const std::unique_ptr<Cluster>& cluster) {
            if (grid.stopped() || !cluster->resume()) return false;
            fibers -= each;
            return true;
        });
        const bool full = started == count || fibers + each > most;
        if (full && grid.idle_pauses > kIdlePauses && !resident.empty()) {
            resident.front()->report_spinning(started < count);
        }
    }
}

void run(Grid& grid) {
    const Launch& launch = grid.launch;
    const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    const unsigned size = launch.kernel->cluster_size();
    if (launch.settings.seed != 0 || size > 1) grid.order = order_of(launch, blocks);
    if ((launch.kernel->needs & kSpins) != 0) {
        run_together(grid, blocks / size);
        return;
    }
    const bool waits = (launch.kernel->needs & kWaits) != 0;
    const auto run = waits ? run_clusters : run_blocks;
    const std::uint64_t count = waits ? blocks / size : blocks;
    if (launch.settings.seed != 0 || launch.settings.watched) {
        run(grid, 0, count);
        return;
    }
    // About the cost of an empty thread; kernels that do more start helpers only a few microseconds
    // too late.
    const unsigned threads = grid.threads_per_block() * (waits ? size : 1);
    const double cost = 20.0 * static_cast<double>(threads);
    const std::int64_t workers = waits ? std::max(1U, kGuardedFibers / threads) : 0;
    const auto pieces = static_cast<std::int64_t>(count);
    struct Frame {
        Grid& grid;
        decltype(run) run;
    } frame{grid, run};
    parpy_parallel_for(
        nullptr, pieces, parpy_chunks(nullptr, pieces, cost, workers), workers,
        [](void* data, std::int64_t begin, std::int64_t end, std::int64_t) {
            const Frame& each = *static_cast<Frame*>(data);
            each.run(each.grid, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
        },
        &frame);
}

}  // namespace

Fault simulate(const Launch& launch) {
    Grid grid(launch);
    Interruptible(grid).run([&] { run(grid); });
    return grid.take_fault();
}

}  // namespace parpy::sim
