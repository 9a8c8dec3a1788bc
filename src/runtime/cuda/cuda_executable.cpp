// A CUDA program: the machine code of its device part, loaded on each device that a call runs on,
// and the host part that launches it. A call takes no lock and, except for scratch memory,
// allocates nothing.
#include "runtime/cuda/cuda_executable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "runtime/cache/machine_code.h"
#include "runtime/calls/kernel_facts.h"
#include "runtime/cpu/host_code.h"
#include "runtime/cuda/captured_graphs.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/device_stacks.h"
#include "runtime/cuda/memory/device_memory.h"
#include "runtime/cuda/memory/used_streams.h"
#include "runtime/failure.h"
#include "runtime/parts/part_graphs.h"
#include "runtime/parts/parts.h"

namespace parpy {

namespace {

using cuda::CurrentContext;
using cuda::Device;
using cuda::DevicePointer;
using cuda::Driver;
using cuda::kSuccess;
using cuda::Result;
using cuda::Stream;

constexpr int kMostThreads = 0;        // function attribute: the most threads of a block
constexpr int kSharedSize = 1;         // function attribute: bytes of static shared memory
constexpr int kConstantSize = 2;       // function attribute: bytes
constexpr int kLocalSize = 3;          // function attribute: bytes of a thread
constexpr int kRegisters = 4;          // function attribute: of a thread
constexpr int kProcessors = 16;        // device attribute
constexpr int kDynamicSharedSize = 8;  // function attribute: the most dynamic shared memory
constexpr int kLargeClusters = 14;     // function attribute: clusters that not every GPU runs
constexpr unsigned kPlainShared = 48 * 1024;  // allowed for every kernel without cuFuncSetAttribute

// A copy of the name that outlives the program: a fault may be reported after it is gone.
const char* kept_name(const std::string& name) {
    static std::mutex& mutex = *new std::mutex;
    static auto& names = *new std::set<std::string>;
    const std::scoped_lock lock(mutex);
    return names.insert(name).first->c_str();
}

// ---- kernels on one device ----------------------------------------------------------------------

struct Kernel {
    cuda::Function function = nullptr;
    const char* name = nullptr;
    unsigned static_shared = 0;
    bool waits_for_grid = false;                      // so all blocks must be resident at once
    mutable std::atomic<unsigned> dynamic_shared{0};  // the most requested so far

    // Allows a launch this much dynamic shared memory.
    [[nodiscard]] Result allow_shared(unsigned bytes) const {
        if (bytes + static_shared <= kPlainShared ||
            bytes <= dynamic_shared.load(std::memory_order_relaxed)) {
            return kSuccess;
        }
        const Result result = Driver::instance().cuFuncSetAttribute(function, kDynamicSharedSize,
                                                                    static_cast<int>(bytes));
        if (result == kSuccess) dynamic_shared.store(bytes, std::memory_order_relaxed);
        return result;
    }

