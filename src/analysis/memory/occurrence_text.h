// The text of an iteration and of an element in messages.
#pragma once

#include <string>

#include "analysis/memory/dependences.h"

namespace parpy {

// "iteration t=0, i=1"
[[nodiscard]] std::string iteration_text(const Occurrence& instance);
// "a[1, 2]"
[[nodiscard]] std::string element_text(const Occurrence& instance);

}  // namespace parpy
