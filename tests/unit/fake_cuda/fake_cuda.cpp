// See fake_cuda.h. Two devices of architecture sm_90, one context each. With FAKE_CUDA_EMULATE in
// the environment: so many devices as it says, and kernels run (emulator.h).
#include "fake_cuda.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emulator.h"
#include "runtime/cuda/driver.h"

using namespace parpy::cuda;

struct parpy::cuda::ContextRecord {
    int device;
};
struct parpy::cuda::FunctionRecord {
    std::string name;
    void* library = nullptr;
    void* kernel = nullptr;
};
struct parpy::cuda::ModuleRecord {
    std::map<std::string, FunctionRecord> functions;
    void* library = nullptr;
};

namespace {

constexpr int kMostDevices = 8;

FakeCuda state{};
const char* const emulated = std::getenv("FAKE_CUDA_EMULATE");
const bool emulates = emulated != nullptr;
const int devices = emulates ? std::clamp(std::atoi(emulated), 1, kMostDevices) : 2;
std::mutex mutex;
ContextRecord contexts[kMostDevices] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
thread_local Context current = nullptr;
bool capturing = false;
Stream recorded_stream = nullptr;
std::vector<unsigned> made_streams;  // their flags; the handle of stream i is 16 * (i + 1)
std::set<Stream> destroyed_streams;
std::map<DevicePointer, std::pair<std::size_t, int>> memory;  // size, device

}  // namespace

struct parpy::cuda::UserObjectRecord {
    void* owned;
    void (*end)(void*);
};

namespace {

std::vector<UserObject> of_the_graph;  // user objects that the one captured graph owns

void end(UserObject object) {
    object->end(object->owned);
    delete object;
}

// The injected failure of this call of `function`, or success.
Result enter(const char* function) {
    if (std::strcmp(state.failing, function) != 0 || state.times == 0) return kSuccess;
    if (state.after-- > 0) return kSuccess;
    state.after = 0;
    --state.times;
    return state.failure;
}

// A driver reads the memory of a stream that is gone, and the process dies.
void use(Stream stream) {
    if (!destroyed_streams.contains(stream)) return;
    std::fprintf(stderr, "fake CUDA: a stream is used after it was destroyed\n");
    std::abort();
}

}  // namespace

