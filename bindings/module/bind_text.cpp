// _native.TextProgram, the result of compile_string: edited text, compiled and loaded, and calls of
// it with arguments like those that the text was made for. python/parpy/calls/interface.py parses
// the interface.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "calls/call_cuda.h"
#include "calls/jit_function.h"
#include "calls/nvrtc_paths.h"
#include "calls/run.h"
#include "module/options_object.h"
#include "raise.h"
#include "runtime/cpu/fork_gate.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

// One argument as the interface describes it.
struct Expected {
    std::string name;
    ir::Scalar scalar{};
    bool is_array = false;
    bool written = false;
    bool shared = false;  // it may share memory with the other shared ones
    std::vector<std::optional<std::int64_t>> extents, strides;  // strides in elements; empty: any
    std::int64_t limit = 0;                                     // 0, or as in ir::Var
    std::optional<double> real;                                 // values that the text was made for
    std::optional<std::int64_t> integer;
};

[[noreturn]] void raise(Code code, const std::string& message, const std::string& help) {
    Diagnostics diagnostics;
    diagnostics.error(code, {}, message).help = help;
    set_python_error(diagnostics, {});
    nb::raise_python_error();
}

ir::Scalar scalar_named(const std::string& name) {
    if (const auto scalar = ir::scalar_from_name(name)) return *scalar;
    raise(Code::kP563, "the interface names '" + name + "', which is not a type", {});
}

std::string list_text(std::span<const std::optional<std::int64_t>> values) {
    std::string out = "(";
    for (const auto& value : values)
        out += (out.size() == 1 ? "" : ", ") + (value ? std::to_string(*value) : "?");
    return out + (values.size() == 1 ? ",)" : ")");
}

class TextProgram {
public:
    TextProgram(const nb::dict& interface, std::string device, std::string host,
                const nb::object& options, const std::string& backend) {
        Program program;
        program.name = nb::cast<std::string>(interface["name"]);
        program.device = std::move(device);
        program.host = std::move(host);
        program.kernels = nb::cast<std::vector<std::string>>(interface["kernels"]);
        program.by_hand = nb::cast<bool>(interface["by_hand"]);
        for (nb::handle item : interface["arguments"])
            expected_.push_back(read_expected(item));
        for (const auto& text : nb::cast<std::vector<std::string>>(interface["returns"])) {
            constexpr std::string_view kGiven = "argument ", kAgain = "result ";
            if (text.starts_with(kGiven) || text.starts_with(kAgain)) {
                const std::size_t result = expected_.size() + returned_.size();
                const bool again = text.starts_with(kAgain);
                const std::size_t number =
                    std::stoul(text.substr((again ? kAgain : kGiven).size())) +
                    (again ? expected_.size() : 0);
                program.results.push_back({result, {}, 0, number});
                returned_.push_back(ir::Scalar::kI64);
                continue;
            }
            const std::size_t bracket = text.find('['), either = text.find(" or ");
            if (bracket != std::string::npos)
                program.results.push_back({expected_.size() + returned_.size(),
                                           scalar_named(text.substr(0, bracket)),
                                           text[bracket + 1] - '0',
                                           {}});
            // An array alone has no slot, whatever its element type.
            returned_.push_back(either != std::string::npos ? scalar_named(text.substr(either + 4))
                                : bracket != std::string::npos ? ir::Scalar::kI64
                                                               : scalar_named(text));
        }
        program.result_form = nb::cast<std::string>(interface["result_form"]);
        for (const auto index : nb::cast<std::vector<std::size_t>>(interface["slots"]))
            program.slots.push_back(slot(index));
        for (nb::handle item : interface["places"]) {
            const auto [code, message] = nb::cast<std::pair<std::string, std::string>>(item);
            program.sites.push_back(
                {code_from_name(code).value_or(Code::kP900), {}, message, {}, false, {}});
        }
        convert(options, backend);
        load_program(program);
    }

