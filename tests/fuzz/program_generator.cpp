// The generator of random programs (program_generator.h).
#include "program_generator.h"

#include <limits>
#include <utility>

#include "ir/builder.h"
#include "random_source.h"

namespace parpy::fuzz {
namespace {

using namespace ir;

// The variables that an expression may read.
struct Scope {
    std::vector<Var*> scalars;       // scalars that have a value
    std::vector<Var*> loops;         // i64 loop variables with a non-negative range
    std::vector<std::int64_t> ends;  // the end of each loop: its values are below
    bool arrays = true;
    Var* hidden = nullptr;  // array of which only `own` may be read
    Var* own = nullptr;
};

class Generator {
public:
    Generator(std::uint64_t seed, bool host_arrays)
        : random_(seed), builder_(program_.module), host_arrays_(host_arrays) {}

    RandomProgram run() {
        Function* entry = program_.module.make_function("fuzzed", FunctionKind::kEntry);
        entry->result = Type::none();
        const std::int64_t arrays = random_.between(2, 4);
        for (std::int64_t k = 0; k < arrays; ++k) {
            add_array(*entry);
        }
        for (std::int64_t k = random_.between(0, 2); k > 0; --k) {
            add_helper();
        }
        Scope scope;
        scope.arrays = host_arrays_;
        for (std::int64_t k = random_.between(1, 2); k > 0; --k) {
            Var* scalar = builder_.scalar(fresh("p"), scalar_type());
            add_parameter(*entry, scalar);
            scope.scalars.push_back(scalar);
        }
        Body body;
        for (std::int64_t k = random_.between(1, 2); k > 0; --k) {
            define_scalar(scope, body);
        }
        for (std::int64_t k = random_.between(1, 4); k > 0; --k) {
            top_level(scope, body);
        }
        entry->body = std::move(body);
        return std::move(program_);
    }

private:
    // ------------------------------------------------------------ variables

    std::string fresh(const std::string& prefix) { return prefix + std::to_string(next_++); }

    Scalar scalar_type() {
        return random_.pick({Scalar::kI64, Scalar::kI64, Scalar::kI32, Scalar::kF64, Scalar::kF32,
                             Scalar::kU8, Scalar::kI8, Scalar::kU32, Scalar::kU64, Scalar::kI16});
    }

    void add_parameter(Function& entry, Var* var) {
        var->origin = {Origin::Kind::kArgument, arguments_++, 0};
        entry.params.push_back(var);
    }

    void add_array(Function& entry) {
        std::vector<std::int64_t> extents;
        for (std::int64_t rank = random_.between(1, 3); rank > 0; --rank) {
            extents.push_back(random_.between(1, 6));
        }
        Var* array = builder_.local_array(fresh("x"), scalar_type(), extents, Space::kGlobal);
        extents_[array] = extents;
        if (random_.chance(20)) {  // every second element along the last dimension
            for (Dim& dim : array->dims) {
                *dim.stride *= 2;
            }
        }
        const std::size_t argument = arguments_;
        add_parameter(entry, array);
        arrays_.push_back(array);
        if (random_.chance(25)) {  // only the call knows the outermost extent
            Var* size = builder_.scalar(array->name + "_extent0", Scalar::kI64);
            size->origin = {Origin::Kind::kExtent, argument, 0};
            entry.params.push_back(size);
            program_.sizes[size] = extents[0];
            array->dims[0].extent.reset();
            array->dims[0].extent_var = size;
        }
    }

    // helper h(a, …, x): one parameter is an array with the layout of the entry's first array.
    void add_helper() {
        Function* helper = program_.module.make_function(fresh("h"), FunctionKind::kHelper);
        helper->result = Type::of(scalar_type());
        Scope scope;
        for (std::int64_t k = random_.between(1, 2); k > 0; --k) {
            helper->params.push_back(builder_.scalar(fresh("a"), scalar_type()));
            scope.scalars.push_back(helper->params.back());
        }
        const Var* outer = arrays_[0];
        Var* array = nullptr;
        if (outer->dims[0].extent && random_.chance(60)) {
            array = program_.module.make_var(fresh("v"), outer->type);
            array->dims = outer->dims;
            extents_[array] = extents_.at(outer);
            helper->params.push_back(array);
        }
        const std::vector<Var*> all = std::exchange(
            arrays_, array != nullptr ? std::vector<Var*>{array} : std::vector<Var*>{});
        scope.arrays = array != nullptr;
        Body& body = helper->body;
        if (random_.chance(60)) {
            statements(scope, body, 1, false);
        }
        if (random_.chance(50)) {
            Expr* test = condition(scope, 1);
            body.push_back(
                builder_.if_(test, {builder_.return_(expr(scope, helper->result.scalar, 2))}));
        }
        body.push_back(builder_.return_(expr(scope, helper->result.scalar, 2)));
        arrays_ = all;
        helpers_.push_back(helper);
    }

