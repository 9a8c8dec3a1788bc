// Statements as C-family text.

#include <algorithm>
#include <span>

#include "analysis/uses.h"
#include "emit/counter_starts.h"
#include "emit/functions.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "support/escape.h"

namespace parpy {
namespace {

using ir::Expr;
using ir::Op;
using ir::StmtKind;
using ir::Var;

std::string_view base_name(std::string_view path) {
    return path.substr(path.find_last_of('/') + 1);  // npos + 1 == 0
}

bool is_variable(const Expr& expr, const Var* var) {
    return expr.op == Op::kVar && expr.var == var;
}

}  // namespace

// ---------------------------------------------------------------- layout

void FunctionPrinter::line(const std::string& text) {
    out_.append(static_cast<std::size_t>(4 * depth_), ' ');
    out_ += text;
    out_ += '\n';
}

// `head`, items and `tail`, broken where the line gets long and aligned after the head.
void FunctionPrinter::wrapped(const std::string& head, const std::vector<std::string>& items,
                              std::string_view tail) {
    constexpr std::size_t kWidth = 100;
    constexpr std::size_t kDeep = 56;  // a longer head is not aligned to
    std::size_t total = static_cast<std::size_t>(4 * depth_) + head.size() + tail.size();
    for (const std::string& item : items) {
        total += item.size() + 2;
    }
    const bool broken = total > kWidth + 2 && head.size() > kDeep;
    const std::string indent(static_cast<std::size_t>(4 * depth_) + (broken ? 8 : head.size()),
                             ' ');
    std::string text = broken ? head + "\n" + indent : head;
    std::size_t width = indent.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string item = items[i] + (i + 1 < items.size() ? "," : std::string(tail));
        if (i != 0 && width + 1 + item.size() > kWidth) {
            text += "\n" + indent;
            width = indent.size();
        } else if (i != 0) {
            text += " ";
            ++width;
        }
        text += item;
        width += item.size();
    }
    line(items.empty() ? head + std::string(tail) : text);
}

// Once per function: code that a later pass moved needs no second comment for the same line.
void FunctionPrinter::comment(const Span& span) {
    const std::uint64_t key = std::uint64_t{span.source} << 32 | span.line;
    if (!span.valid() || !commented_.insert(key).second) {
        return;
    }
    const std::string_view text = source_line(facts_.module.sources, span);
    const bool heads_loop = text.starts_with("for ") || text.starts_with("while ");
    if (!text.empty() && !(heads_loop && depth_ == 0)) {  // not for a function made from a loop
        const std::string_view file = base_name(facts_.module.sources[span.source].name);
        line("// " + one_line(std::string(file) + ":" + std::to_string(span.line) + ": " +
                              std::string(text)));
    }
}

void FunctionPrinter::block(const ir::Body& body) {
    names_.push();
    ++depth_;
    statements(body);
    --depth_;
    names_.pop();
}

void FunctionPrinter::statements(const ir::Body& body) {
    for (const ir::Stmt* stmt : body) {
        statement(*stmt);
    }
}

