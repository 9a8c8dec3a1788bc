// See lower_simulated.h.
#include "runtime/sim/lower_simulated.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstddef>

#include "runtime/sim/access_watch.h"
#include "runtime/sim/device_text.h"
#include "runtime/sim/simulator.h"

namespace parpy::sim {

namespace {

using llvm::CallInst;
using llvm::Function;
using llvm::GlobalVariable;
using llvm::Instruction;
using llvm::Value;

const Function* callee(const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<CallInst>(&instruction);
    return call == nullptr ? nullptr : call->getCalledFunction();
}

llvm::SmallVector<CallInst*> calls_of(Function& function, llvm::StringRef name) {
    llvm::SmallVector<CallInst*> calls;
    for (Instruction& instruction : llvm::instructions(function)) {
        const Function* called = callee(instruction);
        if (called != nullptr && called->getName() == name) {
            calls.push_back(llvm::cast<CallInst>(&instruction));
        }
    }
    return calls;
}

// Whether the function is a kernel's loop over a row of threads.
bool is_row(Function& function) {
    return !calls_of(function, "parpy_sim_enter").empty();
}

// Whether the result of an atomic operation is used except by the pause after it. Loops around a
// compare-and-swap are assumed to use it.
bool atomic_is_observed(const CallInst& pause) {
    const Instruction* at = pause.getPrevNode();
    while (at != nullptr && !llvm::isa<llvm::AtomicRMWInst>(at))
        at = at->getPrevNode();
    if (at == nullptr) return true;
    const auto only_paused = [&](const Value& value, const auto& self, int depth) -> bool {
        for (const llvm::User* user : value.users()) {
            if (user == &pause) continue;
            if (depth == 0 || !llvm::isa<llvm::CastInst>(user)) return false;
            if (!self(*user, self, depth - 1)) return false;
        }
        return true;
    };
    return !only_paused(*at, only_paused, 3);
}

bool is_address(const Instruction& instruction) {
    const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return intrinsic != nullptr &&
           intrinsic->getIntrinsicID() == llvm::Intrinsic::threadlocal_address;
}

// Reports accesses to the simulator: to memory that other threads may see, and to local arrays.
class Watching {
public:
    explicit Watching(llvm::Module& module) : module_(module) {
        llvm::LLVMContext& context = module.getContext();
        void_ = llvm::Type::getVoidTy(context);
        pointer_ = llvm::PointerType::getUnqual(context);
        int_ = llvm::Type::getInt32Ty(context);
        long_ = llvm::Type::getInt64Ty(context);
    }

