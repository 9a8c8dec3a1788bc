// Which variables a piece of program reads and writes, which values it needs from outside, and
// which of its values are live afterwards. Plain data flow on names, without subscripts (see
// dependences) and values (see intervals). Every set lists its variables in order of first
// appearance, so that everything built from it (parameter lists, say) is the same on every run.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/ir.h"

namespace parpy {

class VarSet {
public:
    bool insert(ir::Var* var);  // false if it was present
    void insert(const VarSet& other);
    bool erase(const ir::Var* var);
    [[nodiscard]] bool contains(const ir::Var* var) const { return members_.contains(var); }
    [[nodiscard]] bool empty() const { return order_.empty(); }
    [[nodiscard]] std::size_t size() const { return order_.size(); }
    [[nodiscard]] auto begin() const { return order_.begin(); }
    [[nodiscard]] auto end() const { return order_.end(); }

private:
    std::vector<ir::Var*> order_;
    std::unordered_set<const ir::Var*> members_;
};

// The possible effects of a piece of program, on any path and in any order. An array argument of a
// call counts as loaded or stored as the callee uses it.
struct Uses {
    VarSet read;  // scalars, those that hold a run-time extent or stride of a used array included
    VarSet written;  // scalars, loop variables included
    VarSet loaded;   // arrays; an update (a[i] += e) loads and stores
    VarSet stored;
    VarSet allocated;    // arrays made by an Alloc inside
    bool calls = false;  // contains a kCall

    // By this name.
    [[nodiscard]] bool touches(const ir::Var* array) const {
        return loaded.contains(array) || stored.contains(array);
    }
    // By any name of its memory (sharing.h).
    [[nodiscard]] bool may_store(const ir::Var& array) const;
    [[nodiscard]] bool may_touch(const ir::Var& array) const;
};

[[nodiscard]] Uses uses_of(const ir::Expr& expr);
[[nodiscard]] Uses uses_of(const ir::Stmt& stmt);
[[nodiscard]] Uses uses_of(const ir::Body& body);

// Scalars whose value at entry `body` may read: read on some path before the body assigns them. A
// scalar that the body writes and that is not exposed is assigned before it is read on every path;
// if it is not live after the body either, it is private to one run of the body. `live_after`:
// scalars that are live after the body; those that it may leave unassigned count as exposed as
// well.
[[nodiscard]] VarSet exposed_reads(const ir::Body& body, const VarSet& live_after = {});

// The same for arrays: the names in `body` that may be used before a Bind has given them an array.
[[nodiscard]] VarSet unbound_names(const ir::Body& body);

// The inputs of `body` as a function of its own: its exposed scalars and the arrays that it uses
// but does not allocate. Loaded arrays come first, then arrays that are only stored, then scalars.
[[nodiscard]] VarSet free_variables(const ir::Body& body);

// Whether it loads or stores elements, nested statements included.
[[nodiscard]] bool uses_arrays(const ir::Stmt& stmt);
[[nodiscard]] bool uses_arrays(const ir::Expr& expr);

// Whether it contains a break or continue of a loop around `stmt`.
[[nodiscard]] bool leaves_loop(const ir::Stmt& stmt);

// True if `expr` has one value throughout the piece of program that `uses` describes: it reads no
// scalar written and no memory stored there, and calls nothing.
[[nodiscard]] bool invariant(const ir::Expr& expr, const Uses& uses);

// True if the two are the same expression on the same variables. Their values are equal only if the
// variables do not change between the two places.
[[nodiscard]] bool same(const ir::Expr& a, const ir::Expr& b);
[[nodiscard]] bool same(const std::vector<ir::Expr*>& a, const std::vector<ir::Expr*>& b);

// True if the conversion maps different loop counters to different integers: it does not narrow to
// less than 32 bits.
[[nodiscard]] bool keeps_apart(const ir::Expr& convert);

// The c of an index `variable + c`; nothing if the index has another form.
[[nodiscard]] std::optional<std::int64_t> constant_offset(const ir::Expr& index,
                                                          const ir::Var& variable);

// Which scalars are read later. Describes the function at the time when the object was made.
class Liveness {
public:
    explicit Liveness(const ir::Function& function);

    // Scalars that may be read after `stmt` (any statement of the function) has run, before they
    // are assigned again; in a loop that includes the iterations to come.
    [[nodiscard]] const VarSet& after(const ir::Stmt* stmt) const;

private:
    friend class LivenessWalk;
    std::unordered_map<const ir::Stmt*, VarSet> after_;
};

}  // namespace parpy
