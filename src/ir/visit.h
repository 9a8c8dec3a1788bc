// Walking and rewriting programs. Everything works on a Body, a Stmt or an Expr, const or not; a
// walker over const nodes hands out const nodes.
//
//     for_each_stmt(body, [](Stmt& s) { … });          every statement, outside in
//     for_each_expr(body, [](Expr& e) { … });          every expression, operator first
//     for_each_var(stmt, [](Var*& v) { … });           variables of the statement, not of its Exprs
//     any_stmt(body, [](const Stmt& s) { … });         whether it holds for some statement
//     rewrite(body, [](Expr* e) -> Expr* { … });       bottom-up; return the replacement, or `e`
//     rewrite_stmts(body, [](Stmt* s, Body& out) { … });  bottom-up; append the replacement of `s`
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

#include "ir/ir.h"

namespace parpy::ir {

namespace detail {
template <class S, class T>
using CopyConst = std::conditional_t<std::is_const_v<S>, const T, T>;
template <class S, class T>
auto& cast(S& stmt) {
    return static_cast<CopyConst<S, T>&>(static_cast<CopyConst<S, Stmt>&>(stmt));
}
template <class S>
using ExprOf = CopyConst<S, Expr>;
template <class T>
concept StmtLike = std::derived_from<std::remove_const_t<T>, Stmt>;
template <class T>
concept ExprLike = std::same_as<std::remove_const_t<T>, Expr>;
template <class T>
concept BodyLike = std::same_as<std::remove_const_t<T>, Body>;
}  // namespace detail

// Calls fn(body) for each body nested directly in `stmt`.
template <detail::StmtLike S, class F>
void for_each_body(S& stmt, F&& fn) {
    switch (stmt.kind) {
        case StmtKind::kFor:
            fn(detail::cast<S, For>(stmt).body);
            break;
        case StmtKind::kWhile:
            fn(detail::cast<S, While>(stmt).body);
            break;
        case StmtKind::kGpu:
            fn(detail::cast<S, Gpu>(stmt).body);
            break;
        case StmtKind::kIf:
            fn(detail::cast<S, If>(stmt).then_body);
            fn(detail::cast<S, If>(stmt).else_body);
            break;
        default:
            break;
    }
}

// Calls fn(slot) for each expression held directly by `stmt` (not by statements nested in it); a
// slot is an `Expr*&` that may be assigned. Null slots are skipped. The order is that of evaluation
// where there is one.
template <detail::StmtLike S, class F>
void for_each_slot(S& stmt, F&& fn) {
    const auto slot = [&](auto& expr) {
        if (expr != nullptr) {
            fn(expr);
        }
    };
    switch (stmt.kind) {
        case StmtKind::kAssign:
            slot(detail::cast<S, Assign>(stmt).value);
            break;
        case StmtKind::kBind:
            slot(detail::cast<S, Bind>(stmt).value);
            break;
        case StmtKind::kStore: {
            auto& store = detail::cast<S, Store>(stmt);
            for (auto& index : store.indices) {
                slot(index);
            }
            slot(store.value);
            break;
        }
        case StmtKind::kFor: {
            auto& loop = detail::cast<S, For>(stmt);
            slot(loop.begin);
            slot(loop.end);
            slot(loop.step);
            slot(loop.cost);
            for (auto& reduction : loop.mapping.reductions) {
                for (auto& index : reduction.indices) {
                    slot(index);
                }
            }
            break;
        }
        case StmtKind::kWhile:
            slot(detail::cast<S, While>(stmt).condition);
            break;
        case StmtKind::kIf:
            slot(detail::cast<S, If>(stmt).condition);
            break;
        case StmtKind::kReturn:
            slot(detail::cast<S, Return>(stmt).value);
            break;
        case StmtKind::kEvaluate:
            slot(detail::cast<S, Evaluate>(stmt).value);
            break;
        case StmtKind::kAssert:
            slot(detail::cast<S, Assert>(stmt).condition);
            break;
        case StmtKind::kFail:
            for (auto& value : detail::cast<S, Fail>(stmt).values) {
                slot(value);
            }
            break;
        case StmtKind::kPrint:
            for (auto& value : detail::cast<S, Print>(stmt).values) {
                slot(value);
            }
            break;
        case StmtKind::kGpu: {
            auto& gpu = detail::cast<S, Gpu>(stmt);
            for (auto& extent : gpu.grid) {
                slot(extent);
            }
            for (auto& extent : gpu.block) {
                slot(extent);
            }
            slot(gpu.shared_bytes);
            break;
        }
        case StmtKind::kLaunch: {
            auto& launch = detail::cast<S, Launch>(stmt);
            for (auto& argument : launch.arguments) {
                slot(argument);
            }
            slot(launch.iterations);
            slot(launch.cost);
            for (auto& extent : launch.grid) {
                slot(extent);
            }
            for (auto& extent : launch.block) {
                slot(extent);
            }
            slot(launch.shared_bytes);
            break;
        }
        default:
            break;
    }
}

// Calls fn(var) for each variable that `stmt` itself names: it assigns, stores to, iterates over,
// allocates or reduces into it. A slot is a `Var*&`.
template <detail::StmtLike S, class F>
void for_each_var(S& stmt, F&& fn) {
    switch (stmt.kind) {
        case StmtKind::kAssign:
            fn(detail::cast<S, Assign>(stmt).var);
            break;
        case StmtKind::kBind:
            fn(detail::cast<S, Bind>(stmt).array);
            break;
        case StmtKind::kStore:
            fn(detail::cast<S, Store>(stmt).array);
            break;
        case StmtKind::kAlloc:
            fn(detail::cast<S, Alloc>(stmt).array);
            break;
        case StmtKind::kFor: {
            auto& loop = detail::cast<S, For>(stmt);
            fn(loop.var);
            for (auto& reduction : loop.mapping.reductions) {
                fn(reduction.var);
            }
            for (auto& array : loop.disjoint) {
                fn(array);
            }
            break;
        }
        case StmtKind::kLaunch: {
            auto& launch = detail::cast<S, Launch>(stmt);
            if (launch.chunks != nullptr) {
                fn(launch.chunks);
            }
            break;
        }
        case StmtKind::kFetch:
            fn(detail::cast<S, Fetch>(stmt).var);
            fn(detail::cast<S, Fetch>(stmt).array);
            break;
        default:
            break;
    }
}

// ---------------------------------------------------------------- statements

template <detail::BodyLike B, class F>
void for_each_stmt(B& body, F&& fn);

// Calls fn for `stmt` and every statement nested in it, outside in.
template <detail::StmtLike S, class F>
void for_each_stmt(S& stmt, F&& fn) {
    fn(stmt);
    for_each_body(stmt, [&](auto& body) { for_each_stmt(body, fn); });
}

template <detail::BodyLike B, class F>
void for_each_stmt(B& body, F&& fn) {
    for (Stmt* stmt : body) {
        for_each_stmt(static_cast<detail::CopyConst<B, Stmt>&>(*stmt), fn);
    }
}

// ---------------------------------------------------------------- expressions

// Calls fn for `expr` and every expression below it, operator before operands.
template <detail::ExprLike E, class F>
void for_each_expr(E& expr, F&& fn) {
    fn(expr);
    for (Expr* operand : expr.operands) {
        for_each_expr(static_cast<E&>(*operand), fn);
    }
}

// Calls fn for every expression of `stmt` and of the statements nested in it.
template <detail::StmtLike S, class F>
void for_each_expr(S& stmt, F&& fn) {
    for_each_stmt(stmt, [&](auto& inner) {
        for_each_slot(
            inner, [&](auto& slot) { for_each_expr(static_cast<detail::ExprOf<S>&>(*slot), fn); });
    });
}

template <detail::BodyLike B, class F>
void for_each_expr(B& body, F&& fn) {
    for (Stmt* stmt : body) {
        for_each_expr(static_cast<detail::CopyConst<B, Stmt>&>(*stmt), fn);
    }
}

// ---------------------------------------------------------------- questions

// Whether fn(stmt) holds for a statement of `code` (a statement or a body), nested ones included.
template <class Code, class F>
[[nodiscard]] bool any_stmt(const Code& code, F&& fn) {
    bool found = false;
    for_each_stmt(code, [&](const Stmt& stmt) { found = found || fn(stmt); });
    return found;
}

// Whether fn(expr) holds for an expression of `code`, which may be an expression itself.
template <class Code, class F>
[[nodiscard]] bool any_expr(const Code& code, F&& fn) {
    bool found = false;
    for_each_expr(code, [&](const Expr& expr) { found = found || fn(expr); });
    return found;
}

template <class Code>
[[nodiscard]] bool contains_loop(const Code& code) {
    return any_stmt(code, [](const Stmt& stmt) {
        return stmt.kind == StmtKind::kFor || stmt.kind == StmtKind::kWhile;
    });
}

// Whether `code` has a break, continue or return, of any loop: it may not run to its end.
template <class Code>
[[nodiscard]] bool contains_jump(const Code& code) {
    return any_stmt(code, [](const Stmt& stmt) {
        return stmt.kind == StmtKind::kBreak || stmt.kind == StmtKind::kContinue ||
               stmt.kind == StmtKind::kReturn;
    });
}

// ---------------------------------------------------------------- rewriting

// Replaces expressions bottom-up: fn(expr) sees operands already rewritten and returns `expr`
// (maybe changed in place) or its replacement, whose operands are not visited again.
template <class F>
void rewrite(Expr*& expr, F&& fn) {
    for (Expr*& operand : expr->operands) {
        rewrite(operand, fn);
    }
    expr = fn(expr);
}

// Rewrites the expressions of `stmt` itself, not of statements nested in it.
template <class F>
void rewrite_slots(Stmt& stmt, F&& fn) {
    for_each_slot(stmt, [&](Expr*& slot) { rewrite(slot, fn); });
}

// Rewrites all expressions of `body`, nested statements included.
template <class F>
void rewrite(Body& body, F&& fn) {
    for_each_stmt(body, [&](Stmt& stmt) { rewrite_slots(stmt, fn); });
}

// Replaces statements bottom-up: fn(stmt, out) appends the replacement of `stmt` to `out`: itself,
// other statements or none.
template <class F>
void rewrite_stmts(Body& body, F&& fn) {
    Body out;
    out.reserve(body.size());
    for (Stmt* stmt : body) {
        for_each_body(*stmt, [&](Body& inner) { rewrite_stmts(inner, fn); });
        fn(stmt, out);
    }
    body = std::move(out);
}

// Whether the statement makes, on the host, memory for an array that the entry returns.
[[nodiscard]] inline bool returns_arrays(const Stmt& stmt) {
    return any_stmt(stmt, [](const Stmt& s) {
        const auto* alloc = s.as<Alloc>();
        return alloc != nullptr && alloc->array->space == Space::kResult;
    });
}

// Whether an entry is a kernel written by hand. Not valid after outline_kernels.
[[nodiscard]] inline bool is_by_hand(const Function& entry) {
    return std::ranges::any_of(entry.body, [](const Stmt* stmt) {
        const auto* gpu = stmt->as<Gpu>();
        return gpu != nullptr && gpu->by_hand();
    });
}

}  // namespace parpy::ir
