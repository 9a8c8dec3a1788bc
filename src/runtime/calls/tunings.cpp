// See tunings.h.
#include "runtime/calls/tunings.h"

#include <charconv>
#include <sstream>

#include "passes/wanted.h"
#include "runtime/cache/kernel_cache.h"
#include "runtime/cpu/cpp_compiler.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/device.h"

namespace parpy {

namespace {

std::string processor() {
    return cpp_compiler_identity({}) + '\n' + std::to_string(worker_count());
}

std::string gpu() {
    if (cuda::unavailable().failed()) return {};
    const cuda::Device& device = cuda::current_device();
    return device.name + ' ' + device.architecture;
}

std::string nothing() {
    return {};
}

constexpr std::string (*kMachines[])() = {
#define BACKEND(enumerator, name, shown, runs, in_process, dialect, settled, load, machine) machine,
#include "support/backends.def"
#undef BACKEND
};

// The machine that the options compile for; empty if it can run nothing.
std::string machine(const Options& options) {
    return kMachines[static_cast<std::size_t>(options.backend)]();
}

void write(std::ostream& out, const Argument& argument) {
    out << ir::to_string(argument.type);
    if (argument.integer) out << '=' << *argument.integer;
    for (const Argument::Dim& dim : argument.dims) {
        out << '[' << (dim.extent ? std::to_string(*dim.extent) : "?") << ','
            << (dim.stride ? std::to_string(*dim.stride) : "?") << ']';
    }
    out << (argument.read_only ? " read-only" : "") << (argument.aliased ? " aliased" : "");
    if (argument.placement) out << argument.placement->group << ',' << argument.placement->offset;
    out << '\n';
}

// All options except the mapping and those that only a search varies.
void write(std::ostream& out, const Options& options) {
    const auto number = [](const auto& scalar) { return scalar ? static_cast<int>(*scalar) : -1; };
    out << static_cast<int>(options.backend) << ' ' << static_cast<int>(options.legality) << ' '
        << static_cast<int>(options.check) << ' ' << options.fast_math << options.deterministic
        << options.use_cuda_graphs << options.use_cuda_thread_block_clusters
        << options.implicit_shape_labels << ' ' << options.max_thread_blocks_per_cluster << ' '
        << options.max_unroll_count << ' ' << number(options.force_int_size) << ' '
        << number(options.force_float_size) << '\n';
    for (const auto* strings : {&options.includes, &options.libs, &options.extra_flags}) {
        for (const std::string& each : *strings)
            out << each.size() << ':' << each;
        out << '\n';
    }
}

// "i@7#2" with its line shifted; other names unchanged.
std::string moved(const std::string& name, std::int64_t by) {
    const std::size_t at = name.rfind('@');
    if (at == std::string::npos) return name;
    std::int64_t line = 0;
    const char* begin = name.data() + at + 1;
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), line);
    if (error != std::errc()) return name;
    return name.substr(0, at + 1) + std::to_string(line + by) +
           name.substr(static_cast<std::size_t>(end - name.data()));
}

}  // namespace

std::string tuning_key(std::string_view function, const Signature& signature,
                       const Options& options) {
    const std::string here = machine(options);
    if (here.empty()) return {};
    std::ostringstream identity;
    identity << here << '\n';
    write(identity, options);
    for (const char* variable : kRestructuringVariables)
        identity << static_cast<int>(wanted_by(variable)) << ' ';
    for (const Argument& argument : signature)
        write(identity, argument);
    return KernelCache::key("tuning", identity.str(), function);
}

std::string written(const Tuning& tuning, std::int64_t first_line) {
    std::ostringstream out;
    out.precision(17);
    const Tuned& t = tuning.tuned;
    out << tuning.seconds << ' ' << tuning.automatic_seconds << ' ' << t.automatic << ' '
        << t.restructure << ' ' << t.max_unroll_count << ' ' << t.use_cuda_thread_block_clusters
        << ' ' << t.max_thread_blocks_per_cluster << ' ' << t.mapping.size() << '\n';
    for (const auto& [name, loop] : t.mapping) {
        const std::string stored = moved(name, -first_line);
        out << loop.threads << ' ' << loop.reduce << ' ' << loop.threads_per_block << ' '
            << stored.size() << ' ' << stored << '\n';
    }
    return out.str();
}

std::optional<Tuning> read_tuning(std::string_view text, std::int64_t first_line) {
    std::istringstream in{std::string(text)};
    Tuning tuning;
    Tuned& t = tuning.tuned;
    std::size_t count = 0;
    in >> tuning.seconds >> tuning.automatic_seconds >> t.automatic >> t.restructure >>
        t.max_unroll_count >> t.use_cuda_thread_block_clusters >> t.max_thread_blocks_per_cluster >>
        count;
    for (std::size_t i = 0; in && i < count; ++i) {
        LoopPar loop;
        std::size_t size = 0;
        in >> loop.threads >> loop.reduce >> loop.threads_per_block >> size;
        if (!in || size > text.size()) return std::nullopt;
        std::string name(size, '\0');
        in.ignore(1);
        in.read(name.data(), static_cast<std::streamsize>(size));
        t.mapping[moved(name, first_line)] = loop;
    }
    if (!in) return std::nullopt;
    return tuning;
}

Tunings& Tunings::instance() {
    static Tunings tunings;
    return tunings;
}

std::optional<Tuning> Tunings::get(const std::string& key, std::int64_t first_line) {
    if (key.empty()) return std::nullopt;
    {
        const std::lock_guard lock(mutex_);
        const auto known = texts_.find(key);
        if (known != texts_.end()) return read_tuning(known->second, first_line);
    }
    const std::optional<std::string> text = KernelCache::instance().get(key);
    return text ? read_tuning(*text, first_line) : std::nullopt;
}

void Tunings::put(const std::string& key, const Tuning& tuning, std::int64_t first_line) {
    if (key.empty()) return;
    const std::string text = written(tuning, first_line);
    {
        const std::lock_guard lock(mutex_);
        if (texts_.size() >= kMost) texts_.clear();
        texts_[key] = text;
    }
    KernelCache::instance().put(key, text);
}

void Tunings::clear() {
    const std::lock_guard lock(mutex_);
    texts_.clear();
}

}  // namespace parpy
