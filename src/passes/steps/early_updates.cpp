// See early_updates.h.
#include "passes/steps/early_updates.h"

#include "analysis/contractions/products.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"

namespace parpy {

using namespace ir;

EarlyUpdates::EarlyUpdates(Module& module, For& loop) : module_(module), loop_(loop) {
    if (loop.body.empty() || constant_integer(loop.step) != 1) return;
    auto* top = loop.body.front()->as<For>();
    if (top == nullptr) return;
    Nest nest = nest_of(*top);
    const For& over = *nest.back();
    const bool earlier = over.end->op == Op::kVar && over.end->var == loop.var &&
                         same(*over.begin, *loop.begin) && constant_integer(over.step) == 1 &&
                         over.var->type == loop.var->type;
    if (nest.size() > 1 && earlier && over.body.size() == 1 && adds_products(*over.body.front()))
        nest_ = std::move(nest);
}

// The updates of step `later` by step `early`.
Body EarlyUpdates::updates(Var& later, Var& early) {
    Substitution renamed;
    renamed.vars[loop_.var] = &later;
    renamed.vars[nest_.back()->var] = &early;
    Body body = clone(module_, nest_.back()->body, renamed);
    for (std::size_t i = nest_.size() - 1; i-- > 0;) {
        const For& each = *nest_[i];
        Builder b(module_, each.span);
        For* made = b.loop(module_.make_like(*each.var), clone(module_, each.begin, renamed),
                           clone(module_, each.end, renamed), {}, clone(module_, each.step));
        Substitution own;
        own.vars[each.var] = made->var;
        made->body = clone(module_, body, own);
        made->labels = each.labels;
        body = {made};
    }
    return body;
}

EarlyUpdates::Question EarlyUpdates::question() {
    Builder b(module_, loop_.span);
    Var *early = module_.make_like(*loop_.var), *later = module_.make_like(*loop_.var),
        *between = module_.make_like(*loop_.var);
    const auto behind = [&](Var* var) { return b.binary(Op::kAdd, b.var(var), b.integer(1)); };
    Question question;
    question.updates = updates(*later, *early);
    Substitution renamed;
    renamed.vars[loop_.var] = between;
    question.others = {
        b.loop(between, behind(early), b.var(later), clone(module_, loop_.body, renamed))};
    Body both = question.updates;
    both.push_back(question.others.front());
    question.pair = b.loop(b.scalar("pair", Scalar::kI64), b.integer(0), b.integer(1), both);
    For* laters = b.loop(later, behind(early), clone(module_, loop_.end), {question.pair});
    question.loops =
        b.loop(early, clone(module_, loop_.begin), clone(module_, loop_.end), {laters});
    return question;
}

void EarlyUpdates::apply() {
    Builder b(module_, loop_.span);
    Var* later = module_.make_like(*loop_.var);
    const Body body = updates(*later, *loop_.var);
    loop_.body.erase(loop_.body.begin());
    Expr* next = b.binary(Op::kAdd, b.var(loop_.var), b.integer(1));
    loop_.body.push_back(b.loop(later, next, clone(module_, loop_.end), body));
}

}  // namespace parpy
