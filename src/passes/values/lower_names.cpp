// See lower_names.h.
#include "passes/values/lower_names.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "analysis/integers/interval_arithmetic.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/slices/slice_shapes.h"
#include "passes/values/name_forms.h"
#include "passes/values/name_places.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostLocalBytes = 2 << 10;  // threads of a GPU have few

class NameLowering {
public:
    // `names`: what parameters stand for.
    NameLowering(PassContext& context, Function& function, NameVariants& variants, Names names)
        : context_(context),
          module_(context.module),
          function_(function),
          places_(function),
          uses_(uses_of(function.body)),
          intervals_(function),
          b_(context.module),
          variants_(variants),
          names_(std::move(names)) {}

    void run() {
        if (places_.empty() && names_.empty() && !passes_names()) return;
        if (!check()) return;
        bodies(function_.body);
        if (context_.diagnostics.has_errors()) return;
        replace(function_.body);
        function_.body.insert(function_.body.begin(), at_entry_.begin(), at_entry_.end());
    }

private:
    bool passes_names() const {
        return any_expr(function_.body, [](const Expr& e) {
            return e.op == Op::kCall && std::ranges::any_of(e.callee->params, [](const Var* param) {
                       return is_open(*param);
                   });
        });
    }

    // ------------------------------------------------------------ what cannot be told apart

    bool check() {
        for (const Var* name : places_.names()) {
            const NamePlace& place = places_.of(name);
            const Bind& first = *place.binds.front();
            for (const Bind* bind : place.binds) {
                const bool same = bind->fresh == first.fresh &&
                                  (bind->fresh || bind->value->var == first.value->var);
                if (!same) return refuse(*bind, "stands for several arrays", first);
            }
            if (first.fresh) continue;
            // The values may be replaced while another name still stands for them.
            for (const Var* root = first.value->var; places_.has(root);) {
                const NamePlace& made = places_.of(root);
                const Bind& origin = *made.binds.front();
                const bool replaced = made.binds.size() > 1 || !made.loops.empty();
                if (origin.fresh && replaced && !(place.dominated && made.dominated)) {
                    return refuse(first, "may outlive the values of '" + root->shown() + "'",
                                  origin);
                }
                if (origin.fresh) break;
                root = origin.value->var;
            }
        }
        return true;
    }

    bool refuse(const Bind& bind, const std::string& why, const Bind& other) {
        auto& error = context_.diagnostics.error(Code::kP217, bind.span,
                                                 "the name '" + bind.array->shown() + "' " + why);
        if (&other != &bind) error.notes.push_back({other.span, "they are made here"});
        error.help =
            "copy the elements into an array of its own: " + bind.array->shown() + "[:] = …";
        return false;
    }

    // ------------------------------------------------------------ what names stand for

    void bodies(Body& stmts) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            b_.span = stmt->span;
            if (auto* bind = stmt->as<Bind>()) {
                if (bind->fresh) {
                    make(*bind, out);
                } else {
                    name(*bind, out);
                }
                continue;
            }
            for_each_body(*stmt, [&](Body& inner) { bodies(inner); });
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    // A constant, or a variable that is set here and where the name is bound again (`known`).
    const Expr* held(const Expr& value, const std::string& what, const Var& name, Body& out,
                     const Part* known, const Expr* Part::* place) {
        const bool once = places_.of(&name).binds.size() == 1;
        if (once && constant_integer(&value)) return &value;
        Var* var = known != nullptr ? (known->*place)->var : nullptr;
        if (var == nullptr) {
            var = b_.scalar(name.name + "_" + what, value.type.scalar);
            var->user_name = name.shown();
        }
        out.push_back(b_.assign(var, clone(module_, &value)));
        return b_.var(var);
    }

