// The one intermediate representation. Stages of the pipeline differ by verifier profile
// (verify.h), not by node types. Nodes are owned by their Module and referred to by plain pointers;
// the tree invariant is that a node has exactly one parent (clone.h makes a copy for a second
// place), while all uses share one Var or Function.
#pragma once

#include <complex>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/site.h"
#include "ir/type.h"
#include "support/span.h"

namespace parpy::ir {

struct Expr;
struct Stmt;
struct Function;
using Body = std::vector<Stmt*>;

enum class Op : std::uint8_t {
#define OP(enumerator, ...) enumerator,
#include "ir/ops.def"
#undef OP
};

enum class TypeRule : std::uint8_t {
    kLeaf,
    kSame,
    kFloat,
    kDivide,
    kInteger,
    kCompare,
    kPredicate,
    kLogical,
    kSpecial,
};
[[nodiscard]] std::string_view text(Op op);
[[nodiscard]] int arity(Op op);
[[nodiscard]] TypeRule rule(Op op);
[[nodiscard]] std::optional<Op> op_from_text(std::string_view text);

// ---------------------------------------------------------------- variables

// One dimension of an array: a compile-time constant, or a scalar parameter that holds it at run
// time. Strides count elements and may be zero or negative.
struct Dim {
    std::optional<std::int64_t> extent;
    std::optional<std::int64_t> stride;
    struct Var* extent_var = nullptr;  // set where `extent` is empty
    struct Var* stride_var = nullptr;  // set where `stride` is empty
};

enum class Space : std::uint8_t {
    kGlobal,   // an argument's memory
    kLocal,    // made by Alloc, private to the thread that runs it
    kShared,   // made by Alloc, one per thread block
    kScratch,  // made by Alloc in host code: memory for the duration of the call, on a device of
               // zeros, on a CPU of any values
    kResult,   // made by Alloc in host code: the array returned for the argument in Var::origin
    kDynamic,  // made by Alloc, one per thread block, all of them at the start of the launch's
               // dynamic shared memory
    kWork,    // made by Alloc in host code of the CPU: memory of any values for the duration of the
              // call, aligned for vectors
    kZeroed,  // made by Alloc in host code of the CPU: memory of zeros for the duration of the call
};

// Made by Alloc in host code: kernels and workers receive its address, like an argument's.
[[nodiscard]] constexpr bool is_made_by_host(Space space) {
    return space == Space::kScratch || space == Space::kResult || space == Space::kWork ||
           space == Space::kZeroed;
}

// The source of an entry parameter's value (specialize_arguments): the argument's pointer or scalar
// itself, or one of its run-time extents or strides.
struct Origin {
    enum class Kind : std::uint8_t { kNone, kArgument, kExtent, kStride };
    Kind kind = Kind::kNone;
    std::size_t argument = 0;
    int dimension = 0;
};

struct Var {
    std::string name;       // unique in its function
    std::string user_name;  // the user's name, if it differs: `i` of `i_1`
    Type type;
    Span span;
    std::vector<Dim> dims;         // arrays: one per dimension once specialised
    Space space = Space::kGlobal;  // arrays
    bool written = false;          // arrays that are parameters: set by infer_types
    Origin origin;                 // entry parameters
    bool aliased = false;  // may overlap another parameter, or itself (analysis/memory/sharing.h)
    std::optional<Placement> placement;  // entry parameters that are aliased, where known
    bool wide = false;                   // integer entry parameters: may have any value of the type
    // Integer parameters and arrays: the greatest magnitude of a value, extent, stride or distance
    // of elements (in elements); 0 where none is known.
    std::int64_t limit = 0;
    // Integer parameters: a value of the usual magnitude, for estimates; 0: not known.
    std::int64_t typical = 0;
    // Sizes of names (lower_names): the value wherever the variable is read, as an expression of
    // parameters and outer loops' variables; sizes with the same expression are equal.
    struct Expr* meaning = nullptr;
    // The name to show in messages.
    [[nodiscard]] const std::string& shown() const { return user_name.empty() ? name : user_name; }
    // A constant known at specialisation: the value of a scalar parameter or of a captured global.
    std::optional<struct Constant> constant_value() const;
    std::shared_ptr<struct Constant> constant;
};

// ---------------------------------------------------------------- expressions

// The value of a kConst. Unsigned 64-bit integers are stored as the same bits.
struct Constant {
    std::variant<bool, std::int64_t, double, std::complex<double>> value;
    friend bool operator==(const Constant&, const Constant&) = default;
};
inline std::optional<Constant> Var::constant_value() const {
    return constant ? std::optional<Constant>(*constant) : std::nullopt;
}

// The registers of kRegister. All are i32, except the two of the stack, which are i64: where the
// thread's next frame begins, and the lowest address where one may begin.
enum class Register : std::uint8_t {
    kThreadX,
    kThreadY,
    kThreadZ,
    kBlockX,
    kBlockY,
    kBlockZ,
    kBlockDimX,
    kBlockDimY,
    kBlockDimZ,
    kGridDimX,
    kGridDimY,
    kGridDimZ,
    kLane,
    kWarp,
    kWarpSize,
    kStackPointer,
    kStackLimit,
};
[[nodiscard]] Scalar type_of(Register reg);

// The `index` of a kAtomic. Each replaces the element by a function of the element and the given
// value. kIncrement and kDecrement wrap at the value; kCompareSwap stores its second value if the
// element equals the first. kMin and kMax do not change the element if it or the value is NaN;
// kNanMin and kNanMax, for floats only, replace a NaN by the value.
enum class Atomic : int {
    kAdd,
    kSub,
    kMin,
    kMax,
    kNanMin,
    kNanMax,
    kAnd,
    kOr,
    kXor,
    kExchange,
    kIncrement,
    kDecrement,
    kCompareSwap,
};
[[nodiscard]] std::string_view text(Atomic atomic);
[[nodiscard]] std::optional<Atomic> atomic_from_text(std::string_view text);
// The number of operands after the subscripts.
[[nodiscard]] constexpr std::size_t value_count(Atomic atomic) {
    return atomic == Atomic::kCompareSwap ? 2 : 1;
}

// The operands of a kSlice that are present, by its `index`: begin, end or length, step. A slice
// with a length has that many elements, from `begin` on, counted from the start, all in the array.
enum SliceBound : int { kSliceBegin = 1, kSliceEnd = 2, kSliceStep = 4, kSliceLength = 8 };

// The `index` of a kReduce; its `constant` is true if the reduced axes stay, with size 1. The
// operand has the type that the reduction computes in: bool for kAny and kAll, a float for kMean.
enum class SliceReduction : int { kSum, kProd, kMin, kMax, kAny, kAll, kMean };
[[nodiscard]] std::string_view text(SliceReduction reduction);
[[nodiscard]] std::optional<SliceReduction> slice_reduction_from_text(std::string_view text);

// The `index` of a kCall that inline_calls replaces by the body of its callee.
inline constexpr int kInlineCall = 1;

// The `index` of a kMatMul from np.dot, which differs from `@` if the second operand has more than
// two dimensions.
inline constexpr int kDotProduct = 1;

struct Expr {
    Op op{};
    Type type;
    Span span;
    std::vector<Expr*> operands;
    Constant constant{};  // kConst, kReduce; surface kExtent: the rank demanded, if an integer
    Var* var = nullptr;   // kVar, kLoad, kExtent, kArray, kAtomic
    // kExtent, kSlice, kReduce, kAtomic; surface kCall: kInlineCall or 0; kMatMul: kDotProduct or
    // 0; kFunction: the number of operands that are defaults; kIndex: 0, or one more than the
    // number of the site that reports a subscript outside of a named part
    int index = 0;
    Register reg{};                           // kRegister
    Function* callee = nullptr;               // kCall, kFunction
    std::shared_ptr<const std::string> text;  // kText, kNamed, kField
    // kAtomic: the number of operands that are subscripts.
    [[nodiscard]] std::size_t rank() const {
        return operands.size() - value_count(static_cast<Atomic>(index));
    }
};

// ---------------------------------------------------------------- statements

enum class StmtKind : std::uint8_t {
    kAssign,
    kBind,
    kStore,
    kFor,
    kWhile,
    kIf,
    kBreak,
    kContinue,
    kReturn,
    kEvaluate,
    kAssert,
    kFail,
    kPrint,
    kGpu,
    kAlloc,
    kBarrier,
    kLaunch,
    kFetch,
};

struct Stmt {
    const StmtKind kind;
    Span span;
    std::vector<std::string> labels;  // parpy.label before this statement, in order

