// A whole program as text: the functions of each part, their names and order, the exported entry,
// and the prelude that the rest of the text needs.

#include "emit/emit.h"

#include <algorithm>
#include <optional>

#include "analysis/geometry.h"
#include "analysis/host_calls.h"
#include "analysis/uses.h"
#include "emit/functions.h"
#include "ir/ops.h"
#include "ir/tile.h"
#include "ir/visit.h"
#include "support/escape.h"

namespace parpy {
namespace {

using ir::Function;
using ir::FunctionKind;
using ir::Op;

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Calls fn(word) for each identifier of C++ `text` outside comments and strings.
template <class F>
void for_each_word(std::string_view text, F&& fn) {
    for (std::size_t i = 0; i < text.size();) {
        if (text.substr(i, 2) == "//") {
            i = std::min(text.find('\n', i), text.size());
        } else if (const auto string = read_string_literal(text.substr(i))) {
            i += string->length;
        } else if (is_word(text[i])) {
            const std::size_t begin = i;
            while (i < text.size() && is_word(text[i])) {
                ++i;
            }
            fn(text.substr(begin, i - begin));
        } else {
            ++i;
        }
    }
}

// ---------------------------------------------------------------- facts

// Finds array parameters that a function stores to, itself or by calls and launches.
void find_stored(ProgramFacts& facts) {
    const auto pass = [&](const std::vector<ir::Expr*>& arguments, const Function& callee) {
        const bool foreign = callee.kind == FunctionKind::kForeign;
        for (std::size_t i = 0; i < arguments.size() && i < callee.params.size(); ++i) {
            const ir::Var* array = ir::array_passed(*arguments[i]);
            if (array != nullptr && (foreign || facts.stored.contains(callee.params[i]))) {
                facts.stored.insert(array);
            }
        }
    };
    for (std::size_t before = facts.stored.size() + 1; before != facts.stored.size();) {
        before = facts.stored.size();
        for (const Function* function : facts.module.functions) {
            ir::for_each_stmt(function->body, [&](const ir::Stmt& stmt) {
                if (const auto* store = stmt.as<ir::Store>()) {
                    facts.stored.insert(store->array);
                    if (store->copied > 0) facts.copied_to.insert(store->array);
                } else if (const auto* launch = stmt.as<ir::Launch>()) {
                    pass(launch->arguments, *launch->kernel);
                } else if (const auto* alloc = stmt.as<ir::Alloc>()) {
                    facts.stored.insert(alloc->array);
                }
            });
            ir::for_each_expr(function->body, [&](const ir::Expr& expr) {
                if (expr.op == Op::kCall) {
                    pass(expr.operands, *expr.callee);
                } else if (expr.op == Op::kAtomic) {
                    facts.stored.insert(expr.var);
                } else if (expr.op == Op::kTile) {
                    facts.stored.insert(expr.operands[ir::kTileSums]->var);
                    for (const ir::Expr* operand : expr.operands)
                        if (operand->op == Op::kLoad) facts.in_tiles.insert(operand->var);
                }
            });
        }
    }
}

// Finds a kernel's parameters that only describe shapes that it never uses.
void find_unused(ProgramFacts& facts, const Function& kernel) {
    const Uses uses = uses_of(kernel.body);
    VarSet passed;  // to functions, which may ignore them
    ir::for_each_expr(kernel.body, [&](const ir::Expr& e) {
        if (e.op == Op::kArray) passed.insert(e.var);
    });
    for (const ir::Var* param : kernel.params) {
        const bool used = param->type.is_array()
                              ? uses.touches(param) || passed.contains(param)
                              : uses.read.contains(param) || uses.written.contains(param);
        if (!used) {
            facts.unused.insert(param);
        }
    }
}

// The functions that a function calls, in order of appearance.
std::vector<const Function*> callees(const Function& function) {
    std::vector<const Function*> out;
    ir::for_each_expr(function.body, [&](const ir::Expr& expr) {
        if (expr.op == Op::kCall && std::ranges::find(out, expr.callee) == out.end()) {
            out.push_back(expr.callee);
        }
    });
    return out;
}

// The helpers that `roots` reach, callees before callers; notes the recursive ones.
class HelperOrder {
public:
    explicit HelperOrder(ProgramFacts& facts) : facts_(facts) {}
    void visit(const Function& function) {
        for (const Function* callee : callees(function)) {
            const auto active = std::ranges::find(stack_, callee);
            for (auto it = active; it != stack_.end(); ++it) {
                facts_.recursive.insert(*it);
            }
            if (active != stack_.end() || std::ranges::find(order, callee) != order.end()) {
                continue;
            }
            stack_.push_back(callee);
            visit(*callee);
            stack_.pop_back();
            order.push_back(callee);
        }
    }
    std::vector<const Function*> order;

private:
    ProgramFacts& facts_;
    std::vector<const Function*> stack_;
};

void name_functions(ProgramFacts& facts) {
    const auto name = [&](const Function* function) {
        const std::string base = c_identifier(function->name);
        std::string unique = base;
        for (int suffix = 1; facts.taken.contains(unique); ++suffix) {
            unique = base + "_" + std::to_string(suffix);
        }
        facts.taken.insert(unique);
        for (const char* suffix : {"_slots", "_frame", "_run"})
            facts.taken.insert(unique + suffix);
        facts.names[function] = unique;
    };
    for (const Dialect* dialect : all_dialects()) {
        for (const auto snippets : {dialect->prelude, c_family_prelude()}) {
            for (const Snippet& snippet : snippets) {
                facts.taken.emplace(snippet.name);
            }
        }
    }
    for (const Function* function : facts.module.functions) {
        if (function->kind != FunctionKind::kForeign) continue;
        facts.names[function] = function->name;  // the linker's name
        facts.taken.insert(function->name);
    }
    name(facts.module.entry_function());  // the program's name: it has the first choice
    for (const Function* function : facts.module.functions) {
        if (!facts.names.contains(function)) {
            name(function);
        }
    }
}

bool can_fail(const Function& function) {
    bool found = false;
    ir::for_each_stmt(function.body,
                      [&](const ir::Stmt& stmt) { found |= stmt.kind == ir::StmtKind::kFail; });
    return found;
}

ProgramFacts facts_of(const ir::Module& module) {
    ProgramFacts facts{module, {}, {}, {}, {}, {}, {}, {}, {}, {}, false, false, 1, {}, {}};
    for (const Source& source : module.sources) {
        for_each_word(source.text, [&](std::string_view word) { facts.words.emplace(word); });
    }
    name_functions(facts);
    find_stored(facts);
    int index = 0;
    for (const Function* function : module.functions) {
        if (function->kind == FunctionKind::kKernel) {
            facts.kernel_index[function] = index++;
            find_unused(facts, *function);
        }
        ir::for_each_stmt(function->body, [&](const ir::Stmt& stmt) {
            if (const auto* launch = stmt.as<ir::Launch>()) {
                facts.by_hand |=
                    launch->shared_bytes != nullptr && !ir::constant_integer(launch->shared_bytes);
                const auto& [x, y, z] = launch->cluster;
                if (x * y * z > 1) {
                    facts.kernel_cluster[launch->kernel] =
                        std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z);
                }
                if (const auto threads = block_size(*launch)) {
                    std::int64_t& most = facts.kernel_threads[launch->kernel];
                    most = std::max(most, *threads);
                }
            }
        });
    }
    facts.fails =
        std::ranges::any_of(module.functions, [](const Function* each) { return can_fail(*each); });
    return facts;
}

// ---------------------------------------------------------------- prelude

// The snippets that `text` names, and those that they name in turn, each after those it needs.
class Prelude {
public:
    explicit Prelude(const Dialect& dialect) {
        for (const auto snippets : {dialect.prelude, c_family_prelude()}) {
            for (const Snippet& snippet : snippets) {
                by_name_.emplace(snippet.name, &snippet);  // the dialect's own snippets win
                table_.push_back(&snippet);
            }
        }
    }

