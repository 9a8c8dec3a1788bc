// See deep_stack.h. Only the used part of the stack needs memory.
#include "support/deep_stack.h"

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <stdexcept>

namespace parpy {

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 30;

struct Job {
    const std::function<void()>& work;
    std::exception_ptr failure;
};

void* run(void* argument) {
    auto& job = *static_cast<Job*>(argument);
    try {
        job.work();
    } catch (...) {
        job.failure = std::current_exception();
    }
    return nullptr;
}

}  // namespace

void on_deep_stack(const std::function<void()>& work) {
    Job job{work, nullptr};
    pthread_attr_t attributes;
    pthread_t thread{};
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kBytes);
    const int failed = ::pthread_create(&thread, &attributes, run, &job);
    ::pthread_attr_destroy(&attributes);
    if (failed != 0) throw std::runtime_error("no memory for the stack that deep nesting takes");
    ::pthread_join(thread, nullptr);
    if (job.failure) std::rethrow_exception(job.failure);
}

void where_it_fits(bool deep, const std::function<void()>& work) {
    if (deep) {
        on_deep_stack(work);
    } else {
        work();
    }
}

}  // namespace parpy
