// What a test may ask of the fake CUDA driver and NVRTC (fake_cuda.cpp), a shared library that
// stands in for libcuda.so.1 where there is no GPU. Device memory is host memory, streams are
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
    // Counts.
    int launches, overlapped_launches, allocations, releases, synchronizations, context_changes,
        trims, modules;
    std::size_t bytes_to_device, bytes_to_host;
    int dynamic_shared;      // last set with cuFuncSetAttribute
    std::size_t stack_size;  // last set with cuCtxSetLimit
    FakeLaunch last_launch;  // `arguments` is dead

    int captures, captured_launches, graph_launches;
    int recorded_events, waits_for_events;
    void* last_free;  // the stream of it
    int peer_copies;
    std::size_t page_bytes;  // of memory that is mapped, now

    // Behaviour.
    int static_shared;  // of every kernel
    void (*on_launch)(const FakeLaunch&);
    char failing[64];           // the function that fails, "" for none
    int failure, after, times;  // with this result, after so many calls, so many times
    int nvrtc_result;           // of nvrtcCompileProgram
    int headers;                // that nvrtcCreateProgram got, …
    const char* header;         // … and the first one
    bool capturing;             // every stream
    bool no_peer_access;        // of any device
};

// Exported as fake_cuda().
using FakeCudaFunction = FakeCuda* (*)();
