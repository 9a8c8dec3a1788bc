// Code that is common to the passes that insert run-time checks: the failing statement, and the
// loops that its message names.
#pragma once

#include <string>
#include <vector>

#include "ir/builder.h"

namespace parpy {

// The loops around a statement, outermost first.
using LoopStack = std::vector<ir::For*>;

// Builds the texts of a site, and collects the values that they show.
class FailBuilder {
public:
    FailBuilder(ir::Builder& builder, Code code) : b_(builder) { site_.code = code; }

    // Adds the value, an integer; returns how texts name it.
    std::string value(ir::Expr* expr);
    // A note with the iteration of each loop, outermost first: `in iteration i={0}, j={1}`.
    void note_iteration(const std::string& name, ir::Var* value);
    void note_iterations(const LoopStack& loops);

    // The site at the builder's span, and the statement that names it.
    [[nodiscard]] ir::Fail* make();

    ir::Site& site() { return site_; }

private:
    ir::Builder& b_;
    ir::Site site_;
    std::vector<ir::Expr*> values_;
};

// "subscript 5 is out of bounds for axis 0 of 'x', whose size is 3"
[[nodiscard]] std::string outside_text(const std::string& subscript, std::size_t axis,
                                       const ir::Var& array, const std::string& size);

// Calls fn(stmt, loops, out) for every statement of the body, outer ones first; fn appends to `out`
// the statements to insert before the statement.
template <class F>
void insert_before(ir::Body& body, LoopStack& loops, const F& fn);

}  // namespace parpy

#include "ir/visit.h"

template <class F>
void parpy::insert_before(ir::Body& body, LoopStack& loops, const F& fn) {
    ir::Body out;
    out.reserve(body.size());
    for (ir::Stmt* stmt : body) {
        fn(*stmt, loops, out);
        auto* loop = stmt->as<ir::For>();
        if (loop != nullptr) loops.push_back(loop);
        ir::for_each_body(*stmt, [&](ir::Body& inner) { insert_before(inner, loops, fn); });
        if (loop != nullptr) loops.pop_back();
        out.push_back(stmt);
    }
    body = std::move(out);
}