void FunctionPrinter::statement(const ir::Stmt& stmt) {
    if (const auto it = before_.find(&stmt); it != before_.end()) {
        for (const Declaration& declaration : it->second) {
            const std::string& name = names_.declare(declaration.var);
            line(c_type(*declaration.var) + " " + name + (declaration.zero ? " = {};" : ";"));
        }
    }
    comment(stmt.span);
    switch (stmt.kind) {
        case StmtKind::kAssign:
            return assign(*stmt.as<ir::Assign>());
        case StmtKind::kBind:
            return;  // lowered
        case StmtKind::kStore:
            return store(*stmt.as<ir::Store>());
        case StmtKind::kFor:
            return loop(*stmt.as<ir::For>());
        case StmtKind::kIf:
            return branch(*stmt.as<ir::If>());
        case StmtKind::kWhile: {
            const auto& loop = *stmt.as<ir::While>();
            hide_counters(stmt);
            line("while (" + exprs_.root(*loop.condition) + ") {");
            block(loop.body);
            return line("}");
        }
        case StmtKind::kBreak:
            return line("break;");
        case StmtKind::kContinue:
            return line("continue;");
        case StmtKind::kReturn: {
            const Expr* value = stmt.as<ir::Return>()->value;
            if (function_.kind == ir::FunctionKind::kEntry) {
                return line("return 0;");
            }
            return line(value == nullptr ? "return;" : "return " + exprs_.root(*value) + ";");
        }
        case StmtKind::kEvaluate:
            return line(exprs_.root(*stmt.as<ir::Evaluate>()->value) + ";");
        case StmtKind::kAssert:
            return;  // lowered, or dropped
        case StmtKind::kFail: {
            const auto& failure = *stmt.as<ir::Fail>();
            std::string call = "fail(" + std::to_string(failure.site);
            for (const Expr* value : failure.values) {
                call += ", " + exprs_.root(*value);
            }
            line(call + ");");
            if (!dialect_.leave.empty()) line(std::string(dialect_.leave));
            return;
        }
        case StmtKind::kPrint:
            return print(*stmt.as<ir::Print>());
        case StmtKind::kGpu:
            return statements(stmt.as<ir::Gpu>()->body);
        case StmtKind::kAlloc:
            return alloc(*stmt.as<ir::Alloc>());
        case StmtKind::kBarrier: {
            const ir::BarrierScope scope = stmt.as<ir::Barrier>()->scope;
            const bool leaves = scope == ir::BarrierScope::kGrid && facts_.fails &&
                                !dialect_.grid_barrier_or_leave.empty();
            if (scope == ir::BarrierScope::kCopies) {
                return line(std::string(dialect_.barriers[static_cast<std::size_t>(scope)]) + "<" +
                            std::to_string(stmt.as<ir::Barrier>()->pending) + ">();");
            }
            return line(std::string(leaves ? dialect_.grid_barrier_or_leave
                                           : dialect_.barriers[static_cast<std::size_t>(scope)]));
        }
        case StmtKind::kLaunch: {
            const auto& launch = *stmt.as<ir::Launch>();
            return launch.iterations != nullptr ? launch_workers(launch) : launch_grid(launch);
        }
        case StmtKind::kFetch:
            return fetch(*stmt.as<ir::Fetch>());
    }
}

// ---------------------------------------------------------------- assignments

// The right-hand side of an assignment to `var`.
std::string FunctionPrinter::value(const Var* var, const Expr& expr) const {
    const auto it = any_order_.find(var);
    if (it != any_order_.end() && !expr.operands.empty() && is_variable(*expr.operands[0], var) &&
        (it->second == expr.op || (it->second == Op::kAdd && expr.op == Op::kSub))) {
        return exprs_.any_order(expr);
    }
    return exprs_.root(expr);
}

void FunctionPrinter::assign(const ir::Assign& stmt) {
    std::string text = value(stmt.var, *stmt.value);
    if (declares_.contains(&stmt)) {
        line(c_type(*stmt.var) + " " + names_.declare(stmt.var) + " = " + text + ";");
    } else {
        line(names_.of(stmt.var) + " = " + text + ";");
    }
}

void FunctionPrinter::store(const ir::Store& stmt) {
    if (stmt.atomic) return atomic_update(stmt);
    if (stmt.copied > 0) return copy(stmt, "");
    std::string value = exprs_.root(*stmt.value);
    // An element that the compiler keeps in a register may be a counter; a copy does not step.
    const bool copies = stmt.value->op == Op::kConst || stmt.value->op == Op::kLoad;
    const bool counts = stmt.array->space == ir::Space::kLocal && !copies &&
                        ir::is_integer(stmt.array->type.scalar);
    if (counts && !dialect_.hidden_value.empty())
        value = std::string(dialect_.hidden_value) + "(" + value + ")";
    line(exprs_.element(*stmt.array, stmt.indices) + " = " + value + ";");
}

