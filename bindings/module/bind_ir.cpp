// _native.Module: the builder through which python/parpy/frontend/parse.py makes a surface module,
// one call per node. Var, Function, Expr and Stmt are opaque handles that keep their module alive;
// the frontend hands each Expr and Stmt to exactly one parent (the tree invariant of ir.h). Types
// stay unknown here, except those of constants and conversions; infer_types finds them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "ir/ir.h"
#include "ir/ops.h"
#include "ir/text/print.h"
#include "module/span_caster.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

using ir::Body;
using ir::Expr;
using ir::Function;
using ir::Module;
using ir::Op;
using ir::Stmt;
using ir::Var;

constexpr auto kOwned = nb::rv_policy::reference_internal;

Op op_named(std::string_view text) {
    if (const auto op = ir::op_from_text(text)) return *op;
    throw nb::value_error(("no operator is called '" + std::string(text) + "'").c_str());
}

std::optional<Op> update_named(std::optional<std::string_view> text) {
    return text ? std::optional(op_named(*text)) : std::nullopt;
}

// bool -> bool, int -> weak i64, float -> weak f64, complex -> weak c128.
Expr* make_constant(Module& module, nb::handle value, Span span) {
    Expr* expr = module.make_expr(Op::kConst, ir::Type::of(ir::Scalar::kBool), span);
    if (PyBool_Check(value.ptr())) {
        expr->constant.value = value.ptr() == Py_True;
    } else if (PyLong_Check(value.ptr())) {
        expr->type = ir::Type::weak_of(ir::Scalar::kI64);
        expr->constant.value = nb::cast<std::int64_t>(value);
    } else if (PyFloat_Check(value.ptr())) {
        expr->type = ir::Type::weak_of(ir::Scalar::kF64);
        expr->constant.value = PyFloat_AS_DOUBLE(value.ptr());
    } else if (PyComplex_Check(value.ptr())) {
        const Py_complex z = PyComplex_AsCComplex(value.ptr());
        expr->type = ir::Type::weak_of(ir::Scalar::kC128);
        expr->constant.value = std::complex<double>(z.real, z.imag);
    } else {
        throw nb::type_error("a constant is a bool, int, float or complex");
    }
    return expr;
}

Expr* make_u64_constant(Module& module, std::uint64_t value, Span span) {
    Expr* expr = module.make_expr(Op::kConst, ir::Type::of(ir::Scalar::kU64), span);
    expr->constant.value = static_cast<std::int64_t>(value);
    return expr;
}

Expr* make_op(Module& module, std::string_view text, std::vector<Expr*> operands, Span span) {
    const Op op = op_named(text);
    if (ir::arity(op) >= 0 && static_cast<std::size_t>(ir::arity(op)) != operands.size()) {
        throw nb::value_error(("wrong number of operands of '" + std::string(text) + "'").c_str());
    }
    return module.make_expr(op, ir::Type::unknown(), span, std::move(operands));
}

// A node that names a variable: var, load, array, ndim, size.
Expr* make_of_var(Module& module, Op op, Var* var, std::vector<Expr*> operands, Span span) {
    Expr* expr = module.make_expr(op, ir::Type::unknown(), span, std::move(operands));
    expr->var = var;
    return expr;
}

// `rank`: 0, or the rank that the array must have here (n, m = x.shape).
Expr* make_extent(Module& module, Var* array, int index, Span span, std::int64_t rank) {
    Expr* expr = make_of_var(module, Op::kExtent, array, {}, span);
    expr->index = index;
    if (rank > 0) expr->constant.value = rank;
    return expr;
}

// x[begin:end:step]; None: the bound was left out.
Expr* make_slice(Module& module, Expr* begin, Expr* end, Expr* step, Span span) {
    Expr* expr = module.make_expr(Op::kSlice, ir::Type::unknown(), span);
    const std::pair<Expr*, int> bounds[] = {
        {begin, ir::kSliceBegin}, {end, ir::kSliceEnd}, {step, ir::kSliceStep}};
    for (const auto& [bound, which] : bounds) {
        if (bound == nullptr) continue;
        expr->operands.push_back(bound);
        expr->index |= which;
    }
    return expr;
}

