// See precompiled.h.
#include "runtime/cpu/precompiled.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Serialization/ASTWriter.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>
#include <mutex>
#include <utility>

namespace parpy {

namespace {

constexpr const char* kFile = "/parpy-prelude.pch";
// The number of compilations that parse a text before it is precompiled.
constexpr int kParsedBefore = 2;

class Precompile final : public clang::ASTFrontendAction {
public:
    explicit Precompile(std::shared_ptr<clang::PCHBuffer> into) : into_(std::move(into)) {}

    clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }

protected:
    bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
        compiler.getLangOpts().CompilingPCH = true;
        return true;
    }

    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                          llvm::StringRef) override {
        return std::make_unique<clang::PCHGenerator>(
            compiler.getPreprocessor(), compiler.getModuleCache(), kFile, "", into_,
            compiler.getFrontendOpts().ModuleFileExtensions, /*AllowASTWithErrors=*/false,
            /*IncludeTimestamps=*/false);
    }

private:
    std::shared_ptr<clang::PCHBuffer> into_;
};

std::shared_ptr<const Precompiled> make(std::string_view text,
                                        const clang::CompilerInvocation& invocation) {
    auto mine = std::make_shared<clang::CompilerInvocation>(invocation);
    const auto source = llvm::MemoryBuffer::getMemBufferCopy(text, "prelude");
    mine->getFrontendOpts().ProgramAction = clang::frontend::GeneratePCH;
    mine->getFrontendOpts().Inputs.clear();
    mine->getFrontendOpts().Inputs.emplace_back(source->getMemBufferRef(),
                                                clang::InputKind(clang::Language::CXX));
    clang::CompilerInstance compiler;
    compiler.setInvocation(std::move(mine));
    compiler.createDiagnostics(new clang::IgnoringDiagConsumer);
    compiler.createFileManager(
        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(new llvm::vfs::InMemoryFileSystem));
    const auto buffer = std::make_shared<clang::PCHBuffer>();
    Precompile action(buffer);
    if (!compiler.ExecuteAction(action) || !buffer->IsComplete) return nullptr;
    return std::make_shared<const Precompiled>(
        std::string(buffer->Data.begin(), buffer->Data.end()));
}

struct Entry {
    int requests = 0;
    std::shared_ptr<const Precompiled> made;
};

}  // namespace

void Precompiled::precede(clang::CompilerInvocation& invocation,
                          llvm::vfs::InMemoryFileSystem& files) const {
    files.addFile(kFile, 0, llvm::MemoryBuffer::getMemBuffer(image_, kFile, false));
    clang::PreprocessorOptions& options = invocation.getPreprocessorOpts();
    options.ImplicitPCHInclude = kFile;
    // It was made in this process, with the same arguments.
    options.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::PCH;
}

std::shared_ptr<const Precompiled> precompiled(std::string_view text,
                                               const std::vector<std::string>& arguments,
                                               const clang::CompilerInvocation& invocation) {
    static std::mutex mutex;
    // Never destroyed: threads may compile until the process ends.
    static auto& entries = *new std::map<std::pair<std::string, std::vector<std::string>>,
                                         Entry>;  // by text, arguments
    const std::scoped_lock lock(mutex);
    Entry& entry = entries[{std::string(text), arguments}];
    if (entry.requests <= kParsedBefore && entry.requests++ == kParsedBefore)
        entry.made = make(text, invocation);
    return entry.made;
}

}  // namespace parpy
