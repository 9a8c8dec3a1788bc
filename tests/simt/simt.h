// Runs the CUDA text that the compiler prints, on the CPU, for tests: each thread of a block is a
// fiber that runs until the next barrier or shuffle, in a random order, so that a missing barrier
// shows as a wrong result; blocks run one after the other in a random order. Only what generated
// kernels use is here. simt.py puts this file in front of a program and compiles it with the C++
// compiler at hand.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace simt {

struct Dim {
    unsigned x = 1, y = 1, z = 1;
};

// What the conversions of half precision do, which generated code writes in PTX (see simt.py).
inline std::uint16_t to_half(float x) {
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(x));
}
inline float from_half(std::uint16_t bits) {
    return static_cast<float>(std::bit_cast<_Float16>(bits));
}

enum class State { kReady, kAtBlock, kAtWarp, kFinished };

struct Fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 * 1024);
    State state = State::kReady;
    unsigned char value[16] = {};  // what it offers in a shuffle
};

inline Dim thread_index, block_index, block_dim, grid_dim;
inline std::vector<Fiber> fibers;
inline unsigned current = 0;
inline ucontext_t scheduler;
inline void (*body)() = nullptr;
inline std::mt19937 random_engine(1);
inline bool failed = false;

inline void enter(unsigned thread) {
    current = thread;
    thread_index = {thread % block_dim.x, thread / block_dim.x, 0};
}

inline void wait(State state) {
    const unsigned self = current;
    fibers[self].state = state;
    swapcontext(&fibers[self].context, &scheduler);
}

inline void start() {
    const unsigned self = current;
    body();
    fibers[self].state = State::kFinished;
}

// Lets a group of threads go on if all of them that have not finished wait for each other.
inline bool release(unsigned begin, unsigned end, State at) {
    bool any = false;
    for (unsigned i = begin; i < end; ++i) {
        if (fibers[i].state == State::kFinished) continue;
        if (fibers[i].state != at) return false;
        any = true;
    }
    for (unsigned i = begin; any && i < end; ++i) {
        if (fibers[i].state == at) fibers[i].state = State::kReady;
    }
    return any;
}

inline void run_block() {
    const unsigned count = block_dim.x * block_dim.y;
    if (fibers.size() < count) fibers = std::vector<Fiber>(count);
    for (unsigned i = 0; i < count; ++i) {
        getcontext(&fibers[i].context);
        fibers[i].context.uc_stack.ss_sp = fibers[i].stack.data();
        fibers[i].context.uc_stack.ss_size = fibers[i].stack.size();
        fibers[i].context.uc_link = &scheduler;
        makecontext(&fibers[i].context, start, 0);
        fibers[i].state = State::kReady;
    }
    std::vector<unsigned> order(count);
    for (;;) {
        order.clear();
        for (unsigned i = 0; i < count; ++i) {
            if (fibers[i].state == State::kReady) order.push_back(i);
        }
        if (order.empty()) {
            bool released = release(0, count, State::kAtBlock);
            for (unsigned warp = 0; warp < count; warp += 32) {
                released = release(warp, std::min(warp + 32, count), State::kAtWarp) || released;
            }
            if (released) continue;
            for (unsigned i = 0; i < count; ++i) {
                if (fibers[i].state != State::kFinished)
                    failed = true;  // threads at different barriers
            }
            return;
        }
        std::shuffle(order.begin(), order.end(), random_engine);
        for (const unsigned i : order) {
            enter(i);
            swapcontext(&scheduler, &fibers[i].context);
        }
    }
}

template <class T>
T exchange(T value, unsigned from) {
    static_assert(sizeof(T) <= sizeof(Fiber::value));
    std::memcpy(fibers[current].value, &value, sizeof(T));
    wait(State::kAtWarp);
    T result;
    std::memcpy(&result, fibers[current / 32 * 32 + from % 32].value, sizeof(T));
    wait(State::kAtWarp);
    return result;
}

inline void (*invoke)(void** arguments) = nullptr;
inline void** arguments = nullptr;

inline void launch(void (*kernel)(void**), Dim grid, Dim block, void** values) {
    invoke = kernel;
    arguments = values;
    body = [] { invoke(arguments); };
    block_dim = block;
    grid_dim = grid;
    std::vector<Dim> blocks;
    for (unsigned z = 0; z < grid.z; ++z) {
        for (unsigned y = 0; y < grid.y; ++y) {
            for (unsigned x = 0; x < grid.x; ++x)
                blocks.push_back({x, y, z});
        }
    }
    std::shuffle(blocks.begin(), blocks.end(), random_engine);
    for (const Dim& index : blocks) {
        block_index = index;
        run_block();
    }
}

template <class... Arguments, std::size_t... I>
void call(void (*kernel)(Arguments...), void** values, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_reference_t<Arguments>*>(values[I])...);
}
template <class... Arguments>
void call(void (*kernel)(Arguments...), void** values) {
    call(kernel, values, std::index_sequence_for<Arguments...>{});
}

}  // namespace simt

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __shared__ static
#define threadIdx simt::thread_index
#define blockIdx simt::block_index
#define blockDim simt::block_dim
#define gridDim simt::grid_dim

inline void __syncthreads() {
    simt::wait(simt::State::kAtBlock);
}
inline void __syncwarp() {
    simt::wait(simt::State::kAtWarp);
}
inline void __threadfence() {}
template <class T>
T __shfl_xor_sync(unsigned, T value, int lanes) {
    return simt::exchange(value, (simt::current % 32) ^ static_cast<unsigned>(lanes));
}
template <class T>
T __shfl_down_sync(unsigned, T value, int lanes) {
    const unsigned from = simt::current % 32 + static_cast<unsigned>(lanes);
    return simt::exchange(value, from < 32 ? from : simt::current % 32);
}
template <class T>
T atomicCAS(T* at, T expected, T value) {
    const T old = *at;
    if (old == expected) *at = value;
    return old;
}
template <class T>
T atomicAdd(T* at, T value) {
    const T old = *at;
    *at = old + value;
    return old;
}

template <class T, class V>
T atomicCAS(T* at, V expected, V value) {
    const T old = *at;
    if (old == expected) *at = value;
    return old;
}

inline float __int_as_float(int bits) {
    return std::bit_cast<float>(bits);
}
inline float __uint_as_float(unsigned bits) {
    return std::bit_cast<float>(bits);
}
inline int __float_as_int(float x) {
    return std::bit_cast<int>(x);
}
inline unsigned __float_as_uint(float x) {
    return std::bit_cast<unsigned>(x);
}
inline long long __double_as_longlong(double x) {
    return std::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long bits) {
    return std::bit_cast<double>(bits);
}

// The launch ABI of generated host code (runtime/abi.h).
struct ParpyContext {
    std::vector<std::vector<char>> scratch;
};
extern void (*const simt_kernels[])(void**);
extern "C" int parpy_launch(ParpyContext*, int kernel, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned, void** arguments) {
    simt::launch(simt_kernels[kernel], {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                 arguments);
    return simt::failed ? 1 : 0;
}
extern "C" int parpy_launch_overlapped(ParpyContext* context, int kernel, unsigned grid_x,
                                       unsigned grid_y, unsigned grid_z, unsigned block_x,
                                       unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                       void** arguments) {
    return parpy_launch(context, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                        shared_bytes, arguments);
}
extern "C" void* parpy_scratch(ParpyContext* context, long long bytes) {
    context->scratch.emplace_back(static_cast<std::size_t>(bytes) + 16);
    return context->scratch.back().data();
}
