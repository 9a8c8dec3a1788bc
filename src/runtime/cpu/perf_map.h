// Names of compiled functions for Linux's perf: lines of /tmp/perf-PID.map, which perf reads for
// addresses in no file. Written where PARPY_PERF_MAP=1 asks for it.
#pragma once

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace parpy {

// Whether the environment asks for the file.
[[nodiscard]] bool writes_perf_map();

// Adds the functions of an object file, also those that it does not export; `addresses` are those
// of its exported symbols. A file that cannot be written is left out: it is for profilers alone.
void add_to_perf_map(llvm::MemoryBufferRef object, const llvm::orc::SymbolMap& addresses);

}  // namespace parpy
