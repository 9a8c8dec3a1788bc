// Where a program puts the arrays that it returns.
#pragma once

#include <cstdint>
#include <span>

#include "ir/type.h"
#include "support/runtime_error.h"

namespace parpy {

class ResultSink {
public:
    virtual ~ResultSink() = default;
    // Memory for an array in C order, the value of this argument (Program::results), where the
    // other arrays of the call lie; null with `error` set. The last one for an argument counts.
    virtual void* make(std::size_t argument, ir::Scalar type, std::span<const std::int64_t> shape,
                       RuntimeError& error) = 0;
};

}  // namespace parpy