    [[nodiscard]] RuntimeError facts(const Device& device, unsigned block, unsigned shared_bytes,
                                     KernelFacts& facts) const {
        const Driver& driver = Driver::instance();
        Result result = allow_shared(shared_bytes);
        const auto ask = [&](int& value, int attribute) {
            if (result == kSuccess) result = driver.cuFuncGetAttribute(&value, attribute, function);
        };
        ask(facts.most_threads, kMostThreads);
        int shared = 0;
        ask(shared, kSharedSize);
        facts.shared_bytes = shared;
        ask(facts.constant_bytes, kConstantSize);
        ask(facts.local_bytes, kLocalSize);
        ask(facts.registers, kRegisters);
        int grid = 0, resident = 0, processors = 0;
        if (result == kSuccess) {
            result = driver.cuOccupancyMaxPotentialBlockSize(&grid, &facts.best_block, function,
                                                             nullptr, shared_bytes, 0);
        }
        if (result == kSuccess) {
            result = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &resident, function, static_cast<int>(block), shared_bytes);
        }
        if (result == kSuccess) {
            result = driver.cuDeviceGetAttribute(&processors, kProcessors, device.handle);
        }
        facts.resident_blocks = resident * processors;
        return result == kSuccess ? RuntimeError{}
                                  : driver.failure(result, "querying the resources of kernel '" +
                                                               std::string(name) + "'");
    }
};

class LoadedModule {
public:
    LoadedModule(const Device& device, const Program& program, const std::string& image,
                 RuntimeError& error)
        : device_(device),
          waits_for_grid_(program.by_hand &&
                          program.device.find("INLINE void grid_barrier") != std::string::npos),
          clusters_(program.device.find("__cluster_dims__") != std::string::npos),
          kernels_(program.kernels.size()) {
        if (kernels_.empty()) return;
        const CurrentContext current(device, error);
        if (error.failed()) return;
        const Driver& driver = Driver::instance();
        if (const Result r = driver.cuModuleLoadData(&module_, image.c_str()); r != kSuccess) {
            error = driver.failure(
                r, "loading the machine code of '" + program.name + "' on " + device.name,
                Code::kP526);
            if (error.code == Code::kP526) {
                error.help = "the driver runs CUDA " + std::to_string(driver.version / 1000) + "." +
                             std::to_string(driver.version % 1000 / 10) +
                             ": install an NVRTC of that release or older, or a newer driver";
            }
            return;
        }
        for (std::size_t i = 0; i < kernels_.size() && !error.failed(); ++i)
            find(program.kernels[i], kernels_[i], error);
        const auto mentions = [&](std::string_view name) {
            return program.device.find(name) != std::string::npos;
        };
        if (mentions("parpy_failure")) find(record_, "parpy_failure", error);
        if (mentions("grid_arrivals")) find(arrivals_, "grid_arrivals", error);
        if (!error.failed() && mentions("stack_limit()")) reserve_stacks(error);
    }
    ~LoadedModule() {
        if (module_ == nullptr) return;
        RuntimeError ignored;
        const CurrentContext current(device_, ignored);
        if (ignored.failed()) return;
        const cuda::BesideCaptures beside;
        Driver::instance().cuModuleUnload(module_);  // waits for running kernels
        if (has_stacks_) cuda::DeviceStacks::of(device_).end();
    }
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_; }

    // Held by calls whose kernels may fail, since there is only one record of failures.
    [[nodiscard]] std::mutex& record_mutex() const { return record_mutex_; }

    // Waits for the stream if kernels of the program may fail, and raises the recorded failure.
    [[nodiscard]] RuntimeError take_failure(Stream stream, Failure& failure) const {
        if (record_ == 0 || failure.raised()) return {};
        // The layout of the device's fail(): whether it failed, site, number of values, values.
        std::array<std::int64_t, 67> noted{};
        RuntimeError error =
            cuda::copy_to_host(device_, noted.data(), record_, sizeof noted, stream);
        const Driver& driver = Driver::instance();
        const auto attempt = [&](Result result) {
            if (result != kSuccess && !error.failed())
                error = driver.failure(result, "waiting for the kernels of a program");
        };
        if (!error.failed()) attempt(driver.cuStreamSynchronize(stream));
        if (error.failed() || noted[0] == 0) return error;
        failure.raise(noted[1], {noted.data() + 3, static_cast<std::size_t>(noted[2])}, 0);
        attempt(driver.cuMemsetD8Async(record_, 0, sizeof noted, stream));
        if (arrivals_ != 0)
            attempt(driver.cuMemsetD8Async(arrivals_, 0, 2 * sizeof(unsigned), stream));
        attempt(driver.cuStreamSynchronize(stream));
        return error;
    }

private:
    // The driver cannot tell how much stack recursive functions need; the device code tests how
    // much they have.
    void reserve_stacks(RuntimeError& error) {
        const std::size_t bytes = cuda::DeviceStacks::of(device_).begin(error);
        has_stacks_ = bytes != 0;
        if (!has_stacks_ || bytes == cuda::DeviceStacks::kWanted) return;
        DevicePointer at = 0;
        find(at, "parpy_stack_bytes", error);
        const auto given = static_cast<std::int64_t>(bytes);
        const Driver& driver = Driver::instance();
        if (error.failed()) return;
        Result result = driver.cuMemcpyHtoDAsync(at, &given, sizeof given, nullptr);
        if (result == kSuccess) result = driver.cuStreamSynchronize(nullptr);
        if (result != kSuccess) error = driver.failure(result, "setting the stacks of kernels");
    }

