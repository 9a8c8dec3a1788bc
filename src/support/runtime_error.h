// How a program, a compiler or a device says why it failed.
#pragma once

#include <memory>
#include <string>

#include "support/diagnostic.h"

namespace parpy {

// What the back ends report: says what is missing and how to get it. Empty message: success.
struct RuntimeError {
    Code code = Code::kP900;
    std::string message;
    std::string help;
    std::shared_ptr<const Diagnostic> located = nullptr;  // instead of these, if it has a place
    [[nodiscard]] bool failed() const { return !message.empty() || located != nullptr; }
};

}  // namespace parpy