    // A call of a helper, or null if its array argument may not be read.
    Expr* call(const Scope& scope, int depth) {
        Function* helper = random_.pick(helpers_);
        std::vector<Expr*> arguments;
        for (const Var* param : helper->params) {
            if (!param->type.is_array()) {
                arguments.push_back(expr(scope, param->type.scalar, depth));
                continue;
            }
            if (!scope.arrays || arrays_[0] == scope.hidden) {
                return nullptr;
            }
            arguments.push_back(builder_.array(arrays_[0]));
        }
        return builder_.call(helper, std::move(arguments));
    }

    void define_scalar(Scope& scope, Body& out) {
        Var* var = builder_.scalar(fresh("s"), scalar_type());
        out.push_back(builder_.assign(var, expr(scope, var->type.scalar, 2)));
        scope.scalars.push_back(var);
    }

    // ------------------------------------------------------------ expressions

    Expr* constant(Scalar type) {
        if (type == Scalar::kBool) {
            return builder_.boolean(random_.chance(50));
        }
        if (is_float(type)) {
            return builder_.real(static_cast<double>(random_.between(-12, 12)) * 0.25, type);
        }
        const std::int64_t value = random_.chance(10)
                                       ? random_.pick({std::numeric_limits<std::int64_t>::max(),
                                                       std::numeric_limits<std::int64_t>::min(),
                                                       std::int64_t{255}, std::int64_t{-129}})
                                       : random_.between(-5, 9);
        return builder_.integer(value, type);
    }

    // A subscript within an array dimension (negative ones count from the end).
    Expr* index(const Scope& scope, std::int64_t extent) {
        for (std::size_t k = 0; k < scope.loops.size(); ++k) {
            if (scope.ends[k] <= extent && random_.chance(60)) {
                Expr* i = builder_.var(scope.loops[k]);
                const int form = static_cast<int>(random_.between(0, 5));
                if (form == 0) {
                    return builder_.binary(Op::kSub, i, builder_.integer(extent));
                }
                if (form == 1) {
                    return builder_.binary(Op::kSub, builder_.integer(extent - 1), i);
                }
                if (form == 2) {
                    return builder_.binary(Op::kSub, builder_.integer(-1), i);
                }
                return i;
            }
        }
        if (random_.chance(40)) {
            ++index_depth_;
            Expr* any = expr(scope, Scalar::kI64, 1);
            --index_depth_;
            return builder_.binary(Op::kMod, any, builder_.integer(extent));
        }
        return builder_.integer(random_.between(-extent, extent - 1));
    }

    Expr* element(const Scope& scope, Var* array) {
        std::vector<Expr*> indices;
        for (const std::int64_t extent : extents_.at(array)) {
            indices.push_back(index(scope, extent));
        }
        return builder_.load(array, std::move(indices));
    }

    Expr* leaf(const Scope& scope, Scalar type) {
        if (scope.arrays && !arrays_.empty() && index_depth_ < 2 && random_.chance(45)) {
            Var* array = random_.pick(arrays_);
            if (array != scope.hidden) {
                return builder_.convert(element(scope, array), type);
            }
        }
        if (!scope.loops.empty() && random_.chance(30)) {
            return builder_.convert(builder_.var(random_.pick(scope.loops)), type);
        }
        if (!scope.scalars.empty() && random_.chance(60)) {
            return builder_.convert(builder_.var(random_.pick(scope.scalars)), type);
        }
        return constant(type);
    }