    void find(DevicePointer& at, const char* variable, RuntimeError& error) {
        if (error.failed()) return;
        const Driver& driver = Driver::instance();
        if (driver.cuModuleGetGlobal(&at, nullptr, module_, variable) == kSuccess) return;
        error = {Code::kP527, "the device code defines no variable '" + std::string(variable) + "'",
                 "keep the declaration of it as it was printed"};
    }

    void find(const std::string& name, Kernel& kernel, RuntimeError& error) {
        const Driver& driver = Driver::instance();
        kernel.name = kept_name(name);
        if (driver.cuModuleGetFunction(&kernel.function, module_, name.c_str()) != kSuccess) {
            error = {Code::kP527, "the device code defines no kernel '" + name + "'",
                     "keep the declaration extern \"C\" __global__ void " + name + "(…)"};
            return;
        }
        int bytes = 0;
        driver.cuFuncGetAttribute(&bytes, kSharedSize, kernel.function);
        kernel.static_shared = static_cast<unsigned>(bytes);
        kernel.waits_for_grid = waits_for_grid_;
        // If the GPU does not support clusters of more than 8 blocks, the launch reports it.
        if (clusters_) driver.cuFuncSetAttribute(kernel.function, kLargeClusters, 1);
    }

    const Device& device_;
    const bool waits_for_grid_;
    const bool clusters_;
    bool has_stacks_ = false;
    cuda::Module module_ = nullptr;
    std::vector<Kernel> kernels_;
    DevicePointer record_ = 0;    // of a failed check; 0: no kernel has checks
    DevicePointer arrivals_ = 0;  // at the grid's barriers; reset after a failure; 0: none
    mutable std::mutex record_mutex_;
};

// ---- one call -----------------------------------------------------------------------------------

class CudaSession final : public DeviceSession {
public:
    CudaSession(const Device& device, const LoadedModule& module, const Program& program,
                Stream stream, Failure* failure, bool captured = false,
                cuda::PartGraphs::Run* part = nullptr)
        : device_(device),
          module_(module),
          kernels_(module.kernels()),
          program_(program),
          stream_(stream),
          failure_(failure),
          captured_(captured),
          part_(part) {}
    ~CudaSession() override {
        for (std::size_t i = 0; i < scratch_count_; ++i)
            cuda::release(device_, scratch_[i], stream_);
        for (const DevicePointer pointer : more_scratch_)
            cuda::release(device_, pointer, stream_);
    }
    CudaSession(const CudaSession&) = delete;
    CudaSession& operator=(const CudaSession&) = delete;

    [[nodiscard]] void* stream() const override { return stream_; }

    // The number of kernels launched so far.
    [[nodiscard]] std::size_t launches() const { return launches_; }

    int launch(const KernelLaunch& launch, RuntimeError& error) override {
        if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return 0;
        if (launch.index < 0 || static_cast<std::size_t>(launch.index) >= kernels_.size()) {
            error = {Code::kP527,
                     "the host code launches kernel number " + std::to_string(launch.index) +
                         ", but the device code has kernels 0 to " +
                         std::to_string(static_cast<std::int64_t>(kernels_.size()) - 1),
                     {}};
            return 1;
        }
        const Kernel& kernel = kernels_[static_cast<std::size_t>(launch.index)];
        cuda::note_launch(kernel.name);
        Result result = kernel.allow_shared(launch.shared_bytes);
        Stream stream = stream_;
        bool recorded = captured_;
        if (result == kSuccess && part_ != nullptr && !part_->enters(stream, recorded)) return 0;
        if (part_ != nullptr && part_->begins()) follows_kernel_ = false;
        if (result == kSuccess) result = enqueue(kernel, launch, stream, recorded);
        if (result == kSuccess) {
            ++launches_;
            follows_kernel_ = true;
            return 0;
        }
        error = launch_failure(kernel, result, launch);
        return 1;
    }