void FunctionPrinter::copy(const ir::Store& stmt, const std::string& condition) {
    line("copy_async<" + std::to_string(stmt.copied) + ">(" + condition + "&" +
         exprs_.element(*stmt.array, stmt.indices) + ", &" +
         exprs_.element(*stmt.value->var, stmt.value->operands) + ");");
}

void FunctionPrinter::atomic_update(const ir::Store& stmt) {
    const ir::Scalar scalar = stmt.array->type.scalar;
    const std::string arguments =
        "&" + exprs_.element(*stmt.array, stmt.indices) + ", " + exprs_.argument(*stmt.value);
    if (ir::is_complex(scalar)) {  // a sum, of values of this type (scatters.cpp)
        const Expr negated{.op = Op::kNeg, .type = stmt.value->type, .operands = {stmt.value}};
        const Expr& added = *stmt.update == Op::kSub ? negated : *stmt.value;
        return line("atomic_add_parts(&" + exprs_.element(*stmt.array, stmt.indices) + ", " +
                    exprs_.argument(added) + ");");
    }
    const auto& adds = dialect_.atomic_adds;
    const ir::Type computed = stmt.value->type;
    const bool wider = computed.scalar != scalar;
    if (*stmt.update == Op::kAdd && !wider &&
        std::ranges::find(adds, scalar) != std::ranges::end(adds)) {
        return line("atomic_add(" + arguments + ");");
    }
    const ir::Type type = ir::Type::of(scalar);
    Var old_value{.name = "old", .type = type};
    Var change{.name = "value", .type = computed};
    names_.push();
    const std::string parameters = c_type(old_value) + " " + names_.declare(&old_value) + ", " +
                                   c_type(change) + " " + names_.declare(&change);
    Expr a{.op = Op::kVar, .type = type, .var = &old_value};
    Expr b{.op = Op::kVar, .type = computed, .var = &change};
    Expr widened{.op = Op::kConvert, .type = computed, .operands = {&a}};
    Expr both{.op = *stmt.update, .type = computed, .operands = {wider ? &widened : &a, &b}};
    const Expr rounded{.op = Op::kConvert, .type = type, .operands = {&both}};
    const std::string result = exprs_.root(wider ? rounded : both);
    names_.pop();
    line("atomic_update(" + arguments + ", [](" + parameters + ") -> " + c_type(*stmt.array) +
         " { return " + result + "; });");
}

void FunctionPrinter::fetch(const ir::Fetch& stmt) {
    if (declares_.contains(&stmt)) line(c_type(*stmt.var) + " " + names_.declare(stmt.var) + ";");
    const std::string& name = names_.of(stmt.var);
    line("if (parpy_fetch(context, " + std::to_string(stmt.site) + ", &" + name + ", " +
         names_.of(stmt.array) + ", sizeof(" + name + "))) {");
    line("    return 1;");
    line("}");
}

