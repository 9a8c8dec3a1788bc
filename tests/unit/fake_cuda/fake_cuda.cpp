// See fake_cuda.h. Two devices of architecture sm_90, one context each. FAKE_CUDA_EMULATE in the
// environment gives another number of devices and makes kernels run (emulator.h).
#include "fake_cuda.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emulator.h"
#include "fake_state.h"

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

namespace fake {

FakeCuda state{};

namespace {
constexpr int kMostDevices = 8;
const char* const emulated = std::getenv("FAKE_CUDA_EMULATE");
}  // namespace

const bool emulates = emulated != nullptr;
const int devices = emulates ? std::clamp(std::atoi(emulated), 1, kMostDevices) : 2;
std::mutex mutex;
thread_local Context current = nullptr;
std::map<DevicePointer, std::pair<std::size_t, int>> memory;

}  // namespace fake

using namespace fake;

namespace {

ContextRecord contexts[kMostDevices] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
bool capturing = false;
Stream recorded_stream = nullptr;
std::set<Stream> destroyed_streams;

}  // namespace

struct parpy::cuda::EventRecord {
    Stream stream = nullptr;
    std::size_t behind = 0;  // the number of pieces of work before it
};

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

}  // namespace

namespace fake {

// The injected failure of this call of `function`, or else success.
Result enter(const char* function) {
    if (std::strcmp(state.failing, function) != 0 || state.times == 0) return kSuccess;
    if (state.after-- > 0) return kSuccess;
    state.after = 0;
    --state.times;
    return state.failure;
}

// A real driver reads the memory of a destroyed stream, and the process crashes.
void use(Stream stream) {
    if (!destroyed_streams.contains(stream)) return;
    std::fprintf(stderr, "fake CUDA: a stream is used after it was destroyed\n");
    std::abort();
}

}  // namespace fake

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
    *value = attribute <= 3    ? 1024  // threads of a block, total and in x and y
             : attribute == 4  ? 64
             : attribute == 5  ? 2147483647  // blocks of a grid
             : attribute <= 7  ? 65535
             : attribute == 75 ? 9
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
    run_all();
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
    run_all(stream);
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
    const std::scoped_lock lock(mutex);
    run_all();
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

