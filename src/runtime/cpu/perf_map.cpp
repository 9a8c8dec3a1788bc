// See perf_map.h.
#include "runtime/cpu/perf_map.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/Object/ELFObjectFile.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "support/environment.h"

namespace parpy {

bool writes_perf_map() {
    static const bool wanted = environment_number("PARPY_PERF_MAP").value_or(0) != 0;
    return wanted;
}

void add_to_perf_map(llvm::MemoryBufferRef object, const llvm::orc::SymbolMap& addresses) {
    auto file = llvm::object::ObjectFile::createELFObjectFile(object);
    if (!file) return llvm::consumeError(file.takeError());
    struct Symbol {
        std::string name;
        std::uint64_t offset = 0, size = 0, section = 0;
    };
    std::vector<Symbol> functions;
    std::map<std::uint64_t, std::uint64_t> begin_of_section;  // addresses in this process
    for (const llvm::object::ELFSymbolRef symbol : (*file)->symbols()) {
        auto name = symbol.getName();
        auto offset = symbol.getAddress();
        auto section = symbol.getSection();
        if (!name || !offset || !section) {
            llvm::consumeError(name.takeError());
            llvm::consumeError(offset.takeError());
            llvm::consumeError(section.takeError());
            continue;
        }
        if (symbol.getELFType() != llvm::ELF::STT_FUNC || symbol.getSize() == 0) continue;
        const std::uint64_t index = (*section)->getIndex();
        functions.push_back({name->str(), *offset, symbol.getSize(), index});
        for (const auto& [exported, definition] : addresses) {
            if (*exported == *name)
                begin_of_section[index] = definition.getAddress().getValue() - *offset;
        }
    }
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
    std::FILE* out = std::fopen(path.c_str(), "a");
    if (out == nullptr) return;
    for (const Symbol& each : functions) {
        const auto begin = begin_of_section.find(each.section);
        if (begin == begin_of_section.end()) continue;
        std::fprintf(out, "%llx %llx parpy:%s\n",
                     static_cast<unsigned long long>(begin->second + each.offset),
                     static_cast<unsigned long long>(each.size), llvm::demangle(each.name).c_str());
    }
    std::fclose(out);
}

}  // namespace parpy
