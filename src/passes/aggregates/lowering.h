// The parts of lower_aggregates: the functions of a program by the kinds of their arguments
// (KindInstances), and the walk that rewrites one of them (Lowering).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/callers.h"
#include "ir/builder.h"
#include "passes/aggregates/kind_walk.h"
#include "passes/pass.h"
#include "passes/types/infer_types/elements.h"

namespace parpy {

// A value, as the numbers and arrays that it consists of, from left to right.
struct Parts {
    Kind kind;
    std::vector<ir::Expr*> leaves;
};

// A function for arguments of these kinds.
struct KindInstance {
    const ir::Function* source = nullptr;  // as the frontend made it
    std::vector<Kind> kinds;
    ir::Function* function = nullptr;  // the callee in the result; null until there is a call
    Kind result;
    bool is_known = false;    // `result` is final
    bool is_open = false;     // `result` is being computed
    bool is_refused = false;  // there are too many instances of the function
};

class KindInstances {
public:
    KindInstances(PassContext& context, const ir::Module& module);

    KindInstance& find(const ir::Function& source, const std::vector<Kind>& kinds);
    // The kind of its result; recursive calls are solved by iteration to a fixed point.
    const Kind& result_of(KindInstance& instance);
    // The same for a call, with the rank of an array that it returns, provided that the function
    // does not depend on the ranks of its arguments.
    Kind result_of(const ir::Function& source, const std::vector<Kind>& kinds);
    // Whether calls are replaced by its statements, since no function of the program returns such a
    // value.
    [[nodiscard]] bool stands_in(KindInstance& instance);
    // The callee of the calls, which is to be rewritten.
    ir::Function* function_of(KindInstance& instance);
    // The next instance to be rewritten; null if there is none.
    [[nodiscard]] KindInstance* next();
    // Whether classes of the program have operators.
    [[nodiscard]] bool has_operators() const { return has_operators_; }

private:
    PassContext& context_;
    std::deque<KindInstance> all_, ranked_;
    FunctionSet asks_ranks_, returns_early_;
    ElementFunctions element_functions_;
    bool has_operators_ = false;
    std::deque<KindInstance*> waiting_;
};

// The name of a value in messages: t, t[0]; "" if it has none. `shown`: in quotes.
[[nodiscard]] std::string name_of(const ir::Expr& expr);
[[nodiscard]] std::string shown(const ir::Expr& expr);

class Lowering {
public:
    // The parameters of any function but the entry are replaced by their parts.
    Lowering(PassContext& context, KindInstances& instances, ir::Function& function);

    void run(const std::vector<Kind>& kinds);

private:
    // ------------------------------------------------------------ statements
    void body(ir::Body& stmts);
    void allocate_in(ir::Body& stmts);
    void statement(ir::Stmt& stmt);
    void assign(ir::Assign& stmt);
    void store(ir::Store& stmt);
    void tell_texts(ir::Fail& failure);
    void store_tuple(ir::Store& stmt, Parts value);
    void branch(ir::If& stmt);
    void repeat(ir::While& loop);
    void inside(ir::Stmt& loop, ir::Body& stmts);
    void unroll(const ir::For& loop, const KindWalk::Unrolled& unrolled);
    void leave(ir::Return& stmt);
    Parts return_none_before(ir::Return& stmt, Parts value);
    void return_to_python(const ir::Return& stmt, Parts value);
    void print(ir::Print& stmt);
    void spell(const Parts& value, const ir::Expr& written, std::vector<std::string>& texts,
               std::vector<ir::Expr*>& values);
    const std::vector<ir::Var*>& results_for(const std::string& form,
                                             const std::vector<ir::Expr*>& leaves,
                                             ir::Body& stores);
    ir::Var* add_result(Span span);
    void end_entry();

    // ------------------------------------------------------------ expressions
    // Defined in values.cpp, parts.cpp and conditions.cpp.

