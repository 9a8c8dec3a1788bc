// The text form of programs (print.h); print_expr.cpp has that of expressions. A suffix
// distinguishes variables of one function that share a name; everything else is printed unchanged.
#include "ir/text/print.h"

#include <array>
#include <span>
#include <unordered_set>

#include "ir/ops.h"
#include "ir/text/print_expr.h"
#include "ir/text/spelling.h"
#include "ir/visit.h"
#include "support/escape.h"

namespace parpy::ir {
namespace {

bool is_surface(const Module& module) {
    bool found = false;
    for (const Function* function : module.functions) {
        for_each_expr(function->body,
                      [&](const Expr& e) { found = found || (e.op == Op::kConst && e.type.weak); });
        for_each_stmt(function->body, [&](const Stmt& s) {
            for_each_var(s, [&](const Var* v) { found = found || (v != nullptr && v->type.weak); });
        });
        for (const Var* param : function->params) {
            found = found || param->type.weak;
        }
    }
    return found;
}

// The type of an omitted loop bound, given the type of the loop's end.
Type implicit_bound_type(const Type& end) {
    const bool strong = end.is_scalar() && is_integer(end.scalar) && !end.weak;
    return strong ? end : Type::weak_of(Scalar::kI64);
}

class Printer : public ExpressionPrinter {
public:
    Printer(const PrintOptions& options, Literals literals)
        : ExpressionPrinter(literals), options_(options) {}

    void function(const Function& function) {
        names_ = {};
        declared_.clear();
        constexpr std::array<std::string_view, 4> kKinds = {"entry", "helper", "kernel", "foreign"};
        out_ += function.part ? "part" : kKinds[static_cast<std::size_t>(function.kind)];
        out_ += ' ';
        out_ += function.name + "(";
        for (const Var* param : function.params) {
            declared_.insert(param);
            out_ += param == function.params.front() ? "" : ", ";
            parameter(*param);
        }
        out_ += ")";
        if (!function.result.is_unknown()) {
            out_ += " -> " + to_string(function.result);
        }
        if (!function.result_form.empty()) out_ += " returns \"" + function.result_form + '"';
        for (const auto& [result, argument] : function.given) {
            out_ += " result " + std::to_string(result) + " is " + std::to_string(argument);
        }
        if (function.kind == FunctionKind::kForeign) {
            out_ += foreign_properties(function);
            end_line(function.span);
            return;
        }
        out_ += ":";
        end_line(function.span);
        ++depth_;
        undeclared(function);
        if (function.body.empty()) {
            line("pass");
        }
        for (const Stmt* s : function.body) {
            stmt(*s);
        }
        --depth_;
    }

