// See parts.h.
#include "runtime/parts/parts.h"

#include "support/abi.h"

namespace parpy {

namespace {

thread_local PartHook* current = nullptr;
thread_local PartWork* unfinished = nullptr;

bool number_follows() {
    if (unfinished == nullptr) return true;
    unfinished->varies();
    return unfinished->flush();
}

}  // namespace

const PartHook* running_part() {
    return current;
}

PartScope::PartScope(PartHook& hook) : around_(current) {
    current = &hook;
}

PartScope::~PartScope() {
    current = around_;
}

PartWorkScope::PartWorkScope(PartWork* work) : around_(unfinished) {
    unfinished = work;
}

PartWorkScope::~PartWorkScope() {
    unfinished = around_;
}

}  // namespace parpy

extern "C" void parpy_part_array(std::int64_t site, std::int64_t action, void* array) {
    const bool flushed = parpy::unfinished == nullptr || parpy::unfinished->flush();
    if (!flushed || parpy::current == nullptr || !parpy::current->array(action, array))
        parpy_fail(site, nullptr, 0);
}

extern "C" double parpy_part_f64(std::int64_t site, std::int64_t action, double value) {
    if (!parpy::number_follows() || parpy::current == nullptr ||
        !parpy::current->real(action, value))
        parpy_fail(site, nullptr, 0);
    return value;
}

extern "C" std::int64_t parpy_part_i64(std::int64_t site, std::int64_t action, std::int64_t value) {
    if (!parpy::number_follows() || parpy::current == nullptr ||
        !parpy::current->integer(action, value))
        parpy_fail(site, nullptr, 0);
    return value;
}