void FunctionPrinter::alloc(const ir::Alloc& stmt) {
    const Var& array = *stmt.array;
    const std::string type = c_type(array);
    std::string size;
    for (const ir::Dim& dim : array.dims) {
        if (dim.extent && *dim.extent == 1 && array.dims.size() > 1) {
            continue;
        }
        size += (size.empty() ? "" : " * ") +
                (dim.extent ? std::to_string(*dim.extent) : names_.of(dim.extent_var));
    }
    const bool empty =
        std::ranges::any_of(array.dims, [](const ir::Dim& d) { return d.extent == 0; });
    const bool on_stack = array.space == ir::Space::kLocal || array.space == ir::Space::kShared;
    size = size.empty() || (empty && on_stack) ? "1" : size;  // C++ has no arrays of no elements
    const std::string& name = names_.declare(&array);
    if (array.space == ir::Space::kDynamic) {
        return line(type + "* " + name + " = (" + type + "*)dynamic_shared();");
    }
    const bool zeroed = array.space == ir::Space::kZeroed;
    if (array.space == ir::Space::kScratch || array.space == ir::Space::kWork || zeroed) {
        const std::string bytes = size + " * (i64)sizeof(" + type + ")";
        if (array.space == ir::Space::kWork) {
            const std::string memory = names_.invent(name + "_memory");
            line("const Work " + memory + "(context, " + bytes + ");");
            line(type + "* " + name + " = (" + type + "*)" + memory + ".at;");
        } else {
            line(type + "* " + name + " = (" + type + "*)" +
                 (zeroed ? "parpy_zeroed" : "parpy_scratch") + "(context, " + bytes + ");");
        }
        line("if (!" + name + ") {");
        line("    return 1;");
        line("}");
        return;
    }
    if (array.space == ir::Space::kResult) {
        std::string shape;
        for (const ir::Dim& dim : array.dims) {
            shape += (shape.empty() ? "" : ", ") +
                     (dim.extent ? std::to_string(*dim.extent) : names_.of(dim.extent_var));
        }
        const std::string sizes = names_.invent(name + "_shape");
        line("const i64 " + sizes + "[] = {" + shape + "};");
        line(type + "* " + name + " = (" + type + "*)parpy_result(context, " +
             std::to_string(array.origin.argument) + ", " +
             std::to_string(static_cast<int>(array.type.scalar)) + " /* " +
             std::string(ir::name(array.type.scalar)) + " */, " +
             std::to_string(array.dims.size()) + ", " + sizes + ");");
        line("if (!" + name + ") {");
        line("    return 1;");
        line("}");
        return;
    }
    const bool copied = facts_.copied_to.contains(&array);
    const std::string qualifier =
        array.space == ir::Space::kShared
            ? std::string(dialect_.shared_qualifier) + " " +
                  (copied ? std::string(dialect_.copied_qualifier) + " " : "")
        : facts_.in_tiles.contains(&array) ? "alignas(64) "
                                           : "";
    line(qualifier + type + " " + name + "[" + size + "];");
}

// ---------------------------------------------------------------- control flow

// The copy that is all that the branch does, if its addresses are those of sums and products, which
// are computed in any case: it then gets a condition, and the thread no branch.
const ir::Store* FunctionPrinter::only_copy(const ir::If& stmt) const {
    if (stmt.then_body.size() != 1 || !stmt.else_body.empty()) return nullptr;
    const auto* store = stmt.then_body.front()->as<ir::Store>();
    if (store == nullptr || store->copied == 0 || before_.contains(store)) return nullptr;
    const auto computes = [](const Expr& e) {
        return e.op == Op::kLoad || ir::has_effects(e.op) || e.op == Op::kFloorDiv ||
               e.op == Op::kMod || e.op == Op::kQuotient || e.op == Op::kRemainder;
    };
    const auto is_plain = [&](const std::vector<Expr*>& subscripts) {
        return std::ranges::none_of(subscripts,
                                    [&](const Expr* e) { return ir::any_expr(*e, computes); });
    };
    return is_plain(store->value->operands) ? store : nullptr;
}

void FunctionPrinter::branch(const ir::If& stmt) {
    if (const ir::Store* store = only_copy(stmt))
        return copy(*store, exprs_.root(*stmt.condition) + ", ");
    line("if (" + exprs_.root(*stmt.condition) + ") {");
    block(stmt.then_body);
    const ir::Body* otherwise = &stmt.else_body;
    while (otherwise->size() == 1 && otherwise->front()->kind == StmtKind::kIf &&
           !before_.contains(otherwise->front())) {
        const auto& next = *otherwise->front()->as<ir::If>();
        line("} else if (" + exprs_.root(*next.condition) + ") {");
        commented_.insert(std::uint64_t{next.span.source} << 32 | next.span.line);
        block(next.then_body);
        otherwise = &next.else_body;
    }
    if (!otherwise->empty()) {
        line("} else {");
        block(*otherwise);
    }
    line("}");
}

