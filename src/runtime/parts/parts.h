// What a program that is one part of a call (passes/parts) calls where it exchanges rows or
// numbers with the others: whoever runs the parts says what that is, for the thread that runs one.
#pragma once

#include <cstdint>

namespace parpy {

class PartHook {
public:
    PartHook() = default;
    PartHook(const PartHook&) = delete;
    PartHook& operator=(const PartHook&) = delete;
    virtual ~PartHook() = default;
    // The GPU that the part runs on; negative where its arguments say it.
    [[nodiscard]] virtual int device() const { return -1; }
    // Each returns false where it failed, which ends the program.
    virtual bool array(std::int64_t action, void* data) = 0;
    virtual bool real(std::int64_t action, double& value) = 0;
    virtual bool integer(std::int64_t action, std::int64_t& value) = 0;
};

// That of the part that this thread runs; null: none.
[[nodiscard]] const PartHook* running_part();

// While it lives, programs that this thread runs call `hook`.
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
