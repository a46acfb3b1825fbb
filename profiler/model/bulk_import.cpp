#include "profiler/model/bulk_import.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace profiler {
namespace {

constexpr std::size_t kBlockSize = SliceColumns::kMaxSlices;

bool earlier(const CounterSample& a, const CounterSample& b)
{
    return a.time < b.time;
}

} // namespace

bool BulkTrack::comesFirst(const RawSlice& a, const RawSlice& b) const
{
    return a.duration != b.duration ? a.duration > b.duration : m_bySource && a.source() < b.source();
}

bool BulkTrack::outOfOrder(const RawSlice& a, const RawSlice& b) const
{
    return b.begin < a.begin || (b.begin == a.begin && comesFirst(b, a));
}

void BulkTrack::add(Piece piece)
{
    m_count += piece.slices.size();
    m_bySource = m_bySource || piece.depth == Depth::BySource;
    if (!piece.slices.empty())
        m_pieces.push_back(std::move(piece));
}

template <class Visit>
void BulkTrack::visit(std::size_t first, std::size_t count, Visit&& visit) const
{
    if (!m_order.empty()) {
        for (const SortKey& key : std::span{m_order}.subspan(first, count))
            visit(at(key), m_pieces[key.place >> 32]);
        return;
    }
    for (const Piece& piece : m_pieces) {
        const std::size_t size = piece.slices.size();
        for (std::size_t i = first; i < size && count > 0; ++i, --count)
            visit(piece.slices[i], piece);
        first = first > size ? first - size : 0;
    }
}

bool BulkTrack::clampTimes()
{
    constexpr std::int64_t kLimit = RawSlice::kTimeLimit;
    bool sorted = true;
    const RawSlice* last = nullptr;
    for (Piece& piece : m_pieces) {
        for (RawSlice& slice : piece.slices) {
            const bool odd =
                slice.begin < -kLimit || slice.begin > kLimit || slice.duration < 0 || slice.duration > kLimit;
            if (odd)
                slice.clampTimes();
            sorted = sorted && !(last && outOfOrder(*last, slice));
            last = &slice;
        }
    }
    return sorted;
}

void BulkTrack::makeOrder()
{
    m_order.reserve(m_count);
    for (std::uint64_t piece = 0; piece < m_pieces.size(); ++piece) {
        const auto& slices = m_pieces[piece].slices;
        for (std::uint64_t i = 0; i < slices.size(); ++i)
            m_order.push_back({slices[i].begin, piece << 32 | i});
    }
    radixSort(m_order);
    for (auto first = m_order.begin(); first != m_order.end();) {
        auto last = std::next(first);
        while (last != m_order.end() && last->key == first->key)
            ++last;
        if (last - first > 1)
            std::stable_sort(first, last,
                             [this](const SortKey& a, const SortKey& b) { return comesFirst(at(a), at(b)); });
        first = last;
    }
}

void BulkTrack::findDepths()
{
    DepthScan scan;
    m_depths.reserve(m_count);
    visit(0, m_count, [&](const RawSlice& slice, const Piece& piece) {
        const bool given = piece.depth == Depth::Given;
        if (given)
            scan.add(slice);
        m_depths.push_back(given ? slice.depth : infer(scan, slice));
    });
}

std::uint8_t BulkTrack::infer(DepthScan& scan, const RawSlice& slice)
{
    const std::uint8_t depth = scan.infer(slice.begin, slice.end());
    if (scan.overlapped() && (m_overlaps.count++ == 0 || slice.source() < m_overlaps.first))
        m_overlaps.first = slice.source();
    return depth;
}

void BulkTrack::putInOrder()
{
    if (!clampTimes())
        makeOrder();
}

void BulkTrack::sort()
{
    putInOrder();
    if (std::any_of(m_pieces.begin(), m_pieces.end(), [](const Piece& p) { return p.depth != Depth::Given; }))
        findDepths();
}

std::vector<RawSlice> BulkTrack::collect(std::size_t first, std::size_t count) const
{
    std::vector<RawSlice> slices;
    slices.reserve(count);
    visit(first, count, [&](const RawSlice& slice, const Piece& piece) {
        slices.push_back(slice);
        RawSlice& copy = slices.back();
        if (piece.remap)
            piece.remap->apply(copy);
        copy.flags &= static_cast<std::uint8_t>(~RawSlice::kInferredDepth);
        if (piece.depth != Depth::Given)
            copy.depth = kNoDepth;
    });
    return slices;
}

std::shared_ptr<const TrackBlock> BulkTrack::seal(std::size_t block) const
{
    const std::size_t first = block * kBlockSize;
    std::vector<RawSlice> slices = collect(first, std::min(kBlockSize, m_count - first));
    for (std::size_t i = 0; i < slices.size(); ++i) {
        slices[i].ordinal = static_cast<std::uint32_t>(first + i);
        if (!m_depths.empty())
            slices[i].depth = m_depths[first + i];
    }
    return TrackBlock::make(slices);
}

