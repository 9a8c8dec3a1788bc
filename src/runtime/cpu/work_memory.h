// Memory of Space::kWork, which CPU programs lay out anew in every call: a thread keeps some of it,
// so that the next call finds its pages mapped.
#pragma once

#include <cstdint>

namespace parpy {

// Memory of any contents, aligned to 64 bytes; null if there is none.
[[nodiscard]] void* borrow_work(std::int64_t bytes);
void return_work(void* memory);

}  // namespace parpy
