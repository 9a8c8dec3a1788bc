// The parts of infer_types: the specialised functions of a program (Instances), and the walk that
// first finds the types of one of them and then rewrites it (Typer).
#pragma once

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/pass.h"
#include "passes/types/infer_types/elements.h"
#include "passes/types/infer_types/rules.h"
#include "passes/types/infer_types/webs.h"

namespace parpy {

// The contribution of one argument to the choice of an instance.
struct ArgumentKey {
    struct Layout {
        std::optional<std::int64_t> extent, stride;
        friend bool operator==(const Layout&, const Layout&) = default;
    };
    ir::Type type;
    std::vector<Layout> dims;
    ir::Space space = ir::Space::kGlobal;
    std::int64_t limit = 0;                // arrays
    std::optional<ir::Constant> constant;  // a captured constant, passed on
    friend bool operator==(const ArgumentKey& a, const ArgumentKey& b);
};

// A condition that the annotations of a function put at the front of its body: `if c: pass else:
// fail P231`.
struct DeclaredCheck {
    ir::If* stmt = nullptr;
    bool open = false;  // some call cannot decide it at compile time
};

struct Instance {
    const ir::Function* source = nullptr;
    std::vector<ArgumentKey> key;
    ir::Function* function = nullptr;   // a copy of `source`; for the entry, itself
    std::vector<ir::Var*> inputs;       // its variable for each argument
    std::vector<DeclaredCheck> checks;  // taken from the body
    Webs webs;
    ir::Type result;        // of an element, where arrays are returned
    int result_rank = 0;    // of the returned value
    Span result_span;       // of a return with a value
    Span bare_return_span;  // of a return without
    bool called = false;    // by a function that is part of the result
    bool rewritten = false;
};

// An array passed to a function: `written` flows from callee to caller, `aliased` the other way.
struct ArrayPass {
    ir::Var* from = nullptr;
    ir::Var* to = nullptr;
    Span span;
};

// A requirement of a function on integer arguments: sign * value >= least, where the value is a sum
// of multiples of its parameters.
struct Demand {
    Instance* instance = nullptr;
    ir::ParameterBound value;
    std::int64_t sign = 1;
    std::int64_t least = 0;
    ir::Type type;  // the type that the value must fit; unknown: the requirement is another one
    std::vector<ir::ParameterBound> unless;  // unreachable where one of them holds
    friend bool operator==(const Demand&, const Demand&) = default;
};

// A statement is unreachable where one of these holds. Conditions on anything but integer
// parameters count as true.
struct Reach {
    std::vector<ir::ParameterBound> unless;
    bool certain = true;  // every call reaches the expression, unless it ends before
};

// The integer arguments of a rewritten call; empty for those that are no sums of multiples of the
// caller's parameters.
struct NumberPass {
    Instance* caller = nullptr;
    Instance* callee = nullptr;
    Span span;
    std::vector<std::pair<const ir::Var*, std::optional<ir::ParameterBound>>> numbers;
    Reach reach;
};

class Instances {
public:
    explicit Instances(PassContext& context)
        : element_functions(context.module), context_(context) {}

    Instance& add_entry();
    // The instance of `callee` for these arguments, made on first demand.
    Instance& find_or_make(const ir::Function* callee, std::vector<ArgumentKey> key);

    // A function (array, mask) that returns the elements, or rows, that a mask of `mask_rank`
    // dimensions selects from an array of `rank` dimensions.
    const ir::Function* selection(int rank, int mask_rank, Span span);
    // A function (array, mask, values) that stores the values one by one to the elements, or rows,
    // that a mask selects.
    const ir::Function* placement(int mask_rank, std::optional<ir::Op> update, Span span);

    ElementFunctions element_functions;
    std::deque<Instance> all;
    std::vector<ArrayPass> passes;                            // of the rewritten calls
    std::vector<NumberPass> number_passes;                    // of the rewritten calls
    std::vector<std::pair<Span, std::string>> untyped_calls;  // whose result has no type
    // Calls that return arrays and were moved before their statement.
    struct MovedCall {
        Span span;
        const Instance* callee = nullptr;
        const ir::Stmt* from = nullptr;
    };
    std::vector<MovedCall> moved_calls;
    // Arguments that read elements and were assigned to a name before their statement.
    struct MovedArgument {
        Span span;
        const ir::Var* name = nullptr;
        const ir::Stmt* from = nullptr;
    };
    std::vector<MovedArgument> moved_arguments;
    std::vector<Demand> demands;
    std::unordered_map<const ir::Var*, Span> writes;       // the first store to each array
    std::unordered_map<const ir::Var*, ir::Type> results;  // of values stored to arrays for one

private:
    PassContext& context_;
    std::map<std::pair<int, int>, const ir::Function*> selections_;
    std::map<std::pair<int, std::optional<ir::Op>>, const ir::Function*> placements_;
};

enum class Phase {
    kFind,    // widens the types of variables by those of assigned values
    kNarrow,  // recomputes them from the assigned values, now that all types are known
    kRewrite,
};

class Typer {
public:
    Typer(PassContext& context, Instances& instances, Instance& instance, Phase phase);

