// The back ends (backends.def), and the properties of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace parpy {

enum class Backend : std::uint8_t {
#define BACKEND(enumerator, ...) enumerator,
#include "support/backends.def"
#undef BACKEND
};

[[nodiscard]] std::string_view name(Backend backend);
[[nodiscard]] std::string_view shown(Backend backend);
// The back end whose text it runs: for the simulator, CUDA.
[[nodiscard]] Backend text_of(Backend backend);
[[nodiscard]] bool runs_in_process(Backend backend);
[[nodiscard]] std::optional<Backend> backend_named(std::string_view name);

}  // namespace parpy