    void stmt(const Stmt& s) {
        for (const std::string& label : s.labels) {
            line("label " + string_literal(label));
        }
        switch (s.kind) {
            case StmtKind::kAssign:
                assign(*s.as<Assign>());
                break;
            case StmtKind::kBind:
                line((s.as<Bind>()->spare   ? "hold "
                      : s.as<Bind>()->fresh ? "make "
                                            : "bind ") +
                         declare(*s.as<Bind>()->array) + " = " + expr(*s.as<Bind>()->value),
                     s.span);
                break;
            case StmtKind::kStore:
                store(*s.as<Store>());
                break;
            case StmtKind::kFor:
                loop(*s.as<For>());
                break;
            case StmtKind::kWhile:
                line("while " + expr(*s.as<While>()->condition) + ":", s.span);
                body(s.as<While>()->body);
                break;
            case StmtKind::kIf:
                conditional(*s.as<If>(), "if ");
                break;
            case StmtKind::kBreak:
                line("break", s.span);
                break;
            case StmtKind::kContinue:
                line("continue", s.span);
                break;
            case StmtKind::kReturn: {
                const Expr* value = s.as<Return>()->value;
                line(value != nullptr ? "return " + expr(*value) : "return", s.span);
                break;
            }
            case StmtKind::kEvaluate:
                line(expr(*s.as<Evaluate>()->value), s.span);
                break;
            case StmtKind::kAssert: {
                const auto& assertion = *s.as<Assert>();
                line(
                    "assert " + expr(*assertion.condition) +
                        (assertion.message.empty() ? "" : ", " + string_literal(assertion.message)),
                    s.span);
                break;
            }
            case StmtKind::kFail: {
                const auto& failure = *s.as<Fail>();
                line(call("fail " + std::to_string(failure.site), failure.values), s.span);
                break;
            }
            case StmtKind::kPrint: {
                const auto& print = *s.as<Print>();
                std::string text = "print(" + string_literal(print.texts[0]);
                for (std::size_t i = 0; i < print.values.size(); ++i)
                    text +=
                        ", " + expr(*print.values[i]) + ", " + string_literal(print.texts[i + 1]);
                line(text + ")", s.span);
                break;
            }
            case StmtKind::kGpu: {
                const auto& gpu = *s.as<Gpu>();
                line("gpu" + geometry(gpu.grid, gpu.block, gpu.shared_bytes) + ":", s.span);
                body(gpu.body);
                break;
            }
            case StmtKind::kAlloc: {
                const Var& array = *s.as<Alloc>()->array;
                declared_.insert(&array);
                line(
                    "alloc " + names_(array) + ": " + type_of(array) + " " +
                        std::string(kSpaces[static_cast<std::size_t>(array.space)]) +
                        (array.space == Space::kResult ? " " + std::to_string(array.origin.argument)
                                                       : ""),
                    s.span);
                break;
            }
            case StmtKind::kBarrier: {
                constexpr std::array<std::string_view, 9> kScopes = {
                    "warp",          "block",  "grid",  "device", "block_memory",
                    "system_memory", "stream", "group", "copies"};
                const auto& barrier = *s.as<Barrier>();
                line("barrier " + std::string(kScopes[static_cast<std::size_t>(barrier.scope)]) +
                         (barrier.scope == BarrierScope::kCopies
                              ? " " + std::to_string(barrier.pending)
                              : ""),
                     s.span);
                break;
            }
            case StmtKind::kLaunch:
                launch(*s.as<Launch>());
                break;
            case StmtKind::kFetch: {
                const auto& fetch = *s.as<Fetch>();
                line("fetch " + std::to_string(fetch.site) + " " + declare(*fetch.var) + " = " +
                         names_(*fetch.array),
                     s.span);
                break;
            }
        }
    }

    std::string take() { return std::move(out_); }

private:
    // ------------------------------------------------------------ variables

    std::string type_of(const Var& var) {
        return var.type.is_array() ? array_type(var, names_) : to_string(var.type);
    }

    void parameter(const Var& param) {
        out_ += names_(param);
        if (!param.type.is_unknown()) {
            out_ += ": " + type_of(param);
        }
        const std::string argument = "@" + std::to_string(param.origin.argument);
        const std::string dimension = std::to_string(param.origin.dimension);
        switch (param.origin.kind) {
            case Origin::Kind::kNone:
                break;
            case Origin::Kind::kArgument:
                out_ += " " + argument;
                break;
            case Origin::Kind::kExtent:
                out_ += " " + argument + ".extent" + dimension;
                break;
            case Origin::Kind::kStride:
                out_ += " " + argument + ".stride" + dimension;
                break;
        }
        out_ += param.written ? " written" : "";
        out_ += param.aliased ? " aliased" : "";
        out_ += param.wide ? " wide" : "";
        out_ += param.limit != 0 ? " limit " + std::to_string(param.limit) : "";
        out_ += param.typical != 0 ? " typical " + std::to_string(param.typical) : "";
        if (param.constant) {
            out_ += " = " + literal(param.type, *param.constant, literals_);
        }
    }

    // The name, with its type at the first appearance of the variable.
    std::string declare(const Var& var) {
        const bool first = declared_.insert(&var).second;
        return first && !var.type.is_unknown() ? names_(var) + ": " + type_of(var) : names_(var);
    }