    void* scratch(std::int64_t bytes, RuntimeError& error) override {
        const auto size = static_cast<std::size_t>(bytes < 0 ? 0 : bytes);
        follows_kernel_ = false;
        const DevicePointer pointer = cuda::allocate(device_, size, stream_, error);
        if (pointer == 0) return nullptr;
        if (scratch_count_ < scratch_.size()) {
            scratch_[scratch_count_++] = pointer;
        } else {
            more_scratch_.push_back(pointer);
        }
        const Driver& driver = Driver::instance();
        if (size > 0) {
            if (const Result r = driver.cuMemsetD8Async(pointer, 0, size, stream_); r != kSuccess) {
                error = driver.failure(r, "clearing memory on the GPU");
                return nullptr;
            }
        }
        return reinterpret_cast<void*>(pointer);
    }

    int fetch(std::int64_t site, void* to, const void* from, std::int64_t bytes,
              RuntimeError& error) override {
        error = captured(site);
        if (!error.failed()) {
            error = cuda::copy_to_host(device_, to, reinterpret_cast<DevicePointer>(from),
                                       static_cast<std::size_t>(bytes), stream_);
        }
        const Driver& driver = Driver::instance();
        if (!error.failed()) {
            const Result result = driver.cuStreamSynchronize(stream_);
            if (result != kSuccess) error = driver.failure(result, "waiting for the GPU");
        }
        if (!error.failed() && failure_ != nullptr) {
            error = module_.take_failure(stream_, *failure_);
            if (failure_->raised() && !error.failed()) error = located_error(program_, *failure_);
        }
        return error.failed() ? 1 : 0;
    }

private:
    // Fails if the stream is captured: recorded work cannot be waited for.
    [[nodiscard]] RuntimeError captured(std::int64_t site) const {
        const Driver& driver = Driver::instance();
        int status = 0;
        const Result result = driver.cuStreamIsCapturing(stream_, &status);
        if (result != kSuccess) return driver.failure(result, "querying the state of a stream");
        if (status == 0) return {};
        Failure here;
        here.raise(site, {}, 0);
        return located_error(program_, here);
    }

    [[nodiscard]] Result enqueue(const Kernel& kernel, const KernelLaunch& launch, Stream stream,
                                 bool recorded) const {
        const Driver& driver = Driver::instance();
        const auto& [index, grid, block, shared_bytes, arguments, overlapped] = launch;
        const bool together = kernel.waits_for_grid && driver.cuLaunchKernelEx != nullptr;
        const bool overlaps =
            overlapped && device_.overlaps_launches && (follows_kernel_ || !recorded);
        if (!together && !overlaps) {
            return driver.cuLaunchKernel(kernel.function, grid[0], grid[1], grid[2], block[0],
                                         block[1], block[2], shared_bytes, stream, arguments,
                                         nullptr);
        }
        cuda::LaunchAttribute attribute;
        if (together) attribute.id = cuda::kCooperative;
        const cuda::LaunchConfig config{{grid[0], grid[1], grid[2]},
                                        {block[0], block[1], block[2]},
                                        shared_bytes,
                                        stream,
                                        &attribute,
                                        1};
        return driver.cuLaunchKernelEx(&config, kernel.function, arguments, nullptr);
    }

    static RuntimeError launch_failure(const Kernel& kernel, Result result,
                                       const KernelLaunch& launch) {
        RuntimeError error = Driver::instance().failure(
            result,
            "launching kernel '" + std::string(kernel.name) + "' on " + shape_text(launch.grid) +
                " blocks of " + shape_text(launch.block) + " threads with " +
                std::to_string(launch.shared_bytes) + " bytes of shared memory",
            Code::kP531);
        if (result == cuda::kLaunchOutOfResources) {
            error.help =
                "the kernel needs more registers than a block this large has: lower it with "
                ".tpb(256)";
        } else if (result == cuda::kTooManyBlocks) {
            error.help =
                "the kernel waits for its whole grid, whose blocks must all fit on the GPU at "
                "once: launch fewer or smaller ones";
        } else if (result == cuda::kInvalidClusterSize) {
            error.help =
                "this GPU has no room for clusters of so many blocks: lower "
                "opts.max_thread_blocks_per_cluster (every one has clusters of 8)";
        } else if (result == cuda::kInvalidValue) {
            error.help =
                "a block has at most 1024 threads, a grid at most 2147483647 x 65535 x 65535 "
                "blocks";
        }
        return error;
    }

