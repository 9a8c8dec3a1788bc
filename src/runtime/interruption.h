// Ctrl-C while a kernel runs on the simulator. SIGINT does what it did (Python's handler notes it),
// and ends the launch of the main thread: a thread of its own has those that run the launch look,
// again and again until it has ended, since code of the run-time system is never left halfway.
// Where a handler is set that may let the launch go on, it runs aside of the main thread, which
// calls the handler meanwhile.
#pragma once

#include <functional>

#include "runtime/sim/simulated_block.h"

namespace parpy::sim {

// What is asked of who keeps the handlers of SIGINT, in the main thread. Without it SIGINT ends
// every launch.
struct InterruptHooks {
    bool (*may_go_on)() = nullptr;  // whether there is a handler that may let a launch go on
    bool (*ends)() = nullptr;       // calls the handlers of what has come: do they end the launch?
};
void set_interrupt_hooks(const InterruptHooks& hooks);

// While one lives in the main thread, where SIGINT has a handler. Other threads' are never asked.
class Interruptible {
public:
    explicit Interruptible(Grid& grid);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    // Runs the launch, here or aside.
    void run(const std::function<void()>& launch);

private:
    void run_aside(const std::function<void()>& launch);

    Grid& grid_;
    bool active_ = false;
};

}  // namespace parpy::sim
