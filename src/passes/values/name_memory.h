// The sizes of names of arrays, and memory for the names that have values of their own, for
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
    // `names` gets the names that have only a part of their memory.
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

    // Memory for the values of `bind`, where they are computed (`out`) or at the entry. `sizes`
    // sets the variables that hold parts of the shape: it is moved to `out` where the memory needs
    // them. False after an error.
    bool allocate(const ir::Bind& bind, const Shape& shape, ir::Body& sizes, ir::Body& out);
    // Memory for the values is there, and iterations that run in parallel need not share it.
    // `sizes` sets the variables that hold parts of the shape.
    [[nodiscard]] bool has_room(const ir::Bind& bind, const Shape& shape,
                                std::span<ir::Stmt* const> sizes);
    // The name's values are what the entry returns for this argument.
    void give_away(const ir::Var& name, const ir::Origin& result) { given_[&name] = result; }
    // The same for a name that nothing binds: a part whose begin and sizes are variables that
    // nothing sets.
    void allocate_none(ir::Var& array);
    // What belongs in front of all that the threads of the function run.
    [[nodiscard]] const ir::Body& at_entry() const { return at_entry_; }

    // Holds the bounds of the slices in the values of `bind` that may be others later, so that
    // sizes made of them can be compared wherever the name is used.
    void hold_bounds(ir::Bind& bind, ir::Body& out);

    // Dimension `number` of the name: a constant, or a variable that `out` sets.
    // `own`: a variable of the name's own, which may be set again.
    ir::Dim sized(const Extent& length, const ir::Var& array, std::size_t number, ir::Body& out,
                  bool own = false);
    // A statement between names: sizes made of what it changes are none of those that follow.
    void pass_by(const ir::Stmt& stmt);
    // The end of a body of the statement.
    void leave(const ir::Stmt& stmt);
    // The begin or the end of statements that may run another time, or not.
    void enter_or_leave() { sizes_.clear(); }
    // As of an array in C order, for what asks for them: addresses are those of the root.
    static void strides(std::vector<ir::Dim>& dims);

private:
    // The most elements along one dimension that a name of values has.
    struct Room {
        std::optional<std::int64_t> constant;
        const ir::Expr* size =
            nullptr;         // else: it is known at the entry or, if `late`, at the bind
        bool exact = false;  // it has so many
        bool late = false;
    };
    struct Rooms {
        std::vector<Room> rooms;  // by dimension
        bool small = false;       // each thread may have its own
        bool late = false;        // one of the sizes is not known at the entry
    };
    std::optional<Rooms> rooms_for(const ir::Bind& bind, const Shape& shape,
                                   std::span<ir::Stmt* const> sizes);
    // Memory that is taken at the entry is each call's own.
    [[nodiscard]] bool is_called_once() const;
    // Whether the bind runs once a call, so that its memory can be taken where it stands.
    [[nodiscard]] bool runs_once(const ir::Bind& bind) const;
    // `before`: what sets the variables that parts of the length are held in.
    std::optional<Room> room(const Extent& length, std::span<ir::Stmt* const> before, bool once);
    ir::Expr* at_most(ir::Expr& e);
    ir::Expr* spelled_out(const ir::Expr* value, std::span<ir::Stmt* const> before) const;
    ir::Expr* with_integers(ir::Expr* value) const;
    Interval range(const ir::Expr& e) const;
    // What the statement gives a variable, where that is known at the entry.
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
    const bool by_hand_;  // a kernel: each thread has what it makes, of sizes that are known
    ir::Builder b_;
    ir::Body at_entry_;
    std::vector<std::pair<const ir::Expr*, ir::Var*>> sizes_;  // that variables here hold
    // The values that variables have here, where they are known at the entry.
    std::unordered_map<const ir::Var*, ir::Expr*> integers_;
    std::unordered_map<const ir::Var*, ir::Origin> given_;
    struct Held {
        const ir::Var* name = nullptr;   // at whose only bind it is set
        const ir::Expr* most = nullptr;  // known at the entry: it is not greater
    };
    std::unordered_map<const ir::Var*, Held> held_;  // bounds and sizes
};

}  // namespace parpy