    void run(Function& function) {
        llvm::SmallVector<Instruction*> all;
        for (Instruction& instruction : llvm::instructions(function))
            all.push_back(&instruction);
        const llvm::SmallVector<CallInst*> enters = calls_of(function, "parpy_sim_enter");
        // The current thread of a row, or the thread that called the function.
        here_ = enters.empty() ? nullptr : enters.front()->getArgOperand(0);
        in_row_ = here_ != nullptr;
        if (!in_row_) {
            llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
            here_ = builder.CreateCall(module_.getOrInsertFunction("parpy_sim_here", pointer_));
        }
        // Code before the thread's beginning only sets it up.
        const llvm::DominatorTree order(function);
        for (Instruction* instruction : all) {
            if (!in_row_ || order.dominates(enters.front(), instruction)) tell(*instruction);
        }
    }

private:
    void tell(Instruction& instruction) {
        if (llvm::isa<llvm::FenceInst>(instruction)) {
            llvm::IRBuilder<> builder(&instruction);
            builder.CreateCall(module_.getOrInsertFunction("parpy_sim_fence", void_, pointer_),
                               {here_});
        } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
            const bool ordinary = !load->isAtomic() && !load->isVolatile();
            touch(instruction, load->getPointerOperand(), load->getType(),
                  ordinary ? Touch::kRead : Touch::kAtomic);
        } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
            const bool ordinary = !store->isAtomic() && !store->isVolatile();
            if (ordinary) {
                write(*store);
            } else {
                touch(instruction, store->getPointerOperand(), store->getValueOperand()->getType(),
                      Touch::kAtomic);
            }
        } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
            touch(instruction, update->getPointerOperand(), update->getType(), Touch::kAtomic);
        } else if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
            touch(instruction, swap->getPointerOperand(), swap->getNewValOperand()->getType(),
                  Touch::kAtomic);
        } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
            touch(instruction, copy->getRawSource(), copy->getLength(), Touch::kRead);
            touch(instruction, copy->getRawDest(), copy->getLength(), Touch::kWrite);
        } else if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction)) {
            touch(instruction, fill->getRawDest(), fill->getLength(), Touch::kWrite);
        } else if (const Function* called = callee(instruction); called && may_stop(*called)) {
            llvm::IRBuilder<> builder(&instruction);
            builder.CreateCall(
                module_.getOrInsertFunction("parpy_sim_place", void_, pointer_, pointer_),
                {here_, lines_of(instruction)});
        }
    }

    // Whether a thread may not return from the call, so that a report needs its place.
    static bool may_stop(const Function& function) {
        const llvm::StringRef name = function.getName();
        return !function.isDeclaration() || name == "parpy_sim_barrier" ||
               name == "parpy_sim_exchange" || name == "parpy_sim_pause" ||
               name == "parpy_sim_sleep" || name == "parpy_sim_fail";
    }

    // Reports the value of a number as well, which the memory may already contain.
    void write(llvm::StoreInst& store) {
        Value* address = store.getPointerOperand();
        Value* value = store.getValueOperand();
        llvm::Type* type = value->getType();
        const std::uint64_t bits =
            module_.getDataLayout().getTypeStoreSizeInBits(type).getFixedValue();
        const bool number = type->isIntegerTy() || type->isFloatingPointTy();
        if (!is_watched(address)) return;
        if (!number || bits > 64 || bits != type->getScalarSizeInBits()) {
            touch(store, address, type, Touch::kWrite);
            return;
        }
        llvm::IRBuilder<> builder(&store);
        Value* word = builder.CreateZExt(
            builder.CreateBitCast(value, builder.getIntNTy(static_cast<unsigned>(bits))), long_);
        builder.CreateCall(
            module_.getOrInsertFunction("parpy_sim_write", void_, pointer_, pointer_, long_, long_,
                                        pointer_),
            {here_, address, llvm::ConstantInt::get(long_, bits / 8), word, lines_of(store)});
    }

    void touch(Instruction& at, Value* address, llvm::Type* type, Touch how) {
        const std::uint64_t bytes = module_.getDataLayout().getTypeStoreSize(type).getFixedValue();
        touch(at, address, llvm::ConstantInt::get(long_, bytes), how);
    }

    void touch(Instruction& at, Value* address, Value* bytes, Touch how) {
        if (!is_watched(address)) return;
        llvm::IRBuilder<> builder(&at);
        builder.CreateCall(
            module_.getOrInsertFunction("parpy_sim_touch", void_, pointer_, pointer_, long_, int_,
                                        pointer_),
            {here_, address, builder.CreateZExtOrTrunc(bytes, long_),
             llvm::ConstantInt::get(int_, static_cast<std::uint64_t>(how)), lines_of(at)});
    }

    // Only arrays are watched: no variables, no constants, no data of the simulator itself.
    [[nodiscard]] bool is_watched(const Value* address) const {
        const Value* object = llvm::getUnderlyingObject(address, 0);
        if (object == here_) return false;
        if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(object))
            return variable->getAllocatedType()->isArrayTy();
        if (const auto* global = llvm::dyn_cast<GlobalVariable>(object))
            return !global->isConstant();
        if (const auto* call = llvm::dyn_cast<CallInst>(object)) {
            const Function* called = callee(*call);
            if (called != nullptr && called->getName() == "parpy_sim_here") return false;
        }
        return true;
    }

    // The lines of the calls that lead to an instruction, the innermost first, then 0.
    llvm::Constant* lines_of(const Instruction& instruction) {
        const llvm::DILocation* location = instruction.getDebugLoc().get();
        llvm::Constant*& lines = lines_[location];
        if (lines != nullptr) return lines;
        llvm::SmallVector<std::uint32_t> numbers;
        for (const llvm::DILocation* at = location; at != nullptr; at = at->getInlinedAt()) {
            // Foreign sources have their own lines.
            const bool ours = at->getFilename() == module_.getSourceFileName();
            if (at->getLine() != 0 && ours) numbers.push_back(at->getLine());
        }
        numbers.push_back(0);
        llvm::Constant* data = llvm::ConstantDataArray::get(module_.getContext(), numbers);
        lines = new GlobalVariable(module_, data->getType(), true, GlobalVariable::PrivateLinkage,
                                   data, "parpy_sim_lines");
        return lines;
    }

    llvm::Module& module_;
    llvm::Type *void_, *pointer_, *int_, *long_;
    Value* here_ = nullptr;
    bool in_row_ = false;
    llvm::DenseMap<const llvm::DILocation*, llvm::Constant*> lines_;
};

