// Text to object file: Clang's front end, a lean list of LLVM passes, the x86 code generator. Each
// thread keeps its own front-end arguments and target machine; no other state outlives a
// compilation. object_linker.cpp links.
#include "runtime/cpu/cpp_compiler.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/Stack.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "emit/device_headers.h"
#include "runtime/cpu/llvm_guard.h"
#include "runtime/cpu/precompiled.h"
#include "runtime/cpu/truncate_once.h"
#include "runtime/cpu/vectorizer_passes.h"
#include "runtime/sim/expose_ranges.h"
#include "runtime/sim/lower_failures.h"
#include "runtime/sim/lower_simulated.h"
#include "runtime/sim/sim_headers.h"
#include "support/environment.h"

// Debian wires Polly into Clang's code generator; ours goes without its 3 MB.
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder&) {}};
}

namespace parpy {

namespace {

// Vectorises and runs as fast as -O3 on array kernels in half to two thirds of its time. Change it
// only with measurements; it is part of every cache key.
constexpr std::string_view kPassesToLoops =
    "always-inline,"
    "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,lower-expect),"
    "cgscc(inline),"
    "function<eager-inv>("
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,";
constexpr std::string_view kPassesToUnswitch =
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<allowspeculation>,"
    "loop-rotate<header-duplication>,licm<allowspeculation>";
constexpr std::string_view kPassesToVectorizer =
    ",simple-loop-unswitch<nontrivial>),"
    "simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-idiom,indvars,loop-deletion,loop-unroll-"
    "full),sroa<modify-cfg>,gvn,"
    "loop-mssa(licm<allowspeculation>),branch-on-cases,loop-simplify,lcssa,loop-rotate,"
    "judge-gathers,vectorize-branches,";
constexpr std::string_view kPassesFromVectorizer =
    "loop-vectorize,loop-load-elim,keep-vector-loops,"
    "instcombine<no-verify-fixpoint>,early-cse,"
    "simplifycfg<forward-switch-cond;sink-common-insts>,loop-unroll<O3>,sroa<modify-cfg>,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),simplifycfg,dce)";

// Precedes those passes for the simulator's text.
constexpr std::string_view kSimulatedPasses =
    "prepare-simulated,function(sroa<modify-cfg>),always-inline,function(sroa<modify-cfg>,early-"
    "cse,"
    "simplifycfg),"
    "lower-simulated,";
// Between the two: removes checks of subscripts that the kernel's own conditions decide.
constexpr std::string_view kKnownChecks = "constraint-elimination,simplifycfg,";
// A loop over threads is unswitched once for each check that is the same for all of them: the
// passes before that do not run anew each time.
constexpr std::string_view kUnswitchAlone = "),loop-mssa(loop-simplifycfg";
// The last pass: kernels test for each thread whether it is inside the array; the threads for which
// this is certain get a loop of their own, which needs no masks.
constexpr std::string_view kInsideOfRanges = "expose-ranges,irce,simplifycfg,";

// The last passes on x86-64.
constexpr std::string_view kOfX86 = ",function(truncate-once,dce)";

constexpr std::string_view kFileSystemRoot = "/usr";

struct Host {
    std::string triple, processor, features;
    std::vector<std::string> feature_list;
};

// Options that are global to LLVM; this copy of LLVM is used by ParPy only.
void set_options() {
    constexpr std::pair<const char*, const char*> kOptions[] = {
        // Loop strength reduction takes half of the code generator's time and gains nothing here.
        {"disable-lsr", "true"},
        // Only a pass for the simulator's text reads it.
        {"irce-skip-profitability-checks", "true"},
        // The time of both schedulers grows with the square of a block. The second one is of no use
        // to processors with out-of-order execution; the first one compares each access with at
        // most this many others: 10 000 statements in a row take 0.5 s instead of 17.
        {"post-RA-scheduler", "false"},
        {"dag-maps-huge-region", "200"},
        // What remains of a vectorised loop runs in shorter vectors, from loops of four lanes on
        // (LLVM: sixteen). Short rows have much of their work there: 20 of 148 elements took a
        // fifth of the time of a stencil.
        {"epilogue-vectorization-minimum-VF", "4"},
        // Loops over neighbours and components are unrolled before the loops around them are
        // vectorised; more copies take time to compile and gain nothing.
        {"unroll-full-max-count", "16"},
    };
    auto& known = llvm::cl::getRegisteredOptions();
    for (const auto& [name, value] : kOptions) {
        if (auto found = known.find(name); found != known.end())
            found->second->addOccurrence(1, name, value);
    }
}

// The processor that we run on; sets LLVM up on first use.
const Host& host() {
    static const Host result = [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        llvm::InitializeNativeTargetAsmParser();
        set_options();
        Host h;
        h.triple = llvm::sys::getProcessTriple();
        h.processor = llvm::sys::getHostCPUName().str();
        for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
            h.feature_list.push_back((feature.second ? "+" : "-") + feature.first().str());
        }
        std::ranges::sort(h.feature_list);
        for (const std::string& feature : h.feature_list) {
            h.features += (h.features.empty() ? "" : ",") + feature;
        }
        return h;
    }();
    return result;
}

VectorUnit vectors_of_host() {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    const auto has = [&](const char* name) { return features.lookup(name); };
    VectorUnit unit{16, 16, has("fma")};
    if (llvm::Triple(llvm::sys::getProcessTriple()).isAArch64()) {
        unit = {16, 32, true};
    } else if (has("avx512f")) {
        unit = {64, 32, true};
    } else if (has("avx")) {
        unit.bytes = 32;
    }
    const auto bytes = environment_number("PARPY_VECTOR_BYTES").value_or(0);
    if (bytes >= 16 && static_cast<std::int64_t>(bytes) < unit.bytes)
        unit = {bytes >= 32 ? 32 : 16, 16, unit.fuses};
    return unit;
}

// The folder of headers for device code that the system lacks (device_headers.h).
constexpr const char* kDeviceHeaders = "/parpy-device-headers";
// The folder of the simulator's replacements of NVIDIA's headers.
constexpr const char* kSimulatorHeaders = "/parpy-simulator-headers";

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of_device_code() {
    llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> own(new llvm::vfs::InMemoryFileSystem);
    const auto add = [&](const char* folder, std::span<const DeviceHeader> headers) {
        for (const DeviceHeader& header : headers) {
            own->addFile(std::string(folder) + "/" + header.name, 0,
                         llvm::MemoryBuffer::getMemBuffer(header.text, header.name));
        }
    };
    add(kDeviceHeaders, device_headers());
    add(kSimulatorHeaders, sim::own_headers());
    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> all(
        new llvm::vfs::OverlayFileSystem(llvm::vfs::getRealFileSystem()));
    all->pushOverlay(own);
    return all;
}

// The directories of the system's C++ and C headers, GCC's own last but before libc's.
std::vector<std::string> system_include_directories() {
    namespace fs = std::filesystem;
    const auto newest = [](const fs::path& parent) {
        fs::path best;
        int best_version = -1;
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(parent, ignored)) {
            const std::string name = entry.path().filename().string();
            if (name.empty() || name.find_first_not_of("0123456789.") != std::string::npos)
                continue;
            const int version = std::atoi(name.c_str());
            if (version > best_version) {
                best_version = version;
                best = entry.path();
            }
        }
        return best;
    };
    const fs::path root(kFileSystemRoot);
    const std::string machine = "x86_64-linux-gnu";
    std::vector<std::string> result;
    const fs::path cxx = newest(root / "include/c++");
    if (!cxx.empty()) {
        result.push_back(cxx.string());
        result.push_back((root / "include" / machine / "c++" / cxx.filename()).string());
    }
    const fs::path gcc = newest(root / "lib/gcc" / machine);
    if (!gcc.empty()) result.push_back((gcc / "include").string());
    result.push_back((root / "include" / machine).string());
    result.push_back((root / "include").string());
    return result;
}

