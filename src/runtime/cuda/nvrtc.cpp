// See nvrtc.h. The library stays open until the process ends.
#include "runtime/cuda/nvrtc.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>

#include "emit/device_headers.h"
#include "emit/foreign_text.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/library.h"

namespace parpy::cuda {

namespace {

namespace fs = std::filesystem;

using NvrtcProgram = struct NvrtcProgramRecord*;

struct Nvrtc {
    Result (*version)(int* major, int* minor) = nullptr;
    const char* (*error_string)(Result) = nullptr;
    Result (*count_architectures)(int* count) = nullptr;
    Result (*architectures)(int* numbers) = nullptr;
    Result (*create)(NvrtcProgram*, const char* source, const char* name, int headers,
                     const char* const* texts, const char* const* names) = nullptr;
    Result (*compile)(NvrtcProgram, int count, const char* const* options) = nullptr;
    Result (*log_size)(NvrtcProgram, std::size_t*) = nullptr;
    Result (*log)(NvrtcProgram, char*) = nullptr;
    Result (*cubin_size)(NvrtcProgram, std::size_t*) = nullptr;
    Result (*cubin)(NvrtcProgram, char*) = nullptr;
    Result (*ptx_size)(NvrtcProgram, std::size_t*) = nullptr;
    Result (*ptx)(NvrtcProgram, char*) = nullptr;
    Result (*lto_ir_size)(NvrtcProgram, std::size_t*) = nullptr;  // from CUDA 12.0 on
    Result (*lto_ir)(NvrtcProgram, char*) = nullptr;
    Result (*destroy)(NvrtcProgram*) = nullptr;

    std::string file;
    int major = 0, minor = 0;
    std::vector<int> known;  // architectures, ascending: 90 for sm_90
};

constexpr const char* kSonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
constexpr const char* kHelp =
    "install it with 'pip install nvidia-cuda-nvrtc', or set CUDA_HOME to a CUDA toolkit or "
    "PARPY_NVRTC to the file of libnvrtc.so";

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

// ---- finding the library ------------------------------------------------------------------------

// Adds files with these names in `directory`, in the order of the names.
void add_files(const fs::path& directory, std::span<const char* const> sonames,
               std::vector<std::string>& files) {
    std::error_code ignored;
    for (const char* soname : sonames) {
        if (fs::path file = directory / soname; fs::exists(file, ignored)) files.push_back(file);
    }
}

// Files in the wheels among the search paths, then in the toolkits, then the loader's.
std::vector<std::string> installed(const std::vector<std::string>& search_paths,
                                   std::span<const char* const> wheels,
                                   std::span<const char* const> sonames) {
    std::vector<std::string> files;
    for (const std::string& path : search_paths) {
        for (const char* wheel : wheels)
            add_files(fs::path(path) / "nvidia" / wheel / "lib", sonames, files);
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const std::string home = environment(variable); !home.empty()) {
            add_files(fs::path(home) / "lib64", sonames, files);
            add_files(fs::path(home) / "lib", sonames, files);
        }
    }
    add_files("/usr/local/cuda/lib64", sonames, files);
    add_files("/opt/cuda/lib64", sonames, files);
    files.insert(files.end(), sonames.begin(), sonames.end());
    return files;
}

std::vector<std::string> candidates(const std::vector<std::string>& search_paths) {
    std::vector<std::string> files;
    std::error_code ignored;
    if (const std::string own = environment("PARPY_NVRTC"); !own.empty()) {
        if (!fs::is_directory(own, ignored)) return {own};
        add_files(own, kSonames, files);
        if (files.empty()) files.push_back((fs::path(own) / kSonames[0]).string());
        return files;
    }
    constexpr const char* kWheels[] = {"cu13", "cuda_nvrtc", "cu12"};
    return installed(search_paths, kWheels, kSonames);
}

// NVRTC opens its builtins by name, and not every build searches its own folder: open them first.
void open_builtins(const std::string& file) {
    const fs::path directory = fs::path(file).parent_path();
    if (directory.empty()) return;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libnvrtc-builtins.so")) {
            ::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
        }
    }
}

