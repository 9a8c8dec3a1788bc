// What AddressSanitizer is told of stacks that are not the thread's own; nothing without it.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PARPY_TELLS_SANITIZER 1
#endif
#endif

#ifdef PARPY_TELLS_SANITIZER
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace parpy {

// The frames on a stack are gone: its memory may be used anew.
inline void forget_frames([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef PARPY_TELLS_SANITIZER
    if (begin != nullptr) __asan_unpoison_memory_region(begin, bytes);
#endif
}

// Around a switch from one stack to another.
class StackSwitch {
public:
    StackSwitch([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef PARPY_TELLS_SANITIZER
        __sanitizer_start_switch_fiber(&frames_, begin, bytes);
#endif
    }
    ~StackSwitch() {
        arrive(frames_);
    }
    StackSwitch(const StackSwitch&) = delete;
    StackSwitch& operator=(const StackSwitch&) = delete;

    // The first call on a new stack.
    static void arrive([[maybe_unused]] void* frames = nullptr) {
#ifdef PARPY_TELLS_SANITIZER
        __sanitizer_finish_switch_fiber(frames, nullptr, nullptr);
#endif
    }

private:
    void* frames_ = nullptr;
};

// The calling thread's own stack.
struct ThreadStack {
    void* begin = nullptr;
    std::size_t bytes = 0;

    static ThreadStack current() {
        ThreadStack stack;
#ifdef PARPY_TELLS_SANITIZER
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            pthread_attr_getstack(&attributes, &stack.begin, &stack.bytes);
            pthread_attr_destroy(&attributes);
        }
#endif
        return stack;
    }
};

}  // namespace parpy
