// See lower_failures.h.
#include "runtime/sim/lower_failures.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <array>

namespace parpy::sim {

namespace {

using llvm::CallInst;
using llvm::Function;
using llvm::Value;

// The calls that ask for the running thread, and their results.
using Questions = std::array<CallInst*, 2>;
using Answers = std::array<Value*, 2>;

CallInst* question(Value* value) {
    auto* call = llvm::dyn_cast<CallInst>(value);
    const bool plain = call != nullptr && call->arg_empty() && call->hasOneUse() &&
                       call->getCalledFunction() != nullptr;
    return plain ? call : nullptr;
}

class Failures {
public:
    // False if the call of `raise` does not have the prelude's form.
    bool take_thread(CallInst& raise) {
        Function& function = *raise.getFunction();
        const Questions questions{question(raise.getArgOperand(0)),
                                  question(raise.getArgOperand(1))};
        if (questions[0] == nullptr || questions[1] == nullptr || function.isVarArg()) return false;
        llvm::SmallVector<CallInst*> calls;
        for (llvm::User* user : function.users()) {
            auto* call = llvm::dyn_cast<CallInst>(user);
            if (call == nullptr || call->getCalledFunction() != &function) return false;
            calls.push_back(call);
        }
        Function& taking = with_thread(function, questions);
        for (CallInst* call : calls)
            pass_thread(*call, taking, questions);
        for (CallInst* each : questions)
            each->eraseFromParent();
        function.eraseFromParent();
        return true;
    }

private:
    // The body of `function`, with the answers as its first two parameters.
    static Function& with_thread(Function& function, const Questions& questions) {
        llvm::SmallVector<llvm::Type*> types;
        for (const CallInst* each : questions)
            types.push_back(each->getType());
        for (const llvm::Argument& parameter : function.args())
            types.push_back(parameter.getType());
        auto* type = llvm::FunctionType::get(function.getReturnType(), types, false);
        Function* taking = Function::Create(type, function.getLinkage(), "", function.getParent());
        taking->takeName(&function);
        taking->setAttributes(llvm::AttributeList::get(
            function.getContext(), llvm::AttributeList::FunctionIndex,
            llvm::AttrBuilder(function.getContext(), function.getAttributes().getFnAttrs())));
        taking->setDoesNotReturn();
        taking->addFnAttr(llvm::Attribute::Cold);
        taking->copyMetadata(&function, 0);
        function.clearMetadata();
        taking->splice(taking->begin(), &function);
        unsigned at = 0;
        for (CallInst* each : questions)
            each->replaceAllUsesWith(taking->getArg(at++));
        for (llvm::Argument& parameter : function.args())
            parameter.replaceAllUsesWith(taking->getArg(at++));
        return *taking;
    }

    void pass_thread(CallInst& call, Function& taking, const Questions& questions) {
        const Answers answers = answers_in(call, questions);
        llvm::SmallVector<Value*> arguments(answers.begin(), answers.end());
        arguments.append(call.arg_begin(), call.arg_end());
        llvm::IRBuilder<> builder(&call);
        CallInst* passing = builder.CreateCall(&taking, arguments);
        passing->setDebugLoc(call.getDebugLoc());
        llvm::changeToUnreachable(&call);
    }

    // A function that is inlined into a kernel asks once; any other function asks at each use.
    Answers answers_in(CallInst& call, const Questions& questions) {
        Function& caller = *call.getFunction();
        const bool once = caller.hasFnAttribute(llvm::Attribute::AlwaysInline);
        Answers& known = known_[&caller];
        if (once && known[0] != nullptr) return known;
        llvm::IRBuilder<> builder(&call);
        if (once) builder.SetInsertPoint(caller.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
        builder.SetCurrentDebugLocation(call.getDebugLoc());
        for (std::size_t i = 0; i < questions.size(); ++i)
            known[i] = builder.CreateCall(questions[i]->getCalledFunction());
        return known;
    }

    llvm::DenseMap<const Function*, Answers> known_;
};

}  // namespace

void lower_failures(llvm::Module& module, bool watched) {
    const Function* raise = module.getFunction("parpy_sim_raise");
    if (raise == nullptr) return;
    llvm::SmallVector<CallInst*> raises;
    for (const llvm::User* user : raise->users()) {
        if (const auto* call = llvm::dyn_cast<CallInst>(user))
            raises.push_back(const_cast<CallInst*>(call));
    }
    Failures failures;
    for (CallInst* each : raises) {
        if (!watched && failures.take_thread(*each)) continue;
        Function* caller = each->getFunction();
        caller->removeFnAttr(llvm::Attribute::NoInline);
        caller->addFnAttr(llvm::Attribute::AlwaysInline);
    }
}

}  // namespace parpy::sim