    [[nodiscard]] nb::object run(const nb::tuple& arguments) const {
        const std::size_t count = expected_.size();
        std::vector<ArgumentView> views(count + returned_.size());
        Intake intake;
        intake.make_results(returned_.size(), views.data() + count);
        for (std::size_t i = 0; i < count; ++i)
            read(arguments[i].ptr(), i, views[i], intake);
        if (const auto torn = intake.torn_apart(views, written_)) {
            raise(Code::kP564,
                  "argument " + expected_[torn->first].name +
                      " is not aligned and shares memory with another argument",
                  "pass aligned arrays");
        }
        const Specialization& specialization = prepared(views);
        if (specialization.overlap(views)) {
            raise(Code::kP564,
                  "arguments share memory, which those did not that the text was made for",
                  "call print_compiled with arguments that overlap in the same way");
        }
        std::vector<std::uint64_t> slots(specialization.slot_count());
        ReturnedArrays returned;
        ReturnedArrays* const results = executable_->program.results.empty() ? nullptr : &returned;
        RuntimeError error;
        if (options_.backend == Backend::kCuda) {
            error = run_on_cuda(specialization, views, intake, stream_, slots.data(), results);
        } else {
            specialization.fill(views, slots.data());
            error = run_program(specialization, slots.data(), nullptr, results);
        }
        if (PyErr_Occurred() != nullptr) nb::raise_python_error();  // from a handler of SIGINT
        if (error.failed()) {
            if (PyErr_CheckSignals() != 0) nb::raise_python_error();  // Ctrl-C made it fail
            if (error.code == Code::kP900 &&
                !error.located) {  // the only error that the text itself returns
                raise(Code::kP563, "the host code returned an error that ParPy does not know",
                      "return 0, or what parpy_launch and parpy_fetch returned");
            }
            set_python_error(error);
            nb::raise_python_error();
        }
        const auto written = [&](const ArgumentView* view) {
            return expected_[static_cast<std::size_t>(view - views.data())].written;
        };
        if (!intake.copy_back(written)) nb::raise_python_error();
        if (executable_->program.result_form.empty()) return nb::none();
        const nb::object result =
            nb::steal(results_of(executable_->program, count, intake, returned, nullptr,
                                 [&](std::size_t i) { return Py_NewRef(arguments[i].ptr()); }));
        if (!result.is_valid()) nb::raise_python_error();
        return result;
    }

private:
    static Expected read_expected(nb::handle item) {
        Expected out;
        out.name = nb::cast<std::string>(item["name"]);
        out.scalar = scalar_named(nb::cast<std::string>(item["scalar"]));
        out.is_array = nb::cast<bool>(item["is_array"]);
        out.written = nb::cast<bool>(item["written"]);
        out.shared = nb::cast<bool>(item["shared"]);
        using Sizes = std::vector<std::optional<std::int64_t>>;
        out.extents = nb::cast<Sizes>(item["extents"]);
        out.strides = nb::cast<Sizes>(item["strides"]);
        out.limit = nb::cast<std::int64_t>(item["limit"]);
        out.real = nb::cast<std::optional<double>>(item["real"]);
        out.integer = nb::cast<std::optional<std::int64_t>>(item["integer"]);
        return out;
    }

    Slot slot(std::size_t index) {
        const std::size_t result = index - expected_.size();
        if (index >= expected_.size() && result < returned_.size())
            return {Slot::Kind::kPointer, index, 0, returned_[result], true};
        if (index >= expected_.size()) raise(Code::kP563, "the interface names no such slot", {});
        const Expected& argument = expected_[index];
        if (argument.written) written_ |= argument_bit(index);
        if (argument.shared) shared_ |= argument_bit(index);
        Slot out;
        out.kind = argument.is_array ? Slot::Kind::kPointer : Slot::Kind::kScalar;
        out.argument = index;
        out.scalar = argument.scalar;
        if (const std::size_t behind = slots_seen_[index]++; behind > 0) {
            find_size(argument, behind, out);
        } else {
            out.written = argument.written;
        }
        return out;
    }

    // An array's pointer comes first, then its sizes that may have any value, axis by axis.
    static void find_size(const Expected& argument, std::size_t number, Slot& slot) {
        for (std::size_t d = 0; d < argument.extents.size(); ++d) {
            for (const auto kind : {Slot::Kind::kExtent, Slot::Kind::kStride}) {
                const auto& sizes =
                    kind == Slot::Kind::kExtent ? argument.extents : argument.strides;
                if (sizes[d] || --number > 0) continue;
                slot.kind = kind;
                slot.dimension = static_cast<int>(d);
                slot.scalar = ir::Scalar::kI64;
                return;
            }
        }
        raise(Code::kP563, "the interface names too many slots of '" + argument.name + "'", {});
    }

    void convert(const nb::object& given, const std::string& backend) {
        const ConvertedOptions* converted = converted_options(given.ptr());
        if (converted == nullptr) nb::raise_python_error();
        options_ = converted->record->options;
        stream_ = converted->stream;
        options_.backend = backend_named(backend).value_or(Backend::kCpu);
    }

    void load_program(const Program& program) {
        if (options_.backend == Backend::kCuda) pass_search_paths_to_nvrtc();
        RuntimeError error;
        {
            const nb::gil_scoped_release released;
            const BehindForkGate gate;
            executable_ = load(program, options_, error);
        }
        if (executable_ == nullptr) set_python_error(error);
        if (executable_ == nullptr || !warn_of_cache()) nb::raise_python_error();
    }

    void read(PyObject* object, std::size_t index, ArgumentView& view, Intake& intake) const {
        const Expected& expected = expected_[index];
        const std::string what = "argument " + expected.name;
        IntakeFault fault;
        if (!take_fast(object, view) && !intake.take(object, view, fault)) {
            if (!fault.code) nb::raise_python_error();
            raise(*fault.code, what + " " + fault.message, fault.help);
        }
        const auto refuse = [&](const std::string& found, const std::string& wanted) {
            raise(Code::kP564, what + " " + found + ", but the text was made for " + wanted,
                  "call print_compiled with arguments like those of the call");
        };
        if (view.is_array() != expected.is_array) {
            refuse(view.is_array() ? "is an array" : "is a number",
                   expected.is_array ? "an array" : "a number");
        }
        if (expected.is_array) {
            check_array(view, expected, what, refuse);
        } else {
            check_number(view, expected, refuse);
        }
        if (expected.limit != 0 && !is_small(view, expected.limit)) {
            refuse("is too large", view.is_array()
                                       ? "arrays whose elements lie closer to each other"
                                       : "numbers up to " + std::to_string(expected.limit));
        }
    }

