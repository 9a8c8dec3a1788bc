// Names of calls in NVIDIA's profilers (NVTX ranges), if PARPY_NVTX=1 and libnvToolsExt.so.1 is
// found: beside NVRTC, in a toolkit or by the loader. Any other value of the variable is the
// library's file.
#pragma once

namespace parpy {

// A range during its lifetime, on the thread that made it. Does nothing without the library.
class ProfilerRange {
public:
    explicit ProfilerRange(const char* name);
    ~ProfilerRange();
    ProfilerRange(const ProfilerRange&) = delete;
    ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace parpy
