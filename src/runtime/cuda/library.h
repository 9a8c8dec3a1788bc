// One of NVIDIA's libraries, opened at run time: its functions, and the code that NVRTC and
// nvJitLink share. A library stays open until the process ends, for its code may run until then.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "runtime/cuda/driver.h"

namespace parpy::cuda {

class Library {
public:
    explicit Library(std::string file)
        : file_(std::move(file)), handle_(::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) problem_ = ::dlerror();
    }

    template <class T>
    void find(T*& function, const char* name) {
        if (handle_ == nullptr) return;
        function = reinterpret_cast<T*>(::dlsym(handle_, name));
        if (function == nullptr) problem_ = "'" + file_ + "' has no function '" + name + "'";
    }

    // Leaves the function null if the library does not have it.
    template <class T>
    void find_if_there(T*& function, const char* name) {
        if (handle_ != nullptr) function = reinterpret_cast<T*>(::dlsym(handle_, name));
    }

    // Why it cannot be used; empty: it is open and has all the functions.
    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    std::string file_;
    void* handle_;
    std::string problem_;
};

// The messages of a compiler or linker about `handle`, by its functions log_size and log; without
// white space at the end.
template <class Tool, class Handle>
[[nodiscard]] std::string log_of(const Tool& tool, Handle handle) {
    std::size_t size = 0;
    if (tool.log_size(handle, &size) != kSuccess || size < 2) return {};
    std::string log(size, '\0');
    if (tool.log(handle, log.data()) != kSuccess) return {};
    log.resize(log.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
    return log;
}

}  // namespace parpy::cuda