    void name(Bind& bind, Body& out) {
        Shapes shapes(context_, intervals_, bind.span, out);
        Var& array = *bind.array;
        const Expr& load = *bind.value;
        const Name root = found(*load.var);
        const auto known = names_.find(&array);
        const Name* const before = known != names_.end() ? &known->second : nullptr;
        const Bind& first = *places_.of(&array).binds.front();
        const std::vector<Expr*> indices = composed(*load.var, load.operands, shapes);
        const std::vector<Subscript> subscripts = shapes.subscripts(*root.root, indices);
        Name made{root.root, {}};
        std::vector<Dim> dims;
        std::size_t axis = 0;
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const Expr& index = *indices[i];
            const Subscript& s = subscripts[i];
            const std::string number = std::to_string(axis);
            Part part;
            part.kind = s.is_new_axis()          ? Part::Kind::kAdded
                        : !s.is_slice()          ? Part::Kind::kFixed
                        : index.operands.empty() ? Part::Kind::kWhole
                                                 : Part::Kind::kSome;
            const Part* const was =
                before != nullptr && i < before->parts.size() ? &before->parts[i] : nullptr;
            if (before != nullptr && (was == nullptr || was->kind != part.kind)) {
                refuse(bind, "stands for parts of different forms", first);
                return;
            }
            if (part.kind == Part::Kind::kFixed) {
                part.begin = held(*s.index, "at" + number, array, out, was, &Part::begin);
            } else if (part.kind == Part::Kind::kWhole) {
                dims.push_back(root.root->dims[axis]);
            } else {
                if (part.kind == Part::Kind::kSome) {
                    part.begin = held(*s.begin, "begin" + number, array, out, was, &Part::begin);
                    part.step = held(*s.step, "step" + number, array, out, was, &Part::step);
                }
                dims.push_back(sized(s.length, array, dims.size(), out));
            }
            axis += part.kind != Part::Kind::kAdded ? 1 : 0;
            made.parts.push_back(part);
        }
        strides(dims);
        if (before == nullptr) {
            array.dims = std::move(dims);
            names_.emplace(&array, std::move(made));
        } else if (!resize(array, dims, out)) {
            refuse(bind, "stands for parts of different sizes", first);
        }
    }

    // The sizes of a name that is bound again: the variables that hold them, or the same numbers.
    bool resize(const Var& array, const std::vector<Dim>& dims, Body& out) {
        if (array.dims.size() != dims.size()) return false;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (array.dims[i].extent != dims[i].extent) return false;
            if (array.dims[i].extent || array.dims[i].extent_var == dims[i].extent_var) continue;
            out.push_back(b_.assign(array.dims[i].extent_var, b_.var(dims[i].extent_var)));
        }
        return true;
    }

    // `at_entry`: the size where it is computed there.
    Dim sized(const Extent& length, const Var& array, std::size_t number, Body& out,
              const Expr* at_entry = nullptr) {
        Dim dim;
        dim.extent = length.constant();
        if (dim.extent) {
            dim.extent = std::max<std::int64_t>(*dim.extent, 0);
        } else if (length.value->op == Op::kVar && length.value->type.is(Scalar::kI64) &&
                   lasts(*length.value->var)) {
            dim.extent_var = length.value->var;
        } else {
            Var* size = b_.scalar(array.name + "_size" + std::to_string(number), Scalar::kI64);
            size->user_name = array.shown();
            if (stable(*length.written, array)) size->meaning = clone(module_, length.written);
            const Expr* value = at_entry != nullptr ? at_entry : length.value;
            out.push_back(b_.assign(size, b_.convert(clone(module_, value), Scalar::kI64)));
            dim.extent_var = size;
        }
        return dim;
    }

    // Whether the expression has the same value wherever the name is used.
    bool stable(const Expr& expr, const Var& array) const {
        const Uses own = uses_of(expr);
        const NamePlace& place = places_.of(&array);
        return !own.calls && own.loaded.empty() &&
               std::ranges::all_of(own.read, [&](const Var* var) {
                   const bool counts = std::ranges::any_of(place.loops, [&](const Stmt* stmt) {
                       const auto* loop = stmt->as<For>();
                       return loop != nullptr && loop->var == var &&
                              !uses_of(loop->body).written.contains(var);
                   });
                   return lasts(*var) || (counts && place.dominated);
               });
    }

    // Nothing in the function sets the variable.
    bool lasts(const Var& var) const {
        return !uses_.written.contains(&var) &&
               std::ranges::find(function_.params, &var) != function_.params.end();
    }

    // As of an array in C order, for what asks for them: addresses are those of the root.
    void strides(std::vector<Dim>& dims) {
        std::optional<std::int64_t> stride = 1;
        for (std::size_t i = dims.size(); i-- > 0;) {
            dims[i].stride = stride.value_or(0);
            dims[i].stride_var = nullptr;
            stride =
                stride && dims[i].extent ? std::optional(*stride * *dims[i].extent) : std::nullopt;
        }
    }

    // ------------------------------------------------------------ memory of its own

    void make(Bind& bind, Body& out) {
        Body sizes;
        Shapes shapes(context_, intervals_, bind.span, sizes);
        Var& array = *bind.array;
        const Shape shape = shapes.of(*bind.value);
        if (context_.diagnostics.has_errors()) return;
        if (array.dims.empty()) {
            if (!allocate(bind, shape, sizes, out)) return;
        } else {
            for (std::size_t i = 0; i < shape.size(); ++i) {
                if (!shape[i].constant() || shape[i].constant() != array.dims[i].extent) {
                    refuse(bind, "stands for values of another shape here",
                           *places_.of(&array).binds.front());
                    return;
                }
            }
        }
        if (bind.value->op == Op::kEmpty) return;
        std::vector<Expr*> whole;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            whole.push_back(module_.make_expr(Op::kSlice, Type::none(), bind.span));
        }
        Store* store = b_.store(&array, std::move(whole), bind.value);
        store->labels = bind.labels;
        out.push_back(store);
    }

    // The expression without variables that `before` sets.
    Expr* spelled_out(const Expr* value, std::span<Stmt* const> before) const {
        Expr* result = clone(module_, value);
        for (auto stmt = before.rbegin(); stmt != before.rend(); ++stmt) {
            const auto* assign = (*stmt)->as<Assign>();
            if (assign == nullptr || assign->update) continue;
            result = clone(module_, result, {.values = {{assign->var, assign->value}}});
        }
        return result;
    }

    // The most elements along one dimension that a name of values has.
    struct Room {
        std::optional<std::int64_t> constant;
        const Expr* at_entry = nullptr;  // else
    };

    // `before`: what sets the variables that parts of the length are held in.
    std::optional<Room> room(const Extent& length, std::span<Stmt* const> before) const {
        constexpr std::int64_t kMost = std::int64_t{1} << 31;
        if (const auto constant = length.constant())
            return Room{std::max<std::int64_t>(*constant, 0)};
        const Expr* size = spelled_out(length.value, before);
        if (known_at_entry(*size)) return Room{std::nullopt, size};
        const std::int64_t most = range(*length.written).high;
        if (most > kMost) return std::nullopt;
        return Room{std::max<std::int64_t>(most, 0)};
    }

    // The values of an expression that is made of variables of the function.
    Interval range(const Expr& e) const {
        const auto operand = [&](std::size_t i) { return range(*e.operands[i]); };
        switch (e.op) {
            case Op::kConst:
                return Interval::exactly(constant_integer(&e).value_or(0));
            case Op::kVar:
                return intervals_.of(e.var);
            case Op::kAdd:
            case Op::kSub:
            case Op::kMul:
            case Op::kFloorDiv:
            case Op::kMin:
            case Op::kMax:
                return arithmetic(e.op, operand(0), operand(1), e.type.scalar);
            case Op::kSelect:
                return hull(operand(1), operand(2));
            default:
                return Interval::of_type(e.type.scalar);
        }
    }

    bool allocate(const Bind& bind, const Shape& shape, const Body& sizes, Body& out) {
        Var& array = *bind.array;
        const NamePlace& place = places_.of(&array);
        const bool in_entry = &function_ == module_.entry_function();
        std::vector<Room> rooms;
        std::int64_t bytes = size_in_bytes(array.type.scalar);
        bool grows = false, few = true;
        for (const Extent& length : shape) {
            const auto most = room(length, sizes);
            if (!most) return no_room(bind, in_entry);
            few = few && most->constant && *most->constant <= kMostLocalBytes;
            bytes *= few ? std::max<std::int64_t>(*most->constant, 1) : 1;
            few = few && bytes <= kMostLocalBytes;
            grows = grows || (!length.constant() && most->at_entry == nullptr);
            rooms.push_back(*most);
        }
        const bool small = few && !(in_entry && place.loops.empty());
        const bool hoisted = !place.dominated || !small;
        if (!in_entry && !small) return no_room(bind, in_entry);
        Body& target = hoisted ? at_entry_ : out;
        if (grows) out.insert(out.end(), sizes.begin(), sizes.end());
        Var* memory = &array;
        if (grows) {  // the name is a part of what there is room for
            memory = module_.make_var(array.name + "_values", array.type, array.span);
            Name part{memory, {}};
            for (std::size_t i = 0; i < shape.size(); ++i) {
                array.dims.push_back(sized(shape[i], array, i, out));
                const bool whole = shape[i].constant() || rooms[i].at_entry != nullptr;
                const Scalar type = shape[i].value->type.scalar;
                part.parts.push_back(
                    whole ? Part{Part::Kind::kWhole}
                          : Part{Part::Kind::kSome, b_.integer(0, type), b_.integer(1, type)});
            }
            strides(array.dims);
            names_.emplace(&array, std::move(part));
        }
        for (std::size_t i = 0; i < rooms.size(); ++i) {
            if (rooms[i].constant) {
                memory->dims.push_back({.extent = rooms[i].constant});
            } else {
                memory->dims.push_back(sized(shape[i], array, i, target, rooms[i].at_entry));
            }
        }
        row_major(*memory, target);
        memory->written = true;
        memory->space = small ? Space::kLocal : Space::kScratch;
        target.push_back(b_.alloc(memory));
        return true;
    }

    bool no_room(const Bind& bind, bool in_entry) {
        auto& error = context_.diagnostics.error(
            Code::kP227, bind.span,
            "how many values '" + bind.array->shown() + "' has is not known when " +
                (in_entry ? "the function is entered"
                          : "the program is compiled, or they are many"));
        error.help = in_entry ? "make the array in front of the loop, as large as it may get"
                              : "pass the array to the function, which then stores to it";
        return false;
    }

    void row_major(Var& array, Body& out) {
        Expr* stride = b_.integer(1);
        for (std::size_t i = array.dims.size(); i-- > 0;) {
            Dim& dim = array.dims[i];
            dim.stride = constant_integer(stride);
            if (!dim.stride) {
                dim.stride_var =
                    b_.scalar(array.name + "_stride" + std::to_string(i), Scalar::kI64);
                out.push_back(b_.assign(dim.stride_var, stride));
            }
            IndexMath math(b_, Scalar::kI64);
            stride = math.multiply(dim.stride ? b_.integer(*dim.stride) : b_.var(dim.stride_var),
                                   b_.extent(dim));
        }
    }

    bool known_at_entry(const Expr& expr) const {
        bool known = invariant(expr, uses_) && uses_of(expr).loaded.empty();
        for (const Var* var : uses_of(expr).read) {
            known = known && std::ranges::count(function_.params, var) != 0;
        }
        return known;
    }

    // ------------------------------------------------------------ uses

    // The name as its array; an array that is none is all of itself.
    Name found(Var& array) {
        const auto known = names_.find(&array);
        if (known != names_.end()) return known->second;
        Name whole{&array, {}};
        whole.parts.resize(array.type.rank, Part{Part::Kind::kWhole});
        return whole;
    }

    void replace(Body& stmts) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            b_.span = stmt->span;
            if (auto* loop = stmt->as<While>(); loop != nullptr && names_any(*loop->condition)) {
                test_inside(*loop);
            }
            Shapes shapes(context_, intervals_, stmt->span, out);
            for_each_slot(*stmt, [&](Expr*& slot) { replace(slot, shapes); });
            if (auto* store = stmt->as<Store>()) {
                store->indices = composed(*store->array, store->indices, shapes);
                store->array = found(*store->array).root;
                store->array->written = true;
            }
            for_each_body(*stmt, [&](Body& inner) { replace(inner); });
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    bool names_any(const Expr& expr) const {
        return any_expr(expr, [&](const Expr& e) { return names_.contains(e.var); });
    }

    // while c: …   as   while True: if not c: break; …
    void test_inside(While& loop) {
        loop.body.insert(loop.body.begin(), b_.if_(b_.not_(loop.condition), {b_.break_()}));
        loop.condition = b_.boolean(true);
    }

    void replace(Expr*& slot, Shapes& shapes) {
        for (Expr*& operand : slot->operands)
            replace(operand, shapes);
        Expr& e = *slot;
        if (e.op == Op::kCall) {
            call(e);
            return;
        }
        if (e.var == nullptr || !e.var->type.is_array()) return;
        if (e.op == Op::kExtent && (places_.has(e.var) || names_.contains(e.var))) {
            const auto rank = static_cast<int>(e.var->dims.size());
            const int axis = e.index < 0 ? e.index + rank : e.index;
            slot = b_.extent(e.var->dims[static_cast<std::size_t>(axis)], e.type.scalar);
            return;
        }
        if (!names_.contains(e.var) || e.op == Op::kArray) return;
        const std::size_t rank = e.op == Op::kAtomic ? e.rank() : e.operands.size();
        const auto values = e.operands.begin() + static_cast<std::ptrdiff_t>(rank);
        std::vector<Expr*> indices = composed(*e.var, {e.operands.begin(), values}, shapes);
        indices.insert(indices.end(), values, e.operands.end());
        e.operands = std::move(indices);
        e.var = found(*e.var).root;
    }

    void call(Expr& e) {
        if (e.callee->kind == FunctionKind::kForeign) {
            for (Expr*& operand : e.operands) {
                if (operand->op == Op::kArray) operand = pointed(*operand, *e.callee);
            }
            return;
        }
        std::vector<std::optional<NameVariants::Argument>> arguments(e.operands.size());
        bool any = false;
        for (std::size_t i = 0; i < e.operands.size(); ++i) {
            if (i >= e.callee->params.size() || !is_open(*e.callee->params[i])) continue;
            Var& array = *e.operands[i]->var;
            arguments[i] = {found(array), &array};
            any = true;
        }
        if (any) variants_.redirect(e, arguments);
    }

    // The address of a name for a foreign function: a row of its array, whose elements lie side by
    // side.
    Expr* pointed(Expr& array, const Function& callee) {
        const Name name = found(*array.var);
        if (name.root == array.var) return &array;
        Expr* row = module_.make_expr(Op::kLoad, array.type, array.span);
        row->var = name.root;
        bool row_begins = true, side_by_side = true;
        std::size_t axis = 0;
        for (const Part& part : name.parts) {
            const bool begins = part.kind == Part::Kind::kSome;
            if (part.kind == Part::Kind::kAdded) continue;
            side_by_side = side_by_side && (part.kind != Part::Kind::kFixed || row_begins) &&
                           (!begins || (row_begins && constant_integer(part.step) == 1));
            if (part.begin != nullptr) row->operands.push_back(copy(part.begin));
            row_begins = row_begins && part.kind == Part::Kind::kFixed;
            ++axis;
        }
        std::optional<std::int64_t> stride = 1;
        for (std::size_t i = axis; i-- > 0;) {
            if (name.parts.size() == axis && name.parts[i].kind == Part::Kind::kFixed) break;
            const Dim& dim = name.root->dims[i];
            side_by_side = side_by_side && stride && dim.stride == stride;
            stride = stride && dim.extent ? std::optional(*stride * *dim.extent) : std::nullopt;
        }
        if (side_by_side) return row->operands.empty() ? b_.array(name.root) : row;
        context_.diagnostics
            .error(Code::kP230, array.span,
                   "'" + callee.name + "' gets a pointer, but the elements of '" +
                       array.var->shown() + "' do not lie side by side in memory")
            .help = "copy them into an array of their own, and pass that";
        return &array;
    }

    Expr* copy(const Expr* expr) { return clone(module_, expr); }

    // The subscripts of the array for those of the name.
    std::vector<Expr*> composed(Var& array, const std::vector<Expr*>& indices, Shapes& shapes) {
        const auto known = names_.find(&array);
        if (known == names_.end()) return indices;
        std::vector<Subscript> own = shapes.subscripts(array, indices);
        std::vector<Expr*> result;
        std::size_t next = 0;
        const auto added = [&] {
            while (next < indices.size() && indices[next]->op == Op::kNewAxis)
                result.push_back(indices[next++]);
        };
        std::size_t axis = 0;
        for (const Part& part : known->second.parts) {
            if (part.kind == Part::Kind::kFixed) {
                result.push_back(copy(part.begin));
                continue;
            }
            added();
            const Subscript& s = own[next];
            Expr* const index = indices[next++];
            const Dim& dim = array.dims[axis++];
            if (part.kind == Part::Kind::kWhole) {
                result.push_back(index);
            } else if (part.kind == Part::Kind::kAdded) {
                if (index->op == Op::kSlice) result.push_back(axis_of_one(*index));
            } else {
                result.push_back(s.is_slice() ? slice_of(part, s, dim, *index)
                                              : place_of(part, index, dim));
            }
        }
        added();
        return result;
    }

    Expr* axis_of_one(const Expr& index) {
        if (!index.operands.empty()) {
            context_.diagnostics
                .error(Code::kP223, index.span, "a dimension of size 1 that was added is sliced")
                .help = "take all of it: write ':'";
        }
        return module_.make_expr(Op::kNewAxis, Type::none(), index.span);
    }

    Expr* place_of(const Part& part, Expr* index, const Dim& dim) {
        const Scalar type = index->type.scalar;
        const auto known = constant_integer(index);
        IndexMath math(b_, type);
        Expr* at = index;
        if (known && *known < 0) {
            at = math.add(b_.extent(dim, type), math.number(*known));
        } else if (!known && (has_slices(*index) || intervals_.of(index).low < 0)) {
            at = b_.binary(Op::kIndex, index, b_.extent(dim, type));
        }
        return math.add(math.multiply(at, b_.convert(copy(part.step), type)),
                        b_.convert(copy(part.begin), type));
    }

    Expr* slice_of(const Part& part, const Subscript& s, const Dim& dim, const Expr& index) {
        const Scalar type = part.begin->type.scalar;
        IndexMath math(b_, type);
        Expr* slice = module_.make_expr(Op::kSlice, Type::none(), index.span);
        slice->index = kSliceBegin | kSliceLength | kSliceStep;
        if (index.operands.empty()) {
            const bool meant = dim.extent_var != nullptr && dim.extent_var->meaning != nullptr;
            Expr* size = meant ? copy(dim.extent_var->meaning) : b_.extent(dim);
            slice->operands = {copy(part.begin), b_.convert(size, type), copy(part.step)};
        } else {
            Expr* ahead = math.multiply(copy(s.begin), copy(part.step));
            slice->operands = {math.add(ahead, copy(part.begin)), copy(s.length.value),
                               math.multiply(copy(s.step), copy(part.step))};
        }
        return slice;
    }

    PassContext& context_;
    Module& module_;
    Function& function_;
    const NamePlaces places_;
    const Uses uses_;
    const Intervals intervals_;
    Builder b_;
    NameVariants& variants_;
    Names names_;
    Body at_entry_;
};

}  // namespace

void lower_names(PassContext& context) {
    Module& module = context.module;
    const auto has_open = [](const Function* function) {
        return function->kind != FunctionKind::kForeign &&
               std::ranges::any_of(function->params, [](const Var* p) { return is_open(*p); });
    };
    NameVariants variants(context);
    const std::vector<Function*> functions = module.functions;  // variants are appended
    for (Function* function : functions) {
        if (!has_open(function)) NameLowering(context, *function, variants, {}).run();
    }
    while (auto made = variants.next()) {
        NameLowering(context, *made->function, variants, std::move(made->names)).run();
    }
    if (context.diagnostics.has_errors()) return;
    const Function* entry = module.entry_function();
    std::erase_if(module.functions, has_open);
    module.entry = static_cast<std::size_t>(std::ranges::find(module.functions, entry) -
                                            module.functions.begin());
}

}  // namespace parpy
