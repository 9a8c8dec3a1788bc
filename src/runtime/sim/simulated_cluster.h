// The blocks of one cluster of a simulated launch, usually a single one. They run at the same time:
// they can wait for each other, and access each other's shared memory.
#pragma once

#include <memory>
#include <vector>

#include "runtime/sim/simulated_block.h"

namespace parpy::sim {

class Cluster {
public:
    explicit Cluster(Worker& worker);

    void start(std::uint64_t number);  // in the grid's order
    // Runs until all blocks have ended or the launch is stopped (true), or all threads that can run
    // are in waiting loops (false).
    bool resume();
    void report_spinning(bool more);  // as Block's

private:
    Worker& worker_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::vector<Block*> running_;
};

}  // namespace parpy::sim
