// Memory and values for random programs (program_generator.h).
#include <cstring>
#include <limits>
#include <utility>

#include "ir/builder.h"
#include "ir/eval/ops.h"
#include "ir/text/print.h"
#include "program_generator.h"
#include "random_source.h"

namespace parpy::fuzz {
namespace {

using namespace ir;

Constant random_value(Random& random, Scalar type) {
    if (is_integer(type) || type == Scalar::kBool) {
        const std::int64_t value =
            random.chance(5) ? static_cast<std::int64_t>(random.bits()) : random.between(-9, 9);
        return convert_constant(Constant{value}, Scalar::kI64, type);
    }
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const double value =
        random.chance(5)
            ? random.pick({kInf, -kInf, std::numeric_limits<double>::quiet_NaN(), -0.0})
            : static_cast<double>(random.between(-20, 20)) * 0.25;
    return convert_constant(Constant{value}, Scalar::kF64, type);
}

// Integers are already extended to 64 bits; a float's bits are those of its type.
std::uint64_t slot(Scalar type, const Constant& value) {
    std::uint64_t bits = 0;
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
        return static_cast<std::uint64_t>(*integer);
    }
    store_element(type, &bits, value);
    return bits;
}

bool is_nan(const Constant& value) {
    const auto* real = std::get_if<double>(&value.value);
    return real != nullptr && *real != *real;
}

}  // namespace

RandomData::RandomData(const RandomProgram& program, std::uint64_t seed) : module_(program.module) {
    Random random(seed);
    for (const Var* param : module_.entry_function()->params) {
        if (const auto size = program.sizes.find(param); size != program.sizes.end()) {
            arguments_.emplace_back(Constant{size->second});
            continue;
        }
        if (!param->type.is_array()) {
            arguments_.emplace_back(random_value(random, param->type.scalar));
            continue;
        }
        std::int64_t elements = 1;
        ArrayView view{nullptr, param->type.scalar, {}, {}};
        for (const Dim& dim : param->dims) {
            view.extents.push_back(dim.extent ? *dim.extent : program.sizes.at(dim.extent_var));
            view.strides.push_back(*dim.stride);
            elements += (view.extents.back() - 1) * view.strides.back();
        }
        const auto size = static_cast<std::size_t>(size_in_bytes(view.element));
        Array& array = arrays_.emplace_back(Array{param->name, view.element, {}});
        array.bytes.resize(static_cast<std::size_t>(elements) * size);
        for (std::size_t at = 0; at < array.bytes.size(); at += size) {
            store_element(view.element, array.bytes.data() + at,
                          random_value(random, view.element));
        }
        view.data = array.bytes.data();
        arguments_.emplace_back(std::move(view));
    }
}

std::vector<std::uint64_t> RandomData::slots() const {
    std::vector<std::uint64_t> slots;
    for (const EvalArgument& argument : arguments_) {
        if (const auto* view = std::get_if<ArrayView>(&argument)) {
            slots.push_back(reinterpret_cast<std::uintptr_t>(view->data));
        } else {
            const Scalar type = module_.entry_function()->params[slots.size()]->type.scalar;
            slots.push_back(slot(type, std::get<Constant>(argument)));
        }
    }
    return slots;
}

std::string RandomData::difference(const RandomData& other) const {
    Module scratch;
    Builder builder(scratch);
    for (std::size_t a = 0; a < arrays_.size(); ++a) {
        const Array& mine = arrays_[a];
        const Array& theirs = other.arrays_[a];
        const auto size = static_cast<std::size_t>(size_in_bytes(mine.element));
        for (std::size_t at = 0; at < mine.bytes.size(); at += size) {
            const Constant x = load_element(mine.element, mine.bytes.data() + at);
            const Constant y = load_element(theirs.element, theirs.bytes.data() + at);
            const bool same =
                std::memcmp(mine.bytes.data() + at, theirs.bytes.data() + at, size) == 0;
            if (!same && !(is_nan(x) && is_nan(y))) {
                const Type type = Type::of(mine.element);
                return "element " + std::to_string(at / size) + " of " + mine.name + " is " +
                       print(*builder.constant(type, y)) + " instead of " +
                       print(*builder.constant(type, x));
            }
        }
    }
    return {};
}

}  // namespace parpy::fuzz
