#include "profiler/formats/container/slice_blocks.h"

#include "profiler/model/pools.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <limits>
#include <utility>

namespace profiler::container {

namespace {

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
    for (const SliceColumn& column : kSliceColumns) {
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
    for (const SliceColumn& column : kSliceColumns) {
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

namespace {

constexpr std::uint32_t kVersionWithMixes = 5;

std::uint32_t coarseNodes(const Row& row)
{
    std::uint32_t nodes = 0;
    for (int level = lod::lowestSummed(row); lod::exists(row, level); ++level)
        nodes += lod::groups(row, level);
    return nodes;
}

void putRows(ByteWriter& writer, const RowSummary& rows)
{
    writer.put(static_cast<std::uint32_t>(rows.rows().size()));
    std::uint32_t nodes = 0;
    for (const Row& row : rows.rows()) {
        writer.put(row.depth);
        writer.put(row.kind);
        writer.put(row.count);
        writer.put(row.begin);
        writer.put(row.end);
        writer.put(row.covered);
        nodes += coarseNodes(row);
    }
    std::vector<std::int64_t> values(nodes);
    const LodNodes& coarse = rows.coarse();
    for (const PackedColumn* column : {&coarse.begin, &coarse.before, &coarse.duration, &coarse.name}) {
        for (std::uint32_t i = 0; i < nodes; ++i)
            values[i] = (*column)[i];
        writer.putColumn(values);
    }
}

/// Writes the number of bins and names of each row, then all names with their times, and the times of the groups. For
/// each bin, stores the increments per group, which compress better than sums.
void putMixes(ByteWriter& writer, const RowSummary& rows)
{
    const RowMixes& mixes = rows.mixes();
    std::vector<std::int64_t> names, units, added;
    for (std::size_t i = 0; i < rows.rows().size(); ++i) {
        const RowMix mix = mixes.rows.empty() ? RowMix{} : mixes.rows[i];
        writer.put(mix.bins);
        writer.put(mix.unitBits);
        writer.put(static_cast<std::uint8_t>(mix.names));
        for (const NameTime& name : std::span{mixes.names}.subspan(mix.firstName, mix.names)) {
            names.push_back(name.name);
            units.push_back(name.units);
        }
        const std::uint32_t* const times = mixes.times.data() + mix.coarse;
        const std::uint32_t count = mixTimes(rows.rows()[i].count, mix.groupBits, mix.bins);
        for (std::uint32_t bin = 0; bin < mix.bins; ++bin)
            for (std::uint32_t at = bin; at < count; at += mix.bins)
                added.push_back(std::int64_t{times[at]} - (at < mix.bins ? 0 : times[at - mix.bins]));
    }
    writer.put(static_cast<std::uint32_t>(names.size()));
    writer.putColumn(names);
    writer.putColumn(units);
    writer.putColumn(added);
}

/// Rejects numbers outside [atLeast, atMost].
PackedColumn takeColumn(ByteReader& reader, std::vector<std::int64_t>& values, std::int64_t atLeast,
                        std::int64_t atMost)
{
    reader.takeColumn(values);
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    if (*least < atLeast || *largest > atMost)
        reader.fail();
    return PackedColumn::of(static_cast<std::uint32_t>(values.size()), *least, *largest,
                            [&](std::uint32_t i) { return values[i]; });
}

constexpr std::int64_t kLimit = RawSlice::kTimeLimit;

bool plausible(const Row& row)
{
    return row.count > 0 && static_cast<int>(row.kind) < kActivityKinds && row.begin >= -kLimit &&
           row.begin <= kLimit && row.end >= row.begin && row.end <= 2 * kLimit && row.covered >= 0 &&
           row.covered <= 3 * kLimit;
}

bool plausible(const RowMix& mix)
{
    return mix.bins <= RowMix::kBins && mix.names <= RowMix::kMostNames && mix.unitBits <= 32 &&
           (mix.bins < RowMix::kBins ? mix.names == mix.bins : mix.names >= mix.bins);
}

RowMixes takeMixes(ByteReader& reader, std::span<const Row> rows, std::uint32_t strings)
{
    RowMixes mixes;
    std::uint32_t names = 0;
    std::uint32_t times = 0;
    for (const Row& row : rows) {
        RowMix& mix = mixes.rows.emplace_back();
        mix.bins = reader.take<std::uint8_t>();
        mix.unitBits = reader.take<std::uint8_t>();
        mix.names = reader.take<std::uint8_t>();
        if (reader.failed() || !plausible(mix)) {
            reader.fail();
            return {};
        }
        mix.groupBits = static_cast<std::uint8_t>(mixGroupBits(row.count));
        mix.firstName = std::exchange(names, names + mix.names);
        mix.coarse = std::exchange(times, times + mixTimes(row.count, mix.groupBits, mix.bins));
    }
    if (reader.take<std::uint32_t>() != names)
        reader.fail();
    std::vector<std::int64_t> ids(reader.failed() ? 0 : names);
    std::vector<std::int64_t> units(ids.size());
    std::vector<std::int64_t> added(reader.failed() ? 0 : times);
    reader.takeColumn(ids);
    reader.takeColumn(units);
    reader.takeColumn(added);
    constexpr std::int64_t kMost = 0xffffffff;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] < 0 || ids[i] >= std::int64_t{strings} || units[i] < 0 || units[i] > kMost)
            reader.fail();
        mixes.names.push_back({static_cast<std::uint32_t>(ids[i]), static_cast<std::uint32_t>(units[i])});
    }
    mixes.times.resize(added.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows.size() && !reader.failed(); ++i) {
        const RowMix& mix = mixes.rows[i];
        const std::uint32_t count = mixTimes(rows[i].count, mix.groupBits, mix.bins);
        for (std::uint32_t bin = 0; bin < mix.bins; ++bin) {
            std::int64_t sum = 0;
            for (std::uint32_t at = bin; at < count; at += mix.bins) {
                const std::int64_t step = added[next++];
                if (step < 0 || step > kMost - sum) {
                    reader.fail();
                    return {};
                }
                sum += step;
                mixes.times[mix.coarse + at] = static_cast<std::uint32_t>(sum);
            }
        }
    }
    return mixes;
}

/// @param count  number of slices in the block
RowSummary takeRows(ByteReader& reader, std::uint32_t count, std::uint32_t strings, std::uint32_t version)
{
    constexpr std::size_t kRowBytes = 30;
    std::vector<Row> rows(reader.takeCount(kRowBytes));
    std::uint32_t entries = 0;
    std::uint32_t fine = 0;
    std::uint32_t nodes = 0;
    for (Row& row : rows) {
        row.depth = reader.take<std::uint8_t>();
        row.kind = reader.take<ActivityKind>();
        row.count = reader.take<std::uint32_t>();
        row.begin = reader.take<std::int64_t>();
        row.end = reader.take<std::int64_t>();
        row.covered = reader.take<std::int64_t>();
        if (!plausible(row) || row.count > count - entries) {
            reader.fail();
            return {};
        }
        row.first = std::exchange(entries, entries + row.count);
        row.fine = std::exchange(fine, fine + (lod::lowestSummed(row) > 0 ? lod::groups(row, 0) : 0));
        row.coarse = std::exchange(nodes, nodes + coarseNodes(row));
    }
    const bool sorted = std::is_sorted(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return std::pair{a.depth, a.kind} < std::pair{b.depth, b.kind};
    });
    if (entries != count || !sorted || reader.failed()) {
        reader.fail();
        return {};
    }
    std::vector<std::int64_t> values(nodes);
    LodNodes coarse;
    coarse.begin = takeColumn(reader, values, -kLimit, kLimit);
    coarse.before = takeColumn(reader, values, 0, 3 * kLimit);
    coarse.duration = takeColumn(reader, values, 0, kLimit);
    coarse.name = takeColumn(reader, values, 0, std::int64_t{strings} - 1);
    RowMixes mixes = version >= kVersionWithMixes ? takeMixes(reader, rows, strings) : RowMixes{};
    return {std::move(rows), std::move(coarse), std::move(mixes)};
}

BlockEntry takeEntry(ByteReader& reader, std::uint32_t strings, std::uint32_t version)
{
    BlockEntry entry;
    auto summary = std::make_shared<BlockSummary>();
    entry.track = reader.take<std::uint32_t>();
    entry.offset = reader.take<std::uint64_t>();
    summary->count = reader.take<std::uint32_t>();
    summary->firstBegin = reader.take<std::int64_t>();
    summary->lastEnd = reader.take<std::int64_t>();
    summary->kinds = reader.take<std::uint32_t>();
    for (LinkRange& link : summary->links) {
        link.smallest = reader.take<std::int64_t>();
        link.largest = reader.take<std::int64_t>();
    }
    const bool plausibleTimes = summary->firstBegin >= -kLimit && summary->firstBegin <= kLimit &&
                                summary->lastEnd >= summary->firstBegin && summary->lastEnd <= 2 * kLimit;
    if (summary->count == 0 || summary->count > SliceColumns::kMaxSlices || !plausibleTimes)
        reader.fail();
    else
        summary->rows = takeRows(reader, summary->count, strings, version);
    entry.summary = std::move(summary);
    return entry;
}

} // namespace