    template <class Refuse>
    void check_array(const ArgumentView& view, const Expected& expected, const std::string& what,
                     const Refuse& refuse) const {
        const std::size_t rank = expected.extents.size();
        const auto count = static_cast<std::size_t>(view.rank());
        if (view.scalar() != expected.scalar) {
            refuse("has elements of type " + std::string(ir::name(view.scalar())),
                   std::string(ir::name(expected.scalar)));
        }
        const auto fits = [](std::int64_t is, const std::optional<std::int64_t>& wanted) {
            return !wanted || is == *wanted;
        };
        if (count != rank ||
            !std::equal(view.extents, view.extents + count, expected.extents.begin(), fits)) {
            const std::vector<std::optional<std::int64_t>> found(view.extents,
                                                                 view.extents + count);
            refuse("has shape " + list_text(found), list_text(expected.extents));
        }
        const std::int64_t size = ir::size_in_bytes(expected.scalar);
        for (std::size_t d = 0; d < rank; ++d) {
            const auto& wanted = expected.strides[d];
            if (view.extents[d] > 1 && wanted && view.strides[d] != *wanted * size) {
                refuse("has strides of " + std::to_string(view.strides[d]) +
                           " bytes in dimension " + std::to_string(d),
                       std::to_string(*wanted * size));
            }
        }
        if (expected.written && view.read_only()) {
            raise(Code::kP207, what + " is read-only, but the program writes it",
                  "pass an array that can be written");
        }
        if (view.on_device() && options_.backend != Backend::kCuda) {
            raise(Code::kP559, what + " lies on a CUDA device, but the text is for the CPU",
                  "copy it to the host");
        }
    }

    template <class Refuse>
    static void check_number(const ArgumentView& view, const Expected& expected,
                             const Refuse& refuse) {
        if (expected.integer) {
            const bool whole = !ir::is_float(view.scalar()) && !ir::is_complex(view.scalar());
            const auto value = static_cast<std::int64_t>(view.value);
            if (!whole || value != *expected.integer) {
                refuse(whole ? "is " + std::to_string(value) : "is not an integer",
                       std::to_string(*expected.integer));
            }
        } else if (expected.real) {
            const double value =
                view.scalar() == ir::Scalar::kF64   ? std::bit_cast<double>(view.value)
                : view.scalar() == ir::Scalar::kF32 ? static_cast<double>(std::bit_cast<float>(
                                                          static_cast<std::uint32_t>(view.value)))
                                                    : 0.0;
            const bool real =
                view.scalar() == ir::Scalar::kF64 || view.scalar() == ir::Scalar::kF32;
            const bool same =
                value == *expected.real || (value != value && *expected.real != *expected.real);
            if (!real || !same) {
                refuse(real ? "is " + std::to_string(value) : "is not such a float",
                       std::to_string(*expected.real));
            }
        } else if (view.scalar() != expected.scalar) {
            refuse("has type " + std::string(ir::name(view.scalar())),
                   std::string(ir::name(expected.scalar)));
        }
    }

    // The specialisation that the interface describes; made at the first call.
    const Specialization& prepared(const std::vector<ArgumentView>& views) const {
        const std::scoped_lock lock(mutex_);
        if (specialization_ == nullptr) {
            const auto& slots = executable_->program.slots;
            const bool fixed = std::ranges::none_of(slots, [](const Slot& slot) {
                return slot.kind == Slot::Kind::kExtent || slot.kind == Slot::Kind::kStride;
            });
            specialization_ = std::make_unique<Specialization>(
                executable_, views, shared_,
                fixed ? Generality{} : all_general(views.size(), views.size()), Scope::kShared);
        }
        return *specialization_;
    }

    Options options_;
    std::optional<std::uint64_t> stream_;
    std::vector<Expected> expected_;
    std::vector<ir::Scalar> returned_;
    std::uint64_t written_ = 0, shared_ = 0;  // a bit per argument
    std::map<std::size_t, std::size_t> slots_seen_;
    std::shared_ptr<Executable> executable_;
    mutable std::mutex mutex_;
    mutable std::unique_ptr<Specialization> specialization_;
};

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<TextProgram>(m, "TextProgram", "Text that compile_string compiled.")
        .def(nb::init<const nb::dict&, std::string, std::string, const nb::object&,
                      const std::string&>(),
             "interface"_a, "device"_a, "host"_a, "options"_a, "backend"_a)
        .def("run", &TextProgram::run, "arguments"_a);
}

}  // namespace parpy