    Expr* condition(const Scope& scope, int depth) {
        const auto operand = [&](Scalar type) { return expr(scope, type, depth - 1); };
        if (depth > 0 && random_.chance(25)) {
            if (random_.chance(30)) {
                return builder_.not_(condition(scope, depth - 1));
            }
            Expr* left = condition(scope, depth - 1);
            return builder_.binary(random_.pick({Op::kAnd, Op::kOr}), left,
                                   condition(scope, depth - 1));
        }
        const Scalar type = scalar_type();
        Expr* left = operand(type);
        return builder_.binary(random_.pick({Op::kEq, Op::kNe, Op::kLt, Op::kLe, Op::kGt, Op::kGe}),
                               left, operand(type));
    }

    Expr* expr(const Scope& scope, Scalar type, int depth) {
        if (depth <= 0 || random_.chance(15)) {
            return leaf(scope, type);
        }
        if (type == Scalar::kBool) {
            return condition(scope, depth);
        }
        const auto operand = [&] { return expr(scope, type, depth - 1); };
        if (!helpers_.empty() && random_.chance(8)) {
            if (Expr* value = call(scope, depth - 1)) {
                return builder_.convert(value, type);
            }
        }
        const int kind = static_cast<int>(random_.between(0, 9));
        if (kind == 0) {
            Expr* test = condition(scope, depth - 1);
            Expr* yes = operand();
            return builder_.select(test, yes, operand());
        }
        if (kind == 1) {
            return builder_.convert(expr(scope, scalar_type(), depth - 1), type);
        }
        if (kind == 2) {
            Op op = random_.pick({Op::kNeg, Op::kPos, Op::kAbs, Op::kSign, Op::kSquare, Op::kFloor,
                                  Op::kTrunc, Op::kRint});
            if (is_float(type) && random_.chance(30)) {
                op = random_.pick({Op::kSqrt, Op::kReciprocal, Op::kCeil});
            } else if (is_integer(type) && random_.chance(20)) {
                op = Op::kInvert;
            }
            return builder_.unary(op, operand());
        }
        Op op = random_.pick({Op::kAdd, Op::kSub, Op::kMul, Op::kAdd, Op::kSub, Op::kFloorDiv,
                              Op::kMod, Op::kMin, Op::kMax, Op::kMinimum, Op::kMaximum, Op::kFmod});
        if (is_float(type)) {
            op = random_.chance(15) ? random_.pick({Op::kDiv, Op::kCopysign, Op::kFmin}) : op;
        } else if (random_.chance(25)) {
            op = random_.pick(
                {Op::kShl, Op::kShr, Op::kBitAnd, Op::kBitOr, Op::kBitXor, Op::kPow, Op::kGcd});
        }
        Expr* left = operand();
        Expr* right = operand();
        if (op == Op::kPow) right = builder_.binary(Op::kMax, right, builder_.integer(0, type));
        return builder_.binary(op, left, right);
    }

    // ------------------------------------------------------------ sequential statements

    Op update_op(Scalar type) {
        if (is_float(type)) {
            return random_.pick({Op::kAdd, Op::kSub, Op::kMul, Op::kMin, Op::kMax});
        }
        return random_.pick(
            {Op::kAdd, Op::kSub, Op::kMul, Op::kMin, Op::kBitXor, Op::kFloorDiv, Op::kShr});
    }

    void assign(Scope& scope, Body& out) {
        if (scope.scalars.empty()) {
            define_scalar(scope, out);
            return;
        }
        Var* var = random_.pick(scope.scalars);
        const Scalar type = var->type.scalar;
        Expr* value = expr(scope, type, 3);
        out.push_back(random_.chance(40) ? builder_.update(var, update_op(type), value)
                                         : builder_.assign(var, value));
    }

    void store(const Scope& scope, Body& out) {
        Var* array = random_.pick(arrays_);
        if (array == scope.hidden) {
            return;
        }
        array->written = true;
        std::vector<Expr*> indices;
        for (const std::int64_t extent : extents_.at(array)) {
            indices.push_back(index(scope, extent));
        }
        const Scalar type = array->type.scalar;
        Expr* value = expr(scope, type, 3);
        out.push_back(random_.chance(40)
                          ? builder_.update(array, std::move(indices), update_op(type), value)
                          : builder_.store(array, std::move(indices), value));
    }

