// The interface of tests to the fake CUDA driver and NVRTC (fake_cuda.cpp), a shared library that
// replaces libcuda.so.1 on machines without a GPU. Device memory is host memory, streams are
// synchronous, and a launch calls `on_launch` instead of running anything.
#pragma once

#include <cstddef>

struct FakeLaunch {
    const char* kernel;
    unsigned grid[3], block[3], shared_bytes;
    void* stream;
    void** arguments;
    int device;
};

struct FakeCuda {
    // Counters, for tests to read.
    int launches, overlapped_launches, allocations, releases, synchronizations, context_changes,
        trims, modules;
    std::size_t bytes_to_device, bytes_to_host;
    int dynamic_shared;      // last set with cuFuncSetAttribute
    std::size_t stack_size;  // last set with cuCtxSetLimit
    FakeLaunch last_launch;  // `arguments` is dead

    int captures, captured_launches, graph_launches;
    int recorded_events, waits_for_events;
    void* last_free;  // the stream of that call
    int peer_copies;
    std::size_t page_bytes;  // of memory that is mapped now

    // Settings, for tests to write.
    int static_shared;  // of every kernel
    void (*on_launch)(const FakeLaunch&);
    char failing[64];           // the name of the function that fails; "": none
    int failure, after, times;  // its result, the calls before it, the number of failures
    int nvrtc_result;           // of nvrtcCompileProgram
    int headers;                // the number that nvrtcCreateProgram received
    const char* header;         // the first of them
    bool capturing;             // every stream captures
    bool no_peer_access;        // no device can access another
};

// The library exports it as fake_cuda().
using FakeCudaFunction = FakeCuda* (*)();