    explicit Stmt(StmtKind k) : kind(k) {}
    virtual ~Stmt() = default;
    Stmt(const Stmt&) = default;
    Stmt& operator=(const Stmt&) = delete;

    template <class T>
    [[nodiscard]] T* as() {
        return kind == T::kKind ? static_cast<T*>(this) : nullptr;
    }
    template <class T>
    [[nodiscard]] const T* as() const {
        return kind == T::kKind ? static_cast<const T*>(this) : nullptr;
    }
};

template <StmtKind K>
struct StmtOf : Stmt {
    static constexpr StmtKind kKind = K;
    StmtOf() : Stmt(K) {}
};

// var = value, or var <update>= value. `update` is kept until the back end's legalise pass, because
// reductions are recognised by it. An update is computed in the type of its value, which for floats
// and complex numbers may be wider than the target's (is_wider), and rounded afterwards.
struct Assign : StmtOf<StmtKind::kAssign> {
    Var* var = nullptr;
    std::optional<Op> update;
    Expr* value = nullptr;
};

// From here on `array`, which is no parameter, is another name of the elements of `value`
// (is_view), or new memory with the values of `value`. Gone after lower_names.
struct Bind : StmtOf<StmtKind::kBind> {
    Var* array = nullptr;
    Expr* value = nullptr;
    bool fresh = false;
    bool spare = false;  // fresh and used once: the use may be replaced by the value
};

// array[indices] = value, or array[indices] <update>= value; evaluates indices once.
struct Store : StmtOf<StmtKind::kStore> {
    Var* array = nullptr;
    std::vector<Expr*> indices;
    std::optional<Op> update;
    Expr* value = nullptr;
    bool atomic = false;
    // Until types are known: the type of the elements must hold every such value exactly.
    bool exact = false;
    // Kernels: the number of consecutive elements, from the one that `value` loads on, that are
    // copied to shared memory while the thread goes on. They are present after a kCopies barrier
    // that waits for them. 0: an ordinary store.
    std::int64_t copied = 0;
};

// How a loop runs; the zero value: sequentially, on the thread that reaches it.
enum class Level : std::uint8_t {
    kSequential,
    kBlocks,   // CUDA: iterations are spread over thread blocks (after map_loops)
    kThreads,  // CUDA: over the threads of a block, or of the blocks of one nest level
    kWorkers,  // CPU: over the worker threads
    kVector,   // CPU: over SIMD lanes
};

struct Reduction {
    Op op{};                     // kAdd kMul kMin kMax kAnd kOr kBitAnd kBitOr kBitXor, kMinimum, …
    Var* var = nullptr;          // the scalar, or the array whose element is reduced
    std::vector<Expr*> indices;  // arrays: the element's subscripts (own copies)
};

struct LoopMapping {
    std::int64_t threads = 0;  // requested by the user; 0: sequential
    std::int64_t threads_per_block = 1024;
    bool reduce = false;  // requested or inferred
    Level level = Level::kSequential;
    std::int64_t blocks = 1;  // kThreads above threads_per_block: blocks of this level
    bool unroll = false;      // unrolled completely: a sequential loop of few, constant trips
    // Sequential: the share of one thread or block in a parallel loop, whose iterations may run in
    // any order, and at once. The variable can count two steps beyond either end.
    bool share = false;
    std::vector<Reduction> reductions;  // found by infer_reductions
    [[nodiscard]] bool parallel() const { return threads > 0; }
};

// for var in range(begin, end, step). begin, end and step are evaluated once, before the loop.
// After normalize_loops the body does not assign var and nothing after the loop reads it.
struct For : StmtOf<StmtKind::kFor> {
    Var* var = nullptr;
    Expr* begin = nullptr;
    Expr* end = nullptr;
    Expr* step = nullptr;  // never a constant zero
    Body body;
    LoopMapping mapping;
    // Nanoseconds of an iteration, an f64 that is known before the loop; null: not estimated. Only
    // the division of iterations among workers uses it.
    Expr* cost = nullptr;
    // Arrays to which no two iterations store one element, although subscripts do not show it: the
    // pass that made the loop knows. Until check_legality has judged the loop.
    std::vector<Var*> disjoint;
    // Host code of a device program: the note, in Module::sites, that a call launches many kernels
    // from this loop, whose iterations are independent (note_host_loops).
    std::optional<std::size_t> noted;
};

struct While : StmtOf<StmtKind::kWhile> {
    Expr* condition = nullptr;
    Body body;
};
struct If : StmtOf<StmtKind::kIf> {
    Expr* condition = nullptr;
    Body then_body, else_body;
};
struct Break : StmtOf<StmtKind::kBreak> {};
struct Continue : StmtOf<StmtKind::kContinue> {};
struct Return : StmtOf<StmtKind::kReturn> {
    Expr* value = nullptr;
};  // value may be null
struct Evaluate : StmtOf<StmtKind::kEvaluate> {
    Expr* value = nullptr;
};  // a call for its effects
struct Assert : StmtOf<StmtKind::kAssert> {
    Expr* condition = nullptr;
    std::string message;
};
// Ends the call with the error of Module::sites[site]; its texts refer to `values` by number.
struct Fail : StmtOf<StmtKind::kFail> {
    std::size_t site = 0;
    std::vector<Expr*> values;  // i64
};
// print(…) on the device: texts[0] values[0] texts[1] … and a last text.
struct Print : StmtOf<StmtKind::kPrint> {
    std::vector<std::string> texts;
    std::vector<Expr*> values;
};
// with parpy.gpu: one thread runs the body. In a kernel written by hand, all threads of the grid
// run it; no other statement of the entry may then touch arrays.
struct Gpu : StmtOf<StmtKind::kGpu> {
    Body body;
    Expr* grid[3] = {};  // all or none
    Expr* block[3] = {};
    Expr* shared_bytes = nullptr;
    [[nodiscard]] bool by_hand() const { return grid[0] != nullptr; }
};

// Makes `array` (not a parameter; its dims are known), which lives as long as the enclosing body.
struct Alloc : StmtOf<StmtKind::kAlloc> {
    Var* array = nullptr;
};

// kWarp, kBlock, kGrid: all threads of the scope wait for each other and see each other's stores.
// kDevice: no wait; stores before it are visible to the whole device before stores after it.
// kBlockMemory, kSystemMemory: the same for the threads of the block, and for the host as well.
// kStream: the kernels launched before this one have ended (Launch::overlapped).
// kGroup: the thread's copies (Store::copied) since its last kGroup become a group.
// kCopies: waits for all groups of the thread but the last `pending` ones.
enum class BarrierScope : std::uint8_t {
    kWarp,
    kBlock,
    kGrid,
    kDevice,
    kBlockMemory,
    kSystemMemory,
    kStream,
    kGroup,
    kCopies,
};
struct Barrier : StmtOf<StmtKind::kBarrier> {
    BarrierScope scope = BarrierScope::kBlock;
    std::int64_t pending = 0;
};

// Runs `kernel` from host code. CUDA: grid × block threads. CPU: workers run chunks of the
// `iterations` of the outermost parallel loop.
struct Launch : StmtOf<StmtKind::kLaunch> {
    Function* kernel = nullptr;
    std::vector<Expr*> arguments;  // one per kernel parameter; arrays as kArray
    // CPU. The kernel's last three parameters are i64 begin, end and chunk, for which `arguments`
    // has no elements.
    Expr* iterations = nullptr;
    Var* chunks = nullptr;  // i64, set before the launch to parpy_chunks(iterations, cost, …)
    Expr* cost = nullptr;   // f64, estimated nanoseconds of one iteration
    std::int64_t max_workers = 0;  // the user's threads(n); 0: no bound
    // CUDA
    Expr* grid[3] = {};  // null means 1
    Expr* block[3] = {};
    std::int64_t cluster[3] = {1, 1, 1};  // blocks that run at the same time and may read each
                                          // other's shared memory
    Expr* shared_bytes = nullptr;         // null means 0
    bool overlapped = false;  // may start before the work launched earlier ends; the kernel itself
                              // waits for it
    std::optional<std::size_t> noted;  // as the outermost For::noted around it
};

// Host code of a device program: waits until the kernels launched so far end, then sets `var` to
// the first element of the scratch `array`. Module::sites[site] says which code needs it.
struct Fetch : StmtOf<StmtKind::kFetch> {
    Var* var = nullptr;
    Var* array = nullptr;
    std::size_t site = 0;
};

// ---------------------------------------------------------------- functions and modules

enum class FunctionKind : std::uint8_t {
    kEntry,    // the function that Python calls; host code once kernels are outlined
    kHelper,   // another jit function, called from the entry or from kernels
    kKernel,   // device code started by a Launch
    kForeign,  // device code that is linked in: no body, the types of the parameters are given
};

// How a kForeign function returns its result: as C functions do, or through a pointer that is the
// first parameter (the function itself returns an int status) or the last (it returns nothing).
enum class ForeignAbi : std::uint8_t { kC, kResultFirst, kResultLast };

struct Function {
    std::string name;
    FunctionKind kind = FunctionKind::kHelper;
    bool part = false;  // an entry that is a part of a function; Python runs the rest
    ForeignAbi abi = ForeignAbi::kC;
    std::string
        target;  // kForeign: the one back end that has it, "cuda", "cpu" or "metal"; or empty
    std::int64_t threads = 0;  // kForeign: threads of a block that make each call; 0: one
    Span span;
    std::vector<Var*> params;
    Type result = Type::unknown();
    // Entry: how its Python result is made from the results. "." is a number or an array, "-" is
    // None, "?" is a number or None, which are two results: the number, and whether it is present;
    // "(…)" is a tuple, "<2>(…)" a named tuple of the class with this number; empty: it returns
    // nothing.
    std::string result_form;
    // Entry: pairs (result, argument), by number (Origin), of results that are arguments, or
    // earlier results of the same return.
    std::vector<std::pair<std::size_t, std::size_t>> given;
    Body body;
};

// sum coefficient * parameter + constant >= 0, on integer parameters of the entry.
struct ParameterBound {
    std::vector<std::pair<const Var*, std::int64_t>> terms;
    std::int64_t constant = 0;
    friend bool operator==(const ParameterBound&, const ParameterBound&) = default;
};
// A disjunction.
using Requirement = std::vector<ParameterBound>;

// Owns every node of one program. A surface module is made once per decorated function and never
// changed afterwards; each specialisation works on a clone.
class Module {
public:
    Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    Module(Module&&) = default;
    Module& operator=(Module&&) = default;

