// See halos.h. Prints the facts as lines.
#include "analysis/halos/halos.h"

namespace parpy {

namespace {

using Node = Halos::Node;

std::string text_of(const Halos::Reach& reach) {
    switch (reach.kind) {
        case Halos::Reach::Kind::kAll:
            return "all";
        case Halos::Reach::Kind::kIrregular:
            return "irregular";
        case Halos::Reach::Kind::kBlock:
        case Halos::Reach::Kind::kPeriodic:
            break;
    }
    const std::string range = std::to_string(reach.low) + ".." + std::to_string(reach.high);
    return (reach.kind == Halos::Reach::Kind::kPeriodic ? "periodic " : "") + range;
}

void add_arrays(const std::vector<Halos::Array>& arrays, const std::string& indent,
                std::string& out) {
    for (const Halos::Array& array : arrays) {
        for (std::size_t axis = 0; axis < array.axes.size(); ++axis) {
            const Halos::Axis& each = array.axes[axis];
            out += indent + array.name + " axis " + std::to_string(axis) + ":";
            if (each.reads) out += " reads " + text_of(*each.reads);
            if (each.writes) out += " writes " + text_of(*each.writes);
            out += '\n';
        }
    }
}

void add_nodes(const std::vector<Node>& nodes, const std::string& indent, std::string& out) {
    const std::string more = indent + "  ";
    for (const Node& node : nodes) {
        switch (node.kind) {
            case Node::Kind::kNest:
                out += indent + "nest\n";
                for (const Halos::Loop& loop : node.loops) {
                    out += more + "loop " + loop.variable +
                           (loop.proved ? " proved" : " reduction") + ", row " +
                           std::to_string(loop.scale) + " * counter + " +
                           std::to_string(loop.shift);
                    for (const Halos::Reduced& each : loop.reduced)
                        out += ", " + each.op + " " + each.name + (each.array ? "[]" : "") +
                               (each.scattered ? " scattered" : "");
                    out += '\n';
                    add_arrays(loop.arrays, more + "  ", out);
                }
                break;
            case Node::Kind::kRepeat:
                out += indent + "repeat " + (node.trips ? std::to_string(*node.trips) : "?") +
                       (node.overlaps ? ", overlaps" : "");
                for (const std::string& each : node.renewed)
                    out += ", renews " + each;
                out += '\n';
                add_nodes(node.inside, more, out);
                break;
            case Node::Kind::kBranch:
                out += indent + "either\n";
                add_nodes(node.inside, more, out);
                if (!node.otherwise.empty()) out += indent + "or\n";
                add_nodes(node.otherwise, more, out);
                break;
            case Node::Kind::kSerial:
                out += indent + "serial: " + node.why + '\n';
                add_arrays(node.arrays, more, out);
                break;
        }
    }
}

}  // namespace

std::string text_of(const Halos& halos) {
    std::string out;
    add_nodes(halos.nodes, "", out);
    return out;
}

}  // namespace parpy