    [[nodiscard]] std::string for_text(std::string_view text) {
        std::unordered_set<std::string_view> wanted;
        for_each_word(text, [&](std::string_view word) { wanted.insert(word); });
        for (const Snippet* snippet : table_) {
            if (wanted.contains(snippet->name)) {
                add(*by_name_.at(snippet->name));
            }
        }
        return std::move(out_);
    }

private:
    void add(const Snippet& snippet) {
        if (!done_.insert(snippet.name).second) {
            return;
        }
        for_each_word(snippet.text, [&](std::string_view word) {
            if (const auto it = by_name_.find(word); it != by_name_.end()) {
                add(*it->second);
            }
        });
        out_ += snippet.text;
    }

    std::unordered_map<std::string_view, const Snippet*> by_name_;
    std::vector<const Snippet*> table_;
    std::unordered_set<std::string_view> done_;
    std::string out_;
};

// ---------------------------------------------------------------- parts

// The helpers that functions of the given kinds reach, then those functions, kind by kind.
std::string functions_text(const Dialect& dialect, ProgramFacts& facts,
                           std::initializer_list<FunctionKind> kinds, bool on_device) {
    HelperOrder helpers(facts);
    std::vector<const Function*> roots;
    for (const FunctionKind kind : kinds) {
        for (const Function* function : facts.module.functions) {
            if (function->kind == kind) {
                helpers.visit(*function);
                roots.push_back(function);
            }
        }
    }
    std::string text;
    for (const Function* helper : helpers.order) {
        if (facts.recursive.contains(helper)) {
            text += FunctionPrinter(dialect, facts, *helper).prototype();
        }
    }
    const auto add = [&](std::string function) { text += (text.empty() ? "" : "\n") + function; };
    for (const Function* helper : helpers.order) {
        FunctionPrinter printer(dialect, facts, *helper);
        add(helper->kind == FunctionKind::kForeign ? printer.foreign() : printer.helper());
    }
    for (const Function* root : roots) {
        FunctionPrinter printer(dialect, facts, *root);
        add(root->kind == FunctionKind::kEntry ? printer.entry()
            : on_device                        ? printer.kernel()
                                               : printer.worker());
    }
    return text;
}

std::string with_prelude(const Dialect& dialect, const std::string& text) {
    std::string prelude = Prelude(dialect).for_text(text);
    return prelude.empty() ? text : prelude + "\n" + text;
}

// The signature that the text was compiled for: `axpy(a: f32, x: f32[4096], y: f32[4096])`.
std::string headline(const Function& entry) {
    constexpr std::size_t kWidth = 100;
    std::string out;
    std::string line = "// " + entry.name + "(";
    bool first = true;
    for (const ir::Var* param : entry.params) {
        if (param->origin.kind == ir::Origin::Kind::kExtent ||
            param->origin.kind == ir::Origin::Kind::kStride) {
            continue;  // shown with their array
        }
        std::string item = param->name + ": " + std::string(ir::name(param->type.scalar));
        if (param->type.is_array()) {
            item += '[';
            for (std::size_t d = 0; d < param->dims.size(); ++d) {
                const ir::Dim& dim = param->dims[d];
                item += (d == 0 ? "" : ", ") +
                        (dim.extent ? std::to_string(*dim.extent) : dim.extent_var->name);
            }
            item += ']';
        }
        if (!first && line.size() + item.size() + 3 > kWidth) {
            out += line + ",\n";
            line = "//     " + item;
        } else {
            line += (first ? "" : ", ") + item;
        }
        first = false;
    }
    return out + line + ")\n";
}

// The sources of foreign functions, unchanged, between `head` and the rest of `file`. If a source
// has its own line numbers, a #line restores those of `file` after it.
std::string foreign_sources(const ir::Module& module, const std::vector<const Function*>& functions,
                            const std::string& head, const std::string& file) {
    std::string text, known;
    std::vector<std::uint32_t> done;
    for (const Function* function : functions) {
        const std::uint32_t source = function->span.source;
        if (source >= module.sources.size() || std::ranges::find(done, source) != done.end() ||
            !module.sources[source].name.ends_with(".cu")) {
            continue;
        }
        done.push_back(source);
        const std::string& included = module.sources[source].text;
        if (!included.empty()) text += included + "\n";
    }
    for (const Function* function : functions) {
        const std::uint32_t source = function->span.source;
        if (source < module.sources.size() && module.sources[source].text.empty())
            known += (known.empty() ? "" : ", ") + function->name;
    }
    if (!known.empty()) text += std::string(kKnownMarker) + known + "\n";
    if (!text.starts_with("#line ")) return text;
    const auto lines = std::ranges::count(head, '\n') + std::ranges::count(text, '\n');
    return text + "#line " + std::to_string(lines + 2) + " " + string_literal(file) + "\n";
}

// Foreign functions of the program; `of_host`: only those that the host code of a GPU's program
// calls (true), or that its kernels call (false).
std::vector<const Function*> foreign_functions(const ir::Module& module,
                                               std::optional<bool> of_host = std::nullopt) {
    std::vector<const Function*> found;
    for (const Function* function : module.functions) {
        if (function->kind != FunctionKind::kForeign) continue;
        if (!of_host || *of_host == is_of_host(*function)) found.push_back(function);
    }
    return found;
}

bool includes_files(const ir::Module& module) {
    return std::ranges::any_of(foreign_functions(module), [&](const Function* function) {
        const std::uint32_t source = function->span.source;
        return source < module.sources.size() &&
               module.sources[source].text.starts_with("#include");
    });
}

// The C library's names, as it declares them.
constexpr const char* kIntegerNames =
    "typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\n"
    "typedef long int64_t;\ntypedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t;\ntypedef unsigned long uint64_t;\n";

// The text before the headers whose functions the host calls: CUDA attributes that they may have,
// and the type of their array parameters.
std::string before_host_headers(const std::vector<const Function*>& functions) {
    if (functions.empty()) return {};
    return std::string(kIntegerNames) + R"(#define __host__
#define __device__
#define __forceinline__ inline
// An array that a function of the host gets: where its elements are, and its shape.
template <class T, int N> struct parpy_array {
    T* data;
    long long shape[N];
    operator T*() const { return data; }
};
)";
}

