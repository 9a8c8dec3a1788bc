// See device_linker.h. The library stays open until the process ends.
#include "runtime/cuda/device_linker.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/nvrtc.h"

namespace parpy::cuda {

namespace {

namespace fs = std::filesystem;

using LinkHandle = struct LinkRecord*;

// The values of nvJitLink.h.
enum class Input : int { kCubin = 1, kPtx, kLtoIr, kFatbin, kObject, kLibrary };

constexpr std::array<std::pair<std::string_view, Input>, 6> kEndings = {
    {{".cubin", Input::kCubin},
     {".ptx", Input::kPtx},
     {".ltoir", Input::kLtoIr},
     {".fatbin", Input::kFatbin},
     {".o", Input::kObject},
     {".a", Input::kLibrary}}};
constexpr const char* kSonames[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
constexpr const char* kHelp =
    "install it with 'pip install nvidia-nvjitlink', in NVRTC's version, or link CUDA C++ sources "
    "(.cu), which NVRTC compiles";

const Input* input_of(std::string_view file) {
    for (const auto& [ending, input] : kEndings) {
        if (file.ends_with(ending)) return &input;
    }
    return nullptr;
}

struct Linker {
    Result (*create)(LinkHandle*, std::uint32_t count, const char** options) = nullptr;
    Result (*add_data)(LinkHandle, Input, const void* data, std::size_t size,
                       const char* name) = nullptr;
    Result (*add_file)(LinkHandle, Input, const char* name) = nullptr;
    Result (*complete)(LinkHandle) = nullptr;
    Result (*size)(LinkHandle, std::size_t*) = nullptr;
    Result (*cubin)(LinkHandle, void*) = nullptr;
    Result (*log_size)(LinkHandle, std::size_t*) = nullptr;
    Result (*log)(LinkHandle, char*) = nullptr;
    Result (*destroy)(LinkHandle*) = nullptr;
    Result (*version)(unsigned* major, unsigned* minor) = nullptr;
};

std::unique_ptr<Linker> open(const std::string& file, std::string& reason) {
    Library library(file);
    auto linker = std::make_unique<Linker>();
    library.find(linker->create, "nvJitLinkCreate");
    library.find(linker->add_data, "nvJitLinkAddData");
    library.find(linker->add_file, "nvJitLinkAddFile");
    library.find(linker->complete, "nvJitLinkComplete");
    library.find(linker->size, "nvJitLinkGetLinkedCubinSize");
    library.find(linker->cubin, "nvJitLinkGetLinkedCubin");
    library.find(linker->log_size, "nvJitLinkGetErrorLogSize");
    library.find(linker->log, "nvJitLinkGetErrorLog");
    library.find(linker->destroy, "nvJitLinkDestroy");
    library.find(linker->version, "nvJitLinkVersion");
    reason = library.problem();
    if (!reason.empty()) return nullptr;
    // It reads no input of a newer release, and NVRTC makes its input.
    unsigned major = 0, minor = 0;
    linker->version(&major, &minor);
    const auto wanted = nvrtc_version();
    if (std::pair(static_cast<int>(major), static_cast<int>(minor)) < wanted) {
        reason = "'" + file + "' is of CUDA " + std::to_string(major) + "." +
                 std::to_string(minor) + ", NVRTC of CUDA " + std::to_string(wanted.first) + "." +
                 std::to_string(wanted.second);
        return nullptr;
    }
    return linker;
}

const Linker* linker(RuntimeError& error) {
    static std::mutex& mutex = *new std::mutex;
    static const Linker* found = nullptr;  // never freed: its code runs until the process ends
    const std::scoped_lock lock(mutex);
    if (found != nullptr) return found;
    std::string best_reason;  // of an existing file, if there is one
    for (const char* soname : kSonames) {
        for (const std::string& file : library_candidates(soname)) {
            std::string reason;
            std::unique_ptr<Linker> one = open(file, reason);
            if (one != nullptr) return found = one.release();
            if (best_reason.empty() || reason.find(", NVRTC of CUDA ") != std::string::npos)
                best_reason = reason;
        }
    }
    error = {Code::kP523,
             "nvJitLink, NVIDIA's linker of device code, cannot be used: " + best_reason, kHelp};
    return nullptr;
}

// Does not free the handle: the caller does.
std::string link(const Linker& linker, LinkHandle handle, std::string_view image,
                 std::span<const std::string> files, RuntimeError& error) {
    std::string what = "the program";
    const bool is_elf = image.starts_with(
        "\x7f"
        "ELF");
    Result result = linker.add_data(handle, is_elf ? Input::kCubin : Input::kPtx, image.data(),
                                    image.size(), "program");
    for (const std::string& file : files) {
        if (result != kSuccess) break;
        what = "'" + file + "'";
        std::error_code ignored;
        if (!fs::exists(file, ignored)) {
            error = {Code::kP512, "there is no file " + what + " to link", {}};
            return {};
        }
        result = linker.add_file(handle, *input_of(file), file.c_str());
    }
    if (result == kSuccess) {
        what = "the program with its device code";
        result = linker.complete(handle);
    }
    std::size_t size = 0;
    if (result == kSuccess) result = linker.size(handle, &size);
    std::string cubin(size, '\0');
    if (result == kSuccess) result = linker.cubin(handle, cubin.data());
    if (result == kSuccess) return cubin;
    const std::string log = log_of(linker, handle);
    error = {
        Code::kP512,
        "nvJitLink does not link " + what + " (error " + std::to_string(result) + ")" +
            (log.empty() ? "" : ":\n" + log),
        "files must define the declared functions as extern \"C\" __device__, for this GPU, as "
        "relocatable code (nvcc -dc), by a CUDA release no newer than nvJitLink's"};
    return {};
}

}  // namespace

bool is_device_code(std::string_view file) {
    return input_of(file) != nullptr;
}

std::string link_device_code(std::string_view image, std::span<const std::string> files,
                             const std::string& architecture, RuntimeError& error) {
    const Linker* the = linker(error);
    if (the == nullptr) return {};
    const std::string arch = "-arch=" + architecture;
    std::vector<const char*> options = {arch.c_str()};
    for (const std::string& file : files) {
        if (input_of(file) != nullptr && *input_of(file) == Input::kLtoIr && options.size() == 1)
            options.push_back("-lto");
    }
    LinkHandle handle = nullptr;
    const Result result =
        the->create(&handle, static_cast<std::uint32_t>(options.size()), options.data());
    if (result != kSuccess) {
        error = {
            Code::kP512,
            "nvJitLink does not know " + architecture + " (error " + std::to_string(result) + ")",
            kHelp};
        return {};
    }
    std::string cubin = link(*the, handle, image, files, error);
    the->destroy(&handle);
    return cubin;
}

}  // namespace parpy::cuda