bool emulate(const FunctionRecord& function, const unsigned* grid, const unsigned* block,
             void** arguments) {
    std::string message;
    if (emulator::launch(function.library, function.kernel, grid, block, arguments, message))
        return true;
    std::fprintf(stderr, "%s: %s\n", function.name.c_str(), message.c_str());
    return false;
}

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
    if (is_recording(stream)) ++state.captured_launches;
    if (!is_late(stream) && !is_recording(stream))
        return emulate(*function, grid, block, arguments) ? kSuccess : 719;
    std::array<void*, 128> copies{};
    emulator::copy_arguments(function->library, function->name.c_str(), arguments, copies.data());
    const std::array<unsigned, 6> sizes = {grid[0], grid[1], grid[2], block[0], block[1], block[2]};
    enqueue(stream, [kernel = *function, copies, sizes]() mutable {
        if (!emulate(kernel, sizes.data(), sizes.data() + 3, copies.data())) std::abort();
    });
    return kSuccess;
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
    run_all();
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
    if (!is_late(stream)) return release(pointer);
    enqueue(stream, [pointer] { static_cast<void>(release(pointer)); });
    return kSuccess;
}
FAKE(cuMemsetD8Async, DevicePointer pointer, unsigned char value, std::size_t bytes,
     Stream stream) {
    ENTER(cuMemsetD8Async)
    use(stream);
    enqueue(stream, [=] { std::memset(reinterpret_cast<void*>(pointer), value, bytes); });
    return kSuccess;
}
FAKE(cuMemcpyHtoDAsync_v2, DevicePointer to, const void* from, std::size_t bytes, Stream stream) {
    ENTER(cuMemcpyHtoDAsync)
    use(stream);
    run_all(stream);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    state.bytes_to_device += bytes;
    return kSuccess;
}
FAKE(cuMemcpyDtoHAsync_v2, void* to, DevicePointer from, std::size_t bytes, Stream stream) {
    ENTER(cuMemcpyDtoHAsync)
    use(stream);
    run_all(stream);
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
    enqueue(stream, [=] {
        std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    });
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
    *event = new EventRecord;
    return kSuccess;
}
FAKE(cuEventRecord, Event event, Stream stream) {
    ENTER(cuEventRecord)
    use(stream);
    event->stream = stream;
    event->behind = enqueued(stream);
    ++state.recorded_events;
    return kSuccess;
}
FAKE(cuEventSynchronize, Event event) {
    ENTER(cuEventSynchronize)
    run_until(event->stream, event->behind);
    return kSuccess;
}
FAKE(cuEventQuery, Event event) {
    ENTER(cuEventQuery)
    run_until(event->stream, event->behind);
    return kSuccess;
}
FAKE(cuEventElapsedTime, float* milliseconds, Event, Event) {
    ENTER(cuEventElapsedTime)
    *milliseconds = 1.5F;
    return kSuccess;
}
FAKE(cuEventDestroy_v2, Event event) {
    delete event;
    return kSuccess;
}
FAKE(cuStreamCreate, Stream* stream, unsigned flags) {
    ENTER(cuStreamCreate)
    *stream = make_stream(flags);
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
    *flags = flags_of(stream);
    return kSuccess;
}
FAKE(cuStreamBeginCapture_v2, Stream stream, int) {
    ENTER(cuStreamBeginCapture)
    use(stream);
    if (records_graphs()) begin_recording(stream);
    state.captures += records_graphs() ? 1 : 0;
    if (emulates) return records_graphs() ? kSuccess : kInvalidValue;
    recorded_stream = stream;
    capturing = true;
    ++state.captures;
    return kSuccess;
}
FAKE(cuStreamEndCapture, Stream stream, CapturedWork* work) {
    ENTER(cuStreamEndCapture)
    if (is_recording(stream)) {
        *work = reinterpret_cast<CapturedWork>(new Recorded(end_recording(stream)));
        return kSuccess;
    }
    capturing = false;
    *work = reinterpret_cast<CapturedWork>(24);
    return kSuccess;
}
FAKE(cuGraphInstantiateWithFlags, GraphExec* executable, CapturedWork work, unsigned long long) {
    ENTER(cuGraphInstantiateWithFlags)
    if (records_graphs()) {
        *executable =
            reinterpret_cast<GraphExec>(new Recorded(*reinterpret_cast<const Recorded*>(work)));
        return kSuccess;
    }
    *executable = reinterpret_cast<GraphExec>(32);
    return kSuccess;
}
FAKE(cuGraphLaunch, GraphExec graph, Stream stream) {
    ENTER(cuGraphLaunch)
    use(stream);
    if (records_graphs()) {
        for (const std::function<void()>& work : *reinterpret_cast<const Recorded*>(graph))
            enqueue(stream, work);
    }
    ++state.graph_launches;
    return kSuccess;
}
FAKE(cuGraphDestroy, CapturedWork work) {
    if (records_graphs()) delete reinterpret_cast<const Recorded*>(work);
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
FAKE(cuGraphExecDestroy, GraphExec graph) {
    if (records_graphs()) delete reinterpret_cast<const Recorded*>(graph);
    return kSuccess;
}
FAKE(cuStreamDestroy_v2, Stream stream) {
    const std::scoped_lock lock(mutex);
    use(stream);
    destroyed_streams.insert(stream);
    return kSuccess;
}
FAKE(cuStreamWaitEvent, Stream stream, Event event, unsigned) {
    ENTER(cuStreamWaitEvent)
    use(stream);
    enqueue(stream, [other = event->stream, behind = event->behind] { run_until(other, behind); });
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
