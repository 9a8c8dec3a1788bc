// See normalize_returns.h.
#include "passes/loops/normalize_returns.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// Kernels written by hand keep their returns.
bool contains_return(const Stmt& stmt) {
    if (stmt.kind == StmtKind::kReturn) return true;
    if (const auto* gpu = stmt.as<Gpu>(); gpu != nullptr && gpu->by_hand()) return false;
    bool found = false;
    for_each_body(stmt, [&](const Body& body) {
        found =
            found || std::ranges::any_of(body, [](const Stmt* s) { return contains_return(*s); });
    });
    return found;
}

bool gpu_returns(const Body& body) {
    bool found = false;
    for_each_stmt(body, [&](const Stmt& stmt) {
        found = found || (stmt.kind == StmtKind::kGpu && contains_return(stmt));
    });
    return found;
}

class ReturnNormalizer {
public:
    ReturnNormalizer(PassContext& context, Function& entry)
        : options_(context.options),
          builder_(context.module, entry.span),
          entry_(entry),
          places_(place_names(entry)) {}

    void run() {
        returned_ = builder_.scalar("returned", Scalar::kBool);
        static_cast<void>(lower(entry_.body, false));
        if (asked_) {
            builder_.span = entry_.span;
            entry_.body.insert(entry_.body.begin(),
                               builder_.assign(returned_, builder_.boolean(false)));
        } else {
            forget();
        }
    }

private:
    enum class Returns : std::uint8_t { kNever, kSometimes, kAlways };

    // `in_loop`: a break leaves the region, which is a loop.
    Returns lower(Body& body, bool in_loop) {
        Returns result = Returns::kNever;
        for (std::size_t i = 0; i < body.size(); ++i) {
            Stmt& stmt = *body[i];
            if (!contains_return(stmt) || requested(stmt)) continue;
            const auto after = body.begin() + static_cast<std::ptrdiff_t>(i) + 1;
            const Body rest(after, body.end());
            body.erase(after, body.end());
            builder_.span = stmt.span;
            if (stmt.kind == StmtKind::kReturn) {
                body.back() = builder_.assign(returned_, builder_.boolean(true));
                if (in_loop) body.push_back(builder_.break_());
                return Returns::kAlways;
            }
            if (auto* branch = stmt.as<If>()) {
                const Returns then = lower(branch->then_body, in_loop);
                const Returns otherwise = lower(branch->else_body, in_loop);
                if (then == Returns::kAlways && otherwise == Returns::kAlways) return then;
                const bool one_side =
                    then != Returns::kSometimes && otherwise != Returns::kSometimes;
                if (!in_loop && one_side) {
                    Body& other = then == Returns::kAlways ? branch->else_body : branch->then_body;
                    append(other, rest);
                    return std::max(lower(other, false), Returns::kSometimes);
                }
            } else {
                const bool loop = stmt.kind != StmtKind::kGpu;
                for_each_body(stmt, [&](Body& inner) { lower(inner, loop); });
                builder_.span = stmt.span;
                if (in_loop) body.push_back(builder_.if_(returned(), {builder_.break_()}));
            }
            if (!in_loop) return unless_returned(body, rest);
            append(body, rest);
            result = Returns::kSometimes;
        }
        return result;
    }

    Returns unless_returned(Body& body, Body rest) {
        if (rest.empty()) return Returns::kSometimes;
        auto* branch = builder_.if_(builder_.not_(returned()), std::move(rest));
        body.push_back(branch);
        return std::max(lower(branch->then_body, false), Returns::kSometimes);
    }

    Expr* returned() {
        asked_ = true;
        return builder_.var(returned_);
    }

    // Nesting alone decides which statements run, so the variable is removed.
    void forget() {
        rewrite_stmts(entry_.body, [&](Stmt* stmt, Body& out) {
            const auto* assign = stmt->as<Assign>();
            if (assign != nullptr && assign->var == returned_) return;
            auto* branch = stmt->as<If>();
            if (branch != nullptr && branch->then_body.empty()) {
                branch->condition = builder_.not_(branch->condition);
                branch->then_body.swap(branch->else_body);
            }
            out.push_back(stmt);
        });
    }

    [[nodiscard]] bool requested(const Stmt& stmt) const {
        const auto* loop = stmt.as<For>();
        if (loop == nullptr) return false;
        const auto mapped = [&](const std::string& name) {
            const auto found = options_.mapping.find(name);
            return found != options_.mapping.end() && found->second.threads > 0;
        };
        return mapped(places_.at(loop)) || std::ranges::any_of(stmt.labels, mapped);
    }

    static void append(Body& body, const Body& more) {
        body.insert(body.end(), more.begin(), more.end());
    }

    const Options& options_;
    Builder builder_;
    Function& entry_;
    const std::unordered_map<const For*, std::string> places_;
    Var* returned_ = nullptr;
    bool asked_ = false;  // whether anything reads `returned_`
};

void bring_returns_to_end(PassContext& context) {
    Function& entry = *context.module.entry_function();
    const bool early = std::ranges::any_of(entry.body, [&](const Stmt* stmt) {
        return contains_return(*stmt) &&
               (stmt->kind != StmtKind::kReturn || stmt != entry.body.back());
    });
    const bool values = any_stmt(entry.body, [](const Stmt& stmt) {
        const auto* end = stmt.as<Return>();
        return end != nullptr && end->value != nullptr;
    });
    if (early && !values) ReturnNormalizer(context, entry).run();
}

}  // namespace

void normalize_cpu_returns(PassContext& context) {
    if (gpu_returns(context.module.entry_function()->body)) bring_returns_to_end(context);
}

void normalize_cuda_returns(PassContext& context) {
    const Options& options = context.options;
    const bool in_blocks =
        options.automatic || options.mapping.empty() || options.mapping.contains(kGpuCode);
    if (in_blocks || gpu_returns(context.module.entry_function()->body))
        bring_returns_to_end(context);
}

}  // namespace parpy
