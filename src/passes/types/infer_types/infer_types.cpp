// The pass: brings all instances to a common fixpoint of types, rewrites each one that is called,
// and propagates facts along calls (which arrays are written, which may overlap).
#include "passes/types/infer_types/infer_types.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/slices/evaluation_steps.h"
#include "passes/types/function_names.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

// NaN equals NaN here, or recursion would never find its instance again.
bool same_constant(const std::optional<Constant>& a, const std::optional<Constant>& b) {
    if (a == b) {
        return true;
    }
    if (!a || !b) {
        return false;
    }
    const auto* x = std::get_if<double>(&a->value);
    const auto* y = std::get_if<double>(&b->value);
    return x != nullptr && y != nullptr && std::isnan(*x) && std::isnan(*y);
}

bool returns_value(const Body& body) {
    return any_stmt(body, [](const Stmt& stmt) {
        const auto* exit = stmt.as<Return>();
        return exit != nullptr && exit->value != nullptr;
    });
}

// Runs `phase` over all instances; true if a type changed or an instance was added.
bool sweep(PassContext& context, Instances& instances, Phase phase) {
    bool changed = false;
    for (std::size_t i = 0; i < instances.all.size(); ++i) {  // calls append
        const std::size_t before = instances.all.size();
        changed = Typer(context, instances, instances.all[i], phase).run() || changed;
        changed = changed || instances.all.size() != before;
    }
    return changed;
}

void find_types(PassContext& context, Instances& instances) {
    while (sweep(context, instances, Phase::kFind)) {
    }
    // A type found on the way may have been too wide: `b = a * x_i8[i]` while `a` was only known as
    // a Python float, and is float32. Recompute from the final types, as long as that helps.
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds && sweep(context, instances, Phase::kNarrow); ++round) {
    }
    while (sweep(context, instances, Phase::kFind)) {
    }
}

void rewrite_called(PassContext& context, Instances& instances) {
    for (bool found = true; found;) {
        found = false;
        for (std::size_t i = 0; i < instances.all.size(); ++i) {
            Instance& instance = instances.all[i];
            if (instance.called && !instance.rewritten) {
                instance.rewritten = true;
                Typer(context, instances, instance, Phase::kRewrite).run();
                found = true;
            }
        }
    }
}

// Stores in a function are stores to the arrays that its callers pass.
void spread_writes(PassContext& context, Instances& instances) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const ArrayPass& pass : instances.passes) {
            if (pass.to->written && !pass.from->written) {
                pass.from->written = changed = true;
                instances.writes.emplace(pass.from, pass.span);
            }
        }
    }
    for (const Var* param : context.module.entry_function()->params) {
        const bool is_argument = param->origin.kind == Origin::Kind::kArgument &&
                                 param->origin.argument < context.signature.size();
        if (param->written && is_argument && context.signature[param->origin.argument].read_only) {
            report_once(context.diagnostics, Code::kP207, instances.writes.at(param),
                        "'" + param->name + "' is a read-only array, but it is written here",
                        "pass a writable copy");
        }
    }
}

namespace {

// `made`: null where it is not reported again.
void mark(Diagnostic* made, bool python_may_call) {
    if (made != nullptr) made->python_may_call = python_may_call;
}

}  // namespace

// Reported after the mistakes in the functions, from which most of these follow.
void report_untyped_calls(PassContext& context, const Instances& instances) {
    if (context.diagnostics.has_errors() || instances.untyped_calls.empty()) return;
    // A function that ends with a static_fail, or that has no signature for its arguments, has no
    // type: the reason is that failure.
    for (const Instance& instance : instances.all) {
        if (!instance.called) continue;
        for_each_stmt(instance.function->body, [&](const Stmt& stmt) {
            const auto* fail = stmt.as<Fail>();
            if (fail == nullptr) return;
            const Site& site = context.module.sites[fail->site];
            if (site.code == Code::kP232 || site.code == Code::kP105)
                mark(report_once(context.diagnostics, site.code, fail->span, site.message,
                                 site.help),
                     site.python_may_call);
        });
    }
    if (context.diagnostics.has_errors()) return;
    for (const auto& [span, name] : instances.untyped_calls) {
        report_once(context.diagnostics, Code::kP213, span,
                    "the type that '" + name + "' returns cannot be inferred",
                    "let '" + name + "' return a number on a path that does not call it again");
    }
}

