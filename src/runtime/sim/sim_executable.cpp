// A CUDA program on the simulator.
#include "runtime/sim/sim_executable.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "emit/foreign_text.h"
#include "runtime/cache/kernel_cache.h"
#include "runtime/calls/kernel_facts.h"
#include "runtime/cpu/host_code.h"
#include "runtime/cuda/device_linker.h"
#include "runtime/failure.h"
#include "runtime/sim/device_text.h"
#include "runtime/user_flags.h"

namespace parpy {

namespace {

std::atomic<std::uint64_t> seed{0};
std::atomic<int> warp_size{32};  // of kernels written by hand

// ---------------------------------------------------------------- where in the user's text

// The place in the user's program of a line of the device text: the nearest comment above it of the
// form "file:line: text".
std::optional<std::string> located(const std::string& device, int line) {
    std::optional<std::string> found;
    std::size_t begin = 0;
    for (int at = 1; at <= line && begin < device.size(); ++at) {
        const std::size_t end = std::min(device.find('\n', begin), device.size());
        const std::string_view text(device.data() + begin, end - begin);
        const std::size_t slashes = text.find_first_not_of(' ');
        if (slashes != std::string_view::npos && text.substr(slashes).starts_with("// ")) {
            const std::string_view comment = text.substr(slashes + 3);
            const std::size_t colon = comment.find(": ");
            const bool is_place = colon != std::string_view::npos && colon > 0 &&
                                  comment[colon - 1] >= '0' && comment[colon - 1] <= '9';
            if (is_place) {
                found = std::string(comment.substr(0, colon)) + " (" +
                        std::string(comment.substr(colon + 2)) + ")";
            }
        }
        begin = end + 1;
    }
    return found;
}

// The place in the user's program of the call of the helper function that contains the line.
std::optional<std::string> place_of_call(const std::string& device, int line) {
    constexpr std::string_view kHelper = "INLINE void ";
    std::size_t end = 0;
    for (int at = 1; at < line && end != std::string::npos; ++at)
        end = device.find('\n', end + 1);
    const std::size_t begin = device.rfind(kHelper, end);
    if (end == std::string::npos || begin == std::string::npos) return std::nullopt;
    const std::size_t name = begin + kHelper.size();
    const std::string call = device.substr(name, device.find('(', name) - name) + "(";
    std::optional<std::string> found;
    for (std::size_t at = device.find(call, end); at != std::string::npos;
         at = device.find(call, at + 1)) {
        const auto place = located(
            device,
            1 + static_cast<int>(std::count(
                    device.begin(), device.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
        if (!place || found == place) continue;
        found = found ? *found + " or " + *place : *place;
    }
    return found;
}

std::string place_of(const std::string& device, int line) {
    if (auto place = located(device, line)) return std::move(*place);
    return place_of_call(device, line)
        .value_or("line " + std::to_string(line) + " of the device code");
}

// The innermost call in the user's program: the prelude has no such comments.
std::string place_of(const std::string& device, const int* lines) {
    for (const int* line = lines; *line != 0; ++line) {
        if (auto place = located(device, *line)) return std::move(*place);
    }
    return place_of(device, *lines);
}

RuntimeError error_of(sim::Fault fault, const std::string& kernel, const Program& program) {
    if (fault.site) {
        Diagnostic found =
            ir::describe(program.sites, static_cast<std::size_t>(*fault.site), fault.values);
        found.notes.push_back({{}, "in " + fault.message + " of kernel '" + kernel + "'"});
        auto located = std::make_shared<const Diagnostic>(std::move(found));
        return {located->code, located->message, located->help, located};
    }
    const std::string& device = program.device;
    for (const auto& [line, lines] :
         {std::pair(fault.line, fault.lines), std::pair(fault.other_line, fault.other_lines)}) {
        const std::size_t at = fault.message.find("{}");
        if (at == std::string::npos || (line == 0 && lines == nullptr)) continue;
        fault.message.replace(at, 2,
                              lines != nullptr ? place_of(device, lines) : place_of(device, line));
    }
    if (fault.unplaced && program.by_hand) fault.help += "; cuda.jit(debug=True) names the line";
    return {fault.code, "kernel '" + kernel + "': " + fault.message, std::move(fault.help)};
}

// ---------------------------------------------------------------- one call

class SimSession final : public DeviceSession {
public:
    SimSession(const Program& program, const std::vector<const sim::Kernel*>& kernels,
               unsigned* arrivals, bool watched)
        : program_(program), kernels_(kernels), arrivals_(arrivals), watched_(watched) {}
    ~SimSession() override {
        for (void* memory : scratch_)
            std::free(memory);
    }
    SimSession(const SimSession&) = delete;
    SimSession& operator=(const SimSession&) = delete;

    // All work before a kernel has ended already, so overlapped launches need nothing special.
    int launch(const KernelLaunch& what, RuntimeError& error) override {
        const auto& [index, grid, block, shared_bytes, arguments, overlapped] = what;
        if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return 0;
        if (index < 0 || static_cast<std::size_t>(index) >= kernels_.size()) {
            error = {Code::kP527,
                     "the host code launches kernel number " + std::to_string(index) +
                         ", but the device code has kernels 0 to " +
                         std::to_string(static_cast<std::int64_t>(kernels_.size()) - 1),
                     {}};
            return 1;
        }
        const auto number = static_cast<std::size_t>(index);
        const sim::Kernel& kernel = *kernels_[number];
        const std::string& name = program_.kernels[number];
        // A size beyond the limit of a block in one kernel fails for all kernels of the module,
        // which share their layout.
        const auto shared = std::accumulate(
            kernels_.begin(), kernels_.end(), std::uint64_t{shared_bytes} + bytes_of(kernel),
            [](std::uint64_t most, const sim::Kernel* other) {
                return bytes_of(*other) > sim::kMaxSharedBytes ? std::max(most, bytes_of(*other))
                                                               : most;
            });
        if (!fits(grid, block, shared)) {
            error = {Code::kP531,
                     "kernel '" + name + "' cannot run on " + shape_text(grid) + " blocks of " +
                         shape_text(block) + " threads with " + std::to_string(shared) +
                         " bytes of shared memory",
                     "a block has at most 1024 x 1024 x 64 threads, 1024 in all, and " +
                         std::to_string(sim::kMaxSharedBytes) +
                         " bytes of shared memory; a grid has at most 2147483647 x 65535 x 65535 "
                         "blocks"};
            return 1;
        }
        if (!clusters_fit(grid, kernel)) {
            error = {Code::kP531,
                     "kernel '" + name + "' cannot run on " + shape_text(grid) +
                         " blocks in clusters of " + shape_text(kernel.cluster),
                     "a cluster has at most " + std::to_string(sim::kMaxClusterBlocks) +
                         " blocks, and as many of them in each dimension as divide the grid"};
            return 1;
        }
        const std::uint64_t room = sim::most_threads(kernel) / threads_of(block);
        if (waits_for_grid() && std::uint64_t{grid[0]} * grid[1] * grid[2] > room) {
            error = {Code::kP531,
                     "kernel '" + name + "' cannot run on " + shape_text(grid) + " blocks of " +
                         shape_text(block) + " threads",
                     "it waits for its whole grid, whose blocks must all run at once: the "
                     "simulator runs at most " +
                         std::to_string(room) + " blocks of this size at once"};
            return 1;
        }
        sim::Launch launch{&kernel,
                           name.c_str(),
                           {grid[0], grid[1], grid[2]},
                           {block[0], block[1], block[2]},
                           shared_bytes,
                           arguments,
                           settings()};
        sim::Fault fault = sim::simulate(launch);
        if (!fault.happened()) return 0;
        if (arrivals_ != nullptr) std::fill_n(arrivals_, 2, 0U);
        error = error_of(std::move(fault), name, program_);
        return 1;
    }

    void* scratch(std::int64_t bytes, RuntimeError& error) override {
        const auto size =
            (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + 63) / 64 * 64;
        void* memory = std::aligned_alloc(64, size);
        if (memory == nullptr) {
            error = {Code::kP542, "there is no memory for " + std::to_string(bytes) + " bytes", {}};
            return nullptr;
        }
        std::memset(memory, 0, size);
        scratch_.push_back(memory);
        return memory;
    }

    // Launches are synchronous: the kernels have ended.
    int fetch(std::int64_t, void* to, const void* from, std::int64_t bytes,
              RuntimeError&) override {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
        return 0;
    }

private:
    // Loops that the compiler mapped use warps of 32, whatever the setting is.
    [[nodiscard]] sim::Settings settings() const {
        return {program_.by_hand ? warp_size.load(std::memory_order_relaxed) : 32,
                seed.load(std::memory_order_relaxed), watched_};
    }

    static std::uint64_t bytes_of(const sim::Kernel& kernel) {
        return static_cast<std::uint64_t>(kernel.static_shared);
    }

    static std::uint64_t threads_of(const unsigned block[3]) {
        return std::uint64_t{block[0]} * block[1] * block[2];
    }

    [[nodiscard]] bool waits_for_grid() const { return program_.by_hand && arrivals_ != nullptr; }

    static bool fits(const unsigned grid[3], const unsigned block[3], std::uint64_t shared) {
        const std::uint64_t threads = threads_of(block);
        return threads > 0 && threads <= sim::kMaxBlockThreads && block[2] <= 64 &&
               grid[0] <= 2147483647 && grid[1] <= 65535 && grid[2] <= 65535 &&
               shared <= sim::kMaxSharedBytes;
    }

    static bool clusters_fit(const unsigned grid[3], const sim::Kernel& kernel) {
        std::uint64_t size = 1;
        for (int d = 0; d < 3; ++d) {
            const unsigned blocks = kernel.cluster[d];
            if (blocks == 0 || blocks > sim::kMaxClusterBlocks || grid[d] % blocks != 0)
                return false;
            size *= blocks;
        }
        return size <= sim::kMaxClusterBlocks;
    }

    const Program& program_;
    const std::vector<const sim::Kernel*>& kernels_;
    unsigned* const arrivals_;
    const bool watched_;
    std::vector<void*> scratch_;
};

class SimExecutable final : public Executable, public HasKernels {
public:
    SimExecutable(Program p, HostCode host, std::unique_ptr<LoadedObject> device,
                  std::vector<const sim::Kernel*> kernels, bool watched)
        : Executable(std::move(p)),
          host_(std::move(host)),
          device_(std::move(device)),
          kernels_(std::move(kernels)),
          watched_(watched) {
        if (program.device.find("grid_arrivals") != std::string::npos)
            arrivals_ = static_cast<unsigned*>(device_->symbol("grid_arrivals"));
    }

    RuntimeError run(const std::uint64_t* slots, void*, ResultSink* results) const override {
        SimSession session(program, kernels_, arrivals_, watched_);
        ParpyContext context;
        context.results = results;
        context.session = &session;
        LaunchCounts counts(*this);
        context.launches = counts.if_any();
        Failure failure;  // of the host part; failures of kernels are errors of the launch
        context.failure = &failure;
        int result = 1;
        run_until_failure(failure, [&] { result = host_.entry(&context, slots); });
        if (context.error) return std::move(*context.error);
        if (failure.raised()) return located_error(program, failure);
        if (result == 0) return {};
        return {Code::kP900, "the program '" + program.name + "' failed without a reason", {}};
    }

    RuntimeError facts(unsigned block, unsigned shared_bytes, KernelFacts& facts) const override {
        if (kernels_.empty()) return {};
        facts.shared_bytes = kernels_.front()->static_shared;
        const std::int64_t shared = facts.shared_bytes + shared_bytes;
        const bool fits =
            block > 0 && block <= sim::kMaxBlockThreads && shared <= sim::kMaxSharedBytes;
        facts.resident_blocks =
            fits ? static_cast<int>(sim::most_threads(*kernels_.front()) / block) : 0;
        return {};
    }

private:
    HostCode host_;
    std::unique_ptr<LoadedObject> device_;
    std::vector<const sim::Kernel*> kernels_;
    unsigned* arrivals_ = nullptr;  // at the grid's barriers; reset after a failure; null: none
    bool watched_;
};

// Only kernels written by hand are checked for races; mapped loops are legal already.
bool is_watched(const Program& program, const Options& options) {
    return program.by_hand && (options.check == Check::kRaces || options.check == Check::kAll);
}

std::string device_object(const Program& program, const Options& options, RuntimeError& error) {
    CppOptions cpp;
    cpp.simulated = true;
    cpp.watched = cpp.line_tables = is_watched(program, options);
    cpp.fast_math = options.fast_math;
    cpp.includes = options.includes;
    cpp.extra_flags = user_flags(options).compiler;
    const std::string file = program.name + ".cu";
    const auto made = sim::simulator_text(program.device, program.kernels, file);
    cpp.prelude = made.prelude;

    std::optional<std::string> key;
    if (program.device.find("#include") == std::string::npos)
        key = KernelCache::key("sim", cpp_compiler_identity(cpp), made.text);
    std::string object = KernelCache::instance().get_or_make(
        key, [&] { return compile_cpp(made.text, file, cpp, error); });
    if (object.empty()) {
        blame_foreign_text(error, program.device,
                           [&](const std::string& of_others, const std::string& name) {
                               RuntimeError found;
                               const auto whole = sim::simulator_text(of_others, {}, name);
                               cpp.prelude = whole.prelude;
                               static_cast<void>(compile_cpp(whole.text, name, cpp, found));
                               return found;
                           });
    }
    return object;
}

}  // namespace

void set_simulator(const sim::Settings& settings) {
    seed.store(settings.seed, std::memory_order_relaxed);
    warp_size.store(settings.warp_size, std::memory_order_relaxed);
}

std::shared_ptr<Executable> load_sim(const Program& program, const Options& options,
                                     RuntimeError& error) {
    const auto foreign = std::ranges::find_if(options.libs, cuda::is_device_code);
    if (foreign != options.libs.end()) {
        error = {Code::kP512,
                 "the simulator cannot run '" + *foreign + "', which is machine code of a GPU",
                 "link its CUDA C++ source (.cu), or run on a GPU"};
        return nullptr;
    }
    HostCode host = load_host_code(program, options, error);
    if (host.entry == nullptr) return nullptr;
    std::unique_ptr<LoadedObject> device;
    std::vector<const sim::Kernel*> kernels;
    if (!program.kernels.empty()) {
        const std::string object = device_object(program, options, error);
        if (object.empty()) return nullptr;
        device = load_object(object, user_flags(options).libraries, error);
        if (device == nullptr) {
            if (program.by_hand) name_missing_functions(error, program.device, options.libs);
            return nullptr;
        }
    }
    for (const std::string& name : program.kernels) {
        const void* kernel = device->symbol(sim::kernel_symbol(name));
        if (kernel == nullptr) {
            error = {Code::kP527, "the device code defines no kernel '" + name + "'", {}};
            return nullptr;
        }
        kernels.push_back(static_cast<const sim::Kernel*>(kernel));
    }
    return std::make_shared<SimExecutable>(program, std::move(host), std::move(device),
                                           std::move(kernels), is_watched(program, options));
}

}  // namespace parpy
