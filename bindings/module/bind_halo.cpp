// Gives Python the result of halos() as plain dicts, of which parpy.scale.halo makes objects.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "module/bind_jit.h"
#include "parpy/halo.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

template <class T>
nb::object or_none(const std::optional<T>& value) {
    return value ? nb::object(nb::int_(*value)) : nb::none();
}

nb::object described(const std::optional<Halos::Reach>& reach) {
    if (!reach) return nb::none();
    constexpr const char* kKinds[] = {"block", "periodic", "all", "irregular"};
    const bool bounded = reach->kind <= Halos::Reach::Kind::kPeriodic;
    const auto access = [](const std::string& text, std::uint32_t line) {
        return nb::make_tuple(line, text);
    };
    nb::dict out;
    out["kind"] = kKinds[static_cast<std::size_t>(reach->kind)];
    out["low"] = bounded ? nb::object(nb::int_(reach->low)) : nb::none();
    out["high"] = bounded ? nb::object(nb::int_(reach->high)) : nb::none();
    out["access"] = access(reach->text, reach->line);
    out["low_access"] = access(reach->low_text, reach->low_line);
    out["high_access"] = access(reach->high_text, reach->high_line);
    return out;
}

nb::list described(const std::vector<Halos::Array>& arrays) {
    nb::list out;
    for (const Halos::Array& array : arrays) {
        nb::list axes;
        for (const Halos::Axis& axis : array.axes) {
            nb::dict each;
            each["extent"] = axis.extent;
            each["reads"] = described(axis.reads);
            each["writes"] = described(axis.writes);
            axes.append(each);
        }
        nb::dict each;
        each["name"] = array.name;
        each["argument"] = or_none(array.argument);
        each["scalar"] = std::string(ir::name(array.scalar));
        each["axes"] = axes;
        each["accesses"] = array.accesses;
        out.append(each);
    }
    return out;
}

nb::dict described(const Halos::Loop& loop) {
    nb::list reduced;
    for (const Halos::Reduced& each : loop.reduced)
        reduced.append(nb::make_tuple(each.name, each.op, std::string(ir::name(each.scalar)),
                                      each.array, each.scattered, each.alone));
    nb::dict out;
    out["key"] = loop.key;
    out["variable"] = loop.variable;
    out["text"] = loop.text;
    out["line"] = loop.line;
    out["depth"] = loop.depth;
    out["proved"] = loop.proved;
    out["reduced"] = reduced;
    out["trips"] = or_none(loop.trips);
    out["scale"] = loop.scale;
    out["shift"] = loop.shift;
    out["first"] = or_none(loop.first);
    out["position"] = or_none(loop.position);
    out["arrays"] = described(loop.arrays);
    return out;
}

nb::list described(const std::vector<Halos::Node>& nodes) {
    constexpr const char* kKinds[] = {"nest", "repeat", "branch", "serial"};
    nb::list out;
    for (const Halos::Node& node : nodes) {
        nb::list loops;
        for (const Halos::Loop& loop : node.loops)
            loops.append(described(loop));
        nb::dict each;
        each["kind"] = kKinds[static_cast<std::size_t>(node.kind)];
        each["line"] = node.line;
        each["text"] = node.text;
        each["loops"] = loops;
        each["trips"] = or_none(node.trips);
        each["inside"] = described(node.inside);
        each["otherwise"] = described(node.otherwise);
        each["why"] = node.why;
        each["overlaps"] = node.overlaps;
        nb::list renewed;
        for (const std::string& name : node.renewed)
            renewed.append(name);
        each["renewed"] = nb::tuple(renewed);
        each["repeated"] = node.repeated;
        each["calls"] = node.calls;
        each["arrays"] = described(node.arrays);
        out.append(each);
    }
    return out;
}

nb::dict halo(nb::handle function, nb::tuple arguments, nb::handle options) {
    Call call(function, arguments);
    const Options chosen = chosen_options(options, call);
    Halos found;
    look_at(call, [&](const Signature& signature, Diagnostics& diagnostics) {
        found = halos(*call.surface->module, signature, chosen, diagnostics);
    });
    nb::dict out;
    out["function"] = call.surface->module->entry_function()->name;
    out["nodes"] = described(found.nodes);
    out["form"] = found.form;
    return out;
}

}  // namespace

void bind_halo(nb::module_& m) {
    m.def("halo", halo, "function"_a, "arguments"_a, "options"_a.none(),
          "The elements that blocks of iterations of a call touch beyond their own.");
}

}  // namespace parpy