// No axes: all axes.
Expr* make_reduce(Module& module, std::string_view name, Expr* operand,
                  const std::vector<std::int64_t>& axes, bool keepdims, Span span) {
    const auto known = ir::slice_reduction_from_text(name);
    if (!known) throw nb::value_error(("no reduction '" + std::string(name) + "'").c_str());
    Expr* expr = module.make_expr(Op::kReduce, ir::Type::unknown(), span, {operand});
    expr->index = static_cast<int>(*known);
    expr->constant.value = keepdims;
    for (const std::int64_t axis : axes) {
        Expr* number = module.make_expr(Op::kConst, ir::Type::weak_of(ir::Scalar::kI64), span);
        number->constant.value = axis;
        expr->operands.push_back(number);
    }
    return expr;
}

Expr* make_convert(Module& module, Expr* operand, std::string_view scalar, Span span) {
    const auto type = ir::scalar_from_name(scalar);
    if (!type) throw nb::value_error(("no scalar type '" + std::string(scalar) + "'").c_str());
    return module.make_expr(Op::kConvert, ir::Type::of(*type), span, {operand});
}

Expr* make_call(Module& module, Function* callee, std::vector<Expr*> operands, Span span) {
    Expr* expr = module.make_expr(Op::kCall, ir::Type::unknown(), span, std::move(operands));
    expr->callee = callee;
    return expr;
}

// A function as a value; captured variables are added behind the defaults later.
Expr* make_function_value(Module& module, Function* callee, std::vector<Expr*> defaults,
                          Span span) {
    Expr* expr = module.make_expr(Op::kFunction, ir::Type::unknown(), span, std::move(defaults));
    expr->callee = callee;
    expr->index = static_cast<int>(expr->operands.size());
    return expr;
}

Expr* make_text(Module& module, Op op, std::string text, std::vector<Expr*> operands, Span span) {
    Expr* expr = module.make_expr(op, ir::Type::unknown(), span, std::move(operands));
    expr->text = std::make_shared<const std::string>(std::move(text));
    return expr;
}

// `python`: int, float or complex.
Expr* make_dtype(Module& module, std::string_view scalar, bool python, Span span) {
    const auto type = ir::scalar_from_name(scalar);
    if (!type) throw nb::value_error(("no scalar type '" + std::string(scalar) + "'").c_str());
    const ir::Type made = python ? ir::Type::weak_of(*type) : ir::Type::of(*type);
    return module.make_expr(Op::kDtype, made, span);
}

Function* make_function(Module& module, std::string name, bool entry, Span span) {
    const auto kind = entry ? ir::FunctionKind::kEntry : ir::FunctionKind::kHelper;
    if (entry) module.entry = module.functions.size();
    return module.make_function(std::move(name), kind, span);
}

Stmt* make_assign(Module& module, Var* var, Expr* value, std::optional<std::string_view> update,
                  Span span) {
    auto* stmt = module.make<ir::Assign>(span);
    stmt->var = var;
    stmt->value = value;
    stmt->update = update_named(update);
    return stmt;
}

Stmt* make_store(Module& module, Var* array, std::vector<Expr*> indices, Expr* value,
                 std::optional<std::string_view> update, Span span) {
    auto* stmt = module.make<ir::Store>(span);
    stmt->array = array;
    stmt->indices = std::move(indices);
    stmt->value = value;
    stmt->update = update_named(update);
    return stmt;
}

Stmt* make_for(Module& module, Var* var, Expr* begin, Expr* end, Expr* step, Body body, Span span) {
    auto* stmt = module.make<ir::For>(span);
    stmt->var = var;
    stmt->begin = begin;
    stmt->end = end;
    stmt->step = step;
    stmt->body = std::move(body);
    return stmt;
}