// A parameter may overlap another if its argument may, or if the call passes one array twice.
void spread_aliases(Instances& instances) {
    for (const ArrayPass& pass : instances.passes) {
        const auto twice = [&](const ArrayPass& other) {
            return other.from == pass.from && other.span != pass.span && other.to != pass.to;
        };
        for (const ArrayPass& other : instances.passes) {
            if (twice(other)) {
                const auto same_function = [&](const Instance& instance) {
                    return std::ranges::find(instance.inputs, pass.to) != instance.inputs.end() &&
                           std::ranges::find(instance.inputs, other.to) != instance.inputs.end();
                };
                if (std::ranges::any_of(instances.all, same_function)) {
                    pass.to->aliased = true;
                }
            }
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const ArrayPass& pass : instances.passes) {
            if (pass.from->aliased && !pass.to->aliased) {
                pass.to->aliased = changed = true;
            }
        }
    }
}

// The rewritten instances replace the functions that they were made from, in their order.
void replace_functions(Module& module, Instances& instances) {
    Function* const entry = module.entry_function();
    std::unordered_set<const Function*> made;
    for (const Instance& instance : instances.all)
        if (instance.function != entry) made.insert(instance.function);
    std::vector<Function*> originals;
    std::ranges::remove_copy_if(module.functions, std::back_inserter(originals),
                                [&](const Function* each) { return made.contains(each); });
    std::unordered_set<std::string> names = {entry->name};
    std::unordered_set<const Function*> called;  // foreign functions
    for (const Instance& instance : instances.all) {
        if (!instance.rewritten) continue;
        for_each_expr(instance.function->body, [&](const Expr& e) {
            if (e.op == Op::kCall && e.callee->kind == FunctionKind::kForeign)
                called.insert(e.callee);
        });
    }
    module.functions.clear();
    for (Function* original : originals) {
        if (called.contains(original)) module.functions.push_back(original);
        for (Instance& instance : instances.all) {
            if (instance.source != original || !instance.rewritten) {
                continue;
            }
            if (instance.function != entry) {
                std::string name = original->name;
                for (int suffix = 1; !names.insert(name).second; ++suffix) {
                    name = original->name + "_" + std::to_string(suffix);
                }
                instance.function->name = std::move(name);
            }
            module.functions.push_back(instance.function);
        }
    }
    module.entry = static_cast<std::size_t>(std::ranges::find(module.functions, entry) -
                                            module.functions.begin());
}

}  // namespace

bool operator==(const ArgumentKey& a, const ArgumentKey& b) {
    return a.type == b.type && a.dims == b.dims && a.space == b.space && a.limit == b.limit &&
           same_constant(a.constant, b.constant);
}

Instance& Instances::add_entry() {
    Instance& instance = all.emplace_back();
    instance.source = instance.function = context_.module.entry_function();
    instance.inputs = instance.function->params;
    instance.result = Type::none();
    instance.called = true;
    fold_static(context_, *instance.function);
    instance.webs = split_variables(context_.module, *instance.function, context_.diagnostics);
    return instance;
}

Instance& Instances::find_or_make(const Function* callee, std::vector<ArgumentKey> key) {
    for (Instance& instance : all) {
        if (instance.source == callee && instance.key == key) {
            return instance;
        }
    }
    Instance& instance = all.emplace_back();
    instance.source = callee;
    instance.key = std::move(key);
    Module& module = context_.module;
    Substitution substitution;
    Function* function = clone_function(module, *callee, callee->name, substitution);
    instance.function = function;
    instance.inputs = std::exchange(function->params, {});
    std::vector<Var*> layout;
    for (std::size_t i = 0; i < instance.inputs.size(); ++i) {
        Var* input = instance.inputs[i];
        const ArgumentKey& argument = instance.key[i];
        input->type = argument.type;
        input->space = argument.space;
        input->limit = argument.limit;
        if (argument.constant) {
            input->constant = std::make_shared<Constant>(*argument.constant);
            continue;
        }
        function->params.push_back(input);
        for (std::size_t axis = 0; axis < argument.dims.size(); ++axis) {
            const auto at_run_time = [&](std::string_view what) {
                layout.push_back(
                    module.make_var(input->name + "_" + std::string(what) + std::to_string(axis),
                                    Type::of(Scalar::kI64), input->span));
                layout.back()->limit = argument.limit;
                return layout.back();
            };
            Dim dim;
            dim.extent = argument.dims[axis].extent;
            dim.stride = argument.dims[axis].stride;
            dim.extent_var = dim.extent ? nullptr : at_run_time("extent");
            dim.stride_var = dim.stride ? nullptr : at_run_time("stride");
            input->dims.push_back(dim);
        }
    }
    function->params.insert(function->params.end(), layout.begin(), layout.end());
    instance.checks = take_declared_checks(module, *function);
    instance.result = returns_value(function->body) ? Type::unknown() : Type::none();
    fold_static(context_, *function);
    instance.webs = split_variables(module, *function, context_.diagnostics);
    return instance;
}

