// Factories for typed IR (builder.h).
#include "ir/builder.h"

#include "ir/eval/ops.h"
#include "ir/ops.h"

namespace parpy::ir {

Expr* Builder::constant(Type type, Constant value) {
    Expr* expr = module_.make_expr(Op::kConst, type, span);
    expr->constant = type.is_scalar() ? constant_as(type.scalar, value) : std::move(value);
    return expr;
}

Expr* Builder::integer(std::int64_t value, Scalar type) {
    return constant(Type::of(type), Constant{value});
}

Expr* Builder::real(double value, Scalar type) {
    return constant(Type::of(type), Constant{value});
}

Expr* Builder::boolean(bool value) {
    return constant(Type::of(Scalar::kBool), Constant{value});
}

Expr* Builder::var(Var* var) {
    Expr* expr = module_.make_expr(Op::kVar, var->type, span);
    expr->var = var;
    return expr;
}

Expr* Builder::array(Var* var) {
    Expr* expr = module_.make_expr(Op::kArray, var->type, span);
    expr->var = var;
    return expr;
}

Expr* Builder::load(Var* array, std::vector<Expr*> indices) {
    Expr* expr =
        module_.make_expr(Op::kLoad, Type::of(array->type.scalar), span, std::move(indices));
    expr->var = array;
    return expr;
}

Expr* Builder::extent(Var* array, int dimension) {
    Expr* expr = module_.make_expr(Op::kExtent, Type::of(Scalar::kI64), span);
    expr->var = array;
    expr->index = dimension;
    return expr;
}

Expr* Builder::extent(const Dim& dim, Scalar type) {
    return dim.extent ? integer(*dim.extent, type) : convert(var(dim.extent_var), type);
}

Expr* Builder::reg(Register reg) {
    Expr* expr = module_.make_expr(Op::kRegister, Type::of(type_of(reg)), span);
    expr->reg = reg;
    return expr;
}

Expr* Builder::call(Function* callee, std::vector<Expr*> arguments) {
    Expr* expr = module_.make_expr(Op::kCall, callee->result, span, std::move(arguments));
    expr->callee = callee;
    return expr;
}

Expr* Builder::make(Op op, std::vector<Expr*> operands) {
    Expr* expr = module_.make_expr(op, Type::unknown(), span, std::move(operands));
    expr->type = typed_result(*expr);
    return expr;
}

Expr* Builder::convert(Expr* value, Scalar type) {
    if (value->type == Type::of(type)) {
        return value;
    }
    return module_.make_expr(Op::kConvert, Type::of(type), span, {value});
}

Expr* Builder::updated(Expr* old, Op op, Expr* value) {
    return convert(binary(op, convert(old, value->type.scalar), value), old->type.scalar);
}

Assign* Builder::assign(Var* var, Expr* value) {
    auto* stmt = module_.make<Assign>(span);
    stmt->var = var;
    stmt->value = value;
    return stmt;
}

Assign* Builder::update(Var* var, Op op, Expr* value) {
    Assign* stmt = assign(var, value);
    stmt->update = op;
    return stmt;
}

Store* Builder::store(Var* array, std::vector<Expr*> indices, Expr* value) {
    auto* stmt = module_.make<Store>(span);
    stmt->array = array;
    stmt->indices = std::move(indices);
    stmt->value = value;
    return stmt;
}

Store* Builder::update(Var* array, std::vector<Expr*> indices, Op op, Expr* value) {
    Store* stmt = store(array, std::move(indices), value);
    stmt->update = op;
    return stmt;
}

For* Builder::loop(Var* var, Expr* begin, Expr* end, Body body, Expr* step) {
    auto* stmt = module_.make<For>(span);
    stmt->var = var;
    stmt->begin = begin;
    stmt->end = end;
    stmt->step = step != nullptr ? step : constant(var->type, Constant{std::int64_t{1}});
    stmt->body = std::move(body);
    return stmt;
}

While* Builder::while_(Expr* condition, Body body) {
    auto* stmt = module_.make<While>(span);
    stmt->condition = condition;
    stmt->body = std::move(body);
    return stmt;
}

If* Builder::if_(Expr* condition, Body then_body, Body else_body) {
    auto* stmt = module_.make<If>(span);
    stmt->condition = condition;
    stmt->then_body = std::move(then_body);
    stmt->else_body = std::move(else_body);
    return stmt;
}

Return* Builder::return_(Expr* value) {
    auto* stmt = module_.make<Return>(span);
    stmt->value = value;
    return stmt;
}

Fail* Builder::fail(std::size_t site, std::vector<Expr*> values) {
    auto* stmt = module_.make<Fail>(span);
    stmt->site = site;
    stmt->values = std::move(values);
    return stmt;
}

void Builder::test_inside(While& loop, Body before) {
    const Type truth = Type::of(Scalar::kBool);
    Expr* ends = module_.make_expr(Op::kNot, truth, loop.condition->span, {loop.condition});
    before.push_back(if_(ends, {break_()}));
    loop.body.insert(loop.body.begin(), before.begin(), before.end());
    loop.condition = constant(truth, Constant{true});
}

Evaluate* Builder::evaluate(Expr* value) {
    auto* stmt = module_.make<Evaluate>(span);
    stmt->value = value;
    return stmt;
}

Alloc* Builder::alloc(Var* array) {
    auto* stmt = module_.make<Alloc>(span);
    stmt->array = array;
    return stmt;
}

Barrier* Builder::barrier(BarrierScope scope) {
    auto* stmt = module_.make<Barrier>(span);
    stmt->scope = scope;
    return stmt;
}

Launch* Builder::launch(Function* kernel, std::vector<Expr*> arguments) {
    auto* stmt = module_.make<Launch>(span);
    stmt->kernel = kernel;
    stmt->arguments = std::move(arguments);
    return stmt;
}

Gpu* Builder::gpu(Expr* blocks, std::int64_t threads, Body body) {
    auto* stmt = module_.make<Gpu>(span);
    stmt->grid[0] = blocks;
    stmt->block[0] = integer(threads);
    for (std::size_t i = 1; i < 3; ++i) {
        stmt->grid[i] = integer(1);
        stmt->block[i] = integer(1);
    }
    stmt->body = std::move(body);
    return stmt;
}

Var* Builder::scalar(std::string name, Scalar type) {
    return module_.make_var(std::move(name), Type::of(type), span);
}

Expr* Builder::named(Body& out, std::string name, Expr* value) {
    if (value->op == Op::kConst || value->op == Op::kVar) return value;
    Var* made = scalar(std::move(name), value->type.scalar);
    out.push_back(assign(made, value));
    return var(made);
}

Var* Builder::local_array(std::string name, Scalar element,
                          const std::vector<std::int64_t>& extents, Space space) {
    Var* var = module_.make_var(std::move(name),
                                Type::array(element, static_cast<int>(extents.size())), span);
    var->space = space;
    std::int64_t stride = 1;
    var->dims.resize(extents.size());
    for (std::size_t i = extents.size(); i-- > 0;) {
        var->dims[i].extent = extents[i];
        var->dims[i].stride = stride;
        stride *= extents[i];
    }
    return var;
}

Constant constant_as(Scalar type, const Constant& value) {
    return convert_constant(value, Scalar::kI64, type);
}

std::optional<std::int64_t> constant_integer(const Expr* expr) {
    if (expr == nullptr || expr->op != Op::kConst || !expr->type.is_scalar() ||
        !is_integer(expr->type.scalar)) {
        return std::nullopt;
    }
    const auto* value = std::get_if<std::int64_t>(&expr->constant.value);
    return value != nullptr ? std::optional(*value) : std::nullopt;
}

}  // namespace parpy::ir
