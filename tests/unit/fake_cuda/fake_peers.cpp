// Memory of other devices and mapped memory in the fake driver.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "fake_state.h"

using namespace fake;

namespace {

constexpr std::size_t kGranule = 1 << 16;
std::map<DevicePointer, std::size_t> reserved;           // addresses and sizes
std::map<Pages, std::pair<std::size_t, int>> all_pages;  // size, device
std::map<DevicePointer, Pages> mapped;

bool is_whole(std::size_t bytes) {
    return bytes != 0 && bytes % kGranule == 0;
}

}  // namespace

FAKE(cuDeviceCanAccessPeer, int* can, DeviceHandle, DeviceHandle) {
    ENTER(cuDeviceCanAccessPeer)
    *can = state.no_peer_access ? 0 : 1;
    return kSuccess;
}
FAKE(cuCtxEnablePeerAccess, Context other, unsigned) {
    ENTER(cuCtxEnablePeerAccess)
    static std::set<std::pair<Context, Context>> enabled;
    if (other == current) return kInvalidValue;
    return enabled.insert({current, other}).second ? kSuccess : 704;
}
FAKE(cuMemPoolSetAccess, MemoryPool, const AccessDescription*, std::size_t) {
    ENTER(cuMemPoolSetAccess)
    return kSuccess;
}
FAKE(cuMemcpyPeerAsync, DevicePointer to, Context of_to, DevicePointer from, Context of_from,
     std::size_t bytes, Stream stream) {
    ENTER(cuMemcpyPeerAsync)
    use(stream);
    if (of_to == nullptr || of_from == nullptr) return kInvalidValue;
    enqueue(stream, [=] {
        std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    });
    ++state.peer_copies;
    return kSuccess;
}
FAKE(cuMemcpy3DPeerAsync, const PeerCopy* copy, Stream stream) {
    ENTER(cuMemcpy3DPeerAsync)
    use(stream);
    if (copy->width > copy->from.pitch || copy->width > copy->to.pitch || copy->depth != 1 ||
        copy->from.memory_type != 2 || copy->to.memory_type != 2) {
        return kInvalidValue;
    }
    enqueue(stream, [rows = *copy] {
        for (std::size_t row = 0; row < rows.height; ++row) {
            std::memcpy(reinterpret_cast<char*>(rows.to.at) + row * rows.to.pitch,
                        reinterpret_cast<char*>(rows.from.at) + row * rows.from.pitch, rows.width);
        }
    });
    ++state.peer_copies;
    return kSuccess;
}
FAKE(cuMemGetAllocationGranularity, std::size_t* bytes, const PageProperties*, int) {
    *bytes = kGranule;
    return kSuccess;
}
FAKE(cuMemAddressReserve, DevicePointer* pointer, std::size_t bytes, std::size_t, DevicePointer,
     unsigned long long) {
    ENTER(cuMemAddressReserve)
    if (!is_whole(bytes)) return kInvalidValue;
    void* at =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return kOutOfMemory;
    *pointer = reinterpret_cast<DevicePointer>(at);
    reserved[*pointer] = bytes;
    return kSuccess;
}
FAKE(cuMemAddressFree, DevicePointer pointer, std::size_t bytes) {
    ENTER(cuMemAddressFree)
    const auto found = reserved.find(pointer);
    if (found == reserved.end() || found->second != bytes) return kInvalidValue;
    const auto inside = mapped.lower_bound(pointer);
    if (inside != mapped.end() && inside->first < pointer + bytes) return kInvalidValue;
    reserved.erase(found);
    ::munmap(reinterpret_cast<void*>(pointer), bytes);
    return kSuccess;
}
FAKE(cuMemCreate, Pages* pages, std::size_t bytes, const PageProperties* properties,
     unsigned long long) {
    ENTER(cuMemCreate)
    static Pages last = 0;
    if (!is_whole(bytes) || properties->location >= devices) return kInvalidValue;
    *pages = ++last;
    all_pages[last] = {bytes, properties->location};
    state.page_bytes += bytes;
    return kSuccess;
}
FAKE(cuMemRelease, Pages pages) {
    ENTER(cuMemRelease)
    const auto found = all_pages.find(pages);
    if (found == all_pages.end()) return kInvalidValue;
    state.page_bytes -= found->second.first;
    all_pages.erase(found);
    return kSuccess;
}
FAKE(cuMemMap, DevicePointer pointer, std::size_t bytes, std::size_t, Pages pages,
     unsigned long long) {
    ENTER(cuMemMap)
    const auto found = all_pages.find(pages);
    if (found == all_pages.end() || found->second.first != bytes || mapped.contains(pointer))
        return kInvalidValue;
    mapped[pointer] = pages;
    memory[pointer] = found->second;
    return kSuccess;
}
FAKE(cuMemUnmap, DevicePointer pointer, std::size_t bytes) {
    ENTER(cuMemUnmap)
    run_all();
    if (mapped.erase(pointer) == 0 || memory[pointer].first != bytes) return kInvalidValue;
    memory.erase(pointer);
    ::mprotect(reinterpret_cast<void*>(pointer), bytes, PROT_NONE);
    return kSuccess;
}
FAKE(cuMemSetAccess, DevicePointer pointer, std::size_t bytes, const AccessDescription* access,
     std::size_t count) {
    ENTER(cuMemSetAccess)
    if (!mapped.contains(pointer) || count == 0) return kInvalidValue;
    const bool own = std::any_of(access, access + count, [&](const AccessDescription& each) {
        return each.location == memory[pointer].second;
    });
    if (!own) return kInvalidValue;
    ::mprotect(reinterpret_cast<void*>(pointer), bytes, PROT_READ | PROT_WRITE);
    std::memset(reinterpret_cast<void*>(pointer), 0xA5, bytes);
    return kSuccess;
}
