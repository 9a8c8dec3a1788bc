// The functions with which a program exchanges rows or numbers with others, if it is one part of a
// call (passes/parts). The engine that runs the parts sets them for each thread that runs a part.
#pragma once

#include <cstdint>

namespace parpy {

class PartHook {
public:
    PartHook() = default;
    PartHook(const PartHook&) = delete;
    PartHook& operator=(const PartHook&) = delete;
    virtual ~PartHook() = default;
    // The GPU that the part runs on; negative: that of its arguments.
    [[nodiscard]] virtual int device() const { return -1; }
    // Each returns false on failure, which ends the program.
    virtual bool array(std::int64_t action, void* data) = 0;
    virtual bool real(std::int64_t action, double& value) = 0;
    virtual bool integer(std::int64_t action, std::int64_t& value) = 0;
};

// Work of a program that is enqueued later than the program says, but before an exchange.
class PartWork {
public:
    PartWork() = default;
    PartWork(const PartWork&) = delete;
    PartWork& operator=(const PartWork&) = delete;
    virtual ~PartWork() = default;
    // Enqueues the work so far. False on failure, which ends the program.
    virtual bool flush() = 0;
    // The program exchanges a number, on which its further work may depend.
    virtual void varies() = 0;
};

// During its lifetime, exchanges of this thread flush `work` first, unless it is null.
class PartWorkScope {
public:
    explicit PartWorkScope(PartWork* work);
    PartWorkScope(const PartWorkScope&) = delete;
    PartWorkScope& operator=(const PartWorkScope&) = delete;
    ~PartWorkScope();

private:
    PartWork* around_;
};

// The hook of the part that this thread runs; null: none.
[[nodiscard]] const PartHook* running_part();

// During its lifetime, programs that this thread runs call `hook`.
class PartScope {
public:
    explicit PartScope(PartHook& hook);
    PartScope(const PartScope&) = delete;
    PartScope& operator=(const PartScope&) = delete;
    ~PartScope();

private:
    PartHook* around_;
};

}  // namespace parpy
