// Receives the arrays that a program returns.
#pragma once

#include <cstdint>
#include <span>

#include "ir/type.h"
#include "support/runtime_error.h"

namespace parpy {

class ResultSink {
public:
    virtual ~ResultSink() = default;
    // Memory for an array in C order, the value of this argument (Program::results), on the device
    // of the call's other arrays; null with `error` set. The last call for an argument counts.
    virtual void* make(std::size_t argument, ir::Scalar type, std::span<const std::int64_t> shape,
                       RuntimeError& error) = 0;
};

}  // namespace parpy
