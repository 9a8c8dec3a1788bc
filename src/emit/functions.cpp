// Functions: signatures, frames, and the places where their local variables are declared.

#include "emit/functions.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {
namespace {

using ir::Body;
using ir::Expr;
using ir::Stmt;
using ir::StmtKind;
using ir::Var;

// Scalars that `stmt` names outside of the loops that count with them, in order of appearance. Such
// a loop declares its variable itself.
class Mentions {
public:
    explicit Mentions(const Stmt& stmt) { walk(stmt); }
    [[nodiscard]] const std::vector<const Var*>& all() const { return order_; }
    [[nodiscard]] bool contains(const Var* var) const { return seen_.contains(var); }

    void add(const Expr& expr) {
        ir::for_each_expr(expr, [&](const Expr& e) {
            if (e.op == ir::Op::kVar) {
                add(e.var);
            }
        });
    }

    Mentions() = default;

private:
    void add(const Var* var) {
        if (var->type.is_scalar() && !hidden_.contains(var) && seen_.insert(var).second) {
            order_.push_back(var);
        }
    }
    void walk(const Stmt& stmt) {
        ir::for_each_slot(stmt, [&](const Expr* slot) { add(*slot); });
        if (const auto* loop = stmt.as<ir::For>()) {
            const bool mine = hidden_.insert(loop->var).second;
            for (const Stmt* inner : loop->body) {
                walk(*inner);
            }
            if (mine) {
                hidden_.erase(loop->var);
            }
            return;
        }
        ir::for_each_var(stmt, [&](const Var* var) { add(var); });
        ir::for_each_body(stmt, [&](const Body& body) {
            for (const Stmt* inner : body) {
                walk(*inner);
            }
        });
    }

    std::vector<const Var*> order_;
    std::unordered_set<const Var*> seen_, hidden_;
};

// The pattern of the dialect with $0 and $1 replaced.
std::string filled(std::string_view pattern, const std::string& zero, const std::string& one = {}) {
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern.substr(i, 2) == "$0") {
            out += zero;
            ++i;
        } else if (pattern.substr(i, 2) == "$1") {
            out += one;
            ++i;
        } else {
            out += pattern[i];
        }
    }
    return out;
}

// The scalars that `stmt` itself names, not its bodies.
Mentions own_mentions(const Stmt& stmt) {
    Mentions out;
    ir::for_each_slot(stmt, [&](const Expr* slot) { out.add(*slot); });
    return out;
}

bool is_loop(const Stmt& stmt) {
    return stmt.kind == StmtKind::kFor || stmt.kind == StmtKind::kWhile;
}

const Var* assigned_by(const Stmt& stmt) {
    if (const auto* assign = stmt.as<ir::Assign>()) {
        return assign->var;
    }
    if (const auto* launch = stmt.as<ir::Launch>()) {
        return launch->chunks;
    }
    if (const auto* fetch = stmt.as<ir::Fetch>()) {
        return fetch->var;
    }
    return nullptr;
}

}  // namespace

// ---------------------------------------------------------------- declarations

// Decides where each of `vars`, which nothing outside `body` names, is declared: in the one nested
// body that names it, unless it carries a value from one iteration to the next.
void FunctionPrinter::plan(const Body& body, const std::vector<const Var*>& vars) {
    std::vector<Mentions> mentions;
    mentions.reserve(body.size());
    for (const Stmt* stmt : body) {
        mentions.emplace_back(*stmt);
    }
    std::unordered_map<const Body*, std::vector<const Var*>> handed_down;
    std::vector<const Body*> order;
    const VarSet exposed = exposed_reads(body);
    for (const Var* var : vars) {
        std::size_t first = body.size();
        std::size_t count = 0;
        for (std::size_t i = body.size(); i-- > 0;) {
            if (mentions[i].contains(var)) {
                first = i;
                ++count;
            }
        }
        if (count == 0) {
            continue;
        }
        const Stmt& stmt = *body[first];
        const Body* only = nullptr;
        bool several = count > 1 || own_mentions(stmt).contains(var);
        ir::for_each_body(stmt, [&](const Body& inner) {
            const bool here = std::ranges::any_of(
                inner, [&](const Stmt* s) { return Mentions(*s).contains(var); });
            several |= here && only != nullptr;
            only = here ? &inner : only;
        });
        if (!several && only != nullptr && !(is_loop(stmt) && exposed_reads(*only).contains(var))) {
            if (handed_down[only].empty()) {
                order.push_back(only);
            }
            handed_down[only].push_back(var);
        } else if (assigned_by(stmt) == var && !own_mentions(stmt).contains(var)) {
            declares_.insert(&stmt);
        } else {
            before_[&stmt].push_back({var, exposed.contains(var)});
        }
    }
    for (const Body* inner : order) {
        plan(*inner, handed_down[inner]);
    }
}