// Whether the text may include files; if not, its compilation never accesses the disk.
bool reads_headers(const CppOptions& options) {
    return options.headers || !options.includes.empty() || !options.extra_flags.empty();
}

std::vector<std::string> cc1_arguments(const CppOptions& options) {
    const Host& h = host();
    std::vector<std::string> a = {"-triple",
                                  h.triple,
                                  "-target-cpu",
                                  h.processor,
                                  "-emit-llvm-only",
                                  "-O2",
                                  "-disable-llvm-passes",
                                  "-disable-lifetime-markers",
                                  "-discard-value-names",
                                  "-x",
                                  "c++",
                                  "-std=c++20",
                                  "-fno-rtti",
                                  "-fgnuc-version=4.2.1",
                                  "-mrelocation-model",
                                  "pic",
                                  "-pic-level",
                                  "2",
                                  "-mframe-pointer=none",
                                  "-w",
                                  "-fno-strict-float-cast-overflow",
                                  "-relaxed-aliasing",
                                  "-fno-finite-loops",
                                  "-fdeprecated-macro",
                                  "-fbracket-depth",
                                  "4096",  // long chains of min(a, b, ...) nest
                                  "-ferror-limit",
                                  "8"};
    if (!options.simulated) a.emplace_back("-fwrapv");
    for (const std::string& feature : h.feature_list) {
        a.insert(a.end(), {"-target-feature", feature});
    }
    if (options.fast_math) {
        for (const char* flag :
             {"-ffast-math", "-menable-no-infs", "-menable-no-nans", "-ffinite-math-only",
              "-funsafe-math-optimizations", "-fno-signed-zeros", "-mreassociate",
              "-freciprocal-math", "-fapprox-func", "-ffp-contract=fast"}) {
            a.emplace_back(flag);
        }
    } else {
        a.emplace_back("-ffp-contract=off");
    }
    if (options.line_tables) a.emplace_back("-debug-info-kind=line-tables-only");
    // Our own text uses three of the 400 predefined macros: 5 % of a small kernel's compilation.
    if (!reads_headers(options)) {
        a.insert(a.end(), {"-undef", "-D__ATOMIC_RELAXED=0", "-D__ATOMIC_SEQ_CST=5"});
        if (options.fast_math) a.emplace_back("-D__FINITE_MATH_ONLY__=1");
    }
    a.insert(a.end(), {"-nostdsysteminc", "-nobuiltininc", "-nostdinc++"});
    for (const std::string& directory : options.includes)
        a.insert(a.end(), {"-I", directory});
    if (options.headers || !options.includes.empty()) {
        if (options.simulated) a.insert(a.end(), {"-internal-isystem", kSimulatorHeaders});
        for (const std::string& directory : system_include_directories()) {
            a.insert(a.end(), {"-internal-isystem", directory});
        }
        if (options.simulated) a.insert(a.end(), {"-internal-isystem", kDeviceHeaders});
    }
    a.insert(a.end(), options.extra_flags.begin(), options.extra_flags.end());
    return a;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(bool fast_math, std::string& reason) {
    const Host& h = host();
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(h.triple, reason);
    if (target == nullptr) return nullptr;
    llvm::TargetOptions options;
    options.AllowFPOpFusion = fast_math ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
    return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
        h.triple, h.processor, h.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
        llvm::CodeGenOptLevel::Aggressive, /*JIT=*/true));
}

