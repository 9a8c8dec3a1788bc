// The reference interpreter (eval.h): statements, variables, memory. Operators are in ops.cpp.
#include "ir/eval/eval.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "ir/eval/frame.h"
#include "ir/eval/ops.h"
#include "ir/eval/slices.h"
#include "ir/eval/tiles.h"
#include "ir/ops.h"
#include "ir/tile.h"
#include "ir/visit.h"

namespace parpy::ir {
namespace {

enum class Flow { kNext, kBreak, kContinue, kReturn, kStop };  // kStop: an error was reported

class Interpreter {
public:
    Interpreter(const Module& module, const EvalOptions& options)
        : options_(options), module_(module) {}

    EvalResult run(std::span<const EvalArgument> arguments) {
        const Function& entry = *module_.entry_function();
        EvalResult result;
        result.value = call(entry, {arguments.begin(), arguments.end()}, entry.span);
        result.error = std::move(error_.message);
        result.span = error_.span;
        result.failure = std::move(failure_);
        return result;
    }

private:
    // ------------------------------------------------------------ errors

    void fail(Span span, std::string message) { error_.report(span, std::move(message)); }
    [[nodiscard]] bool failed() const { return error_.any(); }

    // ------------------------------------------------------------ calls

    static constexpr int kMaxDepth = 500;

    std::optional<Constant> call(const Function& function, std::vector<EvalArgument> arguments,
                                 Span span) {
        if (depth_ >= kMaxDepth) {
            fail(span, "calls of '" + function.name + "' are nested too deeply");
            return std::nullopt;
        }
        Frame frame(error_);
        frame.enter(function, std::move(arguments), span);
        if (failed()) return std::nullopt;
        for_each_stmt(function.body, [&](const Stmt& s) {
            const auto* launch = s.as<Launch>();
            if (launch != nullptr && launch->chunks != nullptr) {
                frame.set(*launch->chunks, Constant{options_.chunks});
            }
        });
        ++depth_;
        body(frame, function.body);
        --depth_;
        return frame.result;
    }

    // ------------------------------------------------------------ statements

    Flow body(Frame& frame, const Body& statements) {
        for (const Stmt* s : statements) {
            if (++steps_ > options_.max_steps) {
                fail(s->span, "the program ran for too long");
            }
            const Flow flow = stmt(frame, *s);
            if (failed()) {
                return Flow::kStop;
            }
            if (flow != Flow::kNext) {
                return flow;
            }
        }
        return Flow::kNext;
    }

    Flow stmt(Frame& frame, const Stmt& s) {
        switch (s.kind) {
            case StmtKind::kAssign:
                assign(frame, *s.as<Assign>());
                break;
            case StmtKind::kBind:
                bind(frame, *s.as<Bind>());
                break;
            case StmtKind::kStore:
                store(frame, *s.as<Store>());
                break;
            case StmtKind::kFor:
                return loop(frame, *s.as<For>());
            case StmtKind::kWhile:
                return loop(frame, *s.as<While>());
            case StmtKind::kIf: {
                const auto& branch = *s.as<If>();
                const bool taken = truth(expr(frame, *branch.condition));
                return failed() ? Flow::kStop
                                : body(frame, taken ? branch.then_body : branch.else_body);
            }
            case StmtKind::kBreak:
                return Flow::kBreak;
            case StmtKind::kContinue:
                return Flow::kContinue;
            case StmtKind::kReturn:
                if (const Expr* value = s.as<Return>()->value) {
                    frame.result = expr(frame, *value);
                }
                return Flow::kReturn;
            case StmtKind::kEvaluate: {
                const Expr& value = *s.as<Evaluate>()->value;
                if (value.op == Op::kCall) {
                    static_cast<void>(call(frame, value));
                } else {
                    static_cast<void>(expr(frame, value));
                }
                break;
            }
            case StmtKind::kAssert:
                if (!truth(expr(frame, *s.as<Assert>()->condition))) {
                    fail(s.span, "assertion failed: " + s.as<Assert>()->message);
                }
                break;
            case StmtKind::kFail:
                raise(frame, *s.as<Fail>());
                break;
            case StmtKind::kPrint:
                fail(s.span, "print cannot be interpreted");
                break;
            case StmtKind::kGpu:
                if (s.as<Gpu>()->by_hand()) {
                    fail(s.span, "kernels of CUDA programs cannot be interpreted");
                    break;
                }
                return body(frame, s.as<Gpu>()->body);
            case StmtKind::kAlloc:
                allocate(frame, *s.as<Alloc>()->array, s.span);
                break;
            case StmtKind::kBarrier:
                break;
            case StmtKind::kLaunch:
                launch(frame, *s.as<Launch>());
                break;
            case StmtKind::kFetch: {
                const auto& fetch = *s.as<Fetch>();
                if (const std::byte* place = element(frame, *fetch.array, {}, 0, s.span))
                    frame.set(*fetch.var, load_element(fetch.var->type.scalar, place));
                break;
            }
        }
        return Flow::kNext;
    }