#define FAKE(name, ...) extern "C" __attribute__((visibility("default"))) Result name(__VA_ARGS__)
#define ENTER(name)                     \
    const std::scoped_lock lock(mutex); \
    if (const Result r = enter(#name); r != kSuccess) return r;

extern "C" __attribute__((visibility("default"))) FakeCuda* fake_cuda() {
    return &state;
}

FAKE(cuInit, unsigned) {
    ENTER(cuInit)
    return kSuccess;
}
FAKE(cuDriverGetVersion, int* version) {
    *version = 13000;
    return kSuccess;
}
FAKE(cuGetErrorName, Result result, const char** name) {
    static thread_local std::string text;
    text = result == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
           : result == 700        ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                  : "CUDA_ERROR_" + std::to_string(result);
    *name = text.c_str();
    return kSuccess;
}
FAKE(cuGetErrorString, Result, const char** text) {
    *text = "made up";
    return kSuccess;
}
FAKE(cuDeviceGetCount, int* count) {
    ENTER(cuDeviceGetCount)
    *count = devices;
    return kSuccess;
}
FAKE(cuDeviceGet, DeviceHandle* device, int index) {
    *device = index;
    return kSuccess;
}
FAKE(cuDeviceGetName, char* name, int size, DeviceHandle) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
    return kSuccess;
}
FAKE(cuDeviceGetAttribute, int* value, int attribute, DeviceHandle) {
    *value = attribute == 75   ? 9
             : attribute == 76 ? 0
             : attribute == 16 ? 132
             : attribute == 39 ? 2048
                               : 1;
    return kSuccess;
}
FAKE(cuDeviceTotalMem_v2, std::size_t* bytes, DeviceHandle) {
    *bytes = std::size_t{1} << 37;
    return kSuccess;
}
FAKE(cuDevicePrimaryCtxRetain, Context* context, DeviceHandle device) {
    ENTER(cuDevicePrimaryCtxRetain)
    *context = &contexts[device];
    return kSuccess;
}
FAKE(cuCtxGetCurrent, Context* context) {
    *context = current;
    return kSuccess;
}
FAKE(cuCtxSetCurrent, Context context) {
    ENTER(cuCtxSetCurrent)
    ++state.context_changes;
    current = context;
    return kSuccess;
}
FAKE(cuCtxGetDevice, DeviceHandle* device) {
    *device = current->device;
    return kSuccess;
}
FAKE(cuCtxSynchronize, ) {
    ENTER(cuCtxSynchronize)
    return kSuccess;
}
FAKE(cuCtxGetLimit, std::size_t* value, int) {
    ENTER(cuCtxGetLimit)
    *value = state.stack_size != 0 ? state.stack_size : 1024;
    return kSuccess;
}
FAKE(cuCtxSetLimit, int, std::size_t value) {
    ENTER(cuCtxSetLimit)
    state.stack_size = value;
    return kSuccess;
}
FAKE(cuStreamSynchronize, Stream stream) {
    ENTER(cuStreamSynchronize)
    use(stream);
    ++state.synchronizations;
    return kSuccess;
}
FAKE(cuStreamIsCapturing, Stream stream, int* status) {
    ENTER(cuStreamIsCapturing)
    use(stream);
    *status = state.capturing ? 1 : 0;
    return kSuccess;
}
FAKE(cuThreadExchangeStreamCaptureMode, int* mode) {
    static thread_local int own = 0;
    std::swap(own, *mode);
    return kSuccess;
}
FAKE(cuModuleLoadData, Module* module, const void* image) {
    ENTER(cuModuleLoadData)
    ++state.modules;
    const auto* bytes = static_cast<const char*>(image);
    *module = new ModuleRecord;
    if (!emulates) return kSuccess;
    std::uint64_t size = 0;
    std::memcpy(&size, bytes + 8, sizeof size);
    (*module)->library = emulator::load(std::string(bytes, 16 + size));
    if ((*module)->library == nullptr) return 209;
    return kSuccess;
}
FAKE(cuModuleUnload, Module module) {
    --state.modules;
    delete module;
    return kSuccess;
}
FAKE(cuModuleGetFunction, Function* function, Module module, const char* name) {
    ENTER(cuModuleGetFunction)
    FunctionRecord found{name, module->library, nullptr};
    if (emulates) {
        found.kernel = emulator::find_kernel(module->library, name);
        if (found.kernel == nullptr) return 500;
    }
    *function = &module->functions.try_emplace(name, found).first->second;
    return kSuccess;
}
FAKE(cuModuleGetGlobal_v2, DevicePointer* pointer, std::size_t*, Module module, const char* name) {
    ENTER(cuModuleGetGlobal)
    void* found = emulates ? emulator::find_variable(module->library, name) : nullptr;
    if (found == nullptr) return 500;
    *pointer = reinterpret_cast<DevicePointer>(found);
    return kSuccess;
}
FAKE(cuFuncGetAttribute, int* value, int, Function) {
    *value = state.static_shared;
    return kSuccess;
}
FAKE(cuFuncSetAttribute, Function, int, int value) {
    ENTER(cuFuncSetAttribute)
    state.dynamic_shared = value;
    return kSuccess;
}
namespace {

Result launch(Function function, const unsigned grid[3], const unsigned block[3],
              unsigned shared_bytes, Stream stream, void** arguments) {
    use(stream);
    if (capturing && stream == recorded_stream) {
        ++state.captured_launches;
        return kSuccess;
    }
    ++state.launches;
    state.last_launch = {function->name.c_str(),
                         {grid[0], grid[1], grid[2]},
                         {block[0], block[1], block[2]},
                         shared_bytes,
                         stream,
                         arguments,
                         current->device};
    if (state.on_launch != nullptr) state.on_launch(state.last_launch);
    if (!emulates) return kSuccess;
    if (block[0] * block[1] * block[2] > 1024) return kInvalidValue;
    std::string message;
    if (emulator::launch(function->library, function->kernel, grid, block, arguments, message)) {
        return kSuccess;
    }
    std::fprintf(stderr, "%s: %s\n", function->name.c_str(), message.c_str());
    return 719;
}

}  // namespace

FAKE(cuLaunchKernel, Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream,
     void** arguments, void**) {
    ENTER(cuLaunchKernel)
    const unsigned grid[3] = {grid_x, grid_y, grid_z};
    const unsigned block[3] = {block_x, block_y, block_z};
    return launch(function, grid, block, shared_bytes, stream, arguments);
}
FAKE(cuLaunchKernelEx, const LaunchConfig* config, Function function, void** arguments, void**) {
    ENTER(cuLaunchKernelEx)
    if (config->attribute_count != 1 || config->attributes->id != 6) return kInvalidValue;
    state.overlapped_launches += config->attributes->allowed;
    return launch(function, config->grid, config->block, config->shared_bytes, config->stream,
                  arguments);
}

namespace {

Result allocate(DevicePointer* pointer, std::size_t bytes) {
    void* at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(at, 0xA5, bytes);
    *pointer = reinterpret_cast<DevicePointer>(at);
    memory[*pointer] = {bytes, current->device};
    ++state.allocations;
    return kSuccess;
}

Result release(DevicePointer pointer) {
    if (memory.erase(pointer) == 0) return kInvalidValue;
    std::free(reinterpret_cast<void*>(pointer));
    ++state.releases;
    return kSuccess;
}

}  // namespace

FAKE(cuMemAlloc_v2, DevicePointer* pointer, std::size_t bytes) {
    ENTER(cuMemAlloc)
    return allocate(pointer, bytes);
}
FAKE(cuMemFree_v2, DevicePointer pointer) {
    ENTER(cuMemFree)
    return release(pointer);
}
FAKE(cuMemPoolCreate, MemoryPool* pool, const PoolProperties*) {
    *pool = reinterpret_cast<MemoryPool>(1);
    return kSuccess;
}
FAKE(cuMemPoolSetAttribute, MemoryPool, int, void*) {
    return kSuccess;
}
FAKE(cuMemPoolTrimTo, MemoryPool, std::size_t) {
    ++state.trims;
    return kSuccess;
}
FAKE(cuMemAllocFromPoolAsync, DevicePointer* pointer, std::size_t bytes, MemoryPool,
     Stream stream) {
    ENTER(cuMemAllocFromPoolAsync)
    use(stream);
    return allocate(pointer, bytes);
}
FAKE(cuMemFreeAsync, DevicePointer pointer, Stream stream) {
    ENTER(cuMemFreeAsync)
    use(stream);
    state.last_free = stream;
    return release(pointer);
}
FAKE(cuMemsetD8Async, DevicePointer pointer, unsigned char value, std::size_t bytes,
     Stream stream) {
    ENTER(cuMemsetD8Async)
    use(stream);
    std::memset(reinterpret_cast<void*>(pointer), value, bytes);
    return kSuccess;
}
FAKE(cuMemcpyHtoDAsync_v2, DevicePointer to, const void* from, std::size_t bytes, Stream stream) {
    ENTER(cuMemcpyHtoDAsync)
    use(stream);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    state.bytes_to_device += bytes;
    return kSuccess;
}
FAKE(cuMemcpyDtoHAsync_v2, void* to, DevicePointer from, std::size_t bytes, Stream stream) {
    ENTER(cuMemcpyDtoHAsync)
    use(stream);
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    state.bytes_to_host += bytes;
    return kSuccess;
}
FAKE(cuOccupancyMaxPotentialBlockSize, int* grid, int* block, Function, std::size_t (*)(int block),
     std::size_t, int) {
    ENTER(cuOccupancyMaxPotentialBlockSize)
    *grid = 264;
    *block = 512;
    return kSuccess;
}
FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, Function, int, std::size_t) {
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor)
    *blocks = 2;
    return kSuccess;
}
FAKE(cuMemcpyDtoDAsync_v2, DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream) {
    ENTER(cuMemcpyDtoDAsync)
    use(stream);
    if (to < from + bytes && from < to + bytes && bytes > 0 && to != from) {
        std::fprintf(stderr, "fake CUDA: a copy on the device overlaps itself\n");
        std::abort();
    }
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    return kSuccess;
}
FAKE(cuMemHostAlloc, void** pointer, std::size_t bytes, unsigned) {
    ENTER(cuMemHostAlloc)
    *pointer = std::malloc(bytes);
    return kSuccess;
}
FAKE(cuMemGetInfo_v2, std::size_t* free, std::size_t* total) {
    *free = 12'000'000;
    *total = std::size_t{1} << 37;
    return kSuccess;
}
FAKE(cuPointerGetAttribute, void* value, int attribute, DevicePointer pointer) {
    const std::scoped_lock lock(mutex);
    auto after = memory.upper_bound(pointer);
    if (after == memory.begin()) return kInvalidValue;
    const auto& [begin, place] = *--after;
    if (pointer >= begin + place.first) return kInvalidValue;
    if (attribute == 2) *static_cast<unsigned*>(value) = 2;
    if (attribute == 8) *static_cast<unsigned*>(value) = 0;
    if (attribute == 9) *static_cast<int*>(value) = place.second;
    return kSuccess;
}
FAKE(cuEventCreate, Event* event, unsigned) {
    *event = reinterpret_cast<Event>(1);
    return kSuccess;
}
FAKE(cuEventRecord, Event, Stream stream) {
    ENTER(cuEventRecord)
    use(stream);
    ++state.recorded_events;
    return kSuccess;
}
FAKE(cuEventSynchronize, Event) {
    ENTER(cuEventSynchronize)
    return kSuccess;
}
FAKE(cuEventQuery, Event) {
    ENTER(cuEventQuery)
    return kSuccess;
}
FAKE(cuEventElapsedTime, float* milliseconds, Event, Event) {
    ENTER(cuEventElapsedTime)
    *milliseconds = 1.5F;
    return kSuccess;
}
FAKE(cuEventDestroy_v2, Event) {
    return kSuccess;
}
FAKE(cuStreamCreate, Stream* stream, unsigned flags) {
    ENTER(cuStreamCreate)
    made_streams.push_back(flags);
    *stream = reinterpret_cast<Stream>(16 * made_streams.size());
    return kSuccess;
}
FAKE(cuStreamGetFlags, Stream stream, unsigned* flags) {
    ENTER(cuStreamGetFlags)
    use(stream);
    if (state.capturing || (capturing && stream == recorded_stream)) {
        std::fprintf(stderr,
                     "fake CUDA: asking for the flags of a captured stream ends the capture\n");
        std::abort();
    }
    const auto index = reinterpret_cast<std::uintptr_t>(stream) / 16 - 1;
    *flags = index < made_streams.size() ? made_streams[index] : 1;  // others do not block
    return kSuccess;
}
FAKE(cuStreamBeginCapture_v2, Stream stream, int) {
    ENTER(cuStreamBeginCapture)
    use(stream);
    if (emulates) return kInvalidValue;  // graphs are counted, not run
    recorded_stream = stream;
    capturing = true;
    ++state.captures;
    return kSuccess;
}
FAKE(cuStreamEndCapture, Stream, CapturedWork* work) {
    ENTER(cuStreamEndCapture)
    capturing = false;
    *work = reinterpret_cast<CapturedWork>(24);
    return kSuccess;
}
FAKE(cuGraphInstantiateWithFlags, GraphExec* executable, CapturedWork, unsigned long long) {
    ENTER(cuGraphInstantiateWithFlags)
    *executable = reinterpret_cast<GraphExec>(32);
    return kSuccess;
}
FAKE(cuGraphLaunch, GraphExec, Stream stream) {
    ENTER(cuGraphLaunch)
    use(stream);
    ++state.graph_launches;
    return kSuccess;
}
FAKE(cuGraphDestroy, CapturedWork) {
    for (const UserObject object : of_the_graph)
        end(object);
    of_the_graph.clear();
    return kSuccess;
}
FAKE(cuStreamGetCaptureInfo_v2, Stream stream, int* status, unsigned long long* id,
     CapturedWork* work, const void**, std::size_t*) {
    ENTER(cuStreamGetCaptureInfo)
    use(stream);
    *status = state.capturing || capturing ? 1 : 0;
    *id = 1;
    *work = reinterpret_cast<CapturedWork>(24);
    return kSuccess;
}
FAKE(cuUserObjectCreate, UserObject* object, void* owned, void (*end)(void*), unsigned, unsigned) {
    ENTER(cuUserObjectCreate)
    *object = new UserObjectRecord{owned, end};
    return kSuccess;
}
FAKE(cuUserObjectRelease, UserObject object, unsigned) {
    end(object);
    return kSuccess;
}
FAKE(cuGraphRetainUserObject, CapturedWork, UserObject object, unsigned, unsigned) {
    ENTER(cuGraphRetainUserObject)
    of_the_graph.push_back(object);
    return kSuccess;
}
FAKE(cuGraphExecDestroy, GraphExec) {
    return kSuccess;
}
FAKE(cuStreamDestroy_v2, Stream stream) {
    const std::scoped_lock lock(mutex);
    use(stream);
    destroyed_streams.insert(stream);
    return kSuccess;
}
FAKE(cuStreamWaitEvent, Stream stream, Event, unsigned) {
    ENTER(cuStreamWaitEvent)
    use(stream);
    ++state.waits_for_events;
    return kSuccess;
}
FAKE(cuMemFreeHost, void* pinned) {
    std::free(pinned);
    return kSuccess;
}
FAKE(cuMemHostGetDevicePointer_v2, DevicePointer* pointer, void* pinned, unsigned) {
    ENTER(cuMemHostGetDevicePointer)
    *pointer = reinterpret_cast<DevicePointer>(pinned);
    return kSuccess;
}

