// See simulated_cluster.h.
#include "runtime/sim/simulated_cluster.h"

#include <algorithm>

namespace parpy::sim {

Cluster::Cluster(Worker& worker) : worker_(worker) {
    const unsigned size = worker.grid.launch.kernel->cluster_size();
    for (unsigned rank = 0; rank < size; ++rank)
        blocks_.push_back(std::make_unique<Block>(worker));
    for (unsigned rank = 0; rank < size; ++rank)
        blocks_[rank]->join(blocks_, rank);
}

void Cluster::start(std::uint64_t number) {
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        blocks_[i]->start(number * blocks_.size() + i);
    running_.clear();
    for (const auto& block : blocks_)
        running_.push_back(block.get());
}

bool Cluster::resume() {
    while (!running_.empty()) {
        bool spins = false;
        std::erase_if(running_, [&](Block* block) {
            if (worker_.grid.stopped()) return true;
            const Block::State state = block->resume();
            spins |= state == Block::State::kSpins;
            return state == Block::State::kEnded;
        });
        if (worker_.grid.stopped()) return true;
        if (spins) return false;
        for (Block* block : running_)
            block->release_cluster();
    }
    return true;
}

void Cluster::report_spinning(bool more) {
    for (Block* block : running_)
        block->report_spinning(more);
}

// ---------------------------------------------------------------- operations of its blocks

void Block::join(std::span<const std::unique_ptr<Block>> cluster, unsigned rank) {
    cluster_ = cluster;
    rank_ = rank;
}

void Block::cluster_barrier(SimFiber& self, int line) {
    self.at = SimFiber::At::kCluster;
    self.line = line;
    ++at_cluster_;
    const unsigned warp = self.linear / static_cast<unsigned>(launch_.settings.warp_size);
    if (is_still(warp)) answer(warp);
    suspend(self);
}

void Block::release_cluster() {
    for (SimFiber* fiber : by_thread_) {
        if (fiber != nullptr) wake(*fiber);
    }
    at_cluster_ = 0;
    ++barriers_;
    if ((launch_.kernel->needs & kSpins) != 0) progress();
}

// The place in the shared memory of the block of that rank that corresponds to `address`.
void* Block::map_shared(SimFiber& self, int line, const void* address, unsigned rank) {
    self.line = line;
    if (rank >= cluster_.size() || cluster_[rank]->alive_ == 0 || !is_shared(address)) {
        report_mapping(self, address, rank);
    }
    return cluster_[rank]->shared_begin_ +
           (static_cast<const unsigned char*>(address) - shared_begin_);
}

}  // namespace parpy::sim