    // Returns whether the type of a variable or of the result changed. kRewrite: types all
    // expressions, inserts conversions, reports errors.
    bool run();
    [[nodiscard]] ir::Type result_storage() const { return storage(instance_.result); }

private:
    // ---- statements
    void walk(ir::Body& body);
    void walk(ir::Stmt& stmt, ir::Body& out);
    // Whether `out` has got a replacement of the statement: it gives an array a name (names.cpp).
    bool walk_assign(ir::Assign& stmt, ir::Body& out);
    void refuse_labels(ir::Assign& stmt);
    [[nodiscard]] ir::Var* updated_array(const ir::Assign& stmt) const;
    void update_array(ir::Assign& stmt, ir::Var& array, ir::Body& out);
    void name_array(ir::Assign& stmt, const Operand& value, ir::Op written, ir::Body& out);
    void bind_chosen(const ir::Assign& stmt, ir::Expr* value, const ir::Type& type, ir::Body& out);
    void bind(ir::Assign& stmt, bool fresh, ir::Body& out);
    ir::Bind* bind(ir::Var* name, ir::Expr* value, bool fresh, Span span, ir::Body& out);
    // Whether a value written with this operator is an array of its own, even if typing reduces it
    // to the elements of another one: +x, x.astype(its own type).
    [[nodiscard]] static bool computes(ir::Op written);
    ir::Bind* name_value(ir::Expr*& slot, int rank);
    bool scatter(ir::Store& stmt, int rank, const std::vector<ir::Expr*>& written, ir::Body& out);
    ir::Stmt* rows_fit(ir::Var& values, ir::Expr* count, Span span);
    ir::Expr* spread(ir::Expr* values, const std::vector<ir::Expr*>& sizes, ir::Body& out);
    [[nodiscard]] std::vector<ir::Expr*> cloned(const std::vector<ir::Expr*>& exprs);
    void hold_contraction(ir::Expr*& slot, int rank);
    void hold_broadcast(ir::Expr*& slot, const Operand& operand, int rank);
    void widen_array(ir::Var* var, const ir::Type& type);
    bool walk_store(ir::Store& stmt, ir::Body& out);
    // Subscripts that are masks (masks.cpp).
    [[nodiscard]] Operand typed_copy(const ir::Expr& expr) const;
    struct Mask {
        const ir::Expr* index = nullptr;
        std::size_t at = 0;  // among the subscripts
        int rank = 0;
        int before = 0, behind = 0;  // axes of the other subscripts before it, and behind
        bool leads = false;          // the selected axis is always the first one
    };
    [[nodiscard]] std::optional<Mask> mask_among(const ir::Var& array,
                                                 const std::vector<ir::Expr*>& indices) const;
    [[nodiscard]] ir::Expr* unselected(ir::Var* array, const std::vector<ir::Expr*>& indices,
                                       const Mask& mask, Span span) const;
    [[nodiscard]] ir::Expr* transposed(ir::Expr* array, const std::vector<int>& axes) const;
    Operand walk_selected(ir::Expr*& slot);
    [[nodiscard]] ir::Expr* unmasked(const ir::Expr& value, const Mask& mask) const;
    ir::Expr* with_axes_behind(ir::Expr* mask, int count);
    [[nodiscard]] ir::Expr* where(ir::Expr* mask, ir::Expr* value, ir::Expr* otherwise) const;
    bool store_selected(ir::Store& stmt, ir::Body& out);
    [[nodiscard]] ir::Store* without_mask(const ir::Store& stmt, const Mask& mask, ir::Expr* value);
    struct Unselected {
        ir::Expr* reduce = nullptr;  // the reduction of all elements
        ir::Expr* count = nullptr;   // the number of selected ones
    };
    [[nodiscard]] Unselected without_mask(const ir::Expr& reduce) const;
    Operand walk_reduce_selected(ir::Expr*& slot, Unselected all);
    // Results of the entry (results.cpp).
    bool find_result(ir::Store& stmt, ir::Body& out);
    bool refuses_parts_of_arguments(const ir::Store& stmt);
    bool takes_results_out(ir::Body& body, ir::Body& out);
    void drop_results_of_arrays();
    void walk_for(ir::For& stmt);
    void choose_by_types(ir::If& branch, ir::Body& out);
    std::optional<bool> answer(const ir::Expr& condition);
    Operand walk_types_equal(ir::Expr*& slot);
    void refuse_zero_step(ir::For& stmt);
    // The statements that follow are reached only where the condition is `holds`, or the loop has
    // iterations.
    void assume(const ir::Expr& condition, bool holds);
    void assume(const ir::For& loop);
    void walk_return(ir::Return& stmt);
    void widen(ir::Var* var, const Operand& value);