    void raise(Frame& frame, const Fail& s) {
        std::vector<std::int64_t> values;
        for (const Expr* value : s.values) {
            values.push_back(integer(expr(frame, *value)));
        }
        if (!failed()) {
            failure_ = describe(module_.sites, s.site, values);
            const bool unsaid = failure_->message.empty();  // its values are its arguments
            fail(failure_->span, unsaid ? failure_->exception : failure_->message);
        }
    }

    void assign(Frame& frame, const Assign& s) {
        Constant value = expr(frame, *s.value);
        if (s.update) {
            value = updated(s.var->type.scalar, *s.update, frame.read(*s.var, s.span), value,
                            s.value->type.scalar, s.span);
        }
        frame.set(*s.var, std::move(value));
    }

    void bind(Frame& frame, const Bind& s) {
        if (!s.fresh) {
            if (auto view = view_of_slices(slices(frame), *s.value)) {
                frame.set(*s.array, std::move(*view));
            }
            return;
        }
        const SliceValues made = values_of_slices(slices(frame), *s.value);
        if (failed()) return;
        const Scalar element = s.array->type.scalar;
        const auto bytes = static_cast<std::size_t>(size_in_bytes(element));
        ArrayView view{
            memory_
                .emplace_back(std::make_unique<std::vector<std::byte>>(made.values.size() * bytes))
                ->data(),
            element, made.extents, made.extents};
        std::int64_t stride = 1;
        for (std::size_t i = made.extents.size(); i-- > 0;) {
            view.strides[i] = stride;
            stride *= made.extents[i];
        }
        std::byte* place = static_cast<std::byte*>(view.data);
        for (const Constant& value : made.values) {
            store_element(element, place, value);
            place += bytes;
        }
        frame.set(*s.array, std::move(view));
    }

    // How the evaluator of slices reaches variables and memory.
    SliceHost slices(Frame& frame) {
        return {[&](const Expr& e) { return expr(frame, e); },
                [&](const Var& var, Span span) { return frame.array(var, span); },
                [&](const Expr& e, std::span<const Constant> operands) {
                    const std::size_t typed = e.op == Op::kSelect ? 1 : 0;
                    return apply(e.op, e.operands[typed]->type.scalar, e.type.scalar, operands,
                                 e.span);
                },
                [&](const Store& s, Constant old, Constant value) {
                    const Scalar type = s.array->type.scalar;
                    return apply(*s.update, type, type, {old, value}, s.span);
                },
                [&](Span span, std::string message) { fail(span, std::move(message)); },
                [&] { return failed(); }};
    }

    // Python's order: the right-hand side first, or for an update the element first.
    void store(Frame& frame, const Store& s) {
        if (std::ranges::any_of(s.indices, [](const Expr* e) { return is_of_slices(e->op); })) {
            store_slices(slices(frame), s);
            return;
        }
        Constant value;
        if (!s.update) {
            value = expr(frame, *s.value);
        }
        std::byte* place = element(frame, *s.array, s.indices, s.indices.size(), s.span);
        if (place == nullptr) {
            return;
        }
        const Scalar type = s.array->type.scalar;
        if (s.update) {
            const Constant old = load_element(type, place);
            value =
                updated(type, *s.update, old, expr(frame, *s.value), s.value->type.scalar, s.span);
        }
        if (!failed()) {
            store_element(type, place, value);
        }
    }

