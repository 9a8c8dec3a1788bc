// See name_forms.h.
#include "passes/values/name_forms.h"

#include <algorithm>

#include "analysis/memory/sharing.h"
#include "ir/clone.h"
#include "ir/ops.h"

namespace parpy {

using namespace ir;

bool is_open(const Var& param) {
    return param.type.is_array() && param.type.rank > 0 && param.dims.empty();
}

namespace {

std::optional<std::int64_t> known(const Expr* value) {
    return value != nullptr ? constant_integer(value) : std::nullopt;
}

std::vector<std::optional<std::int64_t>> known(const std::vector<Dim>& dims) {
    std::vector<std::optional<std::int64_t>> sizes;
    for (const Dim& dim : dims)
        sizes.push_back(dim.extent);
    return sizes;
}

}  // namespace

std::vector<NameVariants::Form::Piece> NameVariants::pieces_of(const std::vector<Part>& parts) {
    std::vector<Form::Piece> pieces;
    for (const Part& part : parts)
        pieces.push_back({part.kind, known(part.step)});
    return pieces;
}

NameVariants::Form NameVariants::form_of(std::size_t parameter, const Argument& argument,
                                         bool aliased) {
    const Name& name = argument.name;
    const Var& root = *name.root;
    Form form{parameter, root.type, root.space, root.limit, aliased, {}, {}, {}, {}};
    for (const Dim& dim : root.dims) {
        form.layout.push_back({dim.extent, dim.stride});
    }
    form.pieces = pieces_of(name.parts);
    form.sizes = known(name.moves.empty() ? argument.array->dims : name.sizes);
    for (const Move& move : name.moves)
        form.moves.push_back({move.order, pieces_of(move.parts), known(move.sizes)});
    return form;
}

void NameVariants::redirect(Expr& call, const std::vector<std::optional<Argument>>& arguments) {
    Builder b(context_.module, call.span);
    // The arrays that are passed, by operand, and whether one shares memory with another one.
    std::vector<const Var*> roots;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        roots.push_back(arguments[i] ? arguments[i]->name.root : array_passed(*call.operands[i]));
    }
    const auto shares = [&](std::size_t i) {
        for (std::size_t k = 0; k < roots.size(); ++k) {
            if (k != i && roots[k] != nullptr && may_share(*roots[i], *roots[k])) return true;
        }
        return roots[i]->aliased;
    };
    Forms forms;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (roots[i] == nullptr) continue;
        if (arguments[i]) {
            forms.names.push_back(form_of(i, *arguments[i], shares(i)));
        } else if (shares(i)) {
            forms.aliased.push_back(i);
        }
    }
    limit_sizes(*call.callee, forms);
    std::vector<Expr*> more;
    for (const Form& form : forms.names) {
        const std::size_t i = form.parameter;
        const Argument& argument = *arguments[i];
        Var* const root = argument.name.root;
        call.operands[i] = b.array(root);
        for (const Dim& dim : root->dims) {
            if (dim.extent_var != nullptr) more.push_back(b.var(dim.extent_var));
            if (dim.stride_var != nullptr) more.push_back(b.var(dim.stride_var));
        }
        const auto pass = [&](const Expr* value) {
            Expr* passed = clone(context_.module, value);
            passed->span = call.span;
            more.push_back(b.convert(passed, Scalar::kI64));
        };
        const auto pass_parts = [&](const std::vector<Part>& parts,
                                    const std::vector<Form::Piece>& pieces,
                                    const std::vector<Dim>& sizes, const Form::Sizes& constants) {
            std::size_t axis = 0;
            for (std::size_t k = 0; k < pieces.size(); ++k) {
                const Part& part = parts[k];
                if (part.begin != nullptr) pass(part.begin);
                if (part.step != nullptr && !pieces[k].step) pass(part.step);
                if (part.kind == Part::Kind::kFixed) continue;
                const std::size_t number = axis++;
                if (part.kind == Part::Kind::kSome && !constants[number])
                    pass(b.extent(sizes[number]));
            }
        };
        const Name& passed = argument.name;
        pass_parts(passed.parts, form.pieces,
                   passed.moves.empty() ? argument.array->dims : passed.sizes, form.sizes);
        for (std::size_t k = 0; k < form.moves.size(); ++k) {
            const Move& move = passed.moves[k];
            const Form::Moved& moved = form.moves[k];
            pass_parts(move.parts, moved.pieces, move.sizes, moved.sizes);
            for (std::size_t n = 0; move.reshapes() && n < move.sizes.size(); ++n) {
                if (!moved.sizes[n]) pass(b.extent(move.sizes[n]));
            }
        }
    }
    call.callee = find_or_make(*call.callee, forms);
    call.operands.insert(call.operands.end(), more.begin(), more.end());
}

// The same forms with run-time sizes of parts.
NameVariants::Forms NameVariants::with_open_sizes(Forms forms) {
    for (Form& form : forms.names) {
        std::size_t dimension = 0;
        for (const Form::Piece& piece : form.pieces) {
            if (piece.kind == Part::Kind::kSome) form.sizes[dimension].reset();
            dimension += piece.kind != Part::Kind::kFixed ? 1 : 0;
        }
        for (Form::Moved& moved : form.moves) {
            dimension = 0;
            for (const Form::Piece& piece : moved.pieces) {
                if (piece.kind == Part::Kind::kSome) moved.sizes[dimension].reset();
                dimension += piece.kind != Part::Kind::kFixed ? 1 : 0;
            }
        }
    }
    return forms;
}

