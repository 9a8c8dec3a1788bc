// The errors of programs, compilers and devices.
#pragma once

#include <memory>
#include <string>

#include "support/diagnostic.h"

namespace parpy {

// An error of a back end: names the missing thing and how to get it. Empty message: success.
struct RuntimeError {
    Code code = Code::kP900;
    std::string message;
    std::string help;
    std::shared_ptr<const Diagnostic> located = nullptr;  // used instead, if it has a place
    [[nodiscard]] bool failed() const { return !message.empty() || located != nullptr; }
};

}  // namespace parpy
