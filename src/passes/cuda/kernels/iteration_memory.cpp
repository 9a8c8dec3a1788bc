// See iteration_memory.h.
#include "passes/cuda/kernels/iteration_memory.h"

#include <algorithm>

#include "analysis/geometry.h"

namespace parpy {

using namespace ir;

Stmt* IterationMemory::keep(Var* scalar, const std::vector<const For*>& loops) {
    builder_.span = loops.back()->span;
    Var* memory = memory_of(scalar, loops);
    return builder_.store(memory, {number(loops)}, builder_.var(scalar));
}

Stmt* IterationMemory::fetch(Var* scalar, const std::vector<const For*>& loops) {
    builder_.span = loops.back()->span;
    Var* memory = memory_of(scalar, loops);
    return builder_.assign(scalar, builder_.load(memory, {number(loops)}));
}

Var* IterationMemory::memory_of(Var* scalar, const std::vector<const For*>& loops) {
    Var*& memory = memory_[scalar];
    if (memory != nullptr) return memory;
    std::int64_t extent = 1;
    bool constant = true;
    Expr* size = builder_.integer(1);
    for (const For* loop : loops) {
        const std::optional<std::int64_t> trips = constant_trip_count(*loop);
        extent *= trips.value_or(1);
        constant = constant && trips.has_value();
        Expr* count = trips ? builder_.integer(*trips)
                            : builder_.convert(trip_count(builder_, *loop), Scalar::kI64);
        size = builder_.binary(Op::kMul, size, count);
    }
    memory = builder_.local_array(scalar->name + "_values", scalar->type.scalar,
                                  {std::max<std::int64_t>(extent, 1)}, Space::kScratch);
    if (!constant) {
        Var* size_var = builder_.scalar(memory->name + "_size", Scalar::kI64);
        memory->dims[0].extent.reset();
        memory->dims[0].extent_var = size_var;
        made_.push_back(builder_.assign(size_var, size));
    }
    made_.push_back(builder_.alloc(memory));
    return memory;
}

Expr* IterationMemory::number(const std::vector<const For*>& loops) {
    Expr* number = nullptr;
    for (const For* loop : loops) {
        Expr* own = builder_.convert(iteration_number(builder_, *loop), Scalar::kI64);
        if (number == nullptr) {
            number = own;
            continue;
        }
        const std::optional<std::int64_t> trips = constant_trip_count(*loop);
        Expr* count = trips ? builder_.integer(*trips)
                            : builder_.convert(trip_count(builder_, *loop), Scalar::kI64);
        number = builder_.binary(Op::kAdd, builder_.binary(Op::kMul, number, count), own);
    }
    return number;
}

}  // namespace parpy