// ---- memory of other devices, and memory that is mapped
// -------------------------------------------

namespace {

constexpr std::size_t kGranule = 1 << 16;
std::map<DevicePointer, std::size_t> reserved;           // addresses
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
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
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
    for (std::size_t row = 0; row < copy->height; ++row) {
        std::memcpy(reinterpret_cast<char*>(copy->to.at) + row * copy->to.pitch,
                    reinterpret_cast<char*>(copy->from.at) + row * copy->from.pitch, copy->width);
    }
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

// ---- NVRTC: "compiles" any text to itself
// ---------------------------------------------------------

struct NvrtcProgramRecord {
    std::string text, log;
};

FAKE(nvrtcVersion, int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return kSuccess;
}
extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(Result) {
    return "NVRTC_ERROR_MADE_UP";
}
FAKE(nvrtcGetNumSupportedArchs, int* count) {
    *count = 2;
    return kSuccess;
}
FAKE(nvrtcGetSupportedArchs, int* numbers) {
    numbers[0] = 80;
    numbers[1] = 90;
    return kSuccess;
}
FAKE(nvrtcCreateProgram, NvrtcProgramRecord** program, const char* source, const char*, int count,
     const char* const*, const char* const* names) {
    state.headers = count;
    state.header = count > 0 ? names[0] : nullptr;
    *program = new NvrtcProgramRecord{source, "the log"};
    return kSuccess;
}
FAKE(nvrtcCompileProgram, NvrtcProgramRecord* program, int count, const char* const* options) {
    if (emulates) {
        program->text = emulator::compile(program->text, program->log);
        return program->text.empty() ? 6 : kSuccess;
    }
    for (int i = 0; i < count; ++i)
        program->text += std::string("\n// ") + options[i];
    return state.nvrtc_result;
}
FAKE(nvrtcGetProgramLogSize, NvrtcProgramRecord* program, std::size_t* size) {
    *size = program->log.size() + 1;
    return kSuccess;
}
FAKE(nvrtcGetProgramLog, NvrtcProgramRecord* program, char* log) {
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    return kSuccess;
}
FAKE(nvrtcGetCUBINSize, NvrtcProgramRecord* program, std::size_t* size) {
    *size = program->text.size();
    return kSuccess;
}
FAKE(nvrtcGetCUBIN, NvrtcProgramRecord* program, char* image) {
    std::memcpy(image, program->text.data(), program->text.size());
    return kSuccess;
}
FAKE(nvrtcGetPTXSize, NvrtcProgramRecord* program, std::size_t* size) {
    *size = program->text.size();
    return kSuccess;
}
FAKE(nvrtcGetPTX, NvrtcProgramRecord* program, char* image) {
    std::memcpy(image, program->text.data(), program->text.size());
    return kSuccess;
}
FAKE(nvrtcDestroyProgram, NvrtcProgramRecord** program) {
    delete *program;
    return kSuccess;
}