    Flow loop(Frame& frame, const For& s) {
        using Wide = __int128;  // wide enough for the end of every 64-bit range
        const auto bound = [&](const Expr& e) {
            const std::int64_t value = integer(expr(frame, e));
            return e.type.is(Scalar::kU64) ? static_cast<Wide>(static_cast<std::uint64_t>(value))
                                           : static_cast<Wide>(value);
        };
        const Wide begin = bound(*s.begin);
        const Wide end = bound(*s.end);
        const Wide step = bound(*s.step);
        if (!failed() && step == 0) {
            fail(s.span, "the step of a loop is zero");
        }
        for (Wide i = begin; !failed() && (step > 0 ? i < end : i > end); i += step) {
            frame.set(*s.var, convert_constant(Constant{static_cast<std::int64_t>(i)}, Scalar::kI64,
                                               s.var->type.scalar));
            if (const auto flow = ended_by(frame, s.body, s.span)) return *flow;
        }
        return failed() ? Flow::kStop : Flow::kNext;
    }

    Flow loop(Frame& frame, const While& s) {
        while (truth(expr(frame, *s.condition)) && !failed()) {
            if (const auto flow = ended_by(frame, s.body, s.span)) return *flow;
        }
        return failed() ? Flow::kStop : Flow::kNext;
    }

    // Runs one iteration; returns how the loop continues if the iteration ends it.
    std::optional<Flow> ended_by(Frame& frame, const Body& iteration, Span span) {
        if (++steps_ > options_.max_steps) {
            fail(span, "the program ran for too long");
        }
        const Flow flow = body(frame, iteration);
        if (failed() || flow == Flow::kStop) return Flow::kStop;
        if (flow == Flow::kBreak) return Flow::kNext;
        return flow == Flow::kReturn ? std::optional(flow) : std::nullopt;
    }

    // Scratch memory is zero; other memory holds a pattern, so that no program relies on it.
    void allocate(Frame& frame, const Var& array, Span span) {
        ArrayView view;
        view.element = array.type.scalar;
        std::int64_t elements = 1;
        for (const Dim& dim : array.dims) {
            view.extents.push_back(frame.size(dim.extent, dim.extent_var, span));
            view.strides.push_back(frame.size(dim.stride, dim.stride_var, span));
            elements += (view.extents.back() - 1) * view.strides.back();
        }
        constexpr std::int64_t kLimit = std::int64_t{1} << 30;
        if (failed() || elements < 0 || elements > kLimit) {
            fail(span, "array '" + array.name + "' cannot be allocated");
            return;
        }
        const std::size_t bytes = static_cast<std::size_t>(elements) *
                                  static_cast<std::size_t>(size_in_bytes(view.element));
        const auto fill = static_cast<std::byte>(array.space == Space::kZeroed ? 0 : 0x5A);
        view.data =
            memory_.emplace_back(std::make_unique<std::vector<std::byte>>(bytes, fill))->data();
        frame.set(array, std::move(view));
    }

    // Splits the iterations as the run-time system does: consecutive chunks, longer ones first.
    void launch(Frame& frame, const Launch& s) {
        if (s.iterations == nullptr) {
            fail(s.span, "kernels of CUDA programs cannot be interpreted");
            return;
        }
        const std::int64_t iterations = integer(expr(frame, *s.iterations));
        std::vector<EvalArgument> arguments = values(frame, s.arguments, s.arguments.size());
        const std::int64_t chunks = s.chunks != nullptr ? options_.chunks : 1;
        std::int64_t begin = 0;
        for (std::int64_t chunk = 0; chunk < chunks && !failed(); ++chunk) {
            const std::int64_t length = iterations / chunks + (chunk < iterations % chunks ? 1 : 0);
            std::vector<EvalArgument> all = arguments;
            for (const std::int64_t value : {begin, begin + length, chunk}) {
                all.emplace_back(Constant{value});
            }
            static_cast<void>(call(*s.kernel, std::move(all), s.span));
            begin += length;
        }
    }