// All objects of one compilation. Destroyed when it has succeeded or failed regularly, and leaked
// when LLVM gave up in the middle of it (llvm_guard.h).
struct Compilation {
    std::string messages;
    llvm::raw_string_ostream message_stream{messages};
    llvm::LLVMContext context;
    std::shared_ptr<const Precompiled> prelude;
    clang::CompilerInstance front_end;
    std::unique_ptr<llvm::MemoryBuffer> source;
    std::unique_ptr<clang::EmitLLVMOnlyAction> action;
    std::unique_ptr<llvm::Module> module;
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream object_stream{object};
};

// The objects that a thread keeps between compilations, as they may not be shared.
struct ThreadState {
    std::map<std::vector<std::string>, std::shared_ptr<clang::CompilerInvocation>> invocations;
    std::unique_ptr<llvm::TargetMachine> machines[2];  // strict, fast-math
};

ThreadState*& thread_state() {
    struct Owner {
        ThreadState* state = nullptr;
        ~Owner() { delete state; }
    };
    static thread_local Owner owner;
    if (owner.state == nullptr) owner.state = new ThreadState;
    return owner.state;
}

// Turns back-end errors (invalid inline assembly, …) into text; the default handler exits.
class MessageHandler final : public llvm::DiagnosticHandler {
public:
    explicit MessageHandler(Compilation& compilation) : compilation_(compilation) {}

    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
        if (info.getSeverity() == llvm::DS_Error) {
            llvm::DiagnosticPrinterRawOStream printer(compilation_.message_stream);
            printer << "error: ";
            info.print(printer);
            printer << "\n";
        }
        return true;
    }

private:
    Compilation& compilation_;
};

std::shared_ptr<clang::CompilerInvocation> invocation(const std::vector<std::string>& arguments,
                                                      ThreadState& state, Compilation& c) {
    auto& entry = state.invocations[arguments];
    if (entry) return entry;
    llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> how(new clang::DiagnosticOptions);
    clang::DiagnosticsEngine engine(new clang::DiagnosticIDs, how,
                                    new clang::TextDiagnosticPrinter(c.message_stream, how.get()));
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments)
        pointers.push_back(argument.c_str());
    auto made = std::make_shared<clang::CompilerInvocation>();
    if (!clang::CompilerInvocation::CreateFromArgs(*made, pointers, engine)) return nullptr;
    entry = made;
    return made;
}