    // Prints a line at the top for each variable that is read but not declared by a statement.
    void undeclared(const Function& function) {
        std::unordered_set<const Var*> known = declared_;
        for_each_stmt(function.body, [&](const Stmt& s) {
            if (const auto* s_assign = s.as<Assign>(); s_assign != nullptr) {
                known.insert(s_assign->var);
            } else if (const auto* s_bind = s.as<Bind>(); s_bind != nullptr) {
                known.insert(s_bind->array);
            } else if (const auto* s_for = s.as<For>(); s_for != nullptr) {
                known.insert(s_for->var);
            } else if (const auto* s_alloc = s.as<Alloc>(); s_alloc != nullptr) {
                known.insert(s_alloc->array);
            } else if (const auto* s_launch = s.as<Launch>(); s_launch != nullptr) {
                known.insert(s_launch->chunks);
            } else if (const auto* s_fetch = s.as<Fetch>(); s_fetch != nullptr) {
                known.insert(s_fetch->var);
            }
        });
        const auto add = [&](const Var* var) {
            if (var == nullptr || !known.insert(var).second) {
                return;
            }
            declared_.insert(var);
            const std::string type = var->type.is_unknown() ? "" : ": " + type_of(*var);
            if (var->constant) {
                line("const " + names_(*var) + type + " = " +
                     literal(var->type, *var->constant, literals_));
            } else {
                line("var " + names_(*var) + type);
            }
        };
        for (const Var* param : function.params) {  // sizes that the body does not use
            for (const Dim& dim : param->dims) {
                add(dim.extent_var);
                add(dim.stride_var);
            }
        }
        for_each_stmt(function.body, [&](const Stmt& s) {
            for_each_slot(s, [&](const Expr* slot) {
                for_each_expr(*slot, [&](const Expr& e) { add(e.var); });
            });
            for_each_var(s, [&](const Var* v) { add(v); });
        });
    }

    // ------------------------------------------------------------ statements

    void assign(const Assign& s) {
        const std::string update = s.update ? std::string(text(*s.update)) : "";
        const std::string target = s.update ? names_(*s.var) : declare(*s.var);
        line(target + " " + update + "= " + expr(*s.value), s.span);
    }

    void store(const Store& s) {
        const std::string update = s.update ? std::string(text(*s.update)) : "";
        const std::string copy = s.copied > 0 ? "copy " + std::to_string(s.copied) + " " : "";
        line((s.atomic  ? "atomic "
              : s.exact ? "exact "
                        : copy) +
                 element(*s.array, s.indices) + " " + update + "= " + expr(*s.value),
             s.span);
    }

    void loop(const For& s) {
        std::string head = "for " + declare(*s.var) + " in range(";
        const Type implicit = implicit_bound_type(s.end->type);
        const auto is_constant = [&](const Expr& e, std::int64_t value) {
            return e.op == Op::kConst && e.type == implicit && e.constant == Constant{value};
        };
        const bool unit_step = is_constant(*s.step, 1);
        if (!unit_step || !is_constant(*s.begin, 0)) {
            head += expr(*s.begin) + ", ";
        }
        head += expr(*s.end);
        if (!unit_step) {
            head += ", " + expr(*s.step);
        }
        line(head + ")" + mapping(s.mapping) + disjoint(s) + cost(s) + noted(s.noted) + ":",
             s.span);
        body(s.body);
    }

    std::string mapping(const LoopMapping& m) {
        constexpr std::array<std::string_view, 5> kLevels = {"sequential", "blocks", "threads",
                                                             "workers", "vector"};
        std::string items;
        const auto item = [&](const std::string& text) {
            items += (items.empty() ? "" : ", ") + text;
        };
        if (m.threads != 0) {
            item("threads=" + std::to_string(m.threads));
        }
        if (m.threads_per_block != LoopMapping{}.threads_per_block) {
            item("tpb=" + std::to_string(m.threads_per_block));
        }
        if (m.reduce) {
            item("reduce");
        }
        if (m.level != Level::kSequential) {
            item("level=" + std::string(kLevels[static_cast<std::size_t>(m.level)]));
        }
        if (m.blocks != 1) {
            item("blocks=" + std::to_string(m.blocks));
        }
        if (m.unroll) {
            item("unroll");
        }
        if (m.share) {
            item("share");
        }
        std::string out = items.empty() ? "" : " par(" + items + ")";
        std::string reductions;
        for (const Reduction& r : m.reductions) {
            reductions += (reductions.empty() ? "" : ", ") + std::string(text(r.op)) + " ";
            reductions += r.var->type.is_array() ? element(*r.var, r.indices) : names_(*r.var);
        }
        return out + (reductions.empty() ? "" : " reducing(" + reductions + ")");
    }

    std::string disjoint(const For& s) {
        std::string names;
        for (const Var* array : s.disjoint)
            names += (names.empty() ? "" : ", ") + names_(*array);
        return names.empty() ? "" : " disjoint(" + names + ")";
    }