// Whether threads of these functions may need much of their stack.
bool grows(const llvm::Module& module) {
    constexpr std::uint64_t kLarge = 16 << 10;
    for (const Function& function : module) {
        std::uint64_t bytes = 0;
        bool calls = false;
        for (const Instruction& instruction : llvm::instructions(function)) {
            if (const auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
                const auto size = array->getAllocationSize(module.getDataLayout());
                bytes += size && !size->isScalable() ? size->getFixedValue() : kLarge;
            }
            const auto* call = llvm::dyn_cast<CallInst>(&instruction);
            const Function* called = call == nullptr ? nullptr : call->getCalledFunction();
            calls |= call != nullptr && !call->doesNotReturn() &&
                     (called == nullptr || !called->isDeclaration());
        }
        if (bytes >= kLarge || (calls && !function.isDeclaration())) return true;
    }
    return false;
}

// Whether threads may call functions outside of the module and the C library.
bool calls_foreign(const llvm::Module& module) {
    const llvm::TargetLibraryInfoImpl library{llvm::Triple(module.getTargetTriple())};
    return std::ranges::any_of(module, [&](const Function& function) {
        llvm::LibFunc known{};
        return function.isDeclaration() && !function.use_empty() && !function.isIntrinsic() &&
               !function.getName().starts_with("parpy_sim_") &&
               !library.getLibFunc(function.getName(), known);
    });
}

class Lowering {
public:
    explicit Lowering(llvm::Module& module) : module_(module) {}

    void run(bool watched) {
        address_directly();
        if (watched) {
            Watching watching(module_);
            for (Function& function : module_) {
                if (!function.isDeclaration()) watching.run(function);
            }
        }
        place_shared_memory();
        // Large frames touch each of their pages in order: none skips the guard page.
        for (Function& function : module_) {
            if (!function.isDeclaration()) function.addFnAttr("probe-stack", "inline-asm");
        }
        const int always = (watched ? kWaits | kSpins : 0) | (grows(module_) ? kDeep : 0) |
                           (calls_foreign(module_) ? kForeign : 0);
        bool outside = false;  // a function that was not inlined asks for the thread
        int outside_needs = 0;
        for (Function& function : module_) {
            if (function.isDeclaration() || is_row(function)) continue;
            remove_pauses(function);
            outside_needs |= needs_of(function);
            outside = outside || !calls_of(function, "parpy_sim_here").empty();
            share(function, nullptr, outside_);
            outside = outside || !calls_of(function, "parpy_sim_here").empty();
        }
        for (Function& function : module_) {
            if (function.isDeclaration() || !is_row(function)) continue;
            remove_pauses(function);
            lower_row(function, outside);
            describe(function, needs_of(function) | outside_needs | always);
        }
        for (GlobalVariable* variable : shared_) {
            if (variable->use_empty()) variable->eraseFromParent();
        }
    }

private:
    // The most bytes of a variable; larger than any launch allows, and sums of it do not wrap.
    static constexpr std::uint64_t kEndless = std::uint64_t{1} << 48;

