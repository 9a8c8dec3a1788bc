// Computes the sizes of names of arrays, and allocates the names that have values of their own, for
// lower_names.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/integers/intervals.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/pass.h"
#include "passes/slices/slice_shapes.h"
#include "passes/values/name_forms.h"
#include "passes/values/name_places.h"

namespace parpy {

class NameMemory {
public:
    // `names` gets the names that use only a part of their memory.
    NameMemory(PassContext& context, ir::Function& function, const NamePlaces& places,
               Intervals& intervals, Names& names)
        : context_(context),
          function_(function),
          places_(places),
          uses_(uses_of(function.body)),
          intervals_(intervals),
          names_(names),
          by_hand_(ir::is_by_hand(*context.module.entry_function())),
          b_(context.module) {}

    // Allocates the values of `bind`, where they are computed (`out`) or at the entry. `sizes` sets
    // the variables that hold parts of the shape: it moves to `out` if the memory needs them.
    // Returns false after an error.
    bool allocate(const ir::Bind& bind, const Shape& shape, ir::Body& sizes, ir::Body& out);
    // Whether the values can be allocated such that parallel iterations need not share the memory.
    // `sizes` sets the variables that hold parts of the shape.
    [[nodiscard]] bool has_room(const ir::Bind& bind, const Shape& shape,
                                std::span<ir::Stmt* const> sizes);
    // Makes the name's values the entry's result for this argument.
    void give_away(const ir::Var& name, const ir::Origin& result) { given_[&name] = result; }
    // Allocates a name that is never bound: a part whose begin and sizes are variables without a
    // value.
    void allocate_none(ir::Var& array);
    // Statements that precede all others of the function.
    [[nodiscard]] const ir::Body& at_entry() const { return at_entry_; }

    // Copies slice bounds in the value of `bind` that may change later to variables, so that sizes
    // made of them can be compared wherever the name is used.
    void hold_bounds(ir::Bind& bind, ir::Body& out);

    // Dimension `number` of the name: a constant, or a variable that `out` sets. `own`: a variable
    // for this name alone, which may be set again.
    ir::Dim sized(const Extent& length, const ir::Var& array, std::size_t number, ir::Body& out,
                  bool own = false);
    // Passes a statement between names: forgets the sizes that it changes.
    void pass_by(const ir::Stmt& stmt);
    // Passes the end of a body of the statement.
    void leave(const ir::Stmt& stmt);
    // Passes the begin or the end of statements that may run several times or not at all.
    void enter_or_leave() { sizes_.clear(); }
    // Sets the strides of an array in C order, for code that reads them: addresses use the root.
    static void strides(std::vector<ir::Dim>& dims);

private:
    // An upper bound of the number of elements along one dimension of a name of values.
    struct Room {
        std::optional<std::int64_t> constant;
        const ir::Expr* size =
            nullptr;         // else: it is known at the entry or, if `late`, at the bind
        bool exact = false;  // the bound is the number itself
        bool late = false;
    };
    struct Rooms {
        std::vector<Room> rooms;  // by dimension
        bool small = false;       // each thread may have its own
        bool late = false;        // one of the sizes is not known at the entry
    };
    std::optional<Rooms> rooms_for(const ir::Bind& bind, const Shape& shape,
                                   std::span<ir::Stmt* const> sizes);
    // Whether each call has memory of its own, allocated at the entry.
    [[nodiscard]] bool is_called_once() const;
    // Whether the bind runs once in a call, so that memory can be allocated at the bind.
    [[nodiscard]] bool runs_once(const ir::Bind& bind) const;
    // `before`: the statements that set the variables that hold parts of the length.
    std::optional<Room> room(const Extent& length, std::span<ir::Stmt* const> before, bool once);
    ir::Expr* at_most(ir::Expr& e);
    ir::Expr* spelled_out(const ir::Expr* value, std::span<ir::Stmt* const> before) const;
    ir::Expr* with_integers(ir::Expr* value) const;
    Interval range(const ir::Expr& e) const;
    // Notes the value of an assigned variable, if it is known at the entry.
    void learn(const ir::Stmt& stmt);
    bool allocate_result(ir::Var& array, const ir::Origin& result, const Shape& shape,
                         ir::Body& sizes, ir::Body& out);
    const ir::Expr* bound_here(const ir::Var& array, ir::Scalar type, ir::Body& out);
    bool no_room(const ir::Bind& bind);
    bool is_for_good(const ir::Var& array) const;
    bool stable(const ir::Expr& expr, const ir::Var& array) const;
    bool lasts(const ir::Var& var) const;

    PassContext& context_;
    ir::Function& function_;
    const NamePlaces& places_;
    const Uses uses_;
    Intervals& intervals_;
    Names& names_;
    const bool by_hand_;  // a kernel: each thread has its own arrays, of constant sizes
    ir::Builder b_;
    ir::Body at_entry_;
    std::vector<std::pair<const ir::Expr*, ir::Var*>> sizes_;  // values of variables, and these
    // The values of variables at the current statement, where they are known at the entry.
    std::unordered_map<const ir::Var*, ir::Expr*> integers_;
    std::unordered_map<const ir::Var*, ir::Origin> given_;
    struct Held {
        const ir::Var* name = nullptr;   // the variable is set at the only bind of this name
        const ir::Expr* most = nullptr;  // an upper bound that is known at the entry
    };
    std::unordered_map<const ir::Var*, Held> held_;  // bounds and sizes
};

}  // namespace parpy