    // Expressions: return the type of the expression in `slot`; kRewrite: the slot then holds the
    // typed expression, of any rank. `by_numpy`: an operator on Python numbers alone follows NumPy.
    Operand walk(ir::Expr*& slot, bool by_numpy = false);
    Operand walk_value(ir::Expr*& slot);   // a scalar or slices; others are an error and unknown
    Operand walk_scalar(ir::Expr*& slot);  // a scalar; anything else is an error and unknown
    int walk_condition(ir::Expr*& slot);   // a truth value; returns its rank
    void walk_test(ir::Expr*& slot);       // the truth of a scalar
    int walk_index(ir::Expr*& slot, const ir::Var* array);  // returns the rank that it contributes
    int walk_indices(std::vector<ir::Expr*>& indices, const ir::Var* array);  // of the element
    // Refuses an array where a number is needed: `stored_to` is the array of the element that gets
    // it.
    bool needs_scalar(const ir::Expr& expr, int rank, const ir::Var* stored_to = nullptr);
    // `what` names the user of the integers: "range()".
    void walk_integer(ir::Expr*& slot, ir::Scalar scalar, const std::string& what);
    void walk_fail(ir::Fail& stmt);
    Operand walk_transpose(ir::Expr& expr);
    Operand walk_reshape(ir::Expr& expr);
    Operand walk_const(ir::Expr& expr);
    Operand walk_var(ir::Expr*& slot);
    Operand walk_load(ir::Expr& expr);
    Operand walk_reduce(ir::Expr*& slot);
    Operand walk_matmul(ir::Expr*& slot);
    Operand walk_filled(ir::Expr*& slot);
    int check_axes(const ir::Expr& expr, int rank);  // the rank of the reduction's result
    Operand walk_shape(ir::Expr*& slot);
    Operand walk_rank_of_number(ir::Expr*& slot);
    Operand walk_named_shape(ir::Expr*& slot, int axis);
    Operand walk_call(ir::Expr*& slot);
    [[nodiscard]] int rank_of_copy(const ir::Expr& expr) const;
    [[nodiscard]] bool is_array_valued(const ir::Expr& argument) const;
    // The arguments that are arrays, if the call is made for each of their elements; else none.
    [[nodiscard]] std::vector<bool> element_arguments(const ir::Expr& call) const;
    Operand walk_nothing(ir::Expr*& slot);
    Operand named_result(ir::Expr*& slot, const Instance& callee);
    Operand walk_convert(ir::Expr*& slot);
    Operand walk_convert_like(ir::Expr*& slot);
    [[nodiscard]] ir::Type common_type(const ir::Expr& sum) const;
    Operand walk_convert_to(ir::Expr*& slot, ir::Type to);
    Operand walk_logical(ir::Expr*& slot);
    Operand walk_select(ir::Expr*& slot, bool by_numpy);
    Operand walk_operation(ir::Expr*& slot, bool by_numpy);
    Operand walk_numpy(ir::Expr*& slot);
    Operand walk_round(ir::Expr*& slot, bool by_numpy);
    // Operators of kernels written by hand (kernels.cpp).
    static bool is_of_kernels(ir::Op op);
    Operand walk_of_kernels(ir::Expr*& slot);
    Operand walk_register(ir::Expr*& slot);
    Operand walk_atomic(ir::Expr*& slot);
    // Checks the annotations of the called function against these arguments (declared.cpp).
    void check_type(const ir::If& check);
    void check_declared(const ir::Expr& call, const std::vector<ArgumentKey>& key,
                        Instance& callee);
    Operand walk_foreign(ir::Expr*& slot, const std::vector<ArgumentKey>& key);
    [[nodiscard]] ir::Type found_so_far(const Operand& a, const Operand& b) const;
    static bool drop_subscript(const ir::Var* array, std::vector<ir::Expr*>& indices);
    void complete_subscripts(const ir::Var* array, std::vector<ir::Expr*>& indices, Span span);
    bool check_subscripts(const ir::Var* array, const std::vector<ir::Expr*>& indices, Span span);
    bool check_update(const ir::Store& stmt, const ir::Type& result);
    bool check_output(const ir::Store& stmt, const ir::Type& result);
    bool check_exact(const ir::Store& stmt, const ir::Type& value);
    ArgumentKey argument_key(ir::Expr*& slot);
    ArgumentKey named_key(ir::Expr*& slot, const Operand& operand, bool fresh);
    ArgumentKey row_key(ir::Expr*& slot, const ir::Function& callee);

