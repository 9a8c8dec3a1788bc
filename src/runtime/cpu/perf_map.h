// Names of compiled functions for Linux's perf: lines of /tmp/perf-PID.map, where perf finds the
// addresses that belong to no file. Written if PARPY_PERF_MAP=1.
#pragma once

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace parpy {

// Whether the environment requests the file.
[[nodiscard]] bool writes_perf_map();

// Adds the functions of an object file, exported or not; `addresses` are those of its exported
// symbols. A failure to write is ignored, for only profilers need the file.
void add_to_perf_map(llvm::MemoryBufferRef object, const llvm::orc::SymbolMap& addresses);

}  // namespace parpy
