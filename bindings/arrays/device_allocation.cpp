// See device_allocation.h.
#include "arrays/device_allocation.h"

#include "runtime/cuda/memory/device_memory.h"
#include "runtime/cuda/memory/used_streams.h"

namespace parpy {

std::unique_ptr<DeviceAllocation> DeviceAllocation::make(const cuda::Device& device,
                                                         std::size_t bytes, cuda::Stream stream,
                                                         RuntimeError& error) {
    cuda::UsedStreams& streams = cuda::UsedStreams::of(device);
    streams.retry();
    std::unique_ptr<DeviceAllocation> made(new DeviceAllocation(device));
    if (stream != nullptr && cuda::is_captured(stream) && cuda::GraphMemory::available()) {
        made->shared_ = cuda::GraphMemory::allocate(device, bytes, stream, error);
        if (error.failed()) return nullptr;
        made->pointer_ = made->shared_->pointer();
        return made;
    }
    made->pointer_ = cuda::allocate_to_keep(device, bytes, stream, error);
    if (error.failed()) {
        made->pointer_ = 0;
        return nullptr;
    }
    streams.begin();
    streams.note(stream);
    return made;
}

DeviceAllocation::~DeviceAllocation() {
    if (shared_ != nullptr) {
        shared_->drop();
        return;
    }
    if (pointer_ == 0) return;
    RuntimeError ignored;
    const cuda::CurrentContext current(device_, ignored);
    if (!ignored.failed()) cuda::UsedStreams::of(device_).end(pointer_);
}

}  // namespace parpy