// The text of `expr` if the loop's head may evaluate it repeatedly; else a constant defined before.
std::string FunctionPrinter::bound(const ir::For& loop, const Expr& expr, const char* suffix) {
    bool plain = true;
    ir::for_each_expr(expr, [&](const Expr& e) {
        const bool loads = e.op == Op::kLoad && (e.var->aliased || facts_.stored.contains(e.var) ||
                                                 e.var->space != ir::Space::kGlobal);
        plain &= !loads && !ir::has_effects(e.op) && e.op != Op::kFloorDiv && e.op != Op::kMod &&
                 e.op != Op::kPow && e.op != Op::kMin && e.op != Op::kMax &&
                 !(e.op == Op::kVar && e.var == loop.var);
    });
    if (plain && invariant(expr, uses_of(loop.body))) {
        return exprs_.count(expr, Precedence::kAdditive);
    }
    const std::string name = names_.invent(loop.var->name + suffix);
    line("const " + c_type(*loop.var) + " " + name + " = " +
         exprs_.count(expr, Precedence::kAssignment) + ";");
    return name;
}

// Whether the number of iterations is known and at most options.max_unroll_count.
bool FunctionPrinter::unrolls(const ir::For& stmt) const {
    const auto begin = ir::constant_integer(stmt.begin);
    const auto end = ir::constant_integer(stmt.end);
    const auto step = ir::constant_integer(stmt.step);
    if (!begin || !end || !step || *step == 0 || stmt.mapping.parallel()) return false;
    const std::int64_t reach = *step > 0 ? *end - *begin : *begin - *end;
    const std::int64_t trips = reach <= 0 ? 0 : (reach - 1) / std::abs(*step) + 1;
    return trips > 1 && trips <= facts_.max_unroll_count;
}

void FunctionPrinter::hide_counters(const ir::Stmt& loop) {
    if (dialect_.hidden_value.empty()) return;
    for (Var* var : hidden_counters(loop)) {
        const std::string name = names_.of(var);
        line(name + " = " + std::string(dialect_.hidden_value) + "(" + name + ");");
    }
}

void FunctionPrinter::loop(const ir::For& stmt) {
    hide_counters(stmt);
    const bool hides = !dialect_.hidden_value.empty();
    const auto step = ir::constant_integer(stmt.step);
    std::string begin = exprs_.count(*stmt.begin, Precedence::kAssignment);
    // Constants before the loop: their names belong to the enclosing block.
    const std::string end = bound(stmt, *stmt.end, "_end");
    const std::string stride = step ? "" : bound(stmt, *stmt.step, "_step");
    names_.push();  // the scope of the head
    const bool vector = stmt.mapping.level == ir::Level::kVector && !ir::contains_loop(stmt.body);
    if (vector && stmt.mapping.reductions.empty() && !dialect_.independent_loop.empty()) {
        line(std::string(dialect_.independent_loop));
    }
    if (stmt.mapping.unroll || (!vector && unrolls(stmt))) {
        line(std::string(dialect_.unrolled_loop));
    }
    const std::string type = c_type(*stmt.var);
    const std::string name = names_.declare(stmt.var);
    std::string test = name + (!step || *step > 0 ? " < " : " > ") + end;
    if (const auto last = hides ? exact_end(stmt) : std::nullopt) {
        test = name + " != " + std::to_string(*last);
    } else if (hides && hides_start(stmt, facts_.by_hand)) {
        begin = std::string(dialect_.hidden_value) + "<" + type + ">(" + begin + ")";
    }
    std::string advance = name + " += " + stride;
    if (!step) {
        // The template requires three operands of one type.
        test = "in_range<" + type + ">(" + name + ", " + end + ", " + stride + ")";
    } else if (*step == 1 || *step == -1) {
        advance = (*step == 1 ? "++" : "--") + name;
    } else {
        advance = name + (*step > 0 ? " += " : " -= ") + std::to_string(std::abs(*step));
    }
    line("for (" + type + " " + name + " = " + begin + "; " + test + "; " + advance + ") {");

    const auto around = any_order_;
    for (const ir::Reduction& reduction : stmt.mapping.reductions) {
        if (vector && reduction.var->type.is_scalar()) {
            any_order_[reduction.var] = reduction.op;
        }
    }
    block(stmt.body);
    any_order_ = around;
    names_.pop();
    line("}");
}