void FunctionPrinter::plan_function() {
    const auto& params = function_.params;
    std::vector<const Var*> vars;
    std::unordered_set<const Var*> seen(params.begin(), params.end());
    for (const Stmt* stmt : function_.body) {
        const Mentions mentions(*stmt);
        for (const Var* var : mentions.all()) {
            if (seen.insert(var).second) {
                vars.push_back(var);
            }
        }
    }
    plan(function_.body, vars);
    if (!dialect_.hidden_value.empty()) exprs_.subtrahends = Subtrahends(function_);
    if (!dialect_.recomputed.empty()) exprs_.chosen_constants = ChosenConstants(function_);
    ir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
        if (const auto* loop = stmt.as<ir::For>()) {
            exprs_.counters.insert(loop->var);
        }
    });
    for (const Var* param : params) {  // extents and strides; begin and end of a chunk
        if (param->origin.kind == ir::Origin::Kind::kExtent ||
            param->origin.kind == ir::Origin::Kind::kStride) {
            exprs_.counters.insert(param);
        }
        for (const ir::Dim& dim : param->dims) {
            for (const Var* var : {dim.extent_var, dim.stride_var})
                if (var != nullptr) exprs_.counters.insert(var);
        }
    }
}

// ---------------------------------------------------------------- signatures

std::string FunctionPrinter::parameter_type(const Var& var, bool restrict) const {
    std::string type = c_type(var);
    if (var.type.is_array()) {
        const bool global = var.space == ir::Space::kGlobal || is_made_by_host(var.space);
        type = (global ? std::string(dialect_.array_qualifier) : "") +
               (facts_.stored.contains(&var) ? "" : "const ") + type + "*";
        if (restrict && !var.aliased && !dialect_.restrict_qualifier.empty()) {
            type += " " + std::string(dialect_.restrict_qualifier);
        }
    }
    return type;
}

std::vector<std::string> FunctionPrinter::parameter_list(bool restrict) {
    std::vector<std::string> list;
    for (const Var* param : function_.params) {
        if (!facts_.unused.contains(param)) {
            list.push_back(parameter_type(*param, restrict) + " " + names_.declare(param));
        }
    }
    return list;
}

std::string FunctionPrinter::helper_head() const {
    const std::string result =
        function_.result.is_scalar() ? std::string(exprs_.type(function_.result.scalar)) : "void";
    const auto qualifiers =
        facts_.recursive.contains(&function_) ? dialect_.recursive_qualifiers : "INLINE";
    return std::string(qualifiers) + " " + result + " " + facts_.names.at(&function_) + "(";
}

std::string FunctionPrinter::prototype() {
    wrapped(helper_head(), parameter_list(false), ");");
    return std::move(out_);
}

std::string FunctionPrinter::helper() {
    comment(function_.span);
    wrapped(helper_head(), parameter_list(false), ") {");
    plan_function();
    block(function_.body);
    line("}");
    return std::move(out_);
}

std::string FunctionPrinter::foreign() {
    const std::string& name = function_.name;
    const std::string result =
        function_.result.is_scalar() ? std::string(exprs_.type(function_.result.scalar)) : "void";
    std::vector<std::string> types, names, list;
    for (const Var* param : function_.params) {
        types.push_back(c_type(*param) + (param->type.is_array() ? "*" : ""));
        names.push_back(names_.declare(param));
        list.push_back(types.back() + " " + names.back());
    }
    const auto joined = [](const std::vector<std::string>& parts) {
        std::string text;
        for (const std::string& part : parts)
            text += (text.empty() ? "" : ", ") + part;
        return text;
    };
    const bool plain = function_.abi == ir::ForeignAbi::kC || result == "void";
    const bool first = function_.abi == ir::ForeignAbi::kResultFirst;
    if (!plain) {
        types.insert(first ? types.begin() : types.end(), result + "*");
        names.insert(first ? names.begin() : names.end(), "&result");
    }
    // A declaration, unless its source, which precedes it, contains one.
    const std::uint32_t source = function_.span.source;
    const auto& sources = facts_.module.sources;
    if (source >= sources.size() || !sources[source].name.ends_with(".cu")) {
        line("extern \"C\" __device__ " +
             (plain   ? result
              : first ? "int"
                      : "void") +
             " " + name + "(" + joined(types) + ");");
    }
    if (plain) return std::move(out_);
    // An overload that returns the result.
    line("INLINE " + result + " " + name + "(" + joined(list) + ") {");
    line("    " + result + " result;");
    line("    " + name + "(" + joined(names) + ");");
    line("    return result;");
    line("}");
    return std::move(out_);
}

