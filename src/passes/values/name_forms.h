// The forms of names of arrays, and the functions that receive such names: one copy for each form,
// which has the arrays themselves and the variables of the form as parameters.
//
//     before  total(row[...])                  after  total(x[...], row_at0)
//             helper total(v: f64[:]):                helper total(v: f64[5, 7], v_at0: i64):
//                 return v[0] + v[1]                      return v[v_at0, 0] + v[v_at0, 1]
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "passes/pass.h"

namespace parpy {

// How a name refers to its array: one Part for each dimension of either, in order. Expressions are
// constants or variables that are assigned once, for cloning.
struct Part {
    enum class Kind : std::uint8_t {
        kFixed,  // the dimension of the array has the subscript `begin`; the name lacks it
        kWhole,  // the name has all of the dimension
        kSome,   // element i of the name is begin + step * i
        kAdded,  // only the name has the dimension, of size 1
    };
    Kind kind{};
    const ir::Expr* begin = nullptr;
    const ir::Expr* step = nullptr;
};

// A change of the dimensions that are left of the array: a name transposes them (`order`), selects
// a part of them (`parts`), or gives their elements, in C order, another shape (neither).
struct Move {
    std::vector<std::size_t> order;
    std::vector<Part> parts;
    std::vector<ir::Dim> sizes;  // after the move

    [[nodiscard]] bool reshapes() const { return order.empty() && parts.empty(); }
};

struct Name {
    ir::Var* root = nullptr;
    std::vector<Part> parts;
    std::vector<Move> moves;     // applied after `parts`, in order
    std::vector<ir::Dim> sizes;  // after `parts`, if there are moves
};
using Names = std::unordered_map<const ir::Var*, Name>;

// A parameter whose extents are those of the argument: infer_types leaves them open for names.
[[nodiscard]] bool is_open(const ir::Var& param);

class NameVariants {
public:
    explicit NameVariants(PassContext& context) : context_(context) {}

    // An argument of a call: the name, whose sizes are those of `array`.
    struct Argument {
        Name name;
        const ir::Var* array = nullptr;
    };
    // Makes the call one of the function's copy for these arguments, one for each operand;
    // arguments for parameters that are not open are empty.
    void redirect(ir::Expr& call, const std::vector<std::optional<Argument>>& arguments);

    // The functions made since the last call of next(), with the names that their parameters are.
    struct Made {
        ir::Function* function = nullptr;
        Names names;
    };
    [[nodiscard]] std::optional<Made> next();

private:
    struct Form {
        struct Layout {
            std::optional<std::int64_t> extent, stride;
            friend bool operator==(const Layout&, const Layout&) = default;
        };
        struct Piece {
            Part::Kind kind{};
            std::optional<std::int64_t> step;
            friend bool operator==(const Piece&, const Piece&) = default;
        };
        using Sizes = std::vector<std::optional<std::int64_t>>;
        struct Moved {
            std::vector<std::size_t> order;
            std::vector<Piece> pieces;
            Sizes sizes;
            friend bool operator==(const Moved&, const Moved&) = default;
        };
        std::size_t parameter = 0;
        ir::Type root;
        ir::Space space{};
        std::int64_t limit = 0;
        bool aliased = false;
        std::vector<Layout> layout;  // of the array
        std::vector<Piece> pieces;
        Sizes sizes;  // of the parts
        std::vector<Moved> moves;
        friend bool operator==(const Form&, const Form&) = default;
    };
    struct Forms {
        std::vector<Form> names;
        std::vector<std::size_t> aliased;  // arrays that share memory with one of the names
        friend bool operator==(const Forms&, const Forms&) = default;
    };
    struct Variant {
        const ir::Function* source = nullptr;
        Forms forms;
        ir::Function* function = nullptr;
    };
    static std::vector<Form::Piece> pieces_of(const std::vector<Part>& parts);
    static Form form_of(std::size_t parameter, const Argument& argument, bool aliased);
    static Forms with_open_sizes(Forms forms);
    void limit_sizes(const ir::Function& callee, Forms& forms) const;
    ir::Function* find_or_make(const ir::Function& callee, const Forms& forms);
    void make_parameter(ir::Var& param, const Form& form, Made& made, std::vector<ir::Var*>& more);

    PassContext& context_;
    std::deque<Variant> all_;
    std::deque<Made> made_;
};

}  // namespace parpy
