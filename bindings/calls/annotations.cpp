// See annotations.h.
#include "calls/annotations.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <utility>

namespace nb = nanobind;

namespace parpy {
namespace {

std::optional<std::int64_t> value_of(const Argument& argument, int dimension) {
    if (dimension < 0) return argument.integer;
    return argument.dims[static_cast<std::size_t>(dimension)].extent;
}

std::string type_text(const ir::Type& type) {
    return type.is_array()
               ? "an array of " + std::string(ir::name(type.scalar)) + " with " +
                     std::to_string(type.rank) + (type.rank == 1 ? " dimension" : " dimensions")
           : type.weak && type.scalar == ir::Scalar::kBool ? "a Python bool"
                                                           : "a number of type " + to_string(type);
}

// A Python number fits every type that it converts to without loss of meaning.
bool fits(const ir::Type& given, ir::Scalar wanted) {
    if (given.scalar == wanted) return true;
    if (!given.weak || given.scalar == ir::Scalar::kBool) return false;
    if (given.scalar == ir::Scalar::kI64) {
        return ir::is_integer(wanted) || ir::is_float(wanted) || ir::is_complex(wanted);
    }
    return given.scalar == ir::Scalar::kF64 ? ir::is_float(wanted) || ir::is_complex(wanted)
                                            : ir::is_complex(wanted);
}

ArgumentBound::Term term(std::size_t argument, int dimension, std::int64_t coefficient) {
    const auto kind = dimension < 0 ? Slot::Kind::kScalar : Slot::Kind::kExtent;
    return {kind, argument, dimension < 0 ? 0 : dimension, coefficient};
}

}  // namespace

void Annotations::read(PyObject* items) {
    std::size_t argument = 0;
    for (nb::handle from : nb::handle(items)) {
        Item item;
        item.argument = argument++;
        if (from.is_none()) continue;
        item.shown = nb::cast<std::string>(from.attr("shown"));
        item.is_array = nb::cast<bool>(from.attr("is_array"));
        const nb::object scalar = from.attr("scalar");
        if (!scalar.is_none()) item.scalar = ir::scalar_from_name(nb::cast<std::string>(scalar));
        item.variable = nb::cast<std::int64_t>(from.attr("variable"));
        item.symbol = nb::cast<std::int64_t>(from.attr("symbol"));
        using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
        for (const auto& [extent, symbol] : nb::cast<Pairs>(from.attr("dims")))
            item.dims.push_back({extent, symbol});
        items_.push_back(std::move(item));
    }
}

std::vector<Annotations::Extent> Annotations::extents() const {
    std::vector<Extent> out;
    for (const Item& item : items_) {
        for (std::size_t d = 0; d < item.dims.size(); ++d) {
            out.push_back(
                {item.argument, static_cast<int>(d), item.dims[d].extent, item.dims[d].symbol});
        }
    }
    for (const Item& item : items_) {  // numbers follow the arrays whose extents they are
        if (item.symbol != kNone) out.push_back({item.argument, kWhole, kNone, item.symbol});
    }
    return out;
}

void Annotations::check(const Signature& signature, const Names& names,
                        Diagnostics& diagnostics) const {
    if (items_.empty()) return;
    check_types(signature, names, diagnostics);
    if (!diagnostics.has_errors()) check_extents(signature, names, diagnostics);
}

void Annotations::check_types(const Signature& signature, const Names& names,
                              Diagnostics& diagnostics) const {
    std::map<std::int64_t, std::pair<std::size_t, ir::Scalar>> variables;
    for (const Item& item : items_) {
        const ir::Type& type = signature[item.argument].type;
        const auto refuse = [&](const std::string& more) {
            diagnostics
                .error(Code::kP231, names.place(item.argument),
                       names.describe(item.argument) + " is " + type_text(type) +
                           ", but its annotation says " + item.shown + more)
                .help = "pass such an argument, or change the annotation";
        };
        if (type.is_array() != item.is_array || (item.is_array && type.rank != item.dims.size())) {
            refuse("");
            continue;
        }
        if (item.scalar) {
            if (item.is_array ? type.scalar != *item.scalar : !fits(type, *item.scalar)) refuse("");
        } else if (item.variable != kNone) {
            const auto [at, is_new] =
                variables.try_emplace(item.variable, item.argument, type.scalar);
            const bool same =
                item.is_array ? type.scalar == at->second.second : fits(type, at->second.second);
            if (!is_new && !same) {
                refuse(", whose type is " + std::string(ir::name(at->second.second)) + " in " +
                       names.describe(at->second.first));
            }
        }
    }
}

void Annotations::check_extents(const Signature& signature, const Names& names,
                                Diagnostics& diagnostics) const {
    std::map<std::int64_t, std::pair<Extent, std::int64_t>> known;
    const auto shown = [&](std::size_t argument) {
        for (const Item& item : items_) {
            if (item.argument == argument) return item.shown;
        }
        return std::string();
    };
    for (const Extent& each : extents()) {
        const auto value = value_of(signature[each.argument], each.dimension);
        if (!value) continue;
        std::int64_t wanted = each.extent;
        std::string why;
        if (each.symbol != kNone) {
            const auto [at, is_new] = known.try_emplace(each.symbol, each, *value);
            wanted = at->second.second;
            if (!is_new) why = ", as for " + names.describe(at->second.first.argument);
        }
        if (wanted == *value) continue;
        const bool number = each.dimension == kWhole;
        diagnostics
            .error(Code::kP231, names.place(each.argument),
                   names.describe(each.argument) +
                       (number ? " is " + std::to_string(*value)
                               : " has the extent " + std::to_string(*value) + " in dimension " +
                                     std::to_string(each.dimension)) +
                       ", but its annotation says " + shown(each.argument) + ": " +
                       std::to_string(wanted) + why)
            .help = "pass such an argument, or change the annotation";
    }
}

void Annotations::require(const Signature& signature, Program& program) const {
    std::map<std::int64_t, Extent> first;
    for (const Extent& each : extents()) {
        ArgumentBound bound;
        bound.terms.push_back(term(each.argument, each.dimension, 1));
        const bool general = !value_of(signature[each.argument], each.dimension);
        if (each.symbol == kNone) {
            if (!general) continue;
            bound.constant = -each.extent;
        } else {
            const auto [at, is_new] = first.try_emplace(each.symbol, each);
            const Extent& other = at->second;
            if (is_new) continue;
            if (!general && value_of(signature[other.argument], other.dimension)) continue;
            bound.terms.push_back(term(other.argument, other.dimension, -1));
        }
        ArgumentBound reverse = bound;
        reverse.constant = -bound.constant;
        for (ArgumentBound::Term& t : reverse.terms)
            t.coefficient = -t.coefficient;
        program.requirements.push_back({bound});
        program.requirements.push_back({reverse});
    }
}

}  // namespace parpy