bool run_front_end(std::string_view source, std::string_view file_name, const CppOptions& options,
                   ThreadState& state, Compilation& c) {
    const std::vector<std::string> arguments = cc1_arguments(options);
    const auto base = invocation(arguments, state, c);
    if (!base) return false;
    auto mine = std::make_shared<clang::CompilerInvocation>(*base);
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files;
    if (reads_headers(options)) {
        files = options.simulated ? files_of_device_code() : llvm::vfs::getRealFileSystem();
    } else {
        auto none = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
        if (options.prelude > 0)
            c.prelude = precompiled(source.substr(0, options.prelude), arguments, *base);
        if (c.prelude) {
            c.prelude->precede(*mine, *none);
            source.remove_prefix(options.prelude);
        }
        files = std::move(none);
    }
    c.source = llvm::MemoryBuffer::getMemBufferCopy(source, file_name);
    mine->getFrontendOpts().Inputs.clear();
    mine->getFrontendOpts().Inputs.emplace_back(c.source->getMemBufferRef(),
                                                clang::InputKind(clang::Language::CXX));
    c.front_end.setInvocation(std::move(mine));
    c.front_end.createDiagnostics(
        new clang::TextDiagnosticPrinter(c.message_stream, &c.front_end.getDiagnosticOpts()));
    c.front_end.createFileManager(std::move(files));
    c.front_end.setVerboseOutputStream(c.message_stream);
    c.action = std::make_unique<clang::EmitLLVMOnlyAction>(&c.context);
    if (!c.front_end.ExecuteAction(*c.action)) return false;
    c.module = c.action->takeModule();
    return c.module != nullptr;
}

// The sign of a zero maximum is unspecified (cpp_compiler.h); telling LLVM so saves half of the
// instructions.
void relax_zero_signs(llvm::Module& module) {
    for (llvm::Function& function : module) {
        for (llvm::Instruction& instruction : llvm::instructions(function)) {
            const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            if (call == nullptr) continue;
            const llvm::Intrinsic::ID id = call->getIntrinsicID();
            if (id == llvm::Intrinsic::maximum || id == llvm::Intrinsic::minimum) {
                instruction.setHasNoSignedZeros(true);
            }
        }
    }
}

struct LowerSimulated : llvm::PassInfoMixin<LowerSimulated> {
    explicit LowerSimulated(bool w) : watched(w) {}
    [[nodiscard]] llvm::PreservedAnalyses run(llvm::Module& module,
                                              llvm::ModuleAnalysisManager&) const {
        sim::lower_simulated(module, watched);
        return llvm::PreservedAnalyses::none();
    }
    bool watched;
};

struct PrepareSimulated : llvm::PassInfoMixin<PrepareSimulated> {
    explicit PrepareSimulated(bool w) : watched(w) {}
    [[nodiscard]] llvm::PreservedAnalyses run(llvm::Module& module,
                                              llvm::ModuleAnalysisManager&) const {
        sim::note_clusters(module);
        sim::lower_failures(module, watched);
        if (watched) sim::declare_arrays(module);
        return llvm::PreservedAnalyses::none();
    }
    bool watched;
};

bool optimise(llvm::Module& module, llvm::TargetMachine& machine, const CppOptions& options,
              std::string& reason) {
    relax_zero_signs(module);
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = true;
    tuning.LoopInterleaving = true;
    llvm::PassBuilder builder(&machine, tuning);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.registerPipelineParsingCallback([](llvm::StringRef name,
                                               llvm::FunctionPassManager& passes,
                                               llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name == "keep-vector-loops") {
            passes.addPass(KeepVectorLoops());
        } else if (name == "branch-on-cases") {
            passes.addPass(BranchOnCases());
        } else if (name == "judge-gathers") {
            passes.addPass(JudgeGathers());
        } else if (name == "vectorize-branches") {
            passes.addPass(VectorizeBranches());
        } else if (name == "truncate-once") {
            passes.addPass(TruncateOnce());
        } else if (name == "expose-ranges") {
            passes.addPass(sim::ExposeRanges());
        } else {
            return false;
        }
        return true;
    });
    builder.crossRegisterProxies(loops, functions, components, modules);
    builder.registerPipelineParsingCallback(
        [&](llvm::StringRef name, llvm::ModulePassManager& passes,
            llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
            if (name == "lower-simulated") {
                passes.addPass(LowerSimulated(options.watched));
            } else if (name == "prepare-simulated") {
                passes.addPass(PrepareSimulated(options.watched));
            } else {
                return false;
            }
            return true;
        });
    std::string pipeline(options.simulated ? kSimulatedPasses : "");
    pipeline += kPassesToLoops;
    if (options.simulated) pipeline += kKnownChecks;
    pipeline += kPassesToUnswitch;
    if (options.simulated) pipeline += kUnswitchAlone;
    pipeline += kPassesToVectorizer;
    if (options.simulated) pipeline += kInsideOfRanges;
    pipeline += kPassesFromVectorizer;
    if (machine.getTargetTriple().getArch() == llvm::Triple::x86_64) pipeline += kOfX86;
    llvm::ModulePassManager passes;
    if (llvm::Error e = builder.parsePassPipeline(passes, pipeline)) {
        reason = llvm::toString(std::move(e));
        return false;
    }
    passes.run(module, modules);
    return true;
}

