// The fixture of the tests of the CUDA run time, with the fake driver.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "fake_cuda/fake_cuda.h"
#include "runtime/cuda/device.h"

namespace parpy::cuda {

// Static initialisation sets these before the driver is loaded. Without the disk cache each text
// is compiled.
inline const int kEnvironment = ::setenv("PARPY_CUDA_DRIVER", PARPY_FAKE_CUDA, 1) +
                                ::setenv("PARPY_NVRTC", PARPY_FAKE_CUDA, 1) +
                                ::setenv("PARPY_CACHE", "0", 1);

inline FakeCuda& fake() {
    static void* library = ::dlopen(PARPY_FAKE_CUDA, RTLD_NOW);
    return *reinterpret_cast<FakeCudaFunction>(::dlsym(library, "fake_cuda"))();
}

inline void fail(const char* function, Result result, int times = 1, int after = 0) {
    std::strncpy(fake().failing, function, sizeof fake().failing - 1);
    fake().failure = result;
    fake().times = times;
    fake().after = after;
}

inline bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

class CudaRuntime : public testing::Test {
protected:
    void SetUp() override { fake() = FakeCuda{}; }
};

class CudaMemory : public CudaRuntime {
protected:
    void SetUp() override {
        CudaRuntime::SetUp();
        current_.emplace(device(0), error_);
        ASSERT_FALSE(error_.failed());
    }
    RuntimeError error_;
    std::optional<CurrentContext> current_;
};

}  // namespace parpy::cuda