Bytes encodeOverview(std::span<const BlockEntry> entries)
{
    ByteWriter writer;
    writer.put(static_cast<std::uint32_t>(entries.size()));
    for (const BlockEntry& entry : entries) {
        const BlockSummary& summary = *entry.summary;
        writer.put(entry.track);
        writer.put(entry.offset);
        writer.put(summary.count);
        writer.put(summary.firstBegin);
        writer.put(summary.lastEnd);
        writer.put(summary.kinds);
        for (const LinkRange& link : summary.links) {
            writer.put(link.smallest);
            writer.put(link.largest);
        }
        putRows(writer, summary.rows);
        putMixes(writer, summary.rows);
    }
    return std::move(writer.bytes());
}

std::optional<std::vector<BlockEntry>> decodeOverview(std::span<const std::byte> raw, std::uint32_t tracks,
                                                      std::uint32_t strings, std::uint32_t version)
{
    constexpr std::size_t kLeastEntry = 100;
    ByteReader reader{raw};
    std::vector<BlockEntry> entries;
    std::vector<std::uint64_t> next(tracks); ///< next ordinal, by track
    std::vector<std::int64_t> begins(tracks, std::numeric_limits<std::int64_t>::min());
    for (std::uint32_t count = reader.takeCount(kLeastEntry); count > 0; --count) {
        BlockEntry entry = takeEntry(reader, strings, version);
        if (reader.failed() || entry.track >= tracks || entry.summary->firstBegin < begins[entry.track])
            return std::nullopt;
        begins[entry.track] = entry.summary->firstBegin;
        auto summary = std::const_pointer_cast<BlockSummary>(entry.summary);
        std::uint64_t& ordinal = next[entry.track];
        if (ordinal + summary->count > std::numeric_limits<std::uint32_t>::max())
            return std::nullopt;
        summary->smallestOrdinal = static_cast<std::uint32_t>(ordinal);
        ordinal += summary->count;
        summary->largestOrdinal = static_cast<std::uint32_t>(ordinal - 1);
        entry.count = summary->count;
        entry.firstOrdinal = summary->smallestOrdinal;
        entries.push_back(std::move(entry));
    }
    return reader.failed() || !reader.atEnd() ? std::nullopt : std::optional{std::move(entries)};
}

