// fork() waits for compilations. The child has only the thread that forked: a lock that another
// thread held would stay locked there, and the compiler and the caches have many. So work that
// takes such locks runs behind this gate, which fork() finds empty and shut; it opens again in both
// processes.
//
// Never wait behind the gate for what the forking thread may hold (the interpreter lock): release
// it first, and take it again only after the BehindForkGate is gone.
#pragma once

namespace parpy {

// While one lives, a fork() of another thread waits. They nest.
class BehindForkGate {
public:
    BehindForkGate();
    ~BehindForkGate();
    BehindForkGate(const BehindForkGate&) = delete;
    BehindForkGate& operator=(const BehindForkGate&) = delete;
};

}  // namespace parpy