    // ------------------------------------------------------------ memory

    // The address of array[indices[0 … count)]; null after an error.
    std::byte* element(Frame& frame, const Var& var, const std::vector<Expr*>& indices,
                       std::size_t count, Span span) {
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Constant index = expr(frame, *indices[i]);
            const ArrayView* view = frame.array(var, span);
            if (failed() || i >= view->extents.size()) {
                fail(span, "array '" + var.name + "' has too many subscripts");
                return nullptr;
            }
            const std::int64_t extent = view->extents[i];
            std::int64_t at = integer(index);
            if (at < 0 && options_.profile < Profile::kLoops) {
                at += extent;
            }
            if (at < 0 || at >= extent) {
                fail(span, "subscript " + std::to_string(integer(index)) + " of '" + var.name +
                               "' is out of bounds for an extent of " + std::to_string(extent));
                return nullptr;
            }
            offset += at * view->strides[i];
        }
        const ArrayView* view = frame.array(var, span);
        return view == nullptr
                   ? nullptr
                   : static_cast<std::byte*>(view->data) + offset * size_in_bytes(view->element);
    }

    // ------------------------------------------------------------ expressions

    static bool truth(const Constant& value) {
        const bool* flag = std::get_if<bool>(&value.value);
        return flag != nullptr && *flag;
    }

    // `old op= value`, computed in the type of the value.
    Constant updated(Scalar type, Op op, const Constant& old, const Constant& value, Scalar in,
                     Span span) {
        if (in == type) return apply(op, type, type, {old, value}, span);
        const Constant wide = apply(Op::kConvert, type, in, {old}, span);
        return apply(Op::kConvert, in, type, {apply(op, in, in, {wide, value}, span)}, span);
    }

    Constant apply(Op op, Scalar operand, Scalar result, std::initializer_list<Constant> operands,
                   Span span) {
        return apply(op, operand, result, std::span(operands.begin(), operands.size()), span);
    }

    Constant apply(Op op, Scalar operand, Scalar result, std::span<const Constant> operands,
                   Span span) {
        if (failed()) {
            return {};
        }
        auto value = evaluate_op(op, operand, result, operands);
        if (!value) {
            fail(span, "operator '" + std::string(text(op)) + "' is not defined on " +
                           std::string(name(operand)));
            return {};
        }
        return *value;
    }

    // The values of the expressions: scalars as constants, arrays as views.
    std::vector<EvalArgument> values(Frame& frame, const std::vector<Expr*>& expressions,
                                     std::size_t count) {
        std::vector<EvalArgument> out;
        for (std::size_t i = 0; i < count; ++i) {
            const Expr& e = *expressions[i];
            if (e.op == Op::kArray) {
                const ArrayView* view = frame.array(*e.var, e.span);
                out.emplace_back(view != nullptr ? EvalArgument(*view) : EvalArgument(Constant{}));
            } else {
                out.emplace_back(expr(frame, e));
            }
        }
        return out;
    }

    std::optional<Constant> call(Frame& frame, const Expr& e) {
        std::vector<EvalArgument> arguments = values(frame, e.operands, e.operands.size());
        return failed() ? std::nullopt : call(*e.callee, std::move(arguments), e.span);
    }

