// Functions and statements as C-family text: declarations at first use in the innermost block, one
// comment line per source line, loops as for statements, launches as calls of the runtime ABI.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "emit/expressions/expressions.h"

namespace parpy {

// Facts about a whole program, collected before its functions are printed.
struct ProgramFacts {
    const ir::Module& module;
    std::unordered_map<const ir::Function*, std::string> names;
    std::unordered_set<std::string> taken;  // the names of functions and of their frames
    std::unordered_set<std::string> words;  // of the user's text
    std::unordered_map<const ir::Function*, int> kernel_index;
    std::unordered_map<const ir::Function*, std::int64_t> kernel_threads;  // largest block launched
    std::unordered_map<const ir::Function*, std::string> kernel_cluster;   // "4, 1, 1" blocks
    std::unordered_set<const ir::Var*> stored;  // array parameters that are written, by function
    std::unordered_set<const ir::Function*> recursive;
    std::unordered_set<const ir::Var*> unused;  // parameters that a kernel's body does not name
    bool by_hand = false;
    bool fails = false;  // a thread may end at a failed check; no other thread may then wait for it
    std::int64_t max_unroll_count = 1;             // Options
    std::unordered_set<const ir::Var*> in_tiles;   // arrays of a kTile
    std::unordered_set<const ir::Var*> copied_to;  // by a Store::copied
};

class FunctionPrinter {
public:
    FunctionPrinter(const Dialect& dialect, const ProgramFacts& facts, const ir::Function& function)
        : dialect_(dialect),
          facts_(facts),
          function_(function),
          names_(dialect, facts.taken, facts.words),
          exprs_(dialect, names_, facts.names) {}

    // Each of these prints one function, and may be called once.
    std::string helper();     // called by the entry, by kernels or by other helpers
    std::string prototype();  // of a helper
    std::string worker();     // a kernel as the body of parpy_parallel_for, with its frame struct
    std::string kernel();     // a kernel for the device
    std::string entry();      // the exported function and its _slots twin
    std::string foreign();    // the declaration of a kForeign function

private:
    struct Declaration {
        const ir::Var* var;
        bool zero;  // read before it is assigned on some path
    };

    void plan(const ir::Body& body, const std::vector<const ir::Var*>& vars);
    void plan_function();
    [[nodiscard]] std::string helper_head() const;

    void line(const std::string& text);
    void comment(const Span& span);
    void block(const ir::Body& body);  // the statements between braces, in a scope of their own
    void statements(const ir::Body& body);
    void statement(const ir::Stmt& stmt);
    void assign(const ir::Assign& stmt);
    void store(const ir::Store& stmt);
    void atomic_update(const ir::Store& stmt);
    void hide_counters(const ir::Stmt& loop);
    void loop(const ir::For& stmt);
    [[nodiscard]] bool unrolls(const ir::For& stmt) const;
    void copy(const ir::Store& stmt, const std::string& condition);
    [[nodiscard]] const ir::Store* only_copy(const ir::If& stmt) const;
    void branch(const ir::If& stmt);
    void fetch(const ir::Fetch& stmt);
    void alloc(const ir::Alloc& stmt);
    void print(const ir::Print& stmt);
    void launch_workers(const ir::Launch& stmt);
    void launch_grid(const ir::Launch& stmt);
    [[nodiscard]] std::string bound(const ir::For& loop, const ir::Expr& expr, const char* suffix);
    [[nodiscard]] std::string value(const ir::Var* var, const ir::Expr& expr) const;
    [[nodiscard]] std::string parameter_type(const ir::Var& var, bool restrict) const;
    [[nodiscard]] std::vector<std::string> parameter_list(bool restrict);
    void wrapped(const std::string& head, const std::vector<std::string>& items,
                 std::string_view tail);
    [[nodiscard]] std::string c_type(const ir::Var& var) const {
        return std::string(exprs_.type(var.type.scalar));
    }

    const Dialect& dialect_;
    const ProgramFacts& facts_;
    const ir::Function& function_;
    ScopedNames names_;
    ExprPrinter exprs_;

    std::unordered_map<const ir::Stmt*, std::vector<Declaration>> before_;
    std::unordered_set<const ir::Stmt*> declares_;          // assignments and launches that declare
    std::unordered_map<const ir::Var*, ir::Op> any_order_;  // reductions of the enclosing loops
    std::string out_;
    int depth_ = 0;
    std::unordered_set<std::uint64_t> commented_;  // source lines
};

}  // namespace parpy