bool sameBlock(const BlockSummary& a, const BlockSummary& b)
{
    const auto sameRow = [](const Row& x, const Row& y) {
        return x.depth == y.depth && x.kind == y.kind && x.first == y.first && x.count == y.count && x.fine == y.fine &&
               x.coarse == y.coarse && x.begin == y.begin && x.end == y.end && x.covered == y.covered;
    };
    return a.count == b.count && a.firstBegin == b.firstBegin && a.lastEnd == b.lastEnd && a.kinds == b.kinds &&
           std::equal(a.rows.rows().begin(), a.rows.rows().end(), b.rows.rows().begin(), b.rows.rows().end(), sameRow);
}

std::shared_ptr<const TrackBlock> BlockCache::get(std::uint32_t block, const Read& read) const
{
    {
        const std::lock_guard lock{m_mutex};
        if (const auto kept = m_kept.find(block); kept != m_kept.end()) {
            m_uses.splice(m_uses.begin(), m_uses, kept->second.use);
            return kept->second.block;
        }
    }
    // Two threads may read the same block at the same time; both results are valid.
    auto made = read(block);
    if (!made) // the failure may be temporary: the next caller tries again
        return made;
    const std::lock_guard lock{m_mutex};
    const auto [kept, isNew] = m_kept.try_emplace(block);
    if (isNew) {
        m_uses.push_front(block);
        kept->second = {made, m_uses.begin()};
        m_bytes += made->bytes();
        shrink();
    }
    return made;
}

void BlockCache::shrink() const
{
    while (m_bytes > m_budget && m_uses.size() > 1) {
        const auto oldest = m_kept.find(m_uses.back());
        m_bytes -= oldest->second.block->bytes();
        m_kept.erase(oldest);
        m_uses.pop_back();
    }
}

Result<std::shared_ptr<const TrackBlock>> readBlock(const BlockFile& file, const BlockEntry& entry,
                                                    const BlockLimits& limits)
{
    const auto place = [&] { return fmt::format("{}, byte {}", file.path().string(), entry.offset); };
    const auto raw = file.read(entry.offset, FrameType::Slices);
    if (!raw)
        return tl::unexpected(raw.error());
    auto decoded = decodeBlock(*raw, limits);
    if (!decoded || decoded->track != entry.track || decoded->slices.size() != entry.count)
        return fail<"trace.bad_block", "a block of slices contains invalid values">(Error::Code::Malformed, place());
    for (std::uint32_t i = 0; i < decoded->slices.size(); ++i)
        decoded->slices[i].ordinal = entry.firstOrdinal + i;
    auto block = TrackBlock::make(decoded->slices);
    // Queries use the rows of the overview, so the block must match them.
    if (entry.summary && !sameBlock(*entry.summary, block->summary))
        return fail<"trace.other_block", "a block of slices does not match the overview of the file">(
            Error::Code::Malformed, place());
    return block;
}

SealedBlocks::SealedBlocks(std::shared_ptr<const BlockFile> file, BlockLimits limits, std::vector<BlockEntry> entries,
                           std::size_t budget)
    : m_file(std::move(file)), m_limits(limits), m_entries(std::move(entries)), m_cache(budget)
{
}

std::shared_ptr<const TrackBlock> SealedBlocks::load(std::uint32_t block) const
{
    return m_cache.get(block, [this](std::uint32_t number) {
        const BlockEntry& entry = m_entries.at(number);
        auto made = readBlock(*m_file, entry, m_limits);
        note(number, made ? std::nullopt : std::optional(Unread{entry.count, 0, made.error().message()}));
        return made.value_or(nullptr);
    });
}

} // namespace profiler::container
