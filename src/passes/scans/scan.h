// Recognises loops that are scans (split_scans.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/updates.h"
#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

// A scalar that iterations pass on, and the operator that combines two partial results of it.
struct Carried {
    ir::Var* var = nullptr;
    ir::Op op{};
};

struct Scan {
    ir::For* loop = nullptr;
    std::vector<Carried> carried;
    // The statements of the body that compute the updates, without stores. They are parts of copies
    // of the body's statements, in the variables of the loop.
    ir::Body updates;
    // Arrays that the loop stores to at counts alone, so that no two iterations store to one
    // element.
    std::vector<ir::Var*> disjoint;
};

// The loop as a scan; nothing if it is none. `before` are the statements that precede it in its
// body: they tell the least value of a count. Floats count as associative unless `exactly`.
[[nodiscard]] std::optional<Scan> scan_of(ir::Module& module, ir::For& loop, const ir::Body& before,
                                          bool exactly);

}  // namespace parpy