Stmt* make_while(Module& module, Expr* condition, Body body, Span span) {
    auto* stmt = module.make<ir::While>(span);
    stmt->condition = condition;
    stmt->body = std::move(body);
    return stmt;
}

Stmt* make_if(Module& module, Expr* condition, Body then_body, Body else_body, Span span) {
    auto* stmt = module.make<ir::If>(span);
    stmt->condition = condition;
    stmt->then_body = std::move(then_body);
    stmt->else_body = std::move(else_body);
    return stmt;
}

Stmt* make_return(Module& module, Expr* value, Span span) {
    auto* stmt = module.make<ir::Return>(span);
    stmt->value = value;
    return stmt;
}

Stmt* make_evaluate(Module& module, Expr* value, Span span) {
    auto* stmt = module.make<ir::Evaluate>(span);
    stmt->value = value;
    return stmt;
}

Stmt* make_assert(Module& module, Expr* condition, std::string message, Span span) {
    auto* stmt = module.make<ir::Assert>(span);
    stmt->condition = condition;
    stmt->message = std::move(message);
    return stmt;
}

Stmt* make_gpu(Module& module, Body body, Span span) {
    auto* stmt = module.make<ir::Gpu>(span);
    stmt->body = std::move(body);
    return stmt;
}

// The program ends here with this error, which names the integers `values` by number; for P232, it
// does not compile if this statement is reachable, unless Python makes the call
// (`python_may_call`).
Stmt* make_fail(Module& module, std::string_view code, std::string message,
                std::vector<Expr*> values, Span span, std::string help, bool python_may_call) {
    const auto known = code_from_name(code);
    if (!known) throw nb::value_error("no such code");
    auto* stmt = module.make<ir::Fail>(span);
    stmt->site = module.sites.size();
    stmt->values = std::move(values);
    module.sites.push_back({*known, span, std::move(message), {}, false, std::move(help)});
    module.sites.back().python_may_call = python_may_call;
    return stmt;
}

// The program ends here with the exception that calls/errors.py knows by this name, and the text
// that Python's str.format makes of `text` and the values; an empty `text`: the values themselves.
Stmt* make_raise(Module& module, std::string exception, std::string text, std::vector<Expr*> values,
                 Span span) {
    Stmt* stmt = make_fail(module, "P431", std::move(text), std::move(values), span, {}, false);
    module.sites.back().exception = std::move(exception);
    return stmt;
}

// A kernel written by hand; `geometry` is grid and block, x y z each, and bytes of shared memory.
Stmt* make_kernel(Module& module, const std::vector<Expr*>& geometry, Body body, Span span) {
    if (geometry.size() != 7) throw nb::value_error("a launch has seven sizes");
    auto* stmt = module.make<ir::Gpu>(span);
    std::copy_n(geometry.begin(), 3, stmt->grid);
    std::copy_n(geometry.begin() + 3, 3, stmt->block);
    stmt->shared_bytes = geometry[6];
    stmt->body = std::move(body);
    return stmt;
}

Expr* make_register(Module& module, std::string_view name, Span span) {
    const auto reg = ir::register_from_text(name);
    if (!reg) throw nb::value_error(("no register '" + std::string(name) + "'").c_str());
    Expr* expr = module.make_expr(Op::kRegister, ir::Type::unknown(), span);
    expr->reg = *reg;
    return expr;
}

Expr* make_atomic(Module& module, std::string_view name, Var* array, std::vector<Expr*> indices,
                  const std::vector<Expr*>& values, Span span) {
    const auto atomic = ir::atomic_from_text(name);
    if (!atomic || ir::value_count(*atomic) != values.size()) {
        throw nb::value_error(("no atomic '" + std::string(name) + "' of these values").c_str());
    }
    indices.insert(indices.end(), values.begin(), values.end());
    Expr* expr = make_of_var(module, Op::kAtomic, array, std::move(indices), span);
    expr->index = static_cast<int>(*atomic);
    return expr;
}

