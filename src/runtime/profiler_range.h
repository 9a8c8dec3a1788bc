// Names of calls in NVIDIA's profilers (NVTX ranges), where PARPY_NVTX=1 asks for them and
// libnvToolsExt.so.1 is there: beside NVRTC, in a toolkit or known to the loader. Another value of
// the variable is the library's file.
#pragma once

namespace parpy {

// A range while it lives, on the thread that made it. Nothing where there is no library.
class ProfilerRange {
public:
    explicit ProfilerRange(const char* name);
    ~ProfilerRange();
    ProfilerRange(const ProfilerRange&) = delete;
    ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace parpy
