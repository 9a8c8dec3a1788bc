// fork() waits for compilations. The child has only the thread that forked: a lock held by another
// thread would stay locked there, and the compiler and the caches have many. So work that acquires
// such locks runs behind this gate; fork() waits until no work is behind it, keeps it shut
// meanwhile, and opens it again in both processes.
//
// Behind the gate, never wait for a lock that the forking thread may hold (the interpreter lock):
// release it first, and acquire it again only after the BehindForkGate is gone.
#pragma once

namespace parpy {

// While one exists, fork() on another thread waits. They nest.
class BehindForkGate {
public:
    BehindForkGate();
    ~BehindForkGate();
    BehindForkGate(const BehindForkGate&) = delete;
    BehindForkGate& operator=(const BehindForkGate&) = delete;
};

}  // namespace parpy