std::size_t BulkTrack::sealPreview()
{
    std::vector<RawSlice> slices;
    for (; m_previewedPieces < m_pieces.size(); ++m_previewedPieces) {
        const Piece& piece = m_pieces[m_previewedPieces];
        for (RawSlice slice : piece.slices) {
            if (piece.remap)
                piece.remap->apply(slice);
            slice.clampTimes();
            slice.flags &= static_cast<std::uint8_t>(~RawSlice::kInferredDepth);
            slice.depth = piece.depth != Depth::Given ? kNoDepth : slice.depth;
            slice.ordinal = static_cast<std::uint32_t>(slices.size());
            slices.push_back(slice);
        }
    }
    std::sort(slices.begin(), slices.end(), beginsBefore);
    DepthScan scan;
    for (RawSlice& slice : slices) {
        slice.ordinal = m_previewOrdinal++;
        if (slice.depth == kNoDepth)
            slice.depth = scan.infer(slice.begin, slice.end());
        else
            scan.add(slice);
    }
    std::size_t bytes = 0;
    for (std::size_t first = 0; first < slices.size(); first += kBlockSize) {
        m_preview.emplace_back(
            TrackBlock::make(std::span{slices}.subspan(first, std::min(kBlockSize, slices.size() - first))));
        bytes += m_preview.back().bytes();
    }
    return bytes;
}

void BulkTrack::release()
{
    m_previewedPieces = 0;
    m_pieces = {};
    m_order = {};
    m_depths = {};
}

void BulkTrack::spill(SliceSpill& spill)
{
    if (m_count == 0)
        return;
    putInOrder();
    Run run{{}, m_count};
    for (std::size_t first = 0; first < m_count; first += kBlockSize) {
        const auto number = spill.write(collect(first, std::min(kBlockSize, m_count - first)));
        if (!number) {
            m_order = {}; // more slices may be added
            return;
        }
        run.numbers.push_back(*number);
    }
    m_runs.push_back(std::move(run));
    release();
    m_count = 0;
}

/// Iterates over a run in the spill, or over the slices still in memory.
class BulkTrack::Cursor {
public:
    using Load = std::function<std::optional<std::vector<RawSlice>>(std::size_t part)>;
    Cursor(std::size_t count, Load load) : m_left(count), m_load(std::move(load)) { fill(); }

    /// The next slice; null at the end.
    [[nodiscard]] const RawSlice* front() const { return m_at < m_slices.size() ? &m_slices[m_at] : nullptr; }
    void pop()
    {
        --m_left;
        if (++m_at == m_slices.size())
            fill();
    }
    /// Number of slices that could not be read.
    [[nodiscard]] std::size_t lost() const { return m_lost; }

private:
    void fill()
    {
        m_at = 0;
        m_slices = {};
        if (m_left == 0)
            return;
        if (auto slices = m_load(m_part++))
            m_slices = std::move(*slices);
        else
            m_lost = std::exchange(m_left, 0);
    }

    std::size_t m_left, m_part = 0, m_at = 0, m_lost = 0;
    Load m_load;
    std::vector<RawSlice> m_slices;
};

std::vector<BlockRef> BulkTrack::sealSpilled(TrackId track, SliceSpill& spill, std::size_t& lost)
{
    putInOrder();
    std::vector<Cursor> cursors;
    for (const Run& run : m_runs)
        cursors.emplace_back(run.count, [&](std::size_t part) { return spill.read(run.numbers[part]); });
    cursors.emplace_back(m_count, [this](std::size_t part) {
        return collect(part * kBlockSize, std::min(kBlockSize, m_count - part * kBlockSize));
    });

    std::vector<BlockRef> blocks;
    std::vector<RawSlice> slices;
    DepthScan scan;
    std::uint32_t ordinal = 0;
    const auto seal = [&] {
        if (!slices.empty())
            blocks.push_back(spill.keep(track, slices));
        slices.clear();
    };
    for (;;) {
        Cursor* next = nullptr; // there are few runs; on equal keys, the earlier run wins
        for (Cursor& cursor : cursors) {
            if (cursor.front() && (!next || outOfOrder(*next->front(), *cursor.front())))
                next = &cursor;
        }
        if (!next)
            break;
        RawSlice slice = *next->front();
        next->pop();
        if (slice.depth == kNoDepth)
            slice.depth = infer(scan, slice);
        else
            scan.add(slice);
        slice.ordinal = ordinal++;
        slices.push_back(slice);
        if (slices.size() == kBlockSize)
            seal();
    }
    seal();
    for (const Cursor& cursor : cursors)
        lost += cursor.lost();
    m_runs.clear();
    release();
    m_count = 0;
    return blocks;
}

