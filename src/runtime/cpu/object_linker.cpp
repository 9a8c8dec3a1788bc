// Object file to addresses: ORC's linker, one JITDylib per program, removed with its LoadedObject.
// Resolves the parpy_* functions of support/abi.h by address, and by name those of libm, libc,
// libgcc (half precision, 128-bit integers) and, where it is installed, the C++ library.
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectFileInterface.h>
#include <llvm/Support/TargetSelect.h>

#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/cpu/cpp_compiler.h"
#include "runtime/cpu/llvm_guard.h"
#include "runtime/cpu/perf_map.h"
#include "runtime/sim/simulator.h"
#include "support/abi.h"

namespace parpy {

namespace {

using llvm::orc::JITDylib;
using llvm::orc::LLJIT;

struct Linker {
    std::unique_ptr<LLJIT> jit;
    std::atomic<std::uint64_t> count{0};
};

llvm::orc::SymbolMap abi_symbols(LLJIT& jit) {
    llvm::orc::SymbolMap map;
    const auto add = [&](llvm::StringRef name, auto* function) {
        map[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported};
    };
    add("parpy_chunks", &parpy_chunks);
    add("parpy_parallel_for", &parpy_parallel_for);
    add("parpy_fail", &parpy_fail);
    add("parpy_stack_limit", &parpy_stack_limit);
    add("parpy_launch", &parpy_launch);
    add("parpy_launch_overlapped", &parpy_launch_overlapped);
    add("parpy_scratch", &parpy_scratch);
    add("parpy_zeroed", &parpy_zeroed);
    add("parpy_work", &parpy_work);
    add("parpy_work_done", &parpy_work_done);
    add("parpy_result", &parpy_result);
    add("parpy_stream", &parpy_stream);
    add("parpy_fetch", &parpy_fetch);
    add("parpy_part_array", &parpy_part_array);
    add("parpy_part_f64", &parpy_part_f64);
    add("parpy_part_i64", &parpy_part_i64);
    add("parpy_sim_here", &parpy_sim_here);
    add("parpy_sim_enter", &parpy_sim_enter);
    add("parpy_sim_barrier", &parpy_sim_barrier);
    add("parpy_sim_exchange", &parpy_sim_exchange);
    add("parpy_sim_map_shared", &parpy_sim_map_shared);
    add("parpy_sim_cluster_rank", &parpy_sim_cluster_rank);
    add("parpy_sim_pause", &parpy_sim_pause);
    add("parpy_sim_sleep", &parpy_sim_sleep);
    add("parpy_sim_fail", &parpy_sim_fail);
    add("parpy_sim_raise", &parpy_sim_raise);
    add("parpy_sim_touch", &parpy_sim_touch);
    add("parpy_sim_write", &parpy_sim_write);
    add("parpy_sim_declare", &parpy_sim_declare);
    add("parpy_sim_fence", &parpy_sim_fence);
    add("parpy_sim_place", &parpy_sim_place);
    return map;
}

std::string& reported_errors() {
    static thread_local std::string errors;
    return errors;
}

llvm::Expected<std::unique_ptr<LLJIT>> make_jit() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto jit = llvm::orc::LLJITBuilder()
                   .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                   .setNumCompileThreads(0)
                   .create();
    if (!jit) return jit.takeError();
    // A failed lookup returns only the missing names; the reason is reported, on the same thread.
    (*jit)->getExecutionSession().setErrorReporter([](llvm::Error e) {
        std::string& all = reported_errors();
        all += (all.empty() ? "" : "; ") + llvm::toString(std::move(e));
    });
    JITDylib& main = (*jit)->getMainJITDylib();
    if (llvm::Error e = main.define(llvm::orc::absoluteSymbols(abi_symbols(**jit)))) return e;
    const char prefix = (*jit)->getDataLayout().getGlobalPrefix();
    for (const char* library : {"libm.so.6", "libc.so.6", "libgcc_s.so.1"}) {
        auto generator = llvm::orc::DynamicLibrarySearchGenerator::Load(library, prefix);
        if (!generator) return generator.takeError();
        main.addGenerator(std::move(*generator));
    }
    // Headers that users include need it: std::vector, streams.
    auto standard = llvm::orc::DynamicLibrarySearchGenerator::Load("libstdc++.so.6", prefix);
    if (standard) {
        main.addGenerator(std::move(*standard));
    } else {
        llvm::consumeError(standard.takeError());
    }
    return jit;
}

// Made on first use and never destroyed: kernels may run until the process ends.
Linker* linker(std::string& reason) {
    static std::string failure;
    static Linker* const made = []() -> Linker* {
        auto jit = make_jit();
        if (!jit) {
            failure = llvm::toString(jit.takeError());
            return nullptr;
        }
        auto* result = new Linker;
        result->jit = std::move(*jit);
        return result;
    }();
    reason = failure;
    return made;
}

class LinkedObject final : public LoadedObject {
public:
    LinkedObject(LLJIT& jit, JITDylib& library) : jit_(jit), library_(library) {}

