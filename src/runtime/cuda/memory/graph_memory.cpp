// See graph_memory.h.
#include "runtime/cuda/memory/graph_memory.h"

#include "runtime/cuda/memory/device_memory.h"
#include "runtime/cuda/memory/used_streams.h"

namespace parpy::cuda {

namespace {

constexpr unsigned kCallbackMayWait = 1;  // the callback of a user object may run asynchronously
constexpr unsigned kTakesReference = 1;   // the graph takes over the creator's reference

// Memory that no earlier work uses and that every stream may use from here on.
DevicePointer allocate_now(const Device& device, std::size_t bytes, RuntimeError& error) {
    const Driver& driver = Driver::instance();
    const BesideCaptures beside;
    Stream stream = nullptr;
    if (const Result r = driver.cuStreamCreate(&stream, kNonBlocking); r != kSuccess) {
        error = driver.failure(r, "making a stream");
        return 0;
    }
    const DevicePointer pointer = allocate(device, bytes, stream, error);
    driver.cuStreamSynchronize(stream);
    driver.cuStreamDestroy(stream);
    return pointer;
}

}  // namespace

bool GraphMemory::available() {
    const Driver& driver = Driver::instance();
    return driver.cuStreamGetCaptureInfo != nullptr && driver.cuUserObjectCreate != nullptr &&
           driver.cuUserObjectRelease != nullptr && driver.cuGraphRetainUserObject != nullptr;
}

GraphMemory* GraphMemory::allocate(const Device& device, std::size_t bytes, Stream stream,
                                   RuntimeError& error) {
    const Driver& driver = Driver::instance();
    int status = 0;
    unsigned long long id = 0;
    CapturedWork graph = nullptr;
    Result result = driver.cuStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr);
    if (result != kSuccess) {
        error = driver.failure(result, "querying the graph that is captured");
        return nullptr;
    }
    const DevicePointer pointer = allocate_now(device, bytes, error);
    if (error.failed()) return nullptr;
    UsedStreams::of(device).begin();
    auto* memory = new GraphMemory(device, pointer);
    const auto end = [](void* owned) { static_cast<GraphMemory*>(owned)->drop(); };
    UserObject object = nullptr;
    memory->owners_ = 2;
    result = driver.cuUserObjectCreate(&object, memory, end, 1, kCallbackMayWait);
    if (result == kSuccess) {
        result = driver.cuGraphRetainUserObject(graph, object, 1, kTakesReference);
        if (result != kSuccess) driver.cuUserObjectRelease(object, 1);
    } else {
        memory->drop();
    }
    if (result == kSuccess) return memory;
    memory->drop();
    error = driver.failure(result, "keeping memory for a CUDA graph");
    return nullptr;
}

void GraphMemory::drop() {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    UsedStreams::of(device_).end_later(pointer_);
    delete this;
}

}  // namespace parpy::cuda
