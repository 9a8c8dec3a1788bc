// Classifies the statements of a CUDA kernel that are outside of its thread loops: all threads of a
// block execute them, so that each knows the scalars, but one thread makes the stores. The legalise
// passes rely on this classification: one puts barriers between statements, the other guards and
// distributes them.
#pragma once

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

enum class Runs : std::uint8_t {
    kAll,  // every thread executes it, with the same values
    kOne,  // the first thread alone executes it: it stores, and nothing that it gives each thread
           // is wanted later, a scalar or elements of an array of the thread's own
    kStructured,  // control flow that every thread follows; look at the statements inside
    kThreads,     // a loop that is spread over the threads
    kPerThread,   // code on thread registers, made by a legalise pass: executed as it stands
};

class BlockCode {
public:
    explicit BlockCode(const ir::Function& kernel) : liveness_(kernel) {}
    [[nodiscard]] Runs how(const ir::Stmt& stmt) const;

private:
    Liveness liveness_;
};

// True if the expression reads registers of which the threads of a block have different values.
[[nodiscard]] bool per_thread(const ir::Expr& expr);
// True for `thread.x == 0`.
[[nodiscard]] bool is_first_thread(const ir::Expr& condition);

}  // namespace parpy