std::vector<Slot> slots_of(const ProgramFacts& facts, const Function& entry) {
    std::vector<Slot> slots;
    for (const ir::Var* param : entry.params) {
        Slot slot;
        slot.argument = param->origin.argument;
        slot.dimension = param->origin.dimension;
        slot.scalar = param->type.scalar;
        switch (param->origin.kind) {
            case ir::Origin::Kind::kExtent:
                slot.kind = Slot::Kind::kExtent;
                break;
            case ir::Origin::Kind::kStride:
                slot.kind = Slot::Kind::kStride;
                break;
            default:
                slot.kind = param->type.is_array() ? Slot::Kind::kPointer : Slot::Kind::kScalar;
                break;
        }
        slot.written = param->type.is_array() && (param->written || facts.stored.contains(param));
        slots.push_back(slot);
    }
    return slots;
}

std::vector<ResultArray> results_of(const Function& entry) {
    std::vector<ResultArray> results;
    ir::for_each_stmt(entry.body, [&](const ir::Stmt& stmt) {
        const auto* alloc = stmt.as<ir::Alloc>();
        if (alloc == nullptr || alloc->array->space != ir::Space::kResult) return;
        const ir::Var& array = *alloc->array;
        const auto same = [&](const ResultArray& r) { return r.argument == array.origin.argument; };
        if (std::ranges::none_of(results, same))
            results.push_back({array.origin.argument, array.type.scalar, array.type.rank, {}});
    });
    for (const auto& [result, argument] : entry.given) {
        results.push_back({result, {}, 0, argument});
    }
    return results;
}

}  // namespace

