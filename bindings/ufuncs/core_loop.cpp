// A generalised ufunc: NumPy's loop over one dimension and the core dimensions of each operand are
// arrays for the compiled function, whose specialisation is found as for any other call.
#include <algorithm>
#include <optional>

#include "arrays/buffer.h"
#include "runtime/cpu/thread_pool.h"
#include "ufuncs/loop.h"

namespace parpy {

namespace {

constexpr int kMostRanks = 64;  // of all operands together, kept on the stack
constexpr std::size_t kInlineOperands = 12;
constexpr std::size_t kInlineSlots = 40;

}  // namespace

CoreLoop::CoreLoop(PyObject* parsed, PyObject* parameters, LoopParts parts)
    : Loop(parsed, parameters, std::move(parts)),
      specializations_(parts_.mapped, body_.surface.written) {}

bool CoreLoop::run(char* const* data, const std::int64_t* dimensions, const std::int64_t* steps) {
    if (dimensions[0] <= 0) return true;
    const std::size_t count = operand_count();
    std::int64_t extents[kMostRanks], strides[kMostRanks];
    const std::size_t captured = body_.captured.size();
    Buffer<ArgumentView, kInlineOperands> views(count + captured);
    const std::int64_t* core_steps = steps + count;
    std::size_t used = 0, core = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int rank = 1 + parts_.core_ranks[i];
        ArgumentView& view = views[i];
        view.header = ArgumentView::array_header(parts_.types[i], rank);
        view.data = data[i];
        view.extents = extents + used;
        view.strides = strides + used;
        extents[used] = dimensions[0];
        strides[used++] = dimensions[0] == 1 ? 0 : steps[i];
        for (int d = 1; d < rank; ++d, ++core) {
            extents[used] = dimensions[1 + numbers_[core]];
            strides[used++] = core_steps[core];
        }
        // The stride of a single iteration: as if the elements of another one followed.
        if (dimensions[0] == 1) {
            std::int64_t bytes = ir::size_in_bytes(parts_.types[i]);
            for (int d = 1; d < rank; ++d)
                bytes *= std::max<std::int64_t>(view.extents[d], 1);
            strides[used - static_cast<std::size_t>(rank)] = bytes;
        }
    }
    std::copy(body_.captured.begin(), body_.captured.end(), views.data() + count);
    const Arguments arguments(views.data(), count + captured);
    const std::optional<OneWorker> alone =
        parts_.parallel ? std::nullopt : std::optional<OneWorker>(std::in_place);
    const Specialization* found = specializations_.find(arguments);
    if (found == nullptr) {
        const WithGil gil;
        found = specialize(body_.surface, specializations_, arguments, false);
        if (found == nullptr) return false;
    }
    Buffer<std::uint64_t, kInlineSlots> slots(found->slot_count());
    found->fill(arguments, slots.data());
    const RuntimeError error = found->executable().run(slots.data(), nullptr, nullptr);
    return !error.failed() || fail(error);
}

}  // namespace parpy