bool generate(llvm::TargetMachine& machine, Compilation& c, std::string& reason) {
    // On the heap: it is abandoned with the compilation if LLVM gives up.
    auto* passes = new llvm::legacy::PassManager;
    llvm::MCContext* unused = nullptr;
    if (machine.addPassesToEmitMC(*passes, unused, c.object_stream, /*DisableVerify=*/true)) {
        reason = "the target cannot emit machine code";
        delete passes;
        return false;
    }
    passes->run(*c.module);
    delete passes;
    return true;
}

// The whole compilation; false with `reason` or the compilation's messages set.
bool compile(std::string_view source, std::string_view file_name, const CppOptions& options,
             ThreadState& state, Compilation& c, std::string& reason) {
    auto& machine = state.machines[options.fast_math ? 1 : 0];
    if (!machine) machine = make_target_machine(options.fast_math, reason);
    if (!machine) return false;
    c.context.setDiagnosticHandler(std::make_unique<MessageHandler>(c));
    if (!run_front_end(source, file_name, options, state, c)) return false;
    c.module->setDataLayout(machine->createDataLayout());
    if (!optimise(*c.module, *machine, options, reason)) return false;
    if (!generate(*machine, c, reason)) return false;
    c.message_stream.flush();
    return c.messages.empty();
}

}  // namespace

std::string cpp_compiler_version() {
    return CLANG_VERSION_STRING;
}

std::string host_processor() {
    return host().processor;
}

VectorUnit host_vectors() {
    static const VectorUnit unit = vectors_of_host();
    return unit;
}

std::string cpp_compiler_identity(const CppOptions& options) {
    static const std::string compiler =
        clang::getClangFullVersion() + "\n" + std::string(kPassesToLoops) +
        std::string(kPassesToUnswitch) + std::string(kPassesToVectorizer) +
        std::string(kPassesFromVectorizer) +
        "\nno-lsr nsz-minmax huge-region=200 remainders=4 unrolled=16 truncate-once";
    std::string result = compiler;
    if (options.simulated) result += "\nsimulated 10";  // the version of the simulated passes
    if (options.watched) result += "\nwatched";
    for (const std::string& argument : cc1_arguments(options))
        result += "\n" + argument;
    return result;
}

std::string compile_cpp(std::string_view source, std::string_view file_name,
                        const CppOptions& given, RuntimeError& error) {
    CppOptions options = given;
    options.headers = options.headers || source.find("#include") != std::string_view::npos;
    clang::noteBottomOfStack();
    (void)host();
    ThreadState*& state = thread_state();
    auto compilation = std::make_unique<Compilation>();
    std::string reason;
    bool done = false;
    const bool survived = guard_llvm(
        [&] { done = compile(source, file_name, options, *state, *compilation, reason); }, reason);
    if (!survived) {
        // Half-built and not to be used again: leaked, a few hundred kB.
        (void)compilation.release();
        state = nullptr;
        error = {Code::kP511, "the embedded compiler failed: " + reason,
                 "the text uses something that this processor or LLVM does not support, as the "
                 "reason says"};
        return {};
    }
    if (done) return {compilation->object.begin(), compilation->object.end()};
    compilation->message_stream.flush();
    const std::string& messages = compilation->messages;
    error = {Code::kP510,
             "the C++ text does not compile:\n" + (messages.empty() ? reason : messages),
             {}};
    return {};
}

}  // namespace parpy
