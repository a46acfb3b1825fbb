#include "profiler/model/bulk_track.h"

#include "profiler/model/nesting.h"

#include <algorithm>
#include <utility>

namespace profiler {
namespace {

/// Order of a track, where arrival does not matter.
bool outOfOrder(const RawSlice& a, const RawSlice& b)
{
    return b.begin < a.begin || (b.begin == a.begin && b.duration > a.duration);
}

} // namespace

void BulkTrack::add(Piece piece)
{
    m_count += piece.slices.size();
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

void BulkTrack::clampTimes()
{
    constexpr std::int64_t kLimit = RawSlice::kTimeLimit;
    for (Piece& piece : m_pieces) {
        for (RawSlice& slice : piece.slices) {
            const bool odd = slice.begin < -kLimit || slice.begin > kLimit || slice.duration < 0 ||
                             slice.duration > kLimit;
            if (odd)
                slice.clampTimes();
        }
    }
}

bool BulkTrack::isSorted() const
{
    const RawSlice* last = nullptr;
    for (const Piece& piece : m_pieces) {
        for (const RawSlice& slice : piece.slices) {
            if (last && outOfOrder(*last, slice))
                return false;
            last = &slice;
        }
    }
    return true;
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
            std::stable_sort(first, last, [this](const SortKey& a, const SortKey& b) {
                return at(a).duration > at(b).duration;
            });
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
        m_depths.push_back(given ? slice.depth : scan.infer(slice.begin, slice.end()));
    });
}

void BulkTrack::sort()
{
    clampTimes();
    if (!isSorted())
        makeOrder();
    if (std::any_of(m_pieces.begin(), m_pieces.end(), [](const Piece& p) { return p.depth == Depth::Inferred; }))
        findDepths();
}

std::shared_ptr<const TrackBlock> BulkTrack::seal(std::size_t block) const
{
    constexpr std::size_t kSize = SliceColumns::kMaxSlices;
    const std::size_t first = block * kSize;
    std::vector<RawSlice> slices;
    slices.reserve(std::min(kSize, m_count - first));
    visit(first, std::min(kSize, m_count - first), [&](const RawSlice& slice, const Piece& piece) {
        const std::size_t place = first + slices.size();
        slices.push_back(slice);
        RawSlice& copy = slices.back();
        if (piece.remap)
            piece.remap->apply(copy);
        copy.ordinal = static_cast<std::uint32_t>(place);
        copy.flags &= static_cast<std::uint8_t>(~RawSlice::kInferredDepth);
        if (!m_depths.empty())
            copy.depth = m_depths[place];
    });
    return TrackBlock::make(slices);
}

void BulkTrack::release()
{
    m_pieces = {};
    m_order = {};
    m_depths = {};
}

} // namespace profiler