// Null if `file` cannot be opened or lacks a function; `reason` then says why.
std::unique_ptr<Nvrtc> open(const std::string& file, std::string& reason) {
    if (fs::path(file).has_parent_path()) {
        std::error_code ignored;
        if (!fs::exists(file, ignored)) {
            reason = "no file '" + file + "'";
            return nullptr;
        }
        open_builtins(file);
    }
    Library library(file);
    auto nvrtc = std::make_unique<Nvrtc>();
    library.find(nvrtc->version, "nvrtcVersion");
    library.find(nvrtc->error_string, "nvrtcGetErrorString");
    library.find(nvrtc->count_architectures, "nvrtcGetNumSupportedArchs");
    library.find(nvrtc->architectures, "nvrtcGetSupportedArchs");
    library.find(nvrtc->create, "nvrtcCreateProgram");
    library.find(nvrtc->compile, "nvrtcCompileProgram");
    library.find(nvrtc->log_size, "nvrtcGetProgramLogSize");
    library.find(nvrtc->log, "nvrtcGetProgramLog");
    library.find(nvrtc->cubin_size, "nvrtcGetCUBINSize");
    library.find(nvrtc->cubin, "nvrtcGetCUBIN");
    library.find(nvrtc->ptx_size, "nvrtcGetPTXSize");
    library.find(nvrtc->ptx, "nvrtcGetPTX");
    library.find(nvrtc->destroy, "nvrtcDestroyProgram");
    library.find_if_there(nvrtc->lto_ir_size, "nvrtcGetLTOIRSize");
    library.find_if_there(nvrtc->lto_ir, "nvrtcGetLTOIR");
    reason = library.problem();
    if (!reason.empty()) return nullptr;

    nvrtc->file = file;
    nvrtc->version(&nvrtc->major, &nvrtc->minor);
    int count = 0;
    if (nvrtc->count_architectures(&count) == kSuccess && count > 0) {
        nvrtc->known.resize(static_cast<std::size_t>(count));
        nvrtc->architectures(nvrtc->known.data());
        std::ranges::sort(nvrtc->known);
    }
    return nvrtc;
}

struct Finder {
    std::mutex mutex;
    std::vector<std::string> search_paths;
    const Nvrtc* found = nullptr;  // never freed: its code runs until the process ends
};

Finder& finder() {
    static Finder& the = *new Finder;
    return the;
}

// The first candidate whose machine code the driver accepts; the very first if there is no driver
// or every candidate is newer than it.
const Nvrtc* nvrtc(RuntimeError& error) {
    Finder& the = finder();
    const std::scoped_lock lock(the.mutex);
    if (the.found != nullptr) return the.found;

    const Driver& driver = Driver::instance();
    const int newest = driver.unavailable.failed() ? 0 : driver.version / 1000;
    std::unique_ptr<Nvrtc> best;
    std::string first_reason;
    for (const std::string& file : candidates(the.search_paths)) {
        std::string reason;
        std::unique_ptr<Nvrtc> one = open(file, reason);
        if (one == nullptr) {
            if (first_reason.empty()) first_reason = reason;
            continue;
        }
        const bool fits = newest == 0 || one->major <= newest;
        if (fits || best == nullptr) best = std::move(one);
        if (fits) break;
    }
    if (best == nullptr) {
        error = {Code::kP523, "NVRTC, NVIDIA's run-time compiler, was not found: " + first_reason,
                 kHelp};
        return nullptr;
    }
    return the.found = best.release();
}

std::vector<std::string> toolkit_headers_in(const std::vector<std::string>& search_paths) {
    std::vector<fs::path> places;
    for (const std::string& path : search_paths) {
        for (const char* wheel : {"cu13", "cuda_runtime", "cuda_cccl", "cu12", "curand"})
            places.push_back(fs::path(path) / "nvidia" / wheel / "include");
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const std::string home = environment(variable); !home.empty())
            places.push_back(fs::path(home) / "include");
    }
    places.emplace_back("/usr/local/cuda/include");
    places.emplace_back("/opt/cuda/include");
    std::vector<std::string> found;
    std::error_code ignored;
    for (const fs::path& place : places) {
        for (const fs::path& folder : {place, place / "cccl"})
            if (fs::is_directory(folder, ignored)) found.push_back(folder.string());
    }
    return found;
}

// ---- compiling ----------------------------------------------------------------------------------

