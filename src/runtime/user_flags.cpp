// See user_flags.h.
#include "runtime/user_flags.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace parpy {
namespace {

namespace fs = std::filesystem;

// Flags of compiler drivers that say nothing to a compiler in this process.
bool means_nothing(std::string_view flag) {
    constexpr std::array<std::string_view, 7> kWhole = {"-fPIC", "-fpic",         "-shared", "-g",
                                                        "-pipe", "-march=native", "-c"};
    return std::ranges::find(kWhole, flag) != kWhole.end() || flag.starts_with("-O") ||
           (flag.starts_with("-W") && !flag.starts_with("-Werror"));
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
        const std::string& flag = flags[i];
        const bool splits = flag == "-L" || flag == "-l";
        if (splits && i + 1 == flags.size()) break;
        const std::string value = splits ? flags[++i] : flag.size() > 2 ? flag.substr(2) : "";
        if (flag.starts_with("-L")) {
            directories.push_back(value);
        } else if (flag.starts_with("-l")) {
            names.push_back(value);
        } else if (flag == "-Xcompiler" || flag == "--compiler-options" || flag == "-Xlinker") {
            ++i;  // for a compiler that is not there
        } else if (!means_nothing(flag)) {
            out.compiler.push_back(flag);
        }
    }
    for (const std::string& name : names)
        out.libraries.push_back(library_file(name, directories));
    return out;
}

}  // namespace parpy
