// Texts that many compilations begin with, in the form in which Clang keeps parsed headers (PCH).
// In memory only: nothing is read from or written to the disk.
#pragma once

#include <clang/Frontend/CompilerInvocation.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace parpy {

class Precompiled {
public:
    explicit Precompiled(std::string image) : image_(std::move(image)) {}

    // Makes `invocation` begin with the text; it reads the text from `files`, for which this object
    // must exist during the compilation.
    void precede(clang::CompilerInvocation& invocation, llvm::vfs::InMemoryFileSystem& files) const;

private:
    const std::string image_;
};

// The text under the compiler's arguments, from which `invocation` was made. Making it takes about
// as long as two compilations save by it, so that the first requests for a text return nullptr, as
// do requests for a text with errors. Thread-safe.
[[nodiscard]] std::shared_ptr<const Precompiled> precompiled(
    std::string_view text, const std::vector<std::string>& arguments,
    const clang::CompilerInvocation& invocation);

}  // namespace parpy
