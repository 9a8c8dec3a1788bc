// Cache, compile, link: see host_code.h.
#include "runtime/cpu/host_code.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/cache/kernel_cache.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/device_linker.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/user_flags.h"

namespace parpy {

namespace {

// Text that includes files depends on their contents, which no key contains.
bool self_contained(const Program& program, const CppOptions& options) {
    if (program.host.find("#include") != std::string::npos) return false;
    for (const std::string& flag : options.extra_flags) {
        if (flag.starts_with("-include")) return false;
    }
    return true;
}

// A CUDA library, such as libcublas.so.13, may be in a wheel or toolkit unknown to the loader.
std::string cuda_library(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    for (const std::string& soname : {name, "lib" + name + ".so"}) {
        for (const std::string& file : cuda::library_candidates(soname)) {
            std::error_code ignored;
            if (file != soname && std::filesystem::exists(file, ignored)) return file;
        }
    }
    return name;
}

}  // namespace

HostCode load_host_code(const Program& program, const Options& options, RuntimeError& error) {
    if (program.host.find("parpy_parallel_for") != std::string::npos) warm_workers();
    const UserFlags user = user_flags(options);
    CppOptions cpp;
    cpp.fast_math = options.fast_math;
    cpp.includes = options.includes;  // for text that the user edited
    // On a device they are for the device's compiler.
    if (options.backend == Backend::kCpu) {
        cpp.extra_flags = user.compiler;
    } else if (program.host.find("#include") != std::string::npos) {
        std::ranges::move(cuda::toolkit_headers(), std::back_inserter(cpp.includes));
    }

    std::optional<std::string> key;
    if (self_contained(program, cpp))
        key = KernelCache::key("cpu", cpp_compiler_identity(cpp), program.host);
    const std::string object = KernelCache::instance().get_or_make(
        key, [&] { return compile_cpp(program.host, program.name + ".cpp", cpp, error); });
    if (object.empty()) return {};

    HostCode result;
    // Libraries of device code are linked by the device's linker.
    std::vector<std::string> libraries;
    for (const std::string& library : user.libraries) {
        if (cuda::is_device_code(library)) continue;
        libraries.push_back(options.backend == Backend::kCpu ? library : cuda_library(library));
    }
    result.object = load_object(object, libraries, error);
    if (!result.object) return {};
    const std::string entry = program.name + "_slots";
    result.entry = reinterpret_cast<HostCode::Entry>(result.object->symbol(entry));
    if (result.entry == nullptr) {
        error = {Code::kP513, "the host code defines no function '" + entry + "'",
                 "keep the signature extern \"C\" int " + entry +
                     "(ParpyContext*, const unsigned long*)"};
        return {};
    }
    return result;
}

}  // namespace parpy
