// Random typed programs for fuzzing: small, race-free under their mapping, free of undefined reads
// and of subscripts out of range, and exact: a parallel reduction gives the same bits in any order.
// The same seed gives the same program on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/eval/eval.h"
#include "ir/ir.h"
#include "parpy/mapping.h"

namespace parpy::fuzz {

struct RandomProgram {
    ir::Module module;  // profile kTyped; array parameters carry argument origins
    Mapping mapping;    // of the labelled loops
    std::map<const ir::Var*, std::int64_t> sizes;  // values of the parameters that hold extents
};

// If `host_arrays`, the code between parallel loops uses arrays too, which a CPU allows.
[[nodiscard]] RandomProgram random_program(std::uint64_t seed, bool host_arrays);

// Memory for the entry's array parameters, filled from `seed` with small and some extreme values,
// and values for its scalars.
class RandomData {
public:
    RandomData(const RandomProgram& program, std::uint64_t seed);
    RandomData(const RandomData&) = delete;
    RandomData& operator=(const RandomData&) = delete;

    [[nodiscard]] const std::vector<ir::EvalArgument>& arguments() const { return arguments_; }
    // One value per parameter: a pointer to its elements, or the scalar's bits (support/abi.h).
    [[nodiscard]] std::vector<std::uint64_t> slots() const;
    // The first element that differs, as text; empty if none does. All NaNs are equal.
    [[nodiscard]] std::string difference(const RandomData& other) const;

private:
    struct Array {
        std::string name;
        ir::Scalar element;
        std::vector<std::byte> bytes;
    };
    const ir::Module& module_;  // the program's; must outlive this object
    std::vector<Array> arrays_;
    std::vector<ir::EvalArgument> arguments_;
};

}  // namespace parpy::fuzz