std::string FunctionPrinter::kernel() {
    const auto threads = facts_.kernel_threads.find(&function_);
    const bool bounded = threads != facts_.kernel_threads.end();
    const auto cluster = facts_.kernel_cluster.find(&function_);
    const std::string name =
        (cluster == facts_.kernel_cluster.end() ? ""
                                                : filled(dialect_.cluster_head, cluster->second)) +
        facts_.names.at(&function_);
    const std::string head =
        bounded ? filled(dialect_.bounded_kernel_head, name, std::to_string(threads->second))
                : filled(dialect_.kernel_head, name);
    std::vector<std::string> list;
    for (const Var* param : function_.params) {
        if (facts_.unused.contains(param)) continue;
        std::string type = parameter_type(*param, true);
        if (!param->type.is_array()) type = filled(dialect_.kernel_scalar, type);
        const std::string number = std::to_string(list.size());
        list.push_back(type + " " + names_.declare(param) +
                       filled(dialect_.kernel_argument, number));
    }
    std::string_view more = dialect_.kernel_parameters;
    while (!more.empty()) {
        const std::size_t end = std::min(more.find(", "), more.size());
        list.emplace_back(more.substr(0, end));
        more.remove_prefix(std::min(end + 2, more.size()));
    }
    wrapped(head, list, ") {");
    plan_function();
    block(function_.body);
    line("}");
    return std::move(out_);
}

// Arrays are parameters of a separate function: Clang ignores `restrict` on local variables.
std::string FunctionPrinter::worker() {
    const std::string name = facts_.names.at(&function_);
    const std::string frame = name + "_frame";
    const std::size_t captured = function_.params.size() - 3;
    const std::span params = function_.params;

    std::string fields;
    std::vector<std::string> list, arguments;
    for (const Var* param : params.first(captured)) {
        if (facts_.unused.contains(param)) continue;
        const std::string field = names_.declare(param);
        fields += "    " + parameter_type(*param, false) + " " + field + ";\n";
        list.push_back(parameter_type(*param, true) + " " + field);
        arguments.push_back(field);
    }
    std::string chunk, numbers;  // the last three: begin, end, chunk
    for (const Var* param : params.subspan(captured)) {
        list.push_back(c_type(*param) + " " + names_.declare(param));
        chunk += ", " + list.back();
        numbers += (numbers.empty() ? "" : ", ") + names_.of(param);
        exprs_.counters.insert(param);
    }
    const std::string source = names_.invent("f");
    line("struct " + frame + " {");
    out_ += fields;
    line("};\n");
    wrapped("static NOINLINE void " + name + "(", list, ") {");
    plan_function();
    block(function_.body);
    line("}\n");

    for (std::string& argument : arguments)
        argument = source + "." + argument;
    arguments.push_back(numbers);
    line("static void " + name + "_run(void* frame" + chunk + ") {");
    if (arguments.size() > 1)
        line("    const " + frame + "& " + source + " = *(const " + frame + "*)frame;");
    wrapped("    " + name + "(", arguments, ");");
    line("}");
    return std::move(out_);
}

std::string FunctionPrinter::entry() {
    const std::string name = facts_.names.at(&function_);
    std::vector<std::string> list = parameter_list(true);
    list.insert(list.begin(), "ParpyContext* context");
    wrapped("extern \"C\" int " + name + "(", list, ") {");
    plan_function();
    block(function_.body);
    line("    return 0;");
    line("}\n");

    list = {"context"};
    for (std::size_t i = 0; i < function_.params.size(); ++i) {
        const Var& param = *function_.params[i];
        const std::string slot = "slots[" + std::to_string(i) + "]";
        const std::string type = parameter_type(param, false);
        const ir::Scalar scalar = param.type.scalar;
        if (param.type.is_array()) {
            list.push_back("(" + type + ")" + slot);
        } else if (scalar == ir::Scalar::kC128) {  // too wide for a slot, which holds a pointer
            list.push_back("*(const " + type + "*)" + slot);
        } else if (ir::is_float(scalar) || ir::is_complex(scalar)) {
            const int size = ir::size_in_bytes(scalar);
            const std::string bits = size == 8 ? slot : (size == 4 ? "(u32)" : "(u16)") + slot;
            list.push_back("__builtin_bit_cast(" + type + ", " + bits + ")");
        } else {
            list.push_back("(" + type + ")" + slot);
        }
    }
    line("extern \"C\" int " + name + "_slots(ParpyContext* context, const u64* slots) {");
    wrapped("    return " + name + "(", list, ");");
    line("}");
    return std::move(out_);
}

}  // namespace parpy
