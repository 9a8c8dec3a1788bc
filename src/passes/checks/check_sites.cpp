// See check_sites.h.
#include "passes/checks/check_sites.h"

#include "analysis/nests.h"

namespace parpy {

using namespace ir;

std::string FailBuilder::value(Expr* expr) {
    values_.push_back(b_.convert(expr, Scalar::kI64));
    return "{" + std::to_string(values_.size() - 1) + "}";
}

void FailBuilder::note_iteration(const std::string& name, Var* var) {
    site_.note += site_.note.empty() ? "in iteration " : ", ";
    site_.note += name + "=" + value(b_.var(var));
}

void FailBuilder::note_iterations(const LoopStack& loops) {
    const std::vector<std::string> names = shown_names({loops.begin(), loops.end()});
    for (std::size_t i = 0; i < loops.size(); ++i)
        note_iteration(names[i], loops[i]->var);
}

std::string outside_text(const std::string& subscript, std::size_t axis, const Var& array,
                         const std::string& size) {
    return "subscript " + subscript + " is out of bounds for axis " + std::to_string(axis) +
           " of '" + array.shown() + "', whose size is " + size;
}

Fail* FailBuilder::make() {
    site_.span = b_.span;
    std::vector<Site>& sites = b_.module().sites;
    sites.push_back(site_);
    return b_.fail(sites.size() - 1, values_);
}

}  // namespace parpy
