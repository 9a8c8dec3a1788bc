// Literals, array types and names of the IR's text form (spelling.h).
#include "ir/text/spelling.h"

#include <array>
#include <charconv>
#include <cmath>

#include "ir/ops.h"

namespace parpy::ir {
namespace {

template <class T>
std::string shortest(T value) {
    std::array<char, 64> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    std::string out(buffer.data(), end.ptr);
    if (out.find_first_of(".e") == std::string::npos) {
        out += ".0";
    }
    return out;
}

// Digits; infinities and NaN as members of the type called `type_name`.
std::string real_text(double value, Scalar scalar, const std::string& type_name) {
    if (!std::isfinite(value)) {
        return (value < 0 ? "-" : "") + type_name + (std::isnan(value) ? ".nan" : ".inf");
    }
    const bool wide = scalar == Scalar::kF64 || scalar == Scalar::kC128;
    return wide ? shortest(value) : shortest(static_cast<float>(value));
}

}  // namespace

std::string literal(const Type& type, const Constant& value, Literals literals) {
    const auto suffix = [&](Scalar usual) {
        const bool implied = type.scalar == usual && type.weak == (literals == Literals::kSurface);
        return implied || literals == Literals::kAll ? "" : to_string(type);
    };
    if (const bool* flag = std::get_if<bool>(&value.value)) {
        return *flag ? "True" : "False";
    }
    if (const auto* z = std::get_if<std::complex<double>>(&value.value)) {
        return to_string(type) + "{" + real_text(z->real(), type.scalar, "f64") + ", " +
               real_text(z->imag(), type.scalar, "f64") + "}";
    }
    if (const auto* n = std::get_if<std::int64_t>(&value.value)) {
        const std::string digits = type.scalar == Scalar::kU64
                                       ? std::to_string(static_cast<std::uint64_t>(*n))
                                       : std::to_string(*n);
        return digits + suffix(Scalar::kI64);
    }
    const double real = std::get<double>(value.value);
    const std::string text = real_text(real, type.scalar, to_string(type));
    return std::isfinite(real) ? text + suffix(Scalar::kF64) : text;
}

std::string Names::operator()(const Var& var) {
    auto [entry, is_new] = names_.try_emplace(&var);
    if (is_new) {
        std::string name = var.name;
        if (!used_.insert(name).second) {
            int& next = next_.try_emplace(name, 1).first->second;
            do {
                name = var.name + "_" + std::to_string(next++);
            } while (!used_.insert(name).second);
        }
        entry->second = name;
    }
    return entry->second;
}

std::string array_type(const Var& var, Names& names) {
    std::string out(name(var.type.scalar));
    if (var.dims.empty() && var.type.rank != 0) {
        out += "[:";
        for (int i = 1; i < var.type.rank; ++i) {
            out += ", :";
        }
        return out + "]";
    }
    const auto size = [&](const std::optional<std::int64_t>& constant, const Var* variable) {
        if (constant) {
            return std::to_string(*constant);
        }
        return variable != nullptr ? names(*variable) : "?";
    };
    bool contiguous = true;
    std::optional<std::int64_t> expected = 1;
    for (std::size_t i = var.dims.size(); i-- > 0;) {
        contiguous = contiguous && expected && var.dims[i].stride == expected;
        const auto& extent = var.dims[i].extent;
        expected = expected && extent ? std::optional(*expected * *extent) : std::nullopt;
    }
    std::string extents, strides;
    for (const Dim& dim : var.dims) {
        const std::string_view separator = extents.empty() ? "" : ", ";
        extents += separator;
        extents += size(dim.extent, dim.extent_var);
        strides += separator;
        strides += size(dim.stride, dim.stride_var);
    }
    return out + "[" + extents + (contiguous ? "" : "; " + strides) + "]";
}

std::string foreign_properties(const Function& function) {
    std::string out;
    if (!function.target.empty()) out += " target(" + function.target + ")";
    if (function.abi != ForeignAbi::kC) {
        const bool first = function.abi == ForeignAbi::kResultFirst;
        out += std::string(" result(") + (first ? "first" : "last") + ")";
    }
    if (function.threads != 0) out += " threads(" + std::to_string(function.threads) + ")";
    return out;
}

std::string cluster_text(const Launch& launch) {
    const auto& [x, y, z] = launch.cluster;
    if (x * y * z <= 1) return {};
    return " cluster(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) +
           ")";
}

std::string requirement_text(const Requirement& requirement) {
    std::string text;
    for (const ParameterBound& bound : requirement) {
        std::string sum;
        for (const auto& [var, coefficient] : bound.terms) {
            sum += sum.empty() ? (coefficient < 0 ? "-" : "") : (coefficient < 0 ? " - " : " + ");
            const std::uint64_t size = coefficient < 0 ? 0 - static_cast<std::uint64_t>(coefficient)
                                                       : static_cast<std::uint64_t>(coefficient);
            sum += (size == 1 ? "" : std::to_string(size) + "*") + var->name;
        }
        text += (text.empty() ? "" : " or ") + (sum.empty() ? "0" : sum) +
                " >= " + std::to_string(-bound.constant);
    }
    return "# requires " + (text.empty() ? "false" : text) + "\n";
}

Precedence precedence_of(Op op) {
    switch (op) {
        case Op::kOr:
            return kOrLevel;
        case Op::kAnd:
            return kAndLevel;
        case Op::kBitOr:
            return kBitOrLevel;
        case Op::kBitXor:
            return kBitXorLevel;
        case Op::kBitAnd:
            return kBitAndLevel;
        case Op::kShl:
        case Op::kShr:
            return kShift;
        case Op::kAdd:
        case Op::kSub:
            return kSum;
        case Op::kPow:
            return kPower;
        default:
            return is_comparison(op) ? kComparison : kProduct;
    }
}

}  // namespace parpy::ir