    const Device& device_;
    const LoadedModule& module_;
    const std::vector<Kernel>& kernels_;
    const Program& program_;
    Stream stream_;
    Failure* failure_;  // null if no check can fail
    bool captured_;     // the work is recorded for a graph, in which only kernels overlap kernels
    cuda::PartGraphs::Run* part_;  // null if all launches are enqueued at once
    bool follows_kernel_ = false;
    std::size_t launches_ = 0;
    std::array<DevicePointer, 8> scratch_{};
    std::size_t scratch_count_ = 0;
    std::vector<DevicePointer> more_scratch_;
};

class CudaExecutable final : public Executable, public HasKernels {
public:
    CudaExecutable(Program p, Options options, HostCode host)
        : Executable(std::move(p)),
          options_(std::move(options)),
          host_(std::move(host)),
          fails_(can_fail(program.host) || can_fail(program.device)),
          repeats_(program.results.empty() &&
                   program.host.find("parpy_fetch") == std::string::npos &&
                   program.host.find("#include") == std::string::npos &&
                   program.host.find("parpy_part_") == std::string::npos),
          exchanges_(program.results.empty() && !can_fail(program.device) &&
                     program.host.find("parpy_part_") != std::string::npos &&
                     program.host.find("parpy_fetch") == std::string::npos &&
                     program.host.find("parpy_scratch") == std::string::npos &&
                     program.host.find("#include") == std::string::npos),
          modules_(static_cast<std::size_t>(cuda::device_count())) {}
    ~CudaExecutable() override {
        for (const auto& module : modules_)
            delete module.load(std::memory_order_acquire);
    }

    RuntimeError run(const std::uint64_t* slots, void* stream, ResultSink* results) const override {
        RuntimeError error;
        const Device* device = &cuda::device(0);
        if (modules_.size() > 1) device = device_of(slots, error);
        if (error.failed()) return error;
        const CurrentContext current(*device, error);
        if (error.failed()) return error;
        const LoadedModule* module = module_on(*device, error);
        if (module == nullptr) return error;

        const auto own = static_cast<Stream>(stream);
        error = run_on(*device, *module, slots, own, results);
        cuda::UsedStreams::of(*device).note(own);
        return error;
    }

    RuntimeError facts(unsigned block, unsigned shared_bytes, KernelFacts& facts) const override {
        RuntimeError error;
        const Device& device = cuda::current_device();
        const CurrentContext current(device, error);
        if (error.failed()) return error;
        const LoadedModule* module = module_on(device, error);
        if (module == nullptr || module->kernels().empty()) return error;
        return module->kernels().front().facts(device, block, shared_bytes, facts);
    }

    // The device part on `device`, loaded at the first call for it.
    const LoadedModule* module_on(const Device& device, RuntimeError& error) const {
        std::atomic<const LoadedModule*>& place = modules_[static_cast<std::size_t>(device.index)];
        if (const LoadedModule* known = place.load(std::memory_order_acquire)) return known;
        const std::scoped_lock lock(loading_);
        if (const LoadedModule* known = place.load(std::memory_order_relaxed)) return known;
        std::string image;  // empty for a program without parallel code
        if (!program.kernels.empty()) {
            image = cuda::machine_code(program, options_, device.architecture, error);
            if (image.empty()) return nullptr;
        }
        auto module = std::make_unique<LoadedModule>(device, program, image, error);
        if (error.failed()) return nullptr;
        place.store(module.get(), std::memory_order_release);
        return module.release();
    }

private:
    RuntimeError run_on(const Device& device, const LoadedModule& module,
                        const std::uint64_t* slots, Stream stream, ResultSink* results) const {
        if (fails_) return run_checked(device, module, slots, stream, results);
        if (repeats_ && cuda::CapturedGraphs::available()) {
            const std::span<const std::uint64_t> key(slots, program.slots.size());
            const auto record = [&](Stream recorded) {
                CudaSession session(device, module, program, recorded, nullptr, true);
                return enqueue(session, slots, nullptr);
            };
            if (options_.use_cuda_graphs) return graphs_.run(device, key, stream, record);
            if (launches_.load(std::memory_order_relaxed) >= kFewestCaptured &&
                graphs_.repeats(device, key, stream)) {
                RuntimeError error = graphs_.run(device, key, stream, record);
                if (!error.failed()) return error;
                launches_.store(0, std::memory_order_relaxed);
                graphs_.give_up();  // without a graph, launches report the error, if any
            }
        }
        CudaSession session(device, module, program, stream, nullptr);
        RuntimeError error = enqueue(session, slots, results);
        if (session.launches() <= kMostCaptured)
            launches_.store(session.launches(), std::memory_order_relaxed);
        return error;
    }