    // The parts of `expr`, which is not used again. Statements that must run first are in `out_`.
    Parts lower(ir::Expr* expr);
    // The value of an expression that must be a number or an array; other kinds are an error.
    ir::Expr* lowered(ir::Expr* expr);
    ir::Expr* condition(ir::Expr* expr);
    Parts member(Kind function, Span span);
    ir::Expr* operator_call(const ir::Expr& e);
    ir::Expr* given_to(const OperatorMethod& method, ir::Expr* other, Span span);
    Parts there(Parts parts, const ir::Expr& written);
    ir::Expr* number_in(Parts parts, const ir::Expr& written);
    // From left to right; statements for a later operand do not change the values of earlier ones.
    std::vector<Parts> lower_all(const std::vector<ir::Expr*>& operands);
    std::vector<ir::Expr*> numbers(const std::vector<ir::Expr*>& operands);
    // Subscripts of an array of this rank; a tuple among them is replaced by its numbers.
    std::vector<ir::Expr*> subscripts(const std::vector<ir::Expr*>& indices, int rank);
    [[nodiscard]] bool concerns(const ir::Expr& expr) const;
    [[nodiscard]] bool chooses_by_kinds(const ir::Expr& e) const;
    Parts read(ir::Expr& expr);
    Parts read(ir::Var* name, const Kind& kind, Span span);
    Parts item(ir::Expr& expr);
    // attributes.cpp
    Parts field(ir::Expr& expr);
    Parts cell(Parts array, FieldName::Use use, Span span);
    bool refuses_assignment(const Kind& owner, const FieldName& field, Span span);
    Parts subscript(ir::Expr& expr);
    Parts shape(ir::Expr& expr);
    Parts length(ir::Expr& expr);
    Parts shaped(ir::Expr& expr);
    Parts array_of(ir::Expr& expr);
    // An array of this layout whose element type holds all of the `leaves`.
    ir::Expr* array_for(const Nest& nest, const std::vector<ir::Expr*>& leaves, Span span);
    void check_same_shape(const Nest& nest, const std::vector<ir::Expr*>& leaves, Span span);
    Parts atomic(ir::Expr& expr);
    Parts membership(ir::Expr& expr);
    Parts choose(ir::Expr& expr);
    ir::Expr* ordered(ir::Op op, const Parts& a, const Parts& b, Span span);
    Parts extreme(ir::Expr& expr);
    Parts tuple_or(ir::Expr& expr);
    Parts compare(ir::Expr& expr);
    Parts compare_with_none(ir::Expr& expr);
    Parts joined_tuples(ir::Expr& expr);
    Parts as_kind(Parts value, const Kind& kind, Span span);
    void become(const KindsHere& there, ir::Body& stmts);
    // `name`: the name of the tuple in messages.
    Parts one_of(Parts tuple, ir::Expr* index, Span span, const std::string& name);
    Parts chosen_at_run_time(const Parts& tuple, const Kind& kind, ir::Expr* index, Span span);
    [[nodiscard]] bool counts_to(const ir::Expr& index, std::int64_t count) const;
    [[nodiscard]] Parts part_of(const Parts& tuple, std::size_t place) const;
    ir::Expr* same(ir::Expr& expr);
    void fail_mixed(const ir::Expr& written, const Kind& kind = {});

    // ------------------------------------------------------------ functions (functions.cpp)
    Parts function_value(ir::Expr& expr);
    Parts apply(ir::Expr& expr);
    Parts replaced(ir::Expr& e, ir::Expr& whole);
    // The value as another function receives it (KindWalk::carried).
    Parts carried(Parts value, Span span);
    // The kind of a parameter: function values that capture variables are lent to this function.
    [[nodiscard]] static Kind lent(Kind kind);
    [[nodiscard]] const Kind* find_lent(const Kind& kind, int depth = 0) const;
    void carry(const Parts& value, Span span, int depth, Parts& result);
    // A number of the type that a dtype or a text names; other values are unchanged.
    ir::Expr* of_type(Parts value, const ir::Expr& written);