// `extents`: empty for a one-dimensional array of the launch's shared memory, of `size` elements.
Stmt* make_alloc(Module& module, Var* array, std::string_view scalar, std::string_view space,
                 const std::vector<std::int64_t>& extents, Var* size, Span span) {
    const auto element = ir::scalar_from_name(scalar);
    if (!element) throw nb::value_error(("no scalar type '" + std::string(scalar) + "'").c_str());
    array->type = ir::Type::array(*element, static_cast<int>(size != nullptr ? 1 : extents.size()));
    array->space = size != nullptr     ? ir::Space::kDynamic
                   : space == "shared" ? ir::Space::kShared
                                       : ir::Space::kLocal;
    std::int64_t stride = 1;
    for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
        array->dims.insert(array->dims.begin(), {*extent, stride, nullptr, nullptr});
        stride *= *extent;
    }
    if (size != nullptr) array->dims = {{std::nullopt, 1, size, nullptr}};
    auto* stmt = module.make<ir::Alloc>(span);
    stmt->array = array;
    return stmt;
}

Stmt* make_barrier(Module& module, std::string_view scope, Span span) {
    auto* stmt = module.make<ir::Barrier>(span);
    stmt->scope = scope == "block"          ? ir::BarrierScope::kBlock
                  : scope == "warp"         ? ir::BarrierScope::kWarp
                  : scope == "grid"         ? ir::BarrierScope::kGrid
                  : scope == "device"       ? ir::BarrierScope::kDevice
                  : scope == "block_memory" ? ir::BarrierScope::kBlockMemory
                                            : ir::BarrierScope::kSystemMemory;
    return stmt;
}

Stmt* make_print(Module& module, std::vector<std::string> texts, std::vector<Expr*> values,
                 Span span) {
    if (texts.size() != values.size() + 1)
        throw nb::value_error("there must be one text more than values");
    auto* stmt = module.make<ir::Print>(span);
    stmt->texts = std::move(texts);
    stmt->values = std::move(values);
    return stmt;
}

// `types` and `result`: scalars, "f32*" for arrays, "void".
Function* make_foreign(Module& module, std::string name, const std::vector<std::string>& types,
                       std::string_view result, std::string_view abi, Span span, std::string target,
                       std::int64_t threads) {
    Function* function = module.make_function(std::move(name), ir::FunctionKind::kForeign, span);
    function->target = std::move(target);
    function->threads = threads;
    const auto scalar_of = [](std::string_view text) {
        const auto scalar = ir::scalar_from_name(text);
        if (!scalar) throw nb::value_error(("no type '" + std::string(text) + "'").c_str());
        return *scalar;
    };
    for (std::string_view type : types) {
        const bool pointer = type.ends_with('*');
        if (pointer) type.remove_suffix(1);
        const ir::Scalar scalar = scalar_of(type);
        Var* param =
            module.make_var("a" + std::to_string(function->params.size()),
                            pointer ? ir::Type::array(scalar, 1) : ir::Type::of(scalar), span);
        if (pointer) param->dims = {{1, 1, nullptr, nullptr}};  // foreign code may read more
        function->params.push_back(param);
    }
    function->result = result == "void" ? ir::Type::none() : ir::Type::of(scalar_of(result));
    function->abi = abi == "numba" ? ir::ForeignAbi::kResultFirst
                    : abi == "out" ? ir::ForeignAbi::kResultLast
                                   : ir::ForeignAbi::kC;
    return function;
}

