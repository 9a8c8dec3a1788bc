// See memory_layout.h.
#include "analysis/memory/memory_layout.h"

#include <algorithm>

#include "analysis/memory/sharing.h"

namespace parpy {

using namespace ir;

namespace {

bool known(const Var& array) {
    return std::ranges::all_of(array.dims, [](const Dim& dim) { return dim.extent && dim.stride; });
}

bool same_layout(const Var& a, const Var& b) {
    return a.type == b.type && a.placement->offset == b.placement->offset &&
           std::ranges::equal(a.dims, b.dims, [](const Dim& x, const Dim& y) {
               return x.extent == y.extent && (x.stride == y.stride || x.extent == 1);
           });
}

}  // namespace

Memory relation(const Var& a, const Var& b) {
    if (&a == &b) {
        return is_injective(a) ? Memory::kSameElements
               : known(a)      ? Memory::kSameBytes
                               : Memory::kUnclear;
    }
    if (!may_share(a, b)) return Memory::kApart;
    if (!a.placement || !b.placement) return Memory::kUnclear;
    if (!known(a) || !known(b)) return Memory::kUnclear;
    return same_layout(a, b) && is_injective(a) ? Memory::kSameElements : Memory::kSameBytes;
}

std::optional<Affine> byte_address(const Var& array, const std::vector<Affine>& indices) {
    const std::int64_t size = size_in_bytes(array.type.scalar);
    std::optional<Affine> address = Affine::of(array.placement ? array.placement->offset : 0);
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
        const auto& stride = array.dims[axis].stride;
        std::int64_t bytes = 0;
        if (!stride || __builtin_mul_overflow(*stride, size, &bytes)) return std::nullopt;
        if (address) address = sum(*address, indices[axis], bytes);
    }
    return address;
}

}  // namespace parpy
