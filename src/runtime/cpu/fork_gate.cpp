// See fork_gate.h. Two counters and no lock, so that the child can simply reset them.
#include "runtime/cpu/fork_gate.h"

#include <pthread.h>

#include <atomic>

namespace parpy {

namespace {

std::atomic<int> inside{0};  // threads behind the gate
std::atomic<int> forks{0};   // in progress; the gate is shut while there are any
thread_local int depth = 0;  // nested gates of this thread

void enter() {
    for (;;) {
        while (const int count = forks.load())
            forks.wait(count);
        ++inside;
        if (forks.load() == 0) return;
        --inside;
        inside.notify_all();
    }
}

int own() {
    return depth > 0 ? 1 : 0;
}

void before_fork() {
    ++forks;
    for (int count = inside.load(); count > own(); count = inside.load())
        inside.wait(count);
}

void in_parent() {
    --forks;
    forks.notify_all();
}

void in_child() {
    inside = own();
    forks = 0;
}

// Registered when the library is loaded: a first use could coincide with a fork.
[[maybe_unused]] const int registered = ::pthread_atfork(before_fork, in_parent, in_child);

}  // namespace

BehindForkGate::BehindForkGate() {
    if (depth++ == 0) enter();
}

BehindForkGate::~BehindForkGate() {
    if (--depth != 0) return;
    --inside;
    if (forks.load() != 0) inside.notify_all();
}

}  // namespace parpy