// The text before a text that includes files. NVRTC has no use for the host functions in these, and
// compiles them as device functions.
constexpr DeviceHeader kBeforeFiles = {"parpy_before_files.h",
                                       "#undef __host__\n"
                                       "#define __host__ __device__\n"
                                       "#include <stdint.h>\n"};

std::vector<std::string> arguments_of(const Nvrtc& compiler, const NvrtcOptions& options,
                                      bool includes_files, bool& to_ptx) {
    const int wanted = std::atoi(options.architecture.c_str() + options.architecture.find('_') + 1);
    const auto newer = std::ranges::upper_bound(compiler.known, wanted);
    to_ptx = options.ptx || (newer != compiler.known.begin() && *std::prev(newer) != wanted);

    std::vector<std::string> arguments;
    arguments.push_back(to_ptx ? "-arch=compute_" + std::to_string(*std::prev(newer))
                               : "-arch=" + options.architecture);
    arguments.emplace_back("--std=c++17");
    if (options.lto_ir) arguments.emplace_back("-dlto");
    const bool says_fmad = std::ranges::any_of(
        options.extra_flags, [](const std::string& flag) { return flag.starts_with("--fmad="); });
    if (options.fast_math) {
        arguments.emplace_back("--use_fast_math");
    } else if (!says_fmad) {
        arguments.emplace_back("--fmad=false");
    }
    // From 12.9 on NVRTC caches compiled code, and finds it again by the text: it would return the
    // code of another call's --use_fast_math. The kernel cache is enough.
    if (std::pair(compiler.major, compiler.minor) >= std::pair(12, 9))
        arguments.emplace_back("--no-cache");
    // Without headers, the text uses nothing of NVRTC's own prelude but the built-in variables and
    // functions.
    for (const std::string& directory : options.includes)
        arguments.push_back("--include-path=" + directory);
    if (includes_files) {
        arguments.emplace_back("--device-as-default-execution-space");
        arguments.push_back("--pre-include=" + std::string(kBeforeFiles.name));
        for (const std::string& directory : toolkit_headers())
            arguments.push_back("--include-path=" + directory);
    }
    arguments.insert(arguments.end(), options.extra_flags.begin(), options.extra_flags.end());
    return arguments;
}

RuntimeError compile_failure(const Nvrtc& compiler, NvrtcProgram program, Result result) {
    constexpr Result kCompilation = 6, kBuiltins = 7;
    const std::string log = log_of(compiler, program);
    if (result == kBuiltins) {
        return {Code::kP524,
                "NVRTC cannot find its library libnvrtc-builtins beside " + compiler.file,
                "install NVRTC again: 'pip install --force-reinstall nvidia-cuda-nvrtc'"};
    }
    if (result == kCompilation) {
        return {Code::kP525, "NVRTC does not compile the CUDA text:\n" + log,
                "if ParPy generated this text, it is a fault of ParPy: please report it with the "
                "function"};
    }
    std::string message = "NVRTC failed: " + std::string(compiler.error_string(result));
    if (!log.empty()) message += "\n" + log;
    return {Code::kP524, std::move(message), {}};
}

// The headers that the text may include and that the user's folders do not contain.
std::vector<DeviceHeader> own_headers(const NvrtcOptions& options) {
    std::vector<std::string> folders = options.includes;
    bool next = false;  // the next flag is a folder: -I dir
    for (const std::string& flag : options.extra_flags) {
        if (next) folders.push_back(flag);
        next = !next && (flag == "-I" || flag == "--include-path");
        for (const std::string_view word : {"-I", "--include-path="})
            if (flag.starts_with(word)) folders.push_back(flag.substr(word.size()));
    }
    std::vector<DeviceHeader> own;
    std::ranges::copy_if(device_headers(), std::back_inserter(own), [&](const DeviceHeader& each) {
        return std::ranges::none_of(folders, [&](const std::string& folder) {
            std::error_code ignored;
            return fs::exists(fs::path(folder) / each.name, ignored);
        });
    });
    return own;
}

