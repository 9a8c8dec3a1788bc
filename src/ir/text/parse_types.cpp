// Types and literals of the IR's text form (parse_expr.h).
#include <charconv>
#include <cstdlib>
#include <limits>

#include "ir/eval/ops.h"
#include "ir/ops.h"
#include "ir/text/parse_expr.h"

namespace parpy::ir {

// ---------------------------------------------------------------- types

Type ExprParser::scalar_type() {
    const Token token = expect(Kind::kName, "a type");
    if (token.text == "int") {
        return Type::weak_of(Scalar::kI64);
    }
    if (token.text == "float") {
        return Type::weak_of(Scalar::kF64);
    }
    if (token.text == "complex") {
        return Type::weak_of(Scalar::kC128);
    }
    if (token.text == "pybool") {
        return Type::weak_of(Scalar::kBool);
    }
    const auto scalar = scalar_from_name(token.text);
    if (!scalar) {
        fail(token.span, "'" + std::string(token.text) + "' is not a type");
    }
    return Type::of(scalar.value_or(Scalar::kI64));
}

void ExprParser::type_of(Var& var) {
    var.type = scalar_type();
    if (!accept("[")) {
        return;
    }
    int rank = 0;
    while (!failed_ && !is("]") && !is(";")) {
        if (!accept(":")) {
            Dim& dim = var.dims.emplace_back();
            size(dim.extent, dim.extent_var);
        }
        ++rank;
        if (!accept(",")) {
            break;
        }
    }
    if (accept(";")) {
        for (Dim& dim : var.dims) {
            size(dim.stride, dim.stride_var);
            accept(",");
        }
    } else {
        contiguous_strides(var);
    }
    expect("]");
    var.type = Type::array(var.type.scalar, rank);
}

void ExprParser::size(std::optional<std::int64_t>& constant, Var*& var) {
    if (peek().kind == Kind::kName) {
        var = variable();
    } else {
        constant = integer();
    }
}

void ExprParser::contiguous_strides(Var& var) {
    std::int64_t stride = 1;
    for (std::size_t i = var.dims.size(); i-- > 0;) {
        var.dims[i].stride = stride;
        if (i > 0 && !var.dims[i].extent) {
            fail(peek().span,
                 "strides of array '" + var.name + "' are needed: an inner extent is not constant");
        }
        stride *= var.dims[i].extent.value_or(1);
    }
}

// ---------------------------------------------------------------- literals

bool ExprParser::starts_special_float(std::size_t ahead) const {
    return peek(ahead).kind == Kind::kName && is(".", ahead + 1) &&
           (is("inf", ahead + 2) || is("nan", ahead + 2));
}

bool ExprParser::starts_literal() const {
    const std::size_t sign = is("-") ? 1 : 0;
    return peek(sign).kind == Kind::kNumber || starts_special_float(sign) || is("True") ||
           is("False") || (peek().kind == Kind::kName && is("{", 1));
}

Expr* ExprParser::constant() {
    const Span start = peek().span;
    Type type;
    Constant value = literal_and_type(type);
    Expr* e = make(Op::kConst, span_since(start));
    e->type = type;
    e->constant = std::move(value);
    return e;
}

Constant ExprParser::literal(const Type& type) {
    Type own;
    const Constant value = literal_and_type(own);
    return type.is_scalar() ? convert_constant(value, own.scalar, type.scalar) : value;
}

Type ExprParser::default_type(Scalar scalar) const {
    return surface_ ? Type::weak_of(scalar) : Type::of(scalar);
}

Constant ExprParser::literal_and_type(Type& type) {
    if (is("True") || is("False")) {
        type = Type::of(Scalar::kBool);
        return {next().text == "True"};
    }
    if (is("{", 1)) {
        type = scalar_type();
        expect("{");
        const double real = number_as_double();
        expect(",");
        const double imaginary = number_as_double();
        expect("}");
        return {std::complex<double>(real, imaginary)};
    }
    const bool negative = accept("-");
    if (starts_special_float(0)) {
        type = scalar_type();
        next();
        const bool nan = next().text == "nan";
        const double value = nan ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity();
        return {negative ? -value : value};
    }
    return number(negative, type);
}

double ExprParser::number_as_double() {
    Type type;
    const Constant value = literal_and_type(type);
    return std::get<double>(
        convert_constant(value, type.is_scalar() ? type.scalar : Scalar::kI64, Scalar::kF64).value);
}

Constant ExprParser::number(bool negative, Type& type) {
    const Token token = expect(Kind::kNumber, "a number");
    std::size_t length = token.text.find_first_not_of("0123456789.");
    length = std::min(length, token.text.size());
    if (length < token.text.size() && token.text[length] == 'e') {
        const std::size_t exponent = token.text.find_first_not_of("0123456789", length + 2);
        length = std::min(exponent, token.text.size());
    }
    const std::string digits(token.text.substr(0, length));
    const std::string_view suffix = token.text.substr(length);
    const bool is_real = digits.find_first_of(".e") != std::string::npos;
    type = default_type(is_real ? Scalar::kF64 : Scalar::kI64);
    if (!suffix.empty()) {
        const auto scalar = scalar_from_name(suffix);
        if (scalar) {
            type = Type::of(*scalar);
        } else if (suffix == "int" || suffix == "float") {
            type = Type::weak_of(suffix == "int" ? Scalar::kI64 : Scalar::kF64);
        } else {
            fail(token.span, "'" + std::string(suffix) + "' is not a type");
        }
    }
    if (is_real || !is_integer(type.scalar)) {
        const double value = std::strtod(digits.c_str(), nullptr);
        return convert_constant(Constant{negative ? -value : value}, Scalar::kF64, type.scalar);
    }
    std::uint64_t magnitude = 0;
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude).ec;
    if (error != std::errc()) {
        fail(token.span, "the integer does not fit 64 bits");
    }
    return {static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude)};
}

}  // namespace parpy::ir