// Keeps a function that calls itself with ever smaller parts from being copied for each size.
void NameVariants::limit_sizes(const Function& callee, Forms& forms) const {
    constexpr int kMostSizes = 4;
    Forms open = with_open_sizes(forms);
    int alike = 0;
    for (const Variant& variant : all_) {
        if (variant.source != &callee) continue;
        if (variant.forms == forms) return;
        alike += with_open_sizes(variant.forms) == open ? 1 : 0;
    }
    if (alike >= kMostSizes) forms = std::move(open);
}

// Makes the parameters that `redirect` passes, in its order.
void NameVariants::make_parameter(Var& param, const Form& form, Made& made,
                                  std::vector<Var*>& more) {
    Builder b(context_.module, param.span);
    const auto number = [&](const std::string& what) {
        Var* var = b.scalar(param.name + "_" + what, Scalar::kI64);
        var->user_name = param.shown();
        more.push_back(var);
        return var;
    };
    const auto layout = [&](const std::string& what) {
        Var* var = number(what);
        var->limit = form.limit;
        return var;
    };
    Var* const root = context_.module.make_like(param);
    root->name = param.name;
    root->user_name = param.shown();
    root->type = form.root;
    root->space = form.space;
    root->limit = form.limit;
    root->written = param.written;
    root->aliased = param.aliased || form.aliased;
    for (std::size_t k = 0; k < form.layout.size(); ++k) {
        Dim dim;
        dim.extent = form.layout[k].extent;
        dim.stride = form.layout[k].stride;
        if (!dim.extent) dim.extent_var = layout("extent" + std::to_string(k));
        if (!dim.stride) dim.stride_var = layout("stride" + std::to_string(k));
        root->dims.push_back(dim);
    }
    Name name{root, {}, {}, {}};
    // The parts of `base`, and their sizes.
    const auto parts = [&](const std::vector<Form::Piece>& pieces, const Form::Sizes& sizes,
                           const std::vector<Dim>& base, std::vector<Dim>& dims) {
        std::vector<Part> result;
        std::size_t axis = 0, dimension = 0;
        for (const Form::Piece& piece : pieces) {
            const std::string suffix = std::to_string(axis);
            Part part{piece.kind};
            if (piece.kind == Part::Kind::kFixed) {
                part.begin = b.var(number("at" + suffix));
            } else if (piece.kind == Part::Kind::kWhole) {
                dims.push_back(base[axis]);
            } else {
                Dim dim;
                dim.extent = sizes[dimension];
                if (piece.kind == Part::Kind::kSome) {
                    part.begin = b.var(number("begin" + suffix));
                    part.step =
                        piece.step ? b.integer(*piece.step) : b.var(number("step" + suffix));
                    if (!dim.extent) dim.extent_var = layout("size" + std::to_string(dimension));
                }
                dim.stride = 0;
                dims.push_back(dim);
            }
            dimension += piece.kind != Part::Kind::kFixed ? 1 : 0;
            axis += piece.kind != Part::Kind::kAdded ? 1 : 0;
            result.push_back(part);
        }
        return result;
    };
    std::vector<Dim> dims;
    name.parts = parts(form.pieces, form.sizes, root->dims, dims);
    if (!form.moves.empty()) name.sizes = dims;
    for (const Form::Moved& moved : form.moves) {
        Move& move = name.moves.emplace_back();
        move.order = moved.order;
        move.parts = parts(moved.pieces, moved.sizes, dims, move.sizes);
        for (const std::size_t axis : moved.order)
            move.sizes.push_back(dims[axis]);
        for (std::size_t i = 0; move.reshapes() && i < moved.sizes.size(); ++i) {
            Dim& dim = move.sizes.emplace_back();
            dim.extent = moved.sizes[i];
            dim.stride = 0;
            if (!dim.extent) dim.extent_var = layout("extent_of" + std::to_string(i));
        }
        dims = move.sizes;
    }
    param.dims = dims;
    made.names.emplace(&param, std::move(name));
}

Function* NameVariants::find_or_make(const Function& callee, const Forms& forms) {
    for (const Variant& variant : all_) {
        if (variant.source == &callee && variant.forms == forms) return variant.function;
    }
    Module& module = context_.module;
    std::string name = callee.name;
    const auto taken = [&](const Function* f) { return f->name == name; };
    for (int number = 1; std::ranges::any_of(module.functions, taken); ++number) {
        name = callee.name + "_" + std::to_string(number);
    }
    Substitution substitution;
    Function* function = clone_function(module, callee, name, substitution);
    all_.push_back({&callee, forms, function});
    Made made{function, {}};
    std::vector<Var*> more;
    for (const std::size_t i : forms.aliased) {
        function->params[i]->aliased = true;
    }
    for (const Form& form : forms.names) {
        Var*& param = function->params[form.parameter];
        Var* const named = param;
        make_parameter(*named, form, made, more);
        param = made.names.at(named).root;
    }
    function->params.insert(function->params.end(), more.begin(), more.end());
    made_.push_back(std::move(made));
    return function;
}

std::optional<NameVariants::Made> NameVariants::next() {
    if (made_.empty()) return std::nullopt;
    Made made = std::move(made_.front());
    made_.pop_front();
    return made;
}

}  // namespace parpy