Diagnostic* report_once(Diagnostics& diagnostics, Code code, Span span, std::string message,
                        std::string help) {
    for (const Diagnostic& known : diagnostics.all()) {
        if (known.code == code && known.span == span && known.message == message) {
            return nullptr;
        }
    }
    Diagnostic& diagnostic = diagnostics.error(code, span, std::move(message));
    diagnostic.help = std::move(help);
    return &diagnostic;
}

Diagnostic* Typer::report(Code code, Span span, std::string message, std::string help) {
    return rewriting()
               ? report_once(context_.diagnostics, code, span, std::move(message), std::move(help))
               : nullptr;
}

void Typer::report(const Typing& typing, Span span) {
    report(typing.code, span, typing.error, typing.help);
}

void Typer::refuse_call(Code code, Span span, std::string message, std::string help) {
    mark(report(code, span, std::move(message), std::move(help)), true);
}

// A call that was moved before its statement, like the others there, must not write memory that the
// statement reads.
void check_moved_calls(PassContext& context, const Instances& instances) {
    for (const Instances::MovedCall& moved : instances.moved_calls) {
        bool writes = std::ranges::any_of(moved.callee->inputs, &Var::written);
        for_each_slot(*moved.from, [&](const Expr* slot) {
            for_each_expr(*slot, [&](const Expr& e) {
                for_each_written_array(e, [&](const Var&) { writes = true; });
            });
        });
        if (!writes) continue;
        mark(report_once(context.diagnostics, Code::kP223, moved.span,
                         "'" + shown_name(context.module, *moved.callee->source) +
                             "' returns an array, and a call of this statement stores to an array",
                         "give the result of each call a name on a line of its own"),
             true);
    }
}

// The same for an argument that got a name there: no expression evaluated before it may write.
void check_moved_arguments(PassContext& context, const Instances& instances) {
    for (const Instances::MovedArgument& moved : instances.moved_arguments) {
        bool writes = false, found = false;
        const auto visit = [&](const auto& self, const Expr& e) -> void {
            for (const Expr* operand : e.operands) {
                if (!found) self(self, *operand);
            }
            found = found || e.var == moved.name;
            if (!found) for_each_written_array(e, [&](const Var&) { writes = true; });
        };
        const auto* store = moved.from->as<Store>();
        if (store != nullptr && !store->update)
            visit(visit, *store->value);  // before the subscripts
        for_each_slot(*moved.from, [&](const Expr* slot) {
            if (!found) visit(visit, *slot);
        });
        if (!found || !writes) continue;
        mark(report_once(context.diagnostics, Code::kP223, moved.span,
                         "an array is passed to a function whose elements an earlier call, in the "
                         "same statement, may store to",
                         "give the result of that call a name on a line of its own"),
             true);
    }
}

void infer_types(PassContext& context) {
    Instances instances(context);
    instances.add_entry();
    find_types(context, instances);
    // One variable suffices for an augmented assignment of a Python scalar that is read nowhere
    // else, if the scalar has the type that it is converted to (s = 0.0; s += x_f32[i]).
    for (Instance& instance : instances.all) {
        for (const Webs::Step& step : instance.webs.steps) {
            if (step.update && step.only_use && step.source->type.weak && !step.target->type.weak &&
                step.target->type.is_scalar() &&
                promote(step.source->type, step.target->type) == step.target->type) {
                step.source->type = step.target->type;
            }
        }
    }
    rewrite_called(context, instances);
    report_untyped_calls(context, instances);
    settle_demands(context, instances);
    for (Instance& instance : instances.all)
        put_open_checks(context.module, instance);
    spread_writes(context, instances);
    check_moved_calls(context, instances);
    check_moved_arguments(context, instances);
    spread_aliases(instances);
    replace_functions(context.module, instances);
}

}  // namespace parpy