    ~LinkedObject() override {
        llvm::consumeError(jit_.getExecutionSession().removeJITDylib(library_));
    }

    llvm::Error link(std::unique_ptr<llvm::MemoryBuffer> object) {
        llvm::orc::ExecutionSession& session = jit_.getExecutionSession();
        auto interface = llvm::orc::getObjectFileInterface(session, object->getMemBufferRef());
        if (!interface) return interface.takeError();
        // The linker releases the buffer when it is done.
        const std::string image = writes_perf_map() ? object->getBuffer().str() : std::string();
        if (llvm::Error e = jit_.addObjectFile(library_, std::move(object))) return e;
        llvm::orc::SymbolLookupSet wanted;
        for (const auto& [name, flags] : interface->SymbolFlags)
            wanted.add(name);
        auto found = session.lookup(llvm::orc::makeJITDylibSearchOrder(&library_), wanted);
        if (!found) return found.takeError();
        addresses_ = std::move(*found);
        if (!image.empty()) add_to_perf_map({image, "program"}, addresses_);
        return llvm::Error::success();
    }

    void* symbol(std::string_view name) const override {
        for (const auto& [key, definition] : addresses_) {
            if (*key == llvm::StringRef(name)) return definition.getAddress().toPtr<void*>();
        }
        return nullptr;
    }

private:
    LLJIT& jit_;
    JITDylib& library_;
    llvm::orc::SymbolMap addresses_;
};

// The libraries in a linker script, given the loader's error about the script as a library:
//     /lib/libm.so: invalid ELF header
//     GROUP ( /lib/libm.so.6  AS_NEEDED ( /lib/libmvec.so.1 ) )
std::vector<std::string> named_by_script(const std::string& error) {
    std::vector<std::string> names;
    const std::size_t colon = error.find(": ");
    if (colon == std::string::npos || error.find("ELF header", colon) == std::string::npos) {
        return names;
    }
    std::ifstream script(error.substr(0, colon));
    std::string word;
    if (!std::getline(script, word) || !word.starts_with("/* GNU ld script")) return names;
    while (script >> word) {
        if (word.starts_with('/') && word.find(".so") != std::string::npos) names.push_back(word);
    }
    return names;
}

// `name` is a file, or the argument of -l: a file's name without "lib" and ".so".
llvm::Error add_library(JITDylib& program, const std::string& name, char prefix) {
    using llvm::orc::DynamicLibrarySearchGenerator;
    auto generator = DynamicLibrarySearchGenerator::Load(name.c_str(), prefix);
    if (!generator && name.find('/') == std::string::npos) {
        llvm::consumeError(generator.takeError());
        const std::string file = "lib" + name + ".so";
        generator = DynamicLibrarySearchGenerator::Load(file.c_str(), prefix);
    }
    if (generator) {
        program.addGenerator(std::move(*generator));
        return llvm::Error::success();
    }
    const std::string reason = llvm::toString(generator.takeError());
    const std::vector<std::string> parts = named_by_script(reason);
    for (const std::string& part : parts) {
        auto found = DynamicLibrarySearchGenerator::Load(part.c_str(), prefix);
        if (!found) return found.takeError();
        program.addGenerator(std::move(*found));
    }
    return parts.empty() ? llvm::createStringError(llvm::inconvertibleErrorCode(), reason)
                         : llvm::Error::success();
}

llvm::Expected<std::unique_ptr<LinkedObject>> link(Linker& linker, std::string_view object,
                                                   std::span<const std::string> libraries) {
    LLJIT& jit = *linker.jit;
    auto library = jit.createJITDylib("program" + std::to_string(linker.count.fetch_add(1)));
    if (!library) return library.takeError();
    auto result = std::make_unique<LinkedObject>(jit, *library);
    const char prefix = jit.getDataLayout().getGlobalPrefix();
    for (const std::string& name : libraries) {
        if (llvm::Error error = add_library(*library, name, prefix)) return error;
    }
    library->addToLinkOrder(jit.getMainJITDylib());
    if (llvm::Error e = result->link(llvm::MemoryBuffer::getMemBufferCopy(object, "program"))) {
        return e;
    }
    return result;
}

}  // namespace

std::unique_ptr<LoadedObject> load_object(std::string_view object,
                                          std::span<const std::string> libraries,
                                          RuntimeError& error) {
    std::string reason;
    LoadedObject* result = nullptr;
    const bool survived = guard_llvm(
        [&] {
            reported_errors().clear();
            Linker* made = linker(reason);
            if (made == nullptr) return;
            auto linked = link(*made, object, libraries);
            if (linked) {
                result = linked->release();
            } else {
                reason = llvm::toString(linked.takeError());
                if (!reported_errors().empty()) reason = reported_errors();
            }
        },
        reason);
    if (survived && result != nullptr) return std::unique_ptr<LoadedObject>(result);
    error = {Code::kP512, "the compiled program does not link: " + reason,
             "define the missing functions, or name their library in opts.libs"};
    return nullptr;
}

}  // namespace parpy
