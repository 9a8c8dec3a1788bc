// See machine_code.h.
#include "runtime/cache/machine_code.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "emit/foreign_text.h"
#include "runtime/cache/kernel_cache.h"
#include "runtime/cuda/device_linker.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/user_flags.h"

namespace parpy::cuda {

namespace {

std::string contents(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::string machine_code(const Program& program, const Options& options,
                         const std::string& architecture, RuntimeError& error) {
    const UserFlags user = user_flags(options);
    NvrtcOptions nvrtc{architecture, options.fast_math, options.includes, user.compiler, false};
    std::string identity =
        nvrtc_identity() + "\n" + architecture + (nvrtc.fast_math ? "\nfast" : "\nstrict");
    for (const std::string& flag : nvrtc.extra_flags)
        identity += "\n" + flag;
    std::vector<std::string> foreign;
    std::ranges::copy_if(user.libraries, std::back_inserter(foreign), is_device_code);
    if (!foreign.empty()) nvrtc.extra_flags.emplace_back("--relocatable-device-code=true");
    for (const std::string& file : foreign)
        identity += "\nlinked " + KernelCache::key("file", {}, contents(file));

    // Text that includes files depends on their contents, which no key contains.
    std::optional<std::string> key;
    if (program.device.find("#include") == std::string::npos)
        key = KernelCache::key("cuda", identity, program.device);
    return KernelCache::instance().get_or_make(key, [&] {
        std::string image = compile_cuda(program.device, program.name + ".cu", nvrtc, error);
        if (!foreign.empty() && !image.empty())
            image = link_device_code(image, foreign, architecture, error);
        if (program.by_hand && image.empty())
            name_missing_functions(error, program.device, foreign);
        return image;
    });
}

}  // namespace parpy::cuda