void bind_expressions(nb::class_<Module>& module) {
    module.def("constant", make_constant, "value"_a, "span"_a, kOwned)
        .def("constant_u64", make_u64_constant, "value"_a, "span"_a, kOwned)
        .def("op", make_op, "text"_a, "operands"_a, "span"_a, kOwned)
        .def(
            "read",
            [](Module& m, Var* var, Span span) { return make_of_var(m, Op::kVar, var, {}, span); },
            "var"_a, "span"_a, kOwned)
        .def(
            "load",
            [](Module& m, Var* array, std::vector<Expr*> indices, Span span) {
                return make_of_var(m, Op::kLoad, array, std::move(indices), span);
            },
            "array"_a, "indices"_a, "span"_a, kOwned)
        .def("slice", make_slice, "begin"_a.none(), "end"_a.none(), "step"_a.none(), "span"_a,
             kOwned)
        .def("reduce", make_reduce, "name"_a, "operand"_a, "axes"_a, "keepdims"_a, "span"_a, kOwned)
        .def("extent", make_extent, "array"_a, "index"_a, "span"_a, "rank"_a = 0, kOwned)
        .def(
            "rank",
            [](Module& m, Var* array, Span span) {
                return make_of_var(m, Op::kRank, array, {}, span);
            },
            "array"_a, "span"_a, kOwned)
        .def(
            "size",
            [](Module& m, Var* array, Span span) {
                return make_of_var(m, Op::kSize, array, {}, span);
            },
            "array"_a, "span"_a, kOwned)
        .def("convert", make_convert, "operand"_a, "scalar"_a, "span"_a, kOwned)
        .def("call", make_call, "callee"_a, "operands"_a, "span"_a, kOwned)
        .def("function_value", make_function_value, "callee"_a, "defaults"_a, "span"_a, kOwned)
        .def(
            "set_lent", [](Module&, Expr* expr) { expr->constant.value = true; }, "expr"_a)
        .def(
            "set_callee", [](Module&, Expr* expr, Function* callee) { expr->callee = callee; },
            "expr"_a, "callee"_a)
        .def(
            "text_value",
            [](Module& m, std::string text, std::string_view scalar, Span span) {
                Expr* made = make_text(m, Op::kText, std::move(text), {}, span);
                if (const auto type = ir::scalar_from_name(scalar))
                    made->type = ir::Type::of(*type);
                return made;
            },
            "text"_a, "scalar"_a, "span"_a, kOwned)
        .def(
            "named",
            [](Module& m, std::string name, Expr* value, Span span) {
                return make_text(m, Op::kNamed, std::move(name), {value}, span);
            },
            "name"_a, "value"_a, "span"_a, kOwned)
        .def(
            "field",
            [](Module& m, Expr* owner, std::string name, bool subscript, Span span) {
                Expr* made = make_text(m, Op::kField, std::move(name), {owner}, span);
                made->index = subscript ? 1 : 0;
                return made;
            },
            "owner"_a, "name"_a, "subscript"_a, "span"_a, kOwned)
        .def(
            "record",
            [](Module& m, std::string of_class, bool is_tuple, Span span) {
                Expr* name = make_text(m, Op::kText, std::move(of_class), {}, span);
                Expr* made = m.make_expr(Op::kRecord, ir::Type::unknown(), span, {name});
                made->index = is_tuple ? 1 : 0;
                return made;
            },
            "of_class"_a, "is_tuple"_a, "span"_a, kOwned)
        .def("dtype_value", make_dtype, "scalar"_a, "python"_a, "span"_a, kOwned)
        .def("register", make_register, "name"_a, "span"_a, kOwned)
        .def("atomic", make_atomic, "name"_a, "array"_a, "indices"_a, "values"_a, "span"_a, kOwned)
        .def(
            "set_dot", [](Module&, Expr* product) { product->index = ir::kDotProduct; },
            "product"_a)
        .def(
            "set_strides", [](Module&, Expr* shape) { shape->constant.value = true; }, "shape"_a)
        .def(
            "set_inline", [](Module&, Expr* call) { call->index = ir::kInlineCall; }, "call"_a)
        .def(
            "add_operand",
            [](Module&, Expr* call, Expr* operand) { call->operands.push_back(operand); }, "call"_a,
            "operand"_a);
}

