// The simulator's side of load(): CUDA device text to machine code of this processor, host text to
// code that launches it. Arrays are the host's, in place.
#pragma once

#include <memory>

#include "runtime/executable.h"
#include "runtime/sim/simulator.h"

namespace parpy {

// nullptr and `error` set on failure.
[[nodiscard]] std::shared_ptr<Executable> load_sim(const Program& program, const Options& options,
                                                   RuntimeError& error);

// How launches run from now on, in all threads.
void set_simulator(const sim::Settings& settings);

}  // namespace parpy
