// See parse_mapping.h.
#include "ir/text/parse_mapping.h"

#include "ir/ops.h"

namespace parpy::ir {

void MappingParser::mapping(LoopMapping& m) {
    expect("(");
    while (!failed_ && !is(")")) {
        const Token item = expect(Kind::kName, "a property of the loop");
        if (item.text == "reduce") {
            m.reduce = true;
        } else if (item.text == "unroll") {
            m.unroll = true;
        } else if (item.text == "share") {
            m.share = true;
        } else {
            expect("=");
            if (item.text == "threads") {
                m.threads = integer();
            } else if (item.text == "tpb") {
                m.threads_per_block = integer();
            } else if (item.text == "blocks") {
                m.blocks = integer();
            } else if (item.text == "level") {
                constexpr std::array<std::string_view, 5> kLevels = {
                    "sequential", "blocks", "threads", "workers", "vector"};
                m.level = word<Level>(kLevels, "a level");
            } else {
                fail(item.span, "a loop has no property '" + std::string(item.text) + "'");
            }
        }
        if (!accept(",")) {
            break;
        }
    }
    expect(")");
}

void MappingParser::reductions(LoopMapping& m) {
    expect("(");
    while (!failed_ && !is(")")) {
        const Token token = next();
        const auto op = op_from_text(token.text);
        if (!op || !is_update(*op)) {
            fail(token.span, "expected an operator but found '" + std::string(token.text) + "'");
            return;
        }
        Reduction& reduction = m.reductions.emplace_back();
        reduction.op = *op;
        reduction.var = variable();
        if (accept("[")) {
            reduction.indices = list("]");
        }
        if (!accept(",")) {
            break;
        }
    }
    expect(")");
}

void MappingParser::foreign(Function& function) {
    if (accept("target")) {
        expect("(");
        function.target = name("the name of a back end");
        expect(")");
    }
    if (accept("result")) {
        constexpr std::array<std::string_view, 3> kAbis = {"c", "first", "last"};
        expect("(");
        function.abi = word<ForeignAbi>(kAbis, "'first' or 'last'");
        expect(")");
    }
    if (accept("threads")) {
        expect("(");
        function.threads = integer();
        expect(")");
    }
    expect(Kind::kNewline, "the end of the line");
}

void MappingParser::geometry(std::span<Expr*, 3> grid, std::span<Expr*, 3> block,
                             Expr*& shared_bytes) {
    for (const auto& [word, sizes] : {std::pair("grid", grid), std::pair("block", block)}) {
        if (!accept(word)) continue;
        expect("(");
        const std::vector<Expr*> extents = list(")");
        for (std::size_t i = 0; i < std::min<std::size_t>(3, extents.size()); ++i) {
            sizes[i] = extents[i];
        }
    }
    if (accept("shared")) {
        expect("(");
        shared_bytes = expression();
        expect(")");
    }
}

std::optional<std::size_t> MappingParser::noted() {
    return accept("noted") ? std::optional(static_cast<std::size_t>(integer())) : std::nullopt;
}

void MappingParser::cluster(Launch& launch) {
    if (!accept("cluster")) return;
    for (std::size_t i = 0; i < 3; ++i) {
        expect(i == 0 ? "(" : ",");
        launch.cluster[i] = integer();
    }
    expect(")");
}

}  // namespace parpy::ir
