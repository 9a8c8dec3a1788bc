// See lower_aggregates.h. The results of functions, for their callers and for Python.
#include <algorithm>
#include <string>
#include <vector>

#include "passes/aggregates/lowering.h"

namespace parpy {

using namespace ir;

namespace {

// Whether it is a tuple or None, or a tuple with such a value.
bool may_be_no_tuple(const Kind& kind) {
    if (kind.is_optional()) return kind.parts[0].is_tuple();
    return kind.is_tuple() && std::ranges::any_of(kind.parts, may_be_no_tuple);
}

}  // namespace

void Lowering::leave(Return& stmt) {
    const bool to_python = function_.kind == FunctionKind::kEntry && in_place_.empty();
    if (stmt.value == nullptr) {
        out_->push_back(&stmt);
    } else {
        Parts value = lower(stmt.value);
        if (to_python && !by_hand_ && value.kind.is_optional() && may_be_no_tuple(value.kind))
            value = return_none_before(stmt, std::move(value));
        if (in_place_.empty() && may_be_no_tuple(value.kind)) value = {Kind::mixed(), {}};
        if (value.kind.form == Kind::Form::kMixed) fail_mixed(*stmt.value, value.kind);
        if (!in_place_.empty()) {
            return_in_place(std::move(value), stmt.span);
        } else if (to_python && !by_hand_) {
            return_to_python(stmt, std::move(value));
        } else {
            stmt.value = number_in(std::move(value), *stmt.value);
            out_->push_back(&stmt);
        }
    }
    here_.reachable = false;
}

namespace {

// Whether it is a value that cannot be returned to Python, or a tuple with such a value.
bool stays_here(const Kind& kind) {
    if (kind.is_tuple()) return std::ranges::any_of(kind.parts, stays_here);
    return kind.is_record() || kind.is_single();
}

bool has_mixed(const Kind& kind) {
    return kind.form == Kind::Form::kMixed || std::ranges::any_of(kind.parts, has_mixed);
}

// Whether results have several forms, of which the program says which one it is.
bool has_ways(const Kind& kind) {
    return has_mixed(kind) || may_be_no_tuple(kind);
}

// The form of a result (Function::result_form). If paths return several forms, "{.…|…}", the first
// result is the number of the form.
std::string form_of(const Kind& kind) {
    if (!kind.is_tuple()) return kind.is_none() ? "-" : kind.is_optional() ? "?" : ".";
    std::string out = kind.text.empty() ? "(" : "<" + kind.text + ">(";
    for (const Kind& part : kind.parts)
        out += form_of(part);
    return out + ")";
}

}  // namespace

// Of a tuple or None, None is returned first where it is that: the tuple is left.
Parts Lowering::return_none_before(Return& stmt, Parts value) {
    const Span span = stmt.span;
    value = held(std::move(value), span);
    Body none;
    Body* const outer = std::exchange(out_, &none);
    const Stmt* const last = std::exchange(last_, nullptr);  // the program goes on behind it
    return_to_python(stmt, {Kind::none(), {}});
    last_ = last;
    out_ = outer;
    b_.span = span;
    out_->push_back(b_.if_(surface(Op::kNot, {value.leaves.back()}, span), std::move(none)));
    value.leaves.pop_back();
    return {Kind(value.kind.parts[0]), std::move(value.leaves)};
}

// Stores the results of the entry to its result parameters.
void Lowering::return_to_python(const Return& stmt, Parts value) {
    const Span span = stmt.span;
    if (stays_here(value.kind)) {
        const Kind* part = &value.kind;
        while (part->is_tuple())
            part = &*std::ranges::find_if(part->parts, stays_here);
        if (part->is_record()) {
            if (Diagnostic* made = fail(Code::kP204, stmt.value->span,
                                        a_kind(*part) + " cannot be returned to Python",
                                        "return its attributes, or a named tuple"))
                made->python_may_call = true;
            return;
        }
        if (part->form == Kind::Form::kText) {
            if (Diagnostic* made = fail(Code::kP018, stmt.value->span,
                                        a_kind(*part) + " cannot be returned to Python",
                                        "return a number, and choose the text outside"))
                made->python_may_call = true;
            return;
        }
        (void)number_in({*part, {}}, *stmt.value);
        return;
    }
    if (!has_ways(result_kind_)) value = as_kind(std::move(value), result_kind_, span);
    Body stores;
    b_.span = span;
    const std::vector<Var*>& results = results_for(form_of(value.kind), value.leaves, stores);
    for (std::size_t i = 0; i < results.size(); ++i)
        stores.push_back(b_.store(results[i], {number(0, span)}, value.leaves[i]));
    for (Stmt* each : stores)
        each->labels = stmt.labels;
    // In automatic mode the planner decides which code of the host the device runs: a value may be
    // a sum over an array, which many threads add up.
    if (on_device_ > 0 || context_.options.automatic) {
        out_->insert(out_->end(), stores.begin(), stores.end());
    } else if (!stores.empty()) {  // the device reads elements of arrays
        auto* gpu = module_.make<Gpu>(span);
        gpu->body = std::move(stores);
        out_->push_back(gpu);
    }
    if (&stmt != last_) {
        b_.span = span;
        out_->push_back(b_.return_());
    }
}

// The parameters for results of this form; `stores` gets the statement that records the form that
// is returned.
const std::vector<Var*>& Lowering::results_for(const std::string& form,
                                               const std::vector<Expr*>& leaves, Body& stores) {
    if (has_ways(result_kind_) && way_ == nullptr) way_ = add_result(function_.span);
    auto known = std::ranges::find(ways_, form, &Way::form);
    if (known == ways_.end()) {
        Way made{form, {}};
        for (const Expr* leaf : leaves)
            made.results.push_back(add_result(leaf->span));
        ways_.push_back(std::move(made));
        known = ways_.end() - 1;
    }
    if (way_ != nullptr) {
        Expr* const place = number(known - ways_.begin(), b_.span);
        stores.push_back(b_.store(way_, {number(0, b_.span)}, place));
    }
    return known->results;
}

Var* Lowering::add_result(Span span) {
    Var* result = make_variable("result", span, "");
    result->user_name.clear();
    result->type = Type::array(Scalar::kI64, 1);
    result->type.weak = true;
    result->dims = {Dim{1, 1}};
    result->origin = {Origin::Kind::kArgument, context_.signature.size() + result_count_++, 0};
    function_.params.push_back(result);
    return result;
}

void Lowering::end_entry() {
    for (const Way& way : ways_)
        function_.result_form += (function_.result_form.empty() ? "" : "|") + way.form;
    if (way_ != nullptr) function_.result_form = "{." + function_.result_form + "}";
}

}  // namespace parpy
