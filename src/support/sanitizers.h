// Annotations for sanitizers, if the core is built with one (tools/sanitize.sh): they tell
// AddressSanitizer of stacks that are not the thread's own, and ThreadSanitizer of data that a
// library passes between threads. Without a sanitizer they do nothing.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PARPY_HAS_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define PARPY_HAS_TSAN 1
#endif
#endif

#ifdef PARPY_HAS_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef PARPY_HAS_TSAN
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace parpy {

// Tells the sanitizer that the frames on a stack are gone: its memory may be reused.
inline void forget_frames([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef PARPY_HAS_ASAN
    if (begin != nullptr) __asan_unpoison_memory_region(begin, bytes);
#endif
}

// To be alive during a switch from one stack to another.
class StackSwitch {
public:
    StackSwitch([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef PARPY_HAS_ASAN
        __sanitizer_start_switch_fiber(&frames_, begin, bytes);
#endif
    }
    ~StackSwitch() { arrive(frames_); }
    StackSwitch(const StackSwitch&) = delete;
    StackSwitch& operator=(const StackSwitch&) = delete;

    // To be called first on a new stack.
    static void arrive([[maybe_unused]] void* frames = nullptr) {
#ifdef PARPY_HAS_ASAN
        __sanitizer_finish_switch_fiber(frames, nullptr, nullptr);
#endif
    }

private:
    void* frames_ = nullptr;
};

// Writes before hand_over() are visible to threads after take_over() at the same address.
inline void hand_over([[maybe_unused]] const void* at) {
#ifdef PARPY_HAS_TSAN
    __tsan_release(const_cast<void*>(at));
#endif
}
inline void take_over([[maybe_unused]] const void* at) {
#ifdef PARPY_HAS_TSAN
    __tsan_acquire(const_cast<void*>(at));
#endif
}

// The calling thread's own stack; empty without AddressSanitizer.
struct ThreadStack {
    void* begin = nullptr;
    std::size_t bytes = 0;

    static ThreadStack current() {
        ThreadStack stack;
#ifdef PARPY_HAS_ASAN
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