Program emit_program(const ir::Module& module, Backend backend, const Options& options) {
    ProgramFacts facts = facts_of(module);
    const Function& entry = *module.entry_function();
    Program program;
    program.name = facts.names.at(&entry);
    program.slots = slots_of(facts, entry);
    program.results = results_of(entry);
    program.result_form = entry.result_form;
    program.by_hand = facts.by_hand;
    facts.max_unroll_count = options.max_unroll_count;
    program.sites = module.sites;

    const Dialect* device = device_dialect(backend, options.deterministic);
    if (device != nullptr) {
        for (const Function* function : module.functions) {
            if (function->kind == FunctionKind::kKernel) {
                program.kernels.push_back(facts.names.at(function));
            }
        }
        const std::string head = headline(entry) + std::string(device->preamble);
        program.device =
            head +
            foreign_sources(module, foreign_functions(module, false), head, program.name + ".cu") +
            with_prelude(*device, functions_text(*device, facts, {FunctionKind::kKernel}, true));
        const std::vector<const Function*> called = foreign_functions(module, true);
        const std::string first = before_host_headers(called);
        program.host = first + foreign_sources(module, called, first, program.name + ".cpp") +
                       with_prelude(cpu_dialect(), functions_text(cpu_dialect(), facts,
                                                                  {FunctionKind::kEntry}, false));
        program.text = std::string(kDeviceMarker) + "\n" + program.device + "\n";
    } else {
        std::string head = headline(entry);
        if (includes_files(module)) head += kIntegerNames;
        program.host =
            head + foreign_sources(module, foreign_functions(module), head, program.name + ".cpp") +
            with_prelude(cpu_dialect(),
                         functions_text(cpu_dialect(), facts,
                                        {FunctionKind::kKernel, FunctionKind::kEntry}, false));
    }
    program.text += std::string(kHostMarker) + "\n" + program.host;
    return program;
}

}  // namespace parpy
