// See call_cuda.h.
#include "call_cuda.h"

namespace parpy {

RuntimeError run_on_cuda(const Specialization& specialization, Arguments arguments, const Intake&,
                         std::optional<std::uint64_t> stream, std::uint64_t* slots) {
    specialization.fill(arguments, slots);
    return specialization.executable().run(slots, reinterpret_cast<void*>(stream.value_or(0)));
}

}  // namespace parpy
