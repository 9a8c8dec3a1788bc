// Makes typed IR: factories that set result types as ops.def says. Every new node has the
// builder's current span, so a pass sets that once per statement it rewrites. A new node owns its
// operands, which may have no other parent (pass clone() for a second use).
//
//     Builder b(module, loop->span);
//     Expr* chunk = b.binary(Op::kFloorDiv, b.var(n), b.integer(4));
//     For* inner = b.loop(i, b.integer(0), chunk, {b.store(y, {b.var(i)}, b.real(0))});
#pragma once

#include <initializer_list>

#include "ir/ir.h"

namespace parpy::ir {

class Builder {
public:
    explicit Builder(Module& module, Span at = {}) : span(at), module_(module) {}

    Span span;  // the span of every new node

    [[nodiscard]] Module& module() const { return module_; }

    // ------------------------------------------------------------ expressions
    // A constant of any scalar type; the value is converted to the type's kind of Constant.
    Expr* constant(Type type, Constant value);
    Expr* integer(std::int64_t value, Scalar type = Scalar::kI64);
    Expr* real(double value, Scalar type = Scalar::kF64);
    Expr* boolean(bool value);

    Expr* var(Var* var);
    Expr* array(Var* var);
    Expr* load(Var* array, std::vector<Expr*> indices);
    Expr* extent(Var* array, int dimension);
    Expr* extent(const Dim& dim, Scalar type = Scalar::kI64);  // its value, constant or not
    Expr* reg(Register reg);
    Expr* call(Function* callee, std::vector<Expr*> arguments);

    // Operands have the type that ops.def requires.
    Expr* make(Op op, std::vector<Expr*> operands);
    Expr* unary(Op op, Expr* a) { return make(op, {a}); }
    Expr* binary(Op op, Expr* a, Expr* b) { return make(op, {a, b}); }
    Expr* select(Expr* condition, Expr* a, Expr* b) { return make(Op::kSelect, {condition, a, b}); }
    Expr* not_(Expr* a) { return make(Op::kNot, {a}); }
    // `value` itself if it already has the type.
    Expr* convert(Expr* value, Scalar type);
    // The result of `old <op>= value`: computed in the type of `value`, then in that of `old`.
    Expr* updated(Expr* old, Op op, Expr* value);

    // ------------------------------------------------------------ statements
    Assign* assign(Var* var, Expr* value);
    Assign* update(Var* var, Op op, Expr* value);
    Store* store(Var* array, std::vector<Expr*> indices, Expr* value);
    Store* update(Var* array, std::vector<Expr*> indices, Op op, Expr* value);
    // for var in range(begin, end, step); a null step is 1 of the variable's type.
    For* loop(Var* var, Expr* begin, Expr* end, Body body = {}, Expr* step = nullptr);
    While* while_(Expr* condition, Body body);
    If* if_(Expr* condition, Body then_body, Body else_body = {});
    Break* break_() { return module_.make<Break>(span); }
    Continue* continue_() { return module_.make<Continue>(span); }
    Return* return_(Expr* value = nullptr);
    Fail* fail(std::size_t site, std::vector<Expr*> values);
    // Turns while c: … into while True: before; if not c: break; …
    void test_inside(While& loop, Body before);
    Evaluate* evaluate(Expr* value);
    Alloc* alloc(Var* array);
    Barrier* barrier(BarrierScope scope);
    Launch* launch(Function* kernel, std::vector<Expr*> arguments);
    // Blocks of `threads` threads, in one dimension.
    Gpu* gpu(Expr* blocks, std::int64_t threads, Body body);

    // ------------------------------------------------------------ variables
    Var* scalar(std::string name, Scalar type);
    // A variable that `out` gives the value, unless this is a constant or a variable itself.
    Expr* named(Body& out, std::string name, Expr* value);
    // A C-contiguous array of constant extents.
    Var* local_array(std::string name, Scalar element, const std::vector<std::int64_t>& extents,
                     Space space);

private:
    Module& module_;
};

// The constant of `type` with this value: integers wrap to the type's width,
// floats are rounded to it, bool is `value != 0`.
[[nodiscard]] Constant constant_as(Scalar type, const Constant& value);

// `expr` as a constant integer, if it is one (bool not included).
[[nodiscard]] std::optional<std::int64_t> constant_integer(const Expr* expr);

}  // namespace parpy::ir
