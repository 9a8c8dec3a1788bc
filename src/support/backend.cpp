// See backend.h.
#include "support/backend.h"

#include <cstddef>
#include <iterator>

namespace parpy {

namespace {

struct Row {
    std::string_view name, shown;
    Backend runs;
    bool in_process;
};

constexpr Row kRows[] = {
#define BACKEND(enumerator, name, shown, runs, in_process, ...) \
    {name, shown, Backend::runs, in_process},
#include "support/backends.def"
#undef BACKEND
};

const Row& row(Backend backend) {
    return kRows[static_cast<std::size_t>(backend)];
}

}  // namespace

std::string_view name(Backend backend) {
    return row(backend).name;
}

std::string_view shown(Backend backend) {
    return row(backend).shown;
}

Backend text_of(Backend backend) {
    return row(backend).runs;
}

bool runs_in_process(Backend backend) {
    return row(backend).in_process;
}

std::optional<Backend> backend_named(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
        if (kRows[i].name == name) return static_cast<Backend>(i);
    }
    return std::nullopt;
}

}  // namespace parpy