void bind_statements(nb::class_<Module>& module) {
    module.def("assign", make_assign, "var"_a, "value"_a, "update"_a.none(), "span"_a, kOwned)
        .def("store", make_store, "array"_a, "indices"_a, "value"_a, "update"_a.none(), "span"_a,
             kOwned)
        .def("for_", make_for, "var"_a, "begin"_a, "end"_a, "step"_a, "body"_a, "span"_a, kOwned)
        .def("while_", make_while, "condition"_a, "body"_a, "span"_a, kOwned)
        .def("if_", make_if, "condition"_a, "then_body"_a, "else_body"_a, "span"_a, kOwned)
        .def(
            "break_", [](Module& m, Span span) -> Stmt* { return m.make<ir::Break>(span); },
            "span"_a, kOwned)
        .def(
            "continue_", [](Module& m, Span span) -> Stmt* { return m.make<ir::Continue>(span); },
            "span"_a, kOwned)
        .def("return_", make_return, "value"_a.none(), "span"_a, kOwned)
        .def("evaluate", make_evaluate, "value"_a, "span"_a, kOwned)
        .def("assert_", make_assert, "condition"_a, "message"_a, "span"_a, kOwned)
        .def("gpu", make_gpu, "body"_a, "span"_a, kOwned)
        .def("kernel", make_kernel, "geometry"_a, "body"_a, "span"_a, kOwned)
        .def("alloc", make_alloc, "array"_a, "scalar"_a, "space"_a, "extents"_a, "size"_a.none(),
             "span"_a, kOwned)
        .def("fail", make_fail, "code"_a, "message"_a, "values"_a, "span"_a, "help"_a = "",
             "python_may_call"_a = false, kOwned)
        .def("raise_", make_raise, "exception"_a, "text"_a, "values"_a, "span"_a, kOwned)
        .def("barrier", make_barrier, "scope"_a, "span"_a, kOwned)
        .def("print", make_print, "texts"_a, "values"_a, "span"_a, kOwned)
        .def(
            "set_labels",
            [](Module&, Stmt* stmt, std::vector<std::string> labels) {
                stmt->labels = std::move(labels);
            },
            "stmt"_a, "labels"_a);
}

}  // namespace

void bind_ir(nb::module_& m) {
    nb::class_<Var>(m, "Var").def_ro("name", &Var::name).def_prop_ro("shown", &Var::shown);
    nb::class_<Function>(m, "Function")
        .def_ro("name", &Function::name)
        .def_rw("part", &Function::part);
    nb::class_<Expr>(m, "Expr");
    nb::class_<Stmt>(m, "Stmt");

    auto module = nb::class_<Module>(m, "Module").def(nb::init<>());
    module
        .def(
            "add_source",
            [](Module& self, std::string name, std::string text, std::uint32_t first_line) {
                self.sources.push_back({std::move(name), std::move(text), first_line});
                return self.sources.size() - 1;
            },
            "name"_a, "text"_a, "first_line"_a)
        .def_prop_ro("sources", [](const Module& self) { return self.sources; })
        .def("function", make_function, "name"_a, "entry"_a, "span"_a, kOwned)
        .def("foreign", make_foreign, "name"_a, "types"_a, "result"_a, "abi"_a, "span"_a,
             "target"_a = "", "threads"_a = 0, kOwned)
        .def(
            "variable",
            [](Module& self, std::string name, Span span, std::string user_name) {
                Var* made = self.make_var(std::move(name), ir::Type::unknown(), span);
                if (user_name != made->name) made->user_name = std::move(user_name);
                return made;
            },
            "name"_a, "span"_a, "user_name"_a = "", kOwned)
        .def(
            "add_param", [](Module&, Function* f, Var* param) { f->params.push_back(param); },
            "function"_a, "param"_a)
        .def(
            "set_body", [](Module&, Function* f, Body body) { f->body = std::move(body); },
            "function"_a, "body"_a)
        .def("text", [](const Module& self) { return ir::print(self); });
    bind_expressions(module);
    bind_statements(module);
}

}  // namespace parpy
