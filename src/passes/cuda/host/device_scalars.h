// Where the values of scalars are that kernels compute and that are wanted later: part of
// outline_kernels. Such a scalar gets an element of device memory. A kernel that computes it stores
// it there; a kernel that reads it takes it from the host or from the device, depending on who
// assigned it last, and host code that reads it fetches it first. Where that depends on the path
// taken, host assignments are copied to the device.
#pragma once

#include <unordered_map>
#include <vector>

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

// A parallel loop or Gpu block in host code is the root of a kernel.
[[nodiscard]] bool is_kernel_root(const ir::Stmt& stmt);

class DeviceScalars {
public:
    // Analyses `entry`.
    explicit DeviceScalars(const ir::Function& entry);

    struct Traffic {
        std::vector<ir::Var*> loads;   // to read from the device before the kernel's code
        std::vector<ir::Var*> stores;  // to write to the device after it
    };
    // Of a kernel root. What it reads besides these it gets by value.
    [[nodiscard]] const Traffic& traffic(const ir::Stmt* root) const;
    // Scalars whose host assignments must be copied to the device.
    [[nodiscard]] const VarSet& mirrored() const { return mirrored_; }
    // What the host must fetch before it evaluates the expressions of a statement; those of a while
    // loop, each time anew.
    [[nodiscard]] const VarSet& fetched(const ir::Stmt* stmt) const;

private:
    friend class DefinitionWalk;

    VarSet scalars_;  // computed by some kernel and wanted after it
    VarSet mirrored_;
    std::unordered_map<const ir::Stmt*, Traffic> traffic_;
    std::unordered_map<const ir::Stmt*, VarSet> fetched_;
};

}  // namespace parpy