    std::vector<Source> sources;
    std::vector<Function*> functions;  // in order of definition; the entry is functions[entry]
    std::size_t entry = 0;
    // The conditions on calls that passes found for run-time arguments. A call that violates one is
    // compiled for its own values. A requirement without alternatives is never satisfied.
    std::vector<Requirement> requirements;
    std::vector<Site> sites;  // of the Fail statements, and of accesses that they name

    [[nodiscard]] Function* entry_function() const { return functions.at(entry); }

    Var* make_var(std::string name, Type type, Span span = {});
    Var* make_like(const Var& var);  // a new variable with its names, type and span
    Function* make_function(std::string name, FunctionKind kind, Span span = {});  // and appends it
    Expr* make_expr(Op op, Type type, Span span, std::vector<Expr*> operands = {});
    template <class T>
    T* make(Span span = {}) {
        T* node = copy(T{});
        node->span = span;
        return node;
    }
    // A shallow copy: the caller must replace the nodes that both share by copies (clone.h does).
    template <class T>
    T* copy(const T& from) {
        auto node = std::make_unique<T>(from);
        T* raw = node.get();
        stmts_.push_back(std::move(node));
        return raw;
    }

private:
    std::deque<Var> vars_;
    std::deque<Expr> exprs_;
    std::deque<std::unique_ptr<Stmt>> stmts_;
    std::deque<std::unique_ptr<Function>> owned_functions_;
};

}  // namespace parpy::ir
