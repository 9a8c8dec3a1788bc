// Ctrl-C while a kernel runs on the simulator. SIGINT does what it did (Python's handler notes it),
// and ends the launch of the main thread: a thread of its own has those that run the launch look,
// again and again until it has ended, since code of the run-time system is never left halfway.
#pragma once

#include "runtime/simulated_block.h"

namespace parpy::sim {

// While one lives in the main thread, where SIGINT has a handler. Other threads' are never asked.
class Interruptible {
public:
    explicit Interruptible(Grid& grid);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    bool active_ = false;
};

}  // namespace parpy::sim