    // ------------------------------------------------------------ calls (calls.cpp)
    Parts call(ir::Expr& expr);
    // Makes `expr` a call of this function with these arguments, which are written at `spans`.
    Parts call_of(ir::Expr& expr, ir::Function& callee, std::vector<Parts> arguments,
                  const std::vector<Span>& spans);
    Parts put_in_place(const ir::Expr& expr, const ir::Function& source, const Kind& result,
                       std::vector<Parts> arguments, const std::vector<Span>& spans);
    void return_in_place(Parts value, Span span);
    // Leaves the next loop around, too, if a return may have left the inner one.
    void leave_too(Span span);

    // ------------------------------------------------------------ variables (variables.cpp)
    // The variables that hold a value of this kind under the name of `var`.
    std::vector<ir::Var*> variables(ir::Var* name, const Kind& kind);
    void variables(ir::Var* name, const Kind& kind, const std::string& place,
                   std::vector<ir::Var*>& found);
    ir::Var* make_variable(const std::string& wanted, Span span, const std::string& shown);
    ir::Assign* assigned(ir::Var* name, ir::Expr* value, Span span);
    // The value, held in variables that no other statement assigns; constants stay.
    Parts held(Parts value, Span span);
    // The same; the statement number `at` in `out_` sets the variable.
    ir::Expr* held(ir::Expr* value, Span span, std::size_t at);
    void set(ir::Var* name, Parts value, Span span);

    // ------------------------------------------------------------ small pieces
    ir::Expr* surface(ir::Op op, std::vector<ir::Expr*> operands, Span span);
    ir::Expr* number(std::int64_t value, Span span);
    ir::Expr* truth(bool value, Span span);
    ir::Expr* var(ir::Var* name, Span span);
    ir::Expr* extent(ir::Var* array, Span span, int axis = 0);
    Diagnostic* fail(Code code, Span span, std::string message, std::string help = {});
    // A placeholder for a value that was reported as an error.
    Parts poison(Span span, const Kind& kind = Kind::number());

    PassContext& context_;
    ir::Module& module_;
    KindInstances& instances_;
    ir::Function& function_;
    KindWalk walk_;
    KindsHere here_;
    ir::Body* out_ = nullptr;  // gets the statements that precede the one that is walked
    ir::Builder b_;
    std::unordered_map<const ir::Var*, std::unordered_map<std::string, ir::Var*>> places_;
    std::unordered_set<std::string> names_;  // of the function's variables
    int on_device_ = 0;                      // Gpu blocks around
    bool poisoned_ = false;  // the kind of a value is not known, which was reported as an error

    // The loops around: the kinds at their heads and behind them, and whether they contain a return
    // of an inlined function.
    struct Around {
        KindWalk::Known known;
        const ir::For* loop = nullptr;
        bool returns = false;
    };
    std::vector<Around> loops_;
    // An inlined function.
    struct InPlace {
        const ir::Function* source = nullptr;
        ir::Var* result = nullptr;    // the name that gets the returned value
        Kind kind;                    // of `result`
        ir::Var* returned = nullptr;  // whether it has returned, if its body is a loop
                                      // that returns leave; null: it returns at its end
        std::size_t loops = 0;        // the number of loops around its statements
    };
    std::vector<InPlace> in_place_;
    ir::Body allocations_;  // arrays of inlined functions
    // Members for the entry alone.
    bool by_hand_ = false;            // it launches a kernel written by hand, or belongs to one
    const ir::Stmt* last_ = nullptr;  // its last statement
    Kind result_kind_;                // on all paths
    // The parameters that results are stored to, by form of the result. If paths return several
    // forms, the first result is the number of the form.
    struct Way {
        std::string form;
        std::vector<ir::Var*> results;
    };
    std::vector<Way> ways_;
    ir::Var* way_ = nullptr;
    std::size_t result_count_ = 0;
};

}  // namespace parpy
