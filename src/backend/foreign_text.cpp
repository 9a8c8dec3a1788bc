// See foreign_text.h.
#include "backend/foreign_text.h"

namespace parpy {

ForeignText foreign_text(std::string_view device) {
    constexpr std::string_view kLine = "#line 1 \"";
    std::size_t begin = device.find(kLine);
    if (begin != 0) begin = device.find("\n" + std::string(kLine));
    const std::size_t end = device.rfind("\n#line ");
    if (begin == std::string_view::npos || end == std::string_view::npos || begin >= end) return {};
    const std::size_t name = device.find('"', begin) + 1;
    return {std::string(device.substr(begin, end + 1 - begin)),
            std::string(device.substr(name, device.find('"', name) - name))};
}

}  // namespace parpy