std::string compile_text(const Nvrtc& compiler, const std::string& text,
                         const std::string& file_name, const NvrtcOptions& options,
                         RuntimeError& error) {
    if (options.lto_ir && (compiler.lto_ir_size == nullptr || compiler.lto_ir == nullptr)) {
        error = {Code::kP524, "NVRTC makes no LTO-IR: " + compiler.file, "update it to CUDA 12"};
        return {};
    }
    bool to_ptx = false;
    const bool includes_files = text.find("#include") != std::string::npos;
    const std::vector<std::string> arguments =
        arguments_of(compiler, options, includes_files, to_ptx);
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments)
        pointers.push_back(argument.c_str());

    std::vector<const char*> names, texts;
    if (includes_files) {
        std::vector<DeviceHeader> headers = own_headers(options);
        headers.push_back(kBeforeFiles);
        for (const DeviceHeader& header : headers) {
            names.push_back(header.name);
            texts.push_back(header.text);
        }
    }
    NvrtcProgram program = nullptr;
    if (const Result r =
            compiler.create(&program, text.c_str(), file_name.c_str(),
                            static_cast<int>(names.size()), texts.data(), names.data());
        r != kSuccess) {
        error = {Code::kP524, "NVRTC failed: " + std::string(compiler.error_string(r)), {}};
        return {};
    }
    std::string image;
    Result result = compiler.compile(program, static_cast<int>(pointers.size()), pointers.data());
    if (result == kSuccess) {
        const auto size_function = options.lto_ir ? compiler.lto_ir_size
                                   : to_ptx       ? compiler.ptx_size
                                                  : compiler.cubin_size;
        const auto image_function = options.lto_ir ? compiler.lto_ir
                                    : to_ptx       ? compiler.ptx
                                                   : compiler.cubin;
        std::size_t size = 0;
        result = size_function(program, &size);
        image.resize(size);
        if (result == kSuccess) result = image_function(program, image.data());
    }
    if (result != kSuccess) {
        image.clear();
        error = compile_failure(compiler, program, result);
    }
    compiler.destroy(&program);
    return image;
}

}  // namespace

std::vector<std::string> toolkit_headers() {
    Finder& the = finder();
    const std::scoped_lock lock(the.mutex);
    return toolkit_headers_in(the.search_paths);
}

void set_nvrtc_search_paths(std::vector<std::string> directories) {
    Finder& the = finder();
    const std::scoped_lock lock(the.mutex);
    the.search_paths = std::move(directories);
}

std::vector<std::string> library_candidates(const std::string& soname) {
    Finder& the = finder();
    const std::scoped_lock lock(the.mutex);
    constexpr const char* kWheels[] = {"cu13",  "nvjitlink", "cu12",     "cublas",
                                       "cufft", "curand",    "cusolver", "cusparse"};
    const char* const sonames[] = {soname.c_str()};
    return installed(the.search_paths, kWheels, sonames);
}

std::pair<int, int> nvrtc_version() {
    RuntimeError ignored;
    const Nvrtc* found = nvrtc(ignored);
    return found == nullptr ? std::pair(0, 0) : std::pair(found->major, found->minor);
}

namespace {

// The NVRTC that would be used, and its file status; no file: the system's loader would find it.
std::pair<std::string, struct stat> nvrtc_found() {
    Finder& the = finder();
    const std::scoped_lock lock(the.mutex);
    struct stat status{};
    for (const std::string& file : candidates(the.search_paths)) {
        if (::stat(file.c_str(), &status) == 0) return {file, status};
    }
    return {};
}

}  // namespace

std::string nvrtc_file() {
    return nvrtc_found().first;
}

std::string nvrtc_identity() {
    const auto [file, status] = nvrtc_found();
    if (file.empty()) return "NVRTC of the system";
    return "NVRTC " + file + " " + std::to_string(status.st_size) + " " +
           std::to_string(status.st_mtime);
}

std::string compile_cuda(std::string_view source, const std::string& file_name,
                         const NvrtcOptions& options, RuntimeError& error) {
    const Nvrtc* compiler = nvrtc(error);
    if (compiler == nullptr) return {};
    RuntimeError problem;
    std::string image = compile_text(*compiler, std::string(source), file_name, options, problem);
    if (problem.failed()) {
        blame_foreign_text(problem, source, [&](const std::string& text, const std::string& file) {
            RuntimeError found;
            static_cast<void>(compile_text(*compiler, text, file, options, found));
            return found;
        });
        error = std::move(problem);
    }
    return image;
}

}  // namespace parpy::cuda