    // Accesses to extern variables go through a function that would initialise them.
    void address_directly() {
        llvm::SmallVector<Function*> wrappers;
        for (Function& function : module_) {
            if (function.getName().starts_with("_ZTW") && !function.isDeclaration()) {
                wrappers.push_back(&function);
            }
        }
        for (Function* wrapper : wrappers) {
            Value* variable = nullptr;
            for (Instruction& instruction : llvm::instructions(*wrapper)) {
                if (is_address(instruction)) variable = instruction.getOperand(0);
            }
            if (variable == nullptr) continue;
            for (llvm::User* user : llvm::make_early_inc_range(wrapper->users())) {
                auto* call = llvm::dyn_cast<CallInst>(user);
                if (call == nullptr) continue;
                llvm::IRBuilder<> builder(call);
                call->replaceAllUsesWith(builder.CreateThreadLocalAddress(variable));
                call->eraseFromParent();
            }
            if (wrapper->use_empty()) wrapper->eraseFromParent();
        }
    }

    // Assigns offsets to the static variables; extern variables begin after them.
    void place_shared_memory() {
        const llvm::DataLayout& layout = module_.getDataLayout();
        for (GlobalVariable& variable : module_.globals()) {
            if (!variable.isThreadLocal()) continue;
            shared_.push_back(&variable);
            if (variable.isDeclaration() || variable.use_empty()) continue;
            const std::uint64_t align =
                std::max<std::uint64_t>(variable.getAlign().valueOrOne().value(), 4);
            const std::uint64_t size = layout.getTypeAllocSize(variable.getValueType());
            total_ = (total_ + align - 1) / align * align;
            offsets_[&variable] = {total_, size};
            total_ += std::min(size, kEndless);
        }
        total_ = (total_ + kSharedAlign - 1) / kSharedAlign * kSharedAlign;
    }

    using Variables = llvm::SmallPtrSet<const GlobalVariable*, 8>;