void BulkCounter::add(std::vector<CounterSample>&& samples, SampleMeaning meaning)
{
    m_meaning = meaning;
    for (const CounterSample& sample : samples) {
        m_inOrder = m_inOrder && sample.time >= m_last;
        m_last = std::max(m_last, sample.time);
    }
    if (!samples.empty())
        m_pieces.push_back(std::move(samples));
}

/// The samples in memory, sorted by time.
std::vector<CounterSample> BulkCounter::takeMemory()
{
    std::size_t count = 0;
    for (const auto& piece : m_pieces)
        count += piece.size();
    std::vector<CounterSample> all;
    all.reserve(count);
    for (auto& piece : m_pieces) {
        all.insert(all.end(), piece.begin(), piece.end());
        piece = {};
    }
    m_pieces = {};
    if (!m_inOrder)
        std::stable_sort(all.begin(), all.end(), earlier);
    return all;
}

void BulkCounter::spill(SliceSpill& spill)
{
    if (m_pieces.empty())
        return;
    const std::vector<CounterSample> all = takeMemory();
    Run run;
    for (std::span<const CounterSample> left = all; !left.empty();) {
        const auto some = left.first(std::min(left.size(), kPieceSamples));
        auto kept = spill.keepSamples(some);
        if (!kept) {
            m_pieces.emplace_back(left.begin(), left.end());
            break;
        }
        run.push_back(std::move(*kept));
        left = left.subspan(some.size());
    }
    if (!run.empty())
        m_runs.push_back(std::move(run));
}

/// Iterates over a run in the spill, or over the samples still in memory.
class BulkCounter::Cursor {
public:
    Cursor(SliceSpill& spill, Run run) : m_spill(spill), m_run(std::move(run)) { fill(); }
    Cursor(SliceSpill& spill, std::vector<CounterSample> memory) : m_spill(spill), m_samples(std::move(memory)) {}

    /// The next sample; null at the end.
    [[nodiscard]] const CounterSample* front() const { return m_at < m_samples.size() ? &m_samples[m_at] : nullptr; }
    void pop()
    {
        if (++m_at == m_samples.size())
            fill();
    }
    /// Number of samples that could not be read.
    [[nodiscard]] std::uint64_t lost() const { return m_lost; }

private:
    void fill()
    {
        m_at = 0;
        m_samples = {};
        while (m_samples.empty() && m_next < m_run.size()) {
            const SampleRef& part = m_run[m_next++];
            if (auto samples = m_spill.readSamples(part.number))
                m_samples = std::move(*samples);
            else
                m_lost += part.count;
        }
    }

    SliceSpill& m_spill;
    Run m_run;
    std::vector<CounterSample> m_samples;
    std::size_t m_next = 0, m_at = 0;
    std::uint64_t m_lost = 0;
};

BulkCounter::Sealed BulkCounter::merge(SliceSpill& spill, const std::function<void(const CounterSample&)>& keep)
{
    std::vector<Cursor> cursors;
    for (Run& run : m_runs)
        cursors.emplace_back(spill, std::move(run));
    cursors.emplace_back(spill, takeMemory());
    Sealed sealed;
    std::vector<CounterSample> some;
    bool takes = true; // the spill still accepts samples
    const auto put = [&] {
        auto kept = takes && !some.empty() ? spill.keepSamples(some) : std::nullopt;
        takes = kept.has_value();
        if (kept)
            sealed.spilled.push_back(std::move(*kept));
        else
            std::for_each(some.begin(), some.end(), keep);
        some.clear();
    };
    double sum = 0;
    for (;;) {
        Cursor* next = nullptr; // there are few runs; on equal times, the earlier run wins
        for (Cursor& cursor : cursors) {
            if (cursor.front() && (!next || earlier(*cursor.front(), *next->front())))
                next = &cursor;
        }
        if (!next)
            break;
        CounterSample sample = *next->front();
        next->pop();
        sum = m_meaning == SampleMeaning::Change ? sum + sample.value : sample.value;
        some.push_back({sample.time, sum});
        if (some.size() == kPieceSamples)
            put();
    }
    put();
    for (const Cursor& cursor : cursors)
        sealed.lost += cursor.lost();
    return sealed;
}

BulkCounter::Sealed BulkCounter::seal(SliceSpill* spill, const std::function<void(const CounterSample&)>& keep)
{
    Sealed sealed;
    if (spill && !m_runs.empty() && !(m_inOrder && m_meaning == SampleMeaning::Value)) {
        sealed = merge(*spill, keep);
    } else {
        for (Run& run : m_runs)
            std::move(run.begin(), run.end(), std::back_inserter(sealed.spilled));
        double sum = 0;
        for (const CounterSample& sample : takeMemory()) {
            sum = m_meaning == SampleMeaning::Change ? sum + sample.value : sample.value;
            keep({sample.time, sum});
        }
    }
    m_runs = {};
    return sealed;
}

} // namespace profiler