    // for v in range(0 …, end, 1 …), with values in [0, end). `size`, if given, holds the end.
    For* counting_loop(std::int64_t end, Var* size = nullptr) {
        Var* var = builder_.scalar(fresh("i"), Scalar::kI64);
        if (random_.chance(20)) {  // downwards
            return builder_.loop(var, builder_.integer(end - 1), builder_.integer(-1), {},
                                 builder_.integer(-random_.between(1, 2)));
        }
        const std::int64_t begin = random_.chance(30) ? random_.between(0, end) : 0;
        Expr* bound = size != nullptr ? builder_.var(size) : builder_.integer(end);
        return builder_.loop(var, builder_.integer(begin), bound, {},
                             builder_.integer(random_.chance(80) ? 1 : random_.between(2, 3)));
    }

    static Scope inside(const Scope& scope, const For& loop, std::int64_t end) {
        Scope inner = scope;
        inner.loops.push_back(loop.var);
        inner.ends.push_back(end);
        return inner;
    }

    void sequential_loop(const Scope& scope, Body& out, int depth, bool stores) {
        const std::int64_t end = random_.between(1, 5);
        For* loop = counting_loop(end);
        Scope inner = inside(scope, *loop, end);
        // Scalars made inside may have no value after a loop that runs zero times.
        statements(inner, loop->body, depth - 1, stores);
        if (random_.chance(25)) {
            Body exit = {random_.chance(50) ? static_cast<Stmt*>(builder_.break_())
                                            : static_cast<Stmt*>(builder_.continue_())};
            loop->body.push_back(builder_.if_(condition(inner, 1), std::move(exit)));
            statements(inner, loop->body, 0, stores);
        }
        out.push_back(loop);
    }

    // A while loop that counts down a variable of its own.
    void while_loop(const Scope& scope, Body& out, int depth, bool stores) {
        Var* counter = builder_.scalar(fresh("w"), Scalar::kI64);
        out.push_back(builder_.assign(counter, builder_.integer(random_.between(0, 4))));
        Body body = {builder_.update(counter, Op::kSub, builder_.integer(1))};
        Scope inner = scope;
        statements(inner, body, depth - 1, stores);
        Expr* test = builder_.binary(Op::kGt, builder_.var(counter), builder_.integer(0));
        out.push_back(builder_.while_(test, std::move(body)));
    }

    void branch(const Scope& scope, Body& out, int depth, bool stores) {
        Scope then_scope = scope;
        Scope else_scope = scope;
        Body then_body, else_body;
        statements(then_scope, then_body, depth - 1, stores);
        if (random_.chance(50)) {
            statements(else_scope, else_body, depth - 1, stores);
        }
        out.push_back(
            builder_.if_(condition(scope, 2), std::move(then_body), std::move(else_body)));
    }

    void statements(Scope& scope, Body& out, int depth, bool stores) {
        for (std::int64_t k = random_.between(1, 3); k > 0; --k) {
            const int kind = static_cast<int>(random_.between(0, 9));
            if (depth > 0 && kind == 0) {
                sequential_loop(scope, out, depth, stores);
            } else if (depth > 0 && kind == 1) {
                while_loop(scope, out, depth, stores);
            } else if (depth > 0 && kind <= 3) {
                branch(scope, out, depth, stores);
            } else if (kind <= 6 && stores && scope.arrays) {
                store(scope, out);
            } else {
                assign(scope, out);
            }
        }
    }

    // ------------------------------------------------------------ parallel nests

    void label(For& loop) {
        loop.labels.push_back(fresh("L"));
        program_.mapping[loop.labels.back()].threads = random_.pick<std::int64_t>({1, 3, 32, 100});
    }

