// Finds the elements that blocks of iterations of a call touch beyond the rows that they own,
// without running it. parpy.halo shows these facts; partitions of arrays follow from them.
//
// The row of a loop that may run in parallel is a subscript that the loop writes (or reads, if it
// writes nothing) and that is linear in the loop's counter. A block is the set of iterations whose
// rows are lowest … highest. For each axis of each array the facts give the least and the greatest
// difference between its subscripts and the row, exactly, as ISL computes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "parpy/options.h"
#include "support/diagnostic.h"

namespace parpy {

struct Halos {
    // The distances of the subscripts of one axis from the rows of a block.
    struct Reach {
        enum class Kind : std::uint8_t {
            kBlock,      // a block touches lowest + low … highest + high at most
            kPeriodic,   // the same modulo the extent
            kAll,        // any block may touch elements all along the axis
            kIrregular,  // data decide which elements it touches, or the array overlaps another
        };
        Kind kind = Kind::kBlock;
        std::int64_t low = 0, high = 0;   // kBlock and kPeriodic
        std::string text;                 // the access that prevents kBlock
        std::uint32_t line = 0;           // the line of `text`
        std::string low_text, high_text;  // kBlock and kPeriodic: the accesses of low and high
        std::uint32_t low_line = 0, high_line = 0;
    };
    struct Axis {
        std::int64_t extent = 0;             // 0: not known
        std::optional<Reach> reads, writes;  // nothing: no accesses
    };
    struct Array {
        std::string name;  // unique among the arrays
        ir::Scalar scalar{};
        std::optional<std::size_t> argument;  // nothing: made by the function
        std::vector<Axis> axes;
        std::int64_t accesses = 0;  // the number of different accesses
    };
    struct Reduced {
        std::string name, op;
        ir::Scalar scalar{};
        bool array = false;      // elements of an array, not a number
        bool scattered = false;  // data decide which elements
        bool alone = true;       // the loop touches the array by these updates only
    };
    struct Loop {
        std::string key, variable, text;
        std::uint32_t line = 0;
        int depth = 0;        // the number of loops of the nest around it
        bool proved = false;  // false: the loop is a reduction
        std::vector<Reduced> reduced;
        std::optional<std::int64_t> trips;
        // row = scale * counter + shift; scale 0: no subscript moves with the loop.
        std::int64_t scale = 0, shift = 0;
        std::optional<std::int64_t> first;  // the row of the first iteration; nothing: not known
        // The first line that uses the row's number other than in subscripts moving with the loop.
        std::optional<std::uint32_t> position;
        std::vector<Array> arrays;
    };
    struct Node {
        enum class Kind : std::uint8_t {
            kNest,    // loops.front() is the outermost loop that may run in parallel
            kRepeat,  // runs `inside` `trips` times, one after the other
            kBranch,  // runs `inside` or `otherwise`
            kSerial,  // statements that touch arrays and that cannot run in parallel
        };
        Kind kind = Kind::kNest;
        std::uint32_t line = 0;
        std::string text;
        std::vector<Loop> loops;            // kNest
        std::optional<std::int64_t> trips;  // kRepeat; nothing: not known
        std::vector<Node> inside, otherwise;
        std::string why;  // kSerial
        // kRepeat: steps of a stencil, none of which can fail. A block may also compute rows of its
        // neighbours; some become wrong, but its own rows stay right for some steps.
        bool overlaps = false;
        // Such a kRepeat: arrays of which each step reads only elements that it has written itself
        // or that no step writes.
        std::vector<std::string> renewed;
        bool repeated = false;      // kSerial: the condition of the kRepeat around it
        bool calls = false;         // kSerial: calls functions whose accesses are not in `arrays`
        std::vector<Array> arrays;  // kSerial: all axes kAll
    };
    std::vector<Node> nodes;  // in the order of the text
    // The program without extents, without bounds of `loops`, and with subscripts as offsets. Two
    // calls of equal forms do the same for equal rows if no loop has a `position`.
    std::string form;
};

// `diagnostics` receives the errors that keep the call from being compiled. All other arguments are
// those of compile(). The nests are those of the text: nothing is fused, split or moved.
[[nodiscard]] Halos halos(const ir::Module& surface, const Signature& signature,
                          const Options& options, Diagnostics& diagnostics);

}  // namespace parpy
