// The simulator's part of load(): makes machine code of this processor of the CUDA device text, and
// code that launches it of the host text. Arrays are the host's, in place.
#pragma once

#include <memory>

#include "runtime/executable.h"
#include "runtime/sim/simulator.h"

namespace parpy {

// nullptr and `error` set on failure.
[[nodiscard]] std::shared_ptr<Executable> load_sim(const Program& program, const Options& options,
                                                   RuntimeError& error);

// Sets how launches run from now on, in all threads.
void set_simulator(const sim::Settings& settings);

}  // namespace parpy
