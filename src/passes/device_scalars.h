// Where the values of scalars are that kernels compute and that are wanted later: part of
// outline_kernels. Such a scalar gets an element of device memory. A kernel that computes it stores
// it there; a kernel that reads it takes it from the host or from the device, depending on who
// assigned it last; where that depends on the path taken, host assignments are copied to the
// device.
#pragma once

#include <unordered_map>
#include <vector>

#include "analysis/uses.h"
#include "ir/ir.h"
#include "support/diagnostic.h"

namespace parpy {

// A parallel loop or Gpu block in host code is the root of a kernel.
[[nodiscard]] bool is_kernel_root(const ir::Stmt& stmt);

class DeviceScalars {
public:
    // Analyses `entry`. Reports P307 where host code reads a value that is on the device.
    DeviceScalars(const ir::Function& entry, Diagnostics& diagnostics);

    struct Traffic {
        std::vector<ir::Var*> loads;   // to read from the device before the kernel's code
        std::vector<ir::Var*> stores;  // to write to the device after it
    };
    // Of a kernel root. What it reads besides these it gets by value.
    [[nodiscard]] const Traffic& traffic(const ir::Stmt* root) const;
    // Scalars whose host assignments must be copied to the device.
    [[nodiscard]] const VarSet& mirrored() const { return mirrored_; }

private:
    friend class DefinitionWalk;

    VarSet scalars_;  // computed by some kernel and wanted after it
    VarSet mirrored_;
    std::unordered_map<const ir::Stmt*, Traffic> traffic_;
};

}  // namespace parpy
