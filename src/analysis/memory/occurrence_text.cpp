// See occurrence_text.h.
#include "analysis/memory/occurrence_text.h"

#include "analysis/nests.h"

namespace parpy {

using namespace ir;

std::string iteration_text(const Occurrence& instance) {
    std::vector<const For*> loops;
    for (const auto& [loop, value] : instance.iteration)
        loops.push_back(loop);
    const std::vector<std::string> names = shown_names(loops);
    std::string text = "iteration ";
    for (std::size_t i = 0; i < names.size(); ++i) {
        text +=
            (i == 0 ? "" : ", ") + names[i] + "=" + std::to_string(instance.iteration[i].second);
    }
    return text;
}

std::string element_text(const Occurrence& instance) {
    std::string text = instance.access->array->shown() + "[";
    for (std::size_t i = 0; i < instance.element.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(instance.element[i]);
    return text + "]";
}

}  // namespace parpy