    // Replaces accesses to shared variables by the thread's pointer. Adds the variables to `used`.
    void share(Function& function, Value* here, Variables& used) {
        llvm::SmallVector<llvm::IntrinsicInst*> accesses;
        for (Instruction& instruction : llvm::instructions(function)) {
            if (is_address(instruction)) {
                accesses.push_back(llvm::cast<llvm::IntrinsicInst>(&instruction));
            }
        }
        for (llvm::IntrinsicInst* access : accesses) {
            auto* variable = llvm::cast<GlobalVariable>(access->getArgOperand(0));
            llvm::IRBuilder<> builder(access);
            Value* thread = here;
            if (thread == nullptr) {
                thread = builder.CreateCall(
                    module_.getOrInsertFunction("parpy_sim_here", builder.getPtrTy()));
            }
            Value* field =
                builder.CreateConstGEP1_64(builder.getInt8Ty(), thread, offsetof(Thread, shared));
            Value* base = builder.CreateLoad(builder.getPtrTy(), field);
            const auto found = offsets_.find(variable);
            const std::uint64_t offset = found == offsets_.end() ? total_ : found->second.first;
            access->replaceAllUsesWith(
                builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset));
            access->eraseFromParent();
            if (found != offsets_.end()) used.insert(variable);
        }
    }

    [[nodiscard]] std::uint64_t bytes_of(const Variables& used) const {
        std::uint64_t bytes = 0;
        for (const GlobalVariable* variable : used)
            bytes += std::min(offsets_.at(variable).second, kEndless);
        return bytes;
    }

    static void remove_pauses(Function& function) {
        for (CallInst* pause : calls_of(function, "parpy_sim_pause")) {
            if (!atomic_is_observed(*pause)) pause->eraseFromParent();
        }
    }

    void lower_row(Function& function, bool outside) {
        CallInst* enter = calls_of(function, "parpy_sim_enter").front();
        Value* here = enter->getArgOperand(0);
        for (CallInst* call : calls_of(function, "parpy_sim_here")) {
            call->replaceAllUsesWith(here);
            call->eraseFromParent();
        }
        Variables used = outside_;
        share(function, here, used);
        static_bytes_[&function] = bytes_of(used);
        keep_apart(function);
        limit_indices(function);
        if (!outside) enter->eraseFromParent();
    }

    // A kernel's promise about its parameters (__restrict__) holds for all its threads together,
    // not for each alone: it moves before the loop over them.
    void keep_apart(Function& row) const {
        llvm::SmallVector<Instruction*> promises;
        for (Instruction& instruction : llvm::instructions(row)) {
            const auto* promise = llvm::dyn_cast<llvm::NoAliasScopeDeclInst>(&instruction);
            if (promise == nullptr || promise->getScopeList()->getNumOperands() == 0) continue;
            const llvm::AliasScopeNode scope(
                llvm::cast<llvm::MDNode>(promise->getScopeList()->getOperand(0)));
            const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(
                scope.getDomain()->getNumOperands() > 1 ? scope.getDomain()->getOperand(1).get()
                                                        : nullptr);
            if (name == nullptr) continue;
            const auto kernel = kernel_symbol(std::string(name->getString()));
            if (module_.getNamedValue(kernel) != nullptr) promises.push_back(&instruction);
        }
        Instruction* begin = &*row.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
        for (Instruction* promise : promises)
            promise->moveBefore(begin);
    }

    // Ranges of indices and sizes decide checks of subscripts. The first thread of a row gets no
    // range if there is a loop over it: irce handles a counter less well if it is known never to be
    // negative.
    void limit_indices(Function& row) const {
        const llvm::DataLayout& layout = module_.getDataLayout();
        const bool loops = (needs_of(row) & kWaits) == 0;
        llvm::MDBuilder metadata(module_.getContext());
        for (Instruction& instruction : llvm::instructions(row)) {
            auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
            if (load == nullptr || !load->getType()->isIntegerTy(32)) continue;
            llvm::APInt at(64, 0);
            const Value* from =
                load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, at, true);
            const std::uint64_t offset = at.getZExtValue();
            if (from != row.getArg(0) || offset >= offsetof(Thread, warp_size)) continue;
            if (loops && offset == offsetof(Thread, thread.x)) continue;
            const bool of_block =
                offset < offsetof(Thread, block) ||
                (offset >= offsetof(Thread, block_dim) && offset < offsetof(Thread, grid_dim));
            const llvm::APInt end = of_block ? llvm::APInt(32, kMaxBlockThreads + 1)
                                             : llvm::APInt::getSignedMinValue(32);
            load->setMetadata(llvm::LLVMContext::MD_range,
                              metadata.createRange(llvm::APInt(32, 0), end));
        }
    }

    static int needs_of(Function& function) {
        int needs = 0;
        for (const Instruction& instruction : llvm::instructions(function)) {
            const Function* called = callee(instruction);
            if (called == nullptr) continue;
            const llvm::StringRef name = called->getName();
            if (name == "parpy_sim_barrier" || name == "parpy_sim_exchange" ||
                name == "parpy_sim_map_shared") {
                needs |= kWaits;
            }
            if (name == "parpy_sim_pause" || name == "parpy_sim_sleep") needs |= kSpins;
        }
        return needs;
    }

    void describe(Function& row, int needs) {
        for (GlobalVariable& variable : module_.globals()) {
            if (!variable.getName().starts_with("parpy_sim_kernel_")) continue;
            auto* fields = llvm::cast<llvm::ConstantStruct>(variable.getInitializer());
            if (fields->getOperand(0) != &row) continue;
            const auto number = [&](unsigned field, std::uint64_t value) {
                return llvm::ConstantInt::get(fields->getOperand(field)->getType(), value);
            };
            variable.setInitializer(llvm::ConstantStruct::get(
                fields->getType(),
                {&row, number(1, static_cast<std::uint64_t>(needs)), number(2, static_bytes_[&row]),
                 number(3, total_), fields->getOperand(4)}));
        }
    }

    llvm::Module& module_;
    llvm::SmallVector<GlobalVariable*> shared_;
    llvm::DenseMap<const GlobalVariable*, std::pair<std::uint64_t, std::uint64_t>> offsets_;
    llvm::DenseMap<const Function*, std::uint64_t> static_bytes_;
    Variables outside_;  // used by functions that are not inlined: every kernel may call them
    std::uint64_t total_ = 0;
};

}  // namespace