// ---------------------------------------------------------------- launches

void FunctionPrinter::launch_workers(const ir::Launch& stmt) {
    const std::string kernel = facts_.names.at(stmt.kernel);
    std::string iterations = exprs_.count(*stmt.iterations, Precedence::kAssignment);
    if (stmt.iterations->op != Op::kConst && stmt.iterations->op != Op::kVar) {
        const std::string name = names_.invent("iterations");
        line("const i64 " + name + " = " + iterations + ";");
        iterations = name;
    }
    const std::string workers = std::to_string(stmt.max_workers);
    const std::string cost = exprs_.root(*stmt.cost);
    const std::string chunks =
        "parpy_chunks(context, " + iterations + ", " + cost + ", " + workers + ")";
    std::string count;
    if (stmt.chunks == nullptr) {
        count = names_.invent("chunks");
        line("const i64 " + count + " = " + chunks + ";");
    } else if (declares_.contains(&stmt)) {
        count = names_.declare(stmt.chunks);
        line("const i64 " + count + " = " + chunks + ";");
    } else {
        count = names_.of(stmt.chunks);
        line(count + " = " + chunks + ";");
    }
    std::string fields;
    for (std::size_t i = 0; i < stmt.arguments.size(); ++i) {
        if (!facts_.unused.contains(stmt.kernel->params[i])) {
            fields += (fields.empty() ? "" : ", ") + exprs_.root(*stmt.arguments[i]);
        }
    }
    const std::string frame = names_.invent(kernel + "_args");
    line(kernel + "_frame " + frame + " = {" + fields + "};");
    line("parpy_parallel_for(context, " + iterations + ", " + count + ", " + workers + ", " +
         kernel + "_run, &" + frame + ");");
}

void FunctionPrinter::launch_grid(const ir::Launch& stmt) {
    line("{");
    names_.push();
    ++depth_;
    std::string addresses;
    for (std::size_t i = 0; i < stmt.arguments.size(); ++i) {
        const Expr& argument = *stmt.arguments[i];
        const Var& param = *stmt.kernel->params[i];
        if (facts_.unused.contains(&param)) {
            continue;
        }
        const bool named =
            argument.op == Op::kArray || (argument.op == Op::kVar && !argument.var->constant);
        std::string name;
        if (named) {
            name = names_.of(argument.var);
        } else {
            name = names_.invent(param.name);
            line(c_type(param) + " " + name + " = " + exprs_.root(argument) + ";");
        }
        addresses += (addresses.empty() ? "(void*)&" : ", (void*)&") + name;
    }
    std::string arguments = "nullptr";
    if (!addresses.empty()) {
        arguments = names_.invent("arguments");
        line("void* " + arguments + "[] = {" + addresses + "};");
    }
    std::string call = stmt.overlapped ? "parpy_launch_overlapped" : "parpy_launch";
    call += "(context, " + std::to_string(facts_.kernel_index.at(stmt.kernel));
    for (const std::span<Expr* const> sizes : {std::span(stmt.grid), std::span(stmt.block)}) {
        for (const Expr* extent : sizes) {
            call +=
                ", " + (extent == nullptr ? "1" : exprs_.count(*extent, Precedence::kAssignment));
        }
    }
    call +=
        ", " +
        (stmt.shared_bytes == nullptr ? "0"
                                      : exprs_.count(*stmt.shared_bytes, Precedence::kAssignment)) +
        ", " + arguments + ")";
    line("const int error = " + call + ";");
    line("if (error) {");
    line("    return error;");
    line("}");
    --depth_;
    names_.pop();
    line("}");
}

}  // namespace parpy
