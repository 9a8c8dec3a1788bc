// See user_flags.h.
#include "runtime/user_flags.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace parpy {
namespace {

namespace fs = std::filesystem;

// Flags of compiler drivers without a meaning for a compiler in this process.
bool means_nothing(std::string_view flag) {
    constexpr std::array<std::string_view, 7> kWhole = {"-fPIC", "-fpic",         "-shared", "-g",
                                                        "-pipe", "-march=native", "-c"};
    return std::ranges::find(kWhole, flag) != kWhole.end() || flag.starts_with("-O") ||
           (flag.starts_with("-W") && !flag.starts_with("-Werror"));
}

// Flags for NVRTC's generation of machine code, which other back ends ignore.
constexpr std::array<std::string_view, 6> kForNvrtc = {
    "use_fast_math", "lineinfo", "generate-line-info",
    "device-debug",  "restrict", "extra-device-vectorization"};
// Such flags with a value: -arch=sm_90 or, as two flags, -arch sm_90.
constexpr std::array<std::string_view, 11> kForNvrtcWithValue = {
    "arch",         "gpu-architecture", "fmad",          "ftz", "prec-div",
    "prec-sqrt",    "maxrregcount",     "split-compile", "rdc", "relocatable-device-code",
    "ptxas-options"};

// How many of these flags form one for NVRTC: 0, 1 or 2.
std::size_t for_nvrtc(std::span<const std::string> flags) {
    std::string_view name = flags.front();
    if (!name.starts_with('-')) return 0;
    name.remove_prefix(name.starts_with("--") ? 2 : 1);
    if (std::ranges::find(kForNvrtc, name) != kForNvrtc.end()) return 1;
    const std::string_view key = name.substr(0, name.find('='));
    if (std::ranges::find(kForNvrtcWithValue, key) == kForNvrtcWithValue.end()) return 0;
    return key.size() < name.size() ? 1 : std::min<std::size_t>(flags.size(), 2);
}

std::string library_file(std::string_view name, const std::vector<std::string>& directories) {
    const std::string file = "lib" + std::string(name) + ".so";
    for (const std::string& directory : directories) {
        std::error_code ignored;
        const fs::path path = fs::path(directory) / file;
        if (fs::exists(path, ignored)) return path.string();
    }
    return std::string(name);
}

}  // namespace

UserFlags user_flags(const Options& options) {
    UserFlags out;
    std::vector<std::string> directories, names;
    for (const std::string& library : options.libs) {
        std::error_code ignored;
        (fs::is_directory(library, ignored) ? directories : out.libraries).push_back(library);
    }
    const std::vector<std::string>& flags = options.extra_flags;
    for (std::size_t i = 0; i < flags.size(); ++i) {
        if (const std::size_t count = for_nvrtc(std::span(flags).subspan(i)); count > 0) {
            if (options.backend == Backend::kCuda) {
                const auto first = flags.begin() + static_cast<std::ptrdiff_t>(i);
                out.compiler.insert(out.compiler.end(), first,
                                    first + static_cast<std::ptrdiff_t>(count));
            }
            i += count - 1;
            continue;
        }
        const std::string& flag = flags[i];
        const bool splits = flag == "-L" || flag == "-l";
        if (splits && i + 1 == flags.size()) break;
        const std::string value = splits ? flags[++i] : flag.size() > 2 ? flag.substr(2) : "";
        if (flag.starts_with("-L")) {
            directories.push_back(value);
        } else if (flag.starts_with("-l")) {
            names.push_back(value);
        } else if (flag == "-Xcompiler" || flag == "--compiler-options" || flag == "-Xlinker") {
            ++i;  // a flag for a compiler that is not used
        } else if (!means_nothing(flag)) {
            out.compiler.push_back(flag);
        }
    }
    for (const std::string& name : names)
        out.libraries.push_back(library_file(name, directories));
    return out;
}

}  // namespace parpy
