// Memory for what CPU programs lay out anew at every call (Space::kWork): a thread keeps some of
// it, so that the next call finds pages that are there already.
#pragma once

#include <cstdint>

namespace parpy {

// Of any values, aligned to 64 bytes; null if there is none.
[[nodiscard]] void* borrow_work(std::int64_t bytes);
void return_work(void* memory);

}  // namespace parpy
