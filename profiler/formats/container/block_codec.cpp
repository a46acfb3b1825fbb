#include "profiler/formats/container/block_codec.h"

#include "profiler/model/pools.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace profiler::packed {
namespace {

enum class Coding { Plain, Steps }; ///< Steps: the difference from the previous slice

/// A column of the format: its accessors and its encoding.
struct Column {
    Coding coding;
    std::int64_t (*get)(const RawSlice&);
    bool (*set)(RawSlice&, std::int64_t, const BlockLimits&); ///< returns false for an invalid value
};

template <class T>
bool fits(std::int64_t value)
{
    return value >= 0 && value <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
}

using Raw = RawSlice;
constexpr std::uint8_t kFlags = slice_flag::kOpen | slice_flag::kBackward | slice_flag::kAsync;

const std::array kColumns{
    Column{Coding::Steps, [](const Raw& s) { return s.begin; },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.begin = v;
               return v >= -Raw::kTimeLimit && v <= Raw::kTimeLimit;
           }},
    Column{Coding::Plain, [](const Raw& s) { return s.duration; },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.duration = v;
               return v >= 0 && v <= Raw::kTimeLimit;
           }},
    Column{Coding::Plain, [](const Raw& s) { return static_cast<std::int64_t>(s.kind); },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.kind = static_cast<ActivityKind>(v);
               return v >= 0 && v < kActivityKinds;
           }},
    Column{Coding::Plain, [](const Raw& s) { return std::int64_t{s.depth}; },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.depth = static_cast<std::uint8_t>(v);
               return fits<std::uint8_t>(v);
           }},
    Column{Coding::Plain, [](const Raw& s) { return std::int64_t{s.flags} & kFlags; },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.flags = static_cast<std::uint8_t>(v);
               return (v & ~std::int64_t{kFlags}) == 0;
           }},
    Column{Coding::Plain, [](const Raw& s) { return std::int64_t{s.name}; },
           [](Raw& s, std::int64_t v, const BlockLimits& limits) {
               s.name = static_cast<std::uint32_t>(v);
               return v >= 0 && v < std::int64_t{limits.names};
           }},
    Column{Coding::Plain, [](const Raw& s) { return std::int64_t{s.args}; },
           [](Raw& s, std::int64_t v, const BlockLimits& limits) {
               s.args = static_cast<std::uint32_t>(v);
               return fits<std::uint32_t>(v) && (ArgsPool::isInline(s.args) || s.args < limits.args);
           }},
    Column{Coding::Steps, [](const Raw& s) { return s.link; },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.link = v;
               return true;
           }},
    Column{Coding::Steps, [](const Raw& s) { return static_cast<std::int64_t>(s.source()); },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.setSource(static_cast<std::uint64_t>(v));
               return v >= 0 && v <= static_cast<std::int64_t>(Raw::kMaxSource);
           }},
    Column{Coding::Steps, [](const Raw& s) { return std::int64_t{s.external}; },
           [](Raw& s, std::int64_t v, const BlockLimits&) {
               s.external = static_cast<std::uint32_t>(v);
               return fits<std::uint32_t>(v);
           }},
};

std::int64_t sum(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t difference(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

} // namespace

Bytes encodeBlock(std::uint32_t track, std::uint32_t firstOrdinal, std::span<const RawSlice> slices)
{
    ByteWriter writer;
    writer.put(BlockHead{track, firstOrdinal, static_cast<std::uint32_t>(slices.size())});
    std::vector<std::int64_t> values(slices.size());
    for (const Column& column : kColumns) {
        std::int64_t last = 0;
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const std::int64_t value = column.get(slices[i]);
            values[i] = column.coding == Coding::Steps && i > 0 ? difference(value, last) : value;
            last = value;
        }
        // The first number has no predecessor and is usually large. It is stored separately, so that it does not widen
        // the column.
        if (column.coding == Coding::Steps) {
            writer.put(values[0]);
            values[0] = values.size() > 1 ? values[1] : 0;
        }
        writer.putColumn(values);
    }
    return std::move(writer.bytes());
}

std::optional<BlockHead> headOfBlock(std::span<const std::byte> raw)
{
    ByteReader reader{raw};
    const auto head = reader.take<BlockHead>();
    return reader.failed() ? std::nullopt : std::optional{head};
}

std::optional<DecodedBlock> decodeBlock(std::span<const std::byte> raw, const BlockLimits& limits)
{
    ByteReader reader{raw};
    const auto head = reader.take<BlockHead>();
    if (reader.failed() || head.count == 0 || head.count > SliceColumns::kMaxSlices)
        return std::nullopt;
    DecodedBlock block;
    block.track = head.track;
    block.slices.resize(head.count);
    std::vector<std::int64_t> values(head.count);
    bool good = true;
    for (const Column& column : kColumns) {
        const bool steps = column.coding == Coding::Steps;
        std::int64_t last = steps ? reader.take<std::int64_t>() : 0;
        reader.takeColumn(values);
        if (steps)
            values[0] = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            last = steps ? sum(last, values[i]) : values[i];
            good &= column.set(block.slices[i], last, limits);
        }
    }
    for (std::uint32_t i = 0; i < head.count; ++i) {
        block.slices[i].ordinal = head.firstOrdinal + i;
        good = good && (i == 0 || beginsBefore(block.slices[i - 1], block.slices[i]));
    }
    const bool wraps = head.firstOrdinal > std::numeric_limits<std::uint32_t>::max() - head.count;
    if (!good || wraps || reader.failed() || !reader.atEnd())
        return std::nullopt;
    return block;
}

} // namespace profiler::packed