    RuntimeError enqueue(CudaSession& session, const std::uint64_t* slots,
                         ResultSink* results) const {
        ParpyContext context;
        context.results = results;
        context.session = &session;
        LaunchCounts counts(*this);
        context.launches = counts.if_any();
        if (host_.entry(&context, slots) == 0 && !context.error) return {};
        if (context.error) return std::move(*context.error);
        return {Code::kP900, "the program '" + program.name + "' failed without a reason", {}};
    }

    RuntimeError run_checked(const Device& device, const LoadedModule& module,
                             const std::uint64_t* slots, Stream stream, ResultSink* results) const {
        const std::scoped_lock lock(module.record_mutex());
        Failure failure;
        std::unique_ptr<cuda::PartGraphs::Run> part;
        if (exchanges_) {
            part = part_graphs_.begin(device, {slots, program.slots.size()}, stream);
        }
        CudaSession session(device, module, program, stream, &failure, false, part.get());
        ParpyContext context;
        context.session = &session;
        LaunchCounts counts(*this);
        context.launches = counts.if_any();
        context.failure = &failure;
        context.results = results;
        {
            const PartWorkScope scope(part.get());
            run_until_failure(failure, [&] { static_cast<void>(host_.entry(&context, slots)); });
        }
        if (context.error) return std::move(*context.error);
        if (part != nullptr && part->error().failed()) return part->error();
        if (part != nullptr && !failure.raised()) {
            if (RuntimeError error = part->finish(); error.failed()) return error;
        }
        if (RuntimeError error = module.take_failure(stream, failure); error.failed()) return error;
        return failure.raised() ? located_error(program, failure) : RuntimeError{};
    }

    // Several GPUs: the device of the part that runs, or of the arrays.
    const Device* device_of(const std::uint64_t* slots, RuntimeError& error) const {
        if (const PartHook* part = running_part(); part != nullptr && part->device() >= 0)
            return &cuda::device(part->device());
        std::vector<DevicePointer> pointers;
        for (std::size_t i = 0; i < program.slots.size(); ++i) {
            if (program.slots[i].kind == Slot::Kind::kPointer) pointers.push_back(slots[i]);
        }
        return cuda::device_of(pointers, program.name, error);
    }

    const Options options_;
    HostCode host_;
    const bool fails_;
    // Calls with the same slots do the same work: they wait neither for their own kernels nor for
    // other parts of a call, and call no functions of the user on the host.
    const bool repeats_;
    // The same for programs that only wait for other parts of a call.
    const bool exchanges_;
    // Calls with this many launches are captured if they repeat: a launch costs the host 2 to 3 µs,
    // a node of a graph 0.7 µs of the GPU's time, and some microseconds once.
    static constexpr std::size_t kFewestCaptured = 32, kMostCaptured = 1 << 14;
    mutable std::atomic<std::size_t> launches_ = 0;  // of the last call without a graph
    mutable cuda::CapturedGraphs graphs_;
    mutable cuda::PartGraphs part_graphs_;
    mutable std::mutex loading_;
    mutable std::vector<std::atomic<const LoadedModule*>> modules_;  // by device index
};

}  // namespace

std::shared_ptr<Executable> load_cuda(const Program& program, const Options& options,
                                      RuntimeError& error) {
    if (error = cuda::unavailable(); error.failed()) return nullptr;
    HostCode host = load_host_code(program, options, error);
    if (host.entry == nullptr) return nullptr;
    auto executable = std::make_shared<CudaExecutable>(program, options, std::move(host));
    if (executable->module_on(cuda::current_device(), error) == nullptr) return nullptr;
    return executable;
}

}  // namespace parpy
