// Finds calls of functions that only host code may make: external functions that are declared for
// Target.Host, whose Function::target is kHost, or kCudaHost in programs for a GPU. A kCudaHost
// function may receive arrays, whose elements are on the device, and the stream of the call.
#pragma once

#include <string_view>

#include "ir/ir.h"

namespace parpy {

inline constexpr std::string_view kHost = "host", kCudaHost = "cuda host";

[[nodiscard]] bool is_of_host(const ir::Function& function);

// The first such call in the statements and in the functions that they call; null: none.
[[nodiscard]] const ir::Expr* host_call(const ir::Body& body);
[[nodiscard]] const ir::Expr* host_call(ir::Stmt& stmt);

}  // namespace parpy