void declare_arrays(llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::getUnqual(context);
    llvm::Type* bytes = llvm::Type::getInt64Ty(context);
    llvm::Type* nothing = llvm::Type::getVoidTy(context);
    for (Function& function : module) {
        if (function.isDeclaration()) continue;
        llvm::SmallVector<llvm::AllocaInst*> arrays;
        for (Instruction& instruction : llvm::instructions(function)) {
            auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
            if (array != nullptr && array->getAllocatedType()->isArrayTy()) arrays.push_back(array);
        }
        if (arrays.empty()) continue;
        llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
        Value* here = builder.CreateCall(module.getOrInsertFunction("parpy_sim_here", pointer));
        for (llvm::AllocaInst* array : arrays) {
            const auto size = array->getAllocationSize(module.getDataLayout());
            if (!size || size->isScalable()) continue;
            builder.CreateCall(
                module.getOrInsertFunction("parpy_sim_declare", nothing, pointer, pointer, bytes),
                {here, array, llvm::ConstantInt::get(bytes, size->getFixedValue())});
        }
    }
}

void note_clusters(llvm::Module& module) {
    GlobalVariable* list = module.getGlobalVariable("llvm.global.annotations");
    if (list == nullptr || !list->hasInitializer()) return;
    // Each annotation has: its object, its text, the file, the line, its arguments.
    for (const llvm::Use& one :
         llvm::cast<llvm::ConstantArray>(list->getInitializer())->operands()) {
        const auto* fields = llvm::cast<llvm::ConstantStruct>(one.get());
        llvm::StringRef text;
        llvm::getConstantStringInfo(fields->getOperand(1), text);
        GlobalVariable* kernel = module.getGlobalVariable(
            kernel_symbol(std::string(fields->getOperand(0)->stripPointerCasts()->getName())),
            true);
        const auto* arguments = llvm::dyn_cast<GlobalVariable>(fields->getOperand(4));
        if (text != "cluster_dims" || kernel == nullptr || arguments == nullptr) continue;
        const auto* sizes = llvm::cast<llvm::ConstantStruct>(arguments->getInitializer());
        const auto size = [&](unsigned i) {
            const auto* given = i < sizes->getNumOperands()
                                    ? llvm::dyn_cast<llvm::ConstantInt>(sizes->getOperand(i))
                                    : nullptr;
            return given == nullptr ? 1U : static_cast<std::uint32_t>(given->getZExtValue());
        };
        auto* known = llvm::cast<llvm::ConstantStruct>(kernel->getInitializer());
        llvm::SmallVector<llvm::Constant*> values;
        for (const llvm::Use& value : known->operands())
            values.push_back(llvm::cast<llvm::Constant>(value.get()));
        const std::uint32_t cluster[] = {size(0), size(1), size(2)};
        values[4] = llvm::ConstantDataArray::get(module.getContext(), cluster);
        kernel->setInitializer(llvm::ConstantStruct::get(known->getType(), values));
    }
    list->eraseFromParent();
}

void lower_simulated(llvm::Module& module, bool watched) {
    Lowering(module).run(watched);
}

}  // namespace parpy::sim