    // ---- rewriting
    [[nodiscard]] bool rewriting() const { return phase_ == Phase::kRewrite; }
    // The operation that `typing` describes on operands already walked.
    ir::Expr* apply(const Typing& typing, ir::Expr* expr, std::span<const Operand> operands);
    ir::Expr* compare_exactly(ir::Op op, ir::Expr* expr);
    ir::Expr* convert(ir::Expr* expr, const ir::Type& from, ir::Type to);
    // Requires sign * value >= least of a sum of multiples of run-time arguments; a call that
    // violates it is compiled for its value, which as a constant is refused or has another type.
    // The same of a variable that is a constant, where every call comes to the expression.
    void require(const ir::Expr& expr, std::int64_t sign, std::int64_t least,
                 const ir::Type& type = {});
    [[nodiscard]] std::optional<ir::ParameterBound> in_parameters(const ir::Expr& expr) const;
    [[nodiscard]] const ir::Expr* only_value(const ir::Var& var) const;
    void refuse_mixed_item(const ir::Expr& chosen);
    void require_exact(const ir::Expr& element);
    void refuse_integer(std::int64_t value, Span span, const ir::Type& type);
    bool refuses_complex(const ir::Type& from, const ir::Type& to, Span span);
    ir::Expr* truth(ir::Expr* expr);
    // Refuses expressions that would have to be evaluated twice and call a function.
    ir::Expr* without_nan(ir::Expr* compared, const Typing& typing);
    bool repeatable(const ir::Expr& expr, std::string_view what);
    // The type in which the value of a Python scalar is stored; strong types are unchanged.
    [[nodiscard]] ir::Type storage(ir::Type type) const;
    [[nodiscard]] ir::Type of_python_size(ir::Type type) const;  // as if it were weak
    void strip_weak_types();
    // The type of the variable itself: the caller passes Python scalars as i64 and f64 in any case.
    [[nodiscard]] ir::Type kept_type(const ir::Var& var) const;
    [[nodiscard]] ir::Scalar index_scalar() const;  // of loop variables and subscripts

    Diagnostic* report(Code code, Span span, std::string message, std::string help = {});
    void report(const Typing& typing, Span span);
    // What Python can run if it makes the calls of functions that give arrays.
    void refuse_call(Code code, Span span, std::string message, std::string help);

    PassContext& context_;
    Instances& instances_;
    Instance& instance_;
    const Phase phase_;
    bool changed_ = false;
    Reach reach_;                                                // of the statement that is walked
    std::unordered_map<const ir::Var*, const ir::Expr*> parts_;  // of arrays, by name
    const ir::Expr* named_ = nullptr;                            // a value that gets a name
    std::unordered_map<const ir::Var*, std::string> returned_;   // names of results, by function
    const ir::Stmt* stmt_ = nullptr;                             // the statement that is walked
    ir::Body* before_ = nullptr;  // gets statements that must run before this one; null: none may
    // In a choice between two values: gets statements that may run before this one.
    ir::Body* around_choice_ = nullptr;
    ir::Body* ahead_ = nullptr;  // the same for names of parts of arrays
    std::unordered_map<ir::Var*, ir::Type> narrowed_;
    ir::Type narrowed_result_;
    std::unordered_map<ir::Var*, ir::Type> results_;  // in this walk
    std::unordered_map<ir::Var*, ir::Type> result_type_;
};

// Passes the requirements of functions on their parameters on to the callers, up to the entry.
void settle_demands(PassContext& context, Instances& instances);

// Decides conditions that depend only on the back end and the types of the arguments, and drops the
// branches that are not taken.
void fold_static(PassContext& context, ir::Function& function);

// Whether the statement is a DeclaredCheck's; whether that checks the type of a number.
bool is_declared_check(const ir::Module& module, const ir::Stmt& stmt);
bool asks_for_number(const ir::Stmt& check);
// Whether it checks a type that is known when those of variables are.
bool asks_for_type(const ir::Stmt& check);
// Whether the condition is made of comparisons of types alone.
bool asks_for_types(const ir::Expr& condition);
// Removes the checks at the front of the function; puts back those left to run time.
std::vector<DeclaredCheck> take_declared_checks(const ir::Module& module, ir::Function& function);
void put_open_checks(ir::Module& module, Instance& instance);

// Reports once, however many instances of a function have the mistake.
Diagnostic* report_once(Diagnostics& diagnostics, Code code, Span span, std::string message,
                        std::string help);

}  // namespace parpy