    void conditional(const If& s, const std::string& keyword) {
        line(keyword + expr(*s.condition) + ":", s.span);
        body(s.then_body);
        if (s.else_body.empty()) {
            return;
        }
        const If* only = s.else_body.size() == 1 ? s.else_body[0]->as<If>() : nullptr;
        if (only != nullptr && only->labels.empty()) {
            conditional(*only, "elif ");
            return;
        }
        line("else:");
        body(s.else_body);
    }

    void launch(const Launch& s) {
        std::string out = "launch " + s.kernel->name + "(" + list(s.arguments) + ")";
        if (s.iterations != nullptr) {
            out += " over(" + expr(*s.iterations);
            if (s.chunks != nullptr) {
                declared_.insert(s.chunks);  // always an i64
                out += ", chunks=" + names_(*s.chunks);
            }
            if (s.cost != nullptr) {
                out += ", cost=" + expr(*s.cost);
            }
            if (s.max_workers != 0) {
                out += ", max_workers=" + std::to_string(s.max_workers);
            }
            out += ")";
        }
        out += geometry(s.grid, s.block, s.shared_bytes);
        out += cluster_text(s);
        line(out + (s.overlapped ? " overlapped" : "") + noted(s.noted), s.span);
    }

    std::string cost(const For& s) {
        return s.cost != nullptr ? " cost(" + expr(*s.cost) + ")" : "";
    }

    static std::string noted(std::optional<std::size_t> site) {
        return site ? " noted " + std::to_string(*site) : "";
    }

    std::string geometry(const std::span<Expr* const, 3> grid,
                         const std::span<Expr* const, 3> block, const Expr* shared_bytes) {
        std::string out;
        for (std::size_t i = 0; i < 3 && grid[i] != nullptr; ++i)
            out += (i == 0 ? " grid(" : ", ") + expr(*grid[i]);
        if (grid[0] != nullptr) out += ")";
        for (std::size_t i = 0; i < 3 && block[0] != nullptr; ++i)
            out += (i == 0 ? " block(" : ", ") + (block[i] != nullptr ? expr(*block[i]) : "1");
        if (block[0] != nullptr) out += ")";
        if (shared_bytes != nullptr) out += " shared(" + expr(*shared_bytes) + ")";
        return out;
    }

    void body(const Body& statements) {
        ++depth_;
        if (statements.empty()) {
            line("pass");
        }
        for (const Stmt* s : statements) {
            stmt(*s);
        }
        --depth_;
    }

    void line(const std::string& text, const Span& span = {}) {
        out_.append(static_cast<std::size_t>(depth_) * 4, ' ');
        out_ += text;
        end_line(span);
    }

    void end_line(const Span& span) {
        if (options_.spans && span.valid()) {
            out_ += "  @" + std::to_string(span.line) + ":" + std::to_string(span.column);
        }
        out_ += '\n';
    }

    const PrintOptions& options_;
    std::unordered_set<const Var*> declared_;
    std::string out_;
    int depth_ = 0;
};

// site 3: P421 "message" note "note" other
std::string print_site(std::size_t number, const Site& site, const PrintOptions& options) {
    std::string out = "site " + std::to_string(number) + ": " + std::string(code_name(site.code)) +
                      " " + string_literal(site.message);
    out += site.note.empty() ? "" : " note " + string_literal(site.note);
    out += site.other ? " other" : "";
    out += site.help.empty() ? "" : " help " + string_literal(site.help);
    out += site.exception.empty() ? "" : " raises " + string_literal(site.exception);
    if (options.spans && site.span.valid()) {
        out += " @" + std::to_string(site.span.line) + ":" + std::to_string(site.span.column);
    }
    return out + "\n";
}

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
    const bool surface = is_surface(module);
    std::string out = surface ? "surface\n" : "";
    for (std::size_t i = 0; i < module.sites.size(); ++i) {
        out += print_site(i, module.sites[i], options);
    }
    for (const Function* function : module.functions) {
        Printer printer(options, surface ? Literals::kSurface : Literals::kTyped);
        printer.function(*function);
        out += out.empty() ? "" : "\n";
        out += printer.take();
    }
    for (const Requirement& requirement : module.requirements)
        out += requirement_text(requirement);
    return out;
}

std::string print(const Stmt& stmt) {
    const PrintOptions options;
    Printer printer(options, Literals::kAll);
    printer.stmt(stmt);
    return printer.take();
}

std::string print(const Expr& expr) {
    return ExpressionPrinter(Literals::kAll).expr(expr);
}

}  // namespace parpy::ir
