// Calls of functions that only host code may make: external functions of the CPU that are declared
// for Target.Host, whose Function::target is kHost.
#pragma once

#include <string_view>

#include "ir/ir.h"

namespace parpy {

inline constexpr std::string_view kHost = "host";

// The first one in the statements, with those in the functions that these call; null: none.
[[nodiscard]] const ir::Expr* host_call(const ir::Body& body);

}  // namespace parpy