    // Iterations own the elements of one array whose leading subscripts are their loop variables;
    // they read all other arrays, and reduce into the array that the nest hides.
    void parallel_nest(const Scope& scope, Body& out) {
        Var* target = random_.pick(arrays_);
        target->written = true;
        const std::size_t rank = target->dims.size();
        const auto parallel =
            static_cast<std::size_t>(random_.between(1, static_cast<std::int64_t>(rank)));
        Scope inner;  // scalars from outside are read-only
        inner.loops = scope.loops;
        inner.ends = scope.ends;
        inner.hidden = target;
        readable_ = scope.scalars;
        Body* body = &out;
        std::vector<Expr*> own;
        std::vector<Var*> variables;
        for (std::size_t d = 0; d < parallel; ++d) {
            const std::int64_t extent = extents_.at(target)[d];
            For* loop = counting_loop(extent, target->dims[d].extent_var);
            label(*loop);
            inner = inside(inner, *loop, extent);
            variables.push_back(loop->var);
            body->push_back(loop);
            body = &loop->body;
        }
        Scope scalars = inner;
        scalars.scalars = {};
        for (std::int64_t k = random_.between(1, 2); k > 0; --k) {  // private to the iteration
            Var* var = builder_.scalar(fresh("t"), scalar_type());
            Scope reads = scalars;
            reads.scalars.insert(reads.scalars.end(), readable_.begin(), readable_.end());
            body->push_back(builder_.assign(var, expr(reads, var->type.scalar, 2)));
            scalars.scalars.push_back(var);
        }
        if (random_.chance(60)) {
            statements(scalars, *body, 1, false);
        }
        for (std::size_t d = parallel; d < rank; ++d) {
            const std::int64_t extent = extents_.at(target)[d];
            For* loop = counting_loop(extent, target->dims[d].extent_var);
            scalars = inside(scalars, *loop, extent);
            variables.push_back(loop->var);
            body->push_back(loop);
            body = &loop->body;
        }
        for (Var* var : variables) {
            own.push_back(builder_.var(var));
        }
        const Scalar type = target->type.scalar;
        Expr* value = expr(scalars, type, 3);
        body->push_back(random_.chance(50)
                            ? builder_.update(target, std::move(own), Op::kAdd, value)
                            : builder_.store(target, std::move(own), value));
    }

    // s += e over a parallel loop, or x[c] += e: exact in any order.
    void parallel_reduction(Scope& scope, Body& out) {
        const Scalar type = random_.pick({Scalar::kI64, Scalar::kI32, Scalar::kU64, Scalar::kU8});
        const Op op = random_.pick(
            {Op::kAdd, Op::kMul, Op::kMin, Op::kMax, Op::kBitAnd, Op::kBitOr, Op::kBitXor});
        const std::int64_t end = random_.between(1, 40);
        For* loop = counting_loop(end);
        label(*loop);
        program_.mapping[loop->labels.back()].reduce = random_.chance(50);
        Scope inner;
        Var* target = nullptr;
        for (Var* array : arrays_) {
            target = array->type.is(type) || array->type.scalar == type ? array : target;
        }
        const bool into_element = target != nullptr && random_.chance(50);
        inner.hidden = into_element ? target : nullptr;
        inner = inside(inner, *loop, end);
        inner.scalars = scope.scalars;
        Var* sum = nullptr;
        if (!into_element) {
            sum = builder_.scalar(fresh("r"), type);
            out.push_back(builder_.assign(sum, constant(type)));
        }
        Body body;
        Expr* value = expr(inner, type, 2);
        if (into_element) {
            target->written = true;
            std::vector<Expr*> indices;
            for (const std::int64_t extent : extents_.at(target)) {
                indices.push_back(builder_.integer(random_.between(0, extent - 1)));
            }
            body.push_back(builder_.update(target, std::move(indices), op, value));
        } else {
            body.push_back(builder_.update(sum, op, value));
        }
        if (random_.chance(30)) {
            loop->body.push_back(builder_.if_(condition(inner, 1), std::move(body)));
        } else {
            loop->body = std::move(body);
        }
        out.push_back(loop);
        if (sum != nullptr) {
            scope.scalars.push_back(sum);
        }
    }

    void top_level(Scope& scope, Body& out) {
        const int kind = static_cast<int>(random_.between(0, 9));
        if (kind <= 3) {
            parallel_nest(scope, out);
        } else if (kind <= 6) {
            parallel_reduction(scope, out);
        } else if (kind == 7) {  // a time loop around a nest
            const std::int64_t end = random_.between(1, 3);
            For* loop = counting_loop(end);
            const Scope inner = inside(scope, *loop, end);
            parallel_nest(inner, loop->body);
            out.push_back(loop);
        } else {
            statements(scope, out, 2, true);
        }
    }

    Random random_;
    RandomProgram program_;
    Builder builder_;
    const bool host_arrays_;
    int next_ = 0;
    int index_depth_ = 0;  // depth of subscripts within subscripts
    std::size_t arguments_ = 0;
    std::map<const Var*, std::vector<std::int64_t>> extents_;  // by array
    std::vector<Function*> helpers_;
    std::vector<Var*> arrays_;
    std::vector<Var*> readable_;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, bool host_arrays) {
    return Generator(seed, host_arrays).run();
}

}  // namespace parpy::fuzz
