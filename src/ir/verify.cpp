// Checks the rules of each profile (verify.h). Reports violations with places, repairs nothing.
#include "ir/verify.h"

#include "ir/ops.h"
#include "ir/tile.h"
#include "ir/verifier.h"
#include "ir/visit.h"

namespace parpy::ir {

bool Verifier::run() {
    module_rules();
    for (const Function* f : module_.functions) {
        function(*f);
    }
    return ok_;
}

void Verifier::fail(Span span, const std::string& message) {
    ok_ = false;
    constexpr std::size_t kEnough = 20;
    if (diagnostics_.all().size() < kEnough) {
        const std::string where = function_ != nullptr ? "in '" + function_->name + "': " : "";
        diagnostics_.error(Code::kP901, span, where + message);
    }
}

// ------------------------------------------------------------ module and functions

void Verifier::module_rules() {
    if (module_.entry >= module_.functions.size() ||
        module_.functions[module_.entry]->kind != FunctionKind::kEntry) {
        fail({}, "the module has no entry function");
    }
    std::unordered_set<std::string> names;
    for (const Function* f : module_.functions) {
        known_functions_.insert(f);
        // A foreign function may be present once for each back end.
        if (!names.insert(f->name + f->target).second) {
            fail(f->span, "two functions are called '" + f->name + "'");
        }
    }
}

void Verifier::function(const Function& f) {
    function_ = &f;
    loops_.clear();
    loop_variables_.clear();
    assigned_.clear();
    for_each_stmt(f.body, [&](const Stmt& s) {
        if (const auto* loop = s.as<For>(); loop != nullptr && loop->var != nullptr) {
            loop_variables_.insert(loop->var);
        }
        if (const auto* assignment = s.as<Assign>()) {
            assigned_.insert(assignment->var);
        }
    });
    for (const Var* param : f.params) {
        variable(param, f.span);
        if (from(Profile::kTyped) && param->type.is_array() &&
            param->dims.size() != param->type.rank) {
            fail(param->span, "array parameter '" + param->name + "' has " +
                                  std::to_string(param->dims.size()) + " dims but rank " +
                                  std::to_string(param->type.rank));
        }
    }
    if (from(Profile::kValues) && f.result.is_unknown()) {
        fail(f.span, "the result type is unknown");
    }
    body(f.body);
    function_ = nullptr;
}

void Verifier::variable(const Var* var, Span span) {
    if (var == nullptr) {
        fail(span, "a variable is missing");
        return;
    }
    const auto [owner, is_new] = owners_.try_emplace(var, function_);
    if (!is_new && owner->second != function_) {
        fail(span, "variable '" + var->name + "' also belongs to '" + owner->second->name + "'");
    }
    if (!is_new) {
        return;
    }
    if (from(Profile::kValues)) {
        type(var->type, var->span.valid() ? var->span : span, "variable '" + var->name + "'");
    }
    if (!var->dims.empty() && var->dims.size() != var->type.rank) {
        fail(span, "array '" + var->name + "' does not have one dim per dimension");
    }
    for (const Dim& dim : var->dims) {
        if ((!dim.extent && dim.extent_var == nullptr) ||
            (!dim.stride && dim.stride_var == nullptr)) {
            fail(span, "a dimension of array '" + var->name + "' is not given");
        }
        for (const Var* size : {dim.extent_var, dim.stride_var}) {
            if (size != nullptr) {
                variable(size, span);
            }
        }
    }
}

void Verifier::type(const Type& t, Span span, const std::string& what) {
    if (!known(t)) fail(span, what + " has type '" + to_string(t) + "'");
}

// ------------------------------------------------------------ statements

void Verifier::body(const Body& statements) {
    for (const Stmt* s : statements) {
        if (s == nullptr) {
            fail({}, "a statement is missing");
        } else {
            stmt(*s);
        }
    }
}

void Verifier::stmt(const Stmt& s) {
    if (!seen_stmts_.insert(&s).second) {
        fail(s.span, "a statement has two parents");
        return;
    }
    for_each_var(s, [&](const Var* v) { variable(v, s.span); });
    for_each_slot(s, [&](const Expr* e) { expr(*e); });
    switch (s.kind) {
        case StmtKind::kAssign:
            assign(*s.as<Assign>());
            break;
        case StmtKind::kBind:
            bind(*s.as<Bind>());
            break;
        case StmtKind::kStore:
            store(*s.as<Store>());
            break;
        case StmtKind::kFor:
            loop(*s.as<For>());
            break;
        case StmtKind::kWhile:
            condition(s.as<While>()->condition, s.span);
            loops_.push_back(nullptr);
            body(s.as<While>()->body);
            loops_.pop_back();
            break;
        case StmtKind::kIf:
            condition(s.as<If>()->condition, s.span);
            body(s.as<If>()->then_body);
            body(s.as<If>()->else_body);
            break;
        case StmtKind::kBreak:
        case StmtKind::kContinue:
            if (loops_.empty()) {
                fail(s.span, "break or continue outside a loop");
            }
            break;
        case StmtKind::kReturn:
            result(*s.as<Return>());
            break;
        case StmtKind::kEvaluate:
            required(s.as<Evaluate>()->value, s.span);
            break;
        case StmtKind::kAssert:
            condition(s.as<Assert>()->condition, s.span);
            if (from(Profile::kTarget)) {
                fail(s.span, "an assertion was not lowered");
            }
            break;
        case StmtKind::kFail:
            failure(*s.as<Fail>());
            break;
        case StmtKind::kPrint:
            for (const Expr* value : s.as<Print>()->values)
                required(value, s.span);
            break;
        case StmtKind::kGpu:
            if (from(Profile::kKernels)) {
                fail(s.span, "a gpu block was not outlined");
            }
            body(s.as<Gpu>()->body);
            break;
        case StmtKind::kAlloc: {
            const Var* array = s.as<Alloc>()->array;
            if (array != nullptr && (!array->type.is_array() || array->dims.empty())) {
                fail(s.span,
                     "the allocated '" + array->name + "' is not an array of known extents");
            }
            break;
        }
        case StmtKind::kBarrier:
            break;
        case StmtKind::kLaunch:
            launch(*s.as<Launch>());
            break;
        case StmtKind::kFetch:
            fetch(*s.as<Fetch>());
            break;
    }
}

void Verifier::failure(const Fail& s) {
    if (s.site >= module_.sites.size()) {
        fail(s.span, "a failure names no site of the program");
    }
    for (const Expr* value : s.values) {
        if (from(Profile::kValues) && !value->type.is(Scalar::kI64)) {
            fail(s.span, "a value of a failure has type " + to_string(value->type));
        }
    }
}

void Verifier::fetch(const Fetch& s) {
    if (s.site >= module_.sites.size()) {
        fail(s.span, "a fetch names no site of the program");
    }
    if (!from(Profile::kKernels) || function_->kind != FunctionKind::kEntry) {
        fail(s.span, "a value is fetched outside of host code");
    }
    if (s.array->space != Space::kScratch || !s.var->type.is_scalar() ||
        s.var->type.scalar != s.array->type.scalar) {
        fail(s.span, "'" + s.var->name + "' is fetched from something other than scratch " +
                         "memory of its type");
    }
}

void Verifier::assign(const Assign& s) {
    if (!required(s.value, s.span) || s.var == nullptr) {
        return;
    }
    update(s.update, s.span);
    if (from(Profile::kValues) && s.value->type != s.var->type &&
        !(s.update && is_wider(s.value->type.scalar, s.var->type.scalar))) {
        fail(s.span, "'" + s.var->name + "' of type " + to_string(s.var->type) + " is assigned a " +
                         to_string(s.value->type));
    }
    if (from(Profile::kLoops)) {
        for (const For* enclosing : loops_) {
            if (enclosing != nullptr && enclosing->var == s.var) {
                fail(s.span, "the body of a loop assigns its variable '" + s.var->name + "'");
            }
        }
    }
}

void Verifier::bind(const Bind& s) {
    if (!required(s.value, s.span) || s.array == nullptr) return;
    const bool parameter = std::ranges::find(function_->params, s.array) != function_->params.end();
    if (from(Profile::kTyped)) {
        fail(s.span, "the name '" + s.array->name + "' of an array was not lowered");
    } else if (!s.array->type.is_array() || parameter || (!s.fresh && !is_view(*s.value)) ||
               s.value->type != Type::of(s.array->type.scalar)) {
        fail(s.span, "'" + s.array->name + "' of type " + to_string(s.array->type) +
                         " names values of type " + to_string(s.value->type));
    }
}

void Verifier::store(const Store& s) {
    if (!required(s.value, s.span) || s.array == nullptr) return;
    update(s.update, s.span, s.atomic);
    element(s.array, s.indices, s.indices.size(), s.span);
    const Type element_type = Type::of(s.array->type.scalar);
    if (from(Profile::kValues) && s.value->type != element_type &&
        !(s.update && is_wider(s.value->type.scalar, element_type.scalar))) {
        fail(s.span, "an element of '" + s.array->name + "' of type " +
                         std::string(name(s.array->type.scalar)) + " is assigned a " +
                         to_string(s.value->type));
    }
    if (s.copied > 0 && !copies_to_shared(s))
        fail(s.span, "'" + s.array->name + "' is not a shared array that elements are copied to");
}

void Verifier::update(const std::optional<Op>& op, Span span, bool atomic) {
    if (op && !is_update(*op))
        fail(span, "'" + std::string(text(*op)) + "' is not an update operator");
    if (op && !atomic && from(Profile::kTarget)) fail(span, "an update was not legalised");
}

void Verifier::loop(const For& s) {
    if (!required(s.begin, s.span) || !required(s.end, s.span) || !required(s.step, s.span) ||
        s.var == nullptr) {
        return;
    }
    // Before types are inferred, this is an error of the user, which inference reports.
    if (from(Profile::kValues) && s.step->op == Op::kConst &&
        s.step->constant == Constant{std::int64_t{0}}) {
        fail(s.span, "a loop has step 0");
    }
    if (from(Profile::kValues)) {
        if (!s.var->type.is_scalar() || !is_integer(s.var->type.scalar)) {
            fail(s.span, "loop variable '" + s.var->name + "' is not an integer");
        }
        for (const Expr* bound : {s.begin, s.end, s.step}) {
            if (bound->type != s.var->type) {
                fail(s.span, "a bound of loop '" + s.var->name + "' has type " +
                                 to_string(bound->type) + " but the variable " +
                                 to_string(s.var->type));
            }
        }
        if (s.cost != nullptr && !s.cost->type.is(Scalar::kF64))
            fail(s.span,
                 "the cost of loop '" + s.var->name + "' has type " + to_string(s.cost->type));
    }
    if (from(Profile::kLoops)) {
        for (const For* enclosing : loops_) {
            if (enclosing != nullptr && enclosing->var == s.var) {
                fail(s.span, "a loop in a loop over '" + s.var->name + "' has the same variable");
            }
        }
    }
    mapping(s);
    loops_.push_back(&s);
    body(s.body);
    loops_.pop_back();
}

void Verifier::mapping(const For& s) {
    for (const Reduction& r : s.mapping.reductions) {
        if (!is_update(r.op) || r.var == nullptr) {
            fail(s.span, "a reduction names no update of a variable");
        } else if (r.var->type.is_array()) {
            element(r.var, r.indices, r.indices.size(), s.span);
        } else if (!r.indices.empty()) {
            fail(s.span, "the reduction of scalar '" + r.var->name + "' has subscripts");
        }
    }
    const Level level = s.mapping.level;
    if (!from(Profile::kMapped) && level != Level::kSequential) {
        fail(s.span, "loop '" + s.var->name + "' has a level before map-loops");
    }
    const bool host = function_->kind == FunctionKind::kEntry;
    if (from(Profile::kKernels) && host && level != Level::kSequential && level != Level::kVector) {
        fail(s.span, "parallel loop '" + s.var->name + "' was not outlined");
    }
    if (from(Profile::kTarget) && level != Level::kSequential && level != Level::kVector) {
        fail(s.span, "parallel loop '" + s.var->name + "' was not legalised");
    }
}

void Verifier::condition(const Expr* e, Span span) {
    if (required(e, span) && from(Profile::kValues) && !e->type.is(Scalar::kBool)) {
        fail(span, "a condition has type " + to_string(e->type));
    }
}

void Verifier::result(const Return& s) {
    if (!from(Profile::kValues)) {
        return;
    }
    const Type actual = s.value != nullptr ? s.value->type : Type::none();
    if (actual != function_->result) {
        fail(s.span, "returns " + to_string(actual) + " where the result is " +
                         to_string(function_->result));
    }
}

void Verifier::launch(const Launch& s) {
    if (s.kernel == nullptr || !known_functions_.contains(s.kernel) ||
        s.kernel->kind != FunctionKind::kKernel) {
        fail(s.span, "a launch does not name a kernel of this module");
        return;
    }
    const std::size_t extra = s.iterations != nullptr ? 3 : 0;  // begin, end, chunk
    if (s.kernel->params.size() != s.arguments.size() + extra) {
        fail(s.span, "launch of '" + s.kernel->name + "' passes " +
                         std::to_string(s.arguments.size()) + " arguments to " +
                         std::to_string(s.kernel->params.size()) + " parameters");
        return;
    }
    arguments(*s.kernel, s.arguments, s.span);
}

bool verify(const Module& module, Profile profile, Diagnostics& diagnostics) {
    return Verifier(module, profile, diagnostics).run();
}

}  // namespace parpy::ir
