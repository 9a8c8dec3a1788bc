// Finds the memory of scalars that kernels compute and later code reads: part of outline_kernels.
// Such a scalar gets an element of device memory. A kernel that computes it stores it there; a
// kernel that reads it gets it from the host or from the device, depending on who assigned it last,
// and host code that reads it fetches it first. Where that depends on the path, host assignments
// are copied to the device.
#pragma once

#include <unordered_map>
#include <vector>

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

// Whether the statement is the root of a kernel: a parallel loop or Gpu block in host code.
[[nodiscard]] bool is_kernel_root(const ir::Stmt& stmt);

class DeviceScalars {
public:
    // Analyses `entry`.
    explicit DeviceScalars(const ir::Function& entry);

    struct Traffic {
        std::vector<ir::Var*> loads;   // to read from the device before the kernel's code
        std::vector<ir::Var*> stores;  // to write to the device after it
    };
    // The traffic of a kernel root. The kernel gets all other scalars that it reads by value.
    [[nodiscard]] const Traffic& traffic(const ir::Stmt* root) const;
    // Scalars whose host assignments must be copied to the device.
    [[nodiscard]] const VarSet& mirrored() const { return mirrored_; }
    // The scalars that the host must fetch before it evaluates the expressions of a statement; for
    // a while loop, before each evaluation.
    [[nodiscard]] const VarSet& fetched(const ir::Stmt* stmt) const;

private:
    friend class DefinitionWalk;

    VarSet scalars_;  // computed by some kernel and read after it
    VarSet mirrored_;
    std::unordered_map<const ir::Stmt*, Traffic> traffic_;
    std::unordered_map<const ir::Stmt*, VarSet> fetched_;
};

}  // namespace parpy