    Constant expr(Frame& frame, const Expr& e) {
        if (failed()) {
            return {};
        }
        switch (e.op) {
            case Op::kConst:
                return e.constant;
            case Op::kVar:
                return frame.read(*e.var, e.span);
            case Op::kReduce:
            case Op::kMatMul:
                return evaluate_slices(slices(frame), e);
            case Op::kLoad: {
                const std::byte* place =
                    element(frame, *e.var, e.operands, e.operands.size(), e.span);
                return place != nullptr ? load_element(e.var->type.scalar, place) : Constant{};
            }
            case Op::kExtent:
                return extent(frame, e);
            case Op::kCall: {
                const std::optional<Constant> value = call(frame, e);
                if (!value && !failed()) {
                    fail(e.span, "'" + e.callee->name + "' returned no value");
                }
                return value.value_or(Constant{});
            }
            case Op::kAnd:
            case Op::kOr: {
                const bool left = truth(expr(frame, *e.operands[0]));
                return left == (e.op == Op::kOr) ? Constant{left} : expr(frame, *e.operands[1]);
            }
            case Op::kSelect:
                return truth(expr(frame, *e.operands[0])) ? expr(frame, *e.operands[1])
                                                          : expr(frame, *e.operands[2]);
            case Op::kAtomic:
                return atomic(frame, e);
            case Op::kTile:
                tile(frame, e);
                return {};
            case Op::kRegister:
                if (e.reg == Register::kStackPointer) return {std::int64_t{-depth_}};
                if (e.reg == Register::kStackLimit) return {std::int64_t{1 - kMaxDepth}};
                break;
            default:
                break;
        }
        std::array<Constant, 3> operands;
        const std::size_t count = std::min(operands.size(), e.operands.size());
        for (std::size_t i = 0; i < count; ++i) {
            operands[i] = expr(frame, *e.operands[i]);
        }
        if (e.op == Op::kIndex && e.index > 0)
            within_name(e, integer(operands[0]), integer(operands[1]));
        const Scalar type = count == 0 ? e.type.scalar : e.operands[0]->type.scalar;
        return apply(e.op, type, e.type.scalar, std::span<const Constant>(operands).first(count),
                     e.span);
    }

    // Fails if the subscript is outside of the part of an array that a name refers to.
    void within_name(const Expr& e, std::int64_t subscript, std::int64_t size) {
        if (failed() || (subscript >= -size && subscript < size)) return;
        const std::array values{subscript, size};
        failure_ = describe(module_.sites, static_cast<std::size_t>(e.index) - 1, values);
        fail(e.span, failure_->message);
    }

    Constant extent(Frame& frame, const Expr& e) {
        const ArrayView* view = frame.array(*e.var, e.span);
        const auto rank = view != nullptr ? static_cast<int>(view->extents.size()) : 0;
        const int dimension = e.index < 0 ? e.index + rank : e.index;
        if (dimension < 0 || dimension >= rank) {
            fail(e.span, "'" + e.var->name + "' has no dimension " + std::to_string(e.index));
            return {};
        }
        return {view->extents[static_cast<std::size_t>(dimension)]};
    }

    Constant atomic(Frame& frame, const Expr& e) {
        if (e.index != static_cast<int>(Atomic::kAdd)) {
            fail(e.span, "kernels of CUDA programs cannot be interpreted");
            return {};
        }
        const std::size_t rank = e.rank();
        const Constant value = expr(frame, *e.operands[rank]);
        std::byte* place = element(frame, *e.var, e.operands, rank, e.span);
        if (place == nullptr) {
            return {};
        }
        const Scalar type = e.var->type.scalar;
        const Constant old = load_element(type, place);
        store_element(type, place, apply(Op::kAdd, type, type, {old, value}, e.span));
        return old;
    }

    void tile(Frame& frame, const Expr& e) {
        const auto number = [&](TileOperand which) {
            return integer(expr(frame, *e.operands[which]));
        };
        const auto place = [&](TileOperand which) -> TilePlace {
            const Expr& load = *e.operands[which];
            const std::byte* at =
                element(frame, *load.var, load.operands, load.operands.size(), load.span);
            const ArrayView* view = frame.array(*load.var, load.span);
            return at != nullptr && view != nullptr ? place_in(*view, at) : TilePlace{};
        };
        if (const auto failure = run_tile(e, number, place, [&] { return failed(); }))
            fail(e.span, *failure);
    }

    const EvalOptions& options_;
    const Module& module_;
    EvalError error_;
    std::optional<Diagnostic> failure_;
    int depth_ = 0;
    std::int64_t steps_ = 0;
    std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;  // of all Allocs of the run
};

}  // namespace

EvalResult evaluate(const Module& module, std::span<const EvalArgument> arguments,
                    const EvalOptions& options) {
    return Interpreter(module, options).run(arguments);
}

}  // namespace parpy::ir
