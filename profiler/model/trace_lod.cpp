#include "profiler/model/colored_buckets.h"
#include "profiler/model/row_walk.h"
#include "profiler/model/trace_data.h"

#include <algorithm>
#include <type_traits>

namespace profiler {
namespace {

struct PlacedRow {
    const BlockRef* block;
    std::size_t pin; ///< index of its block's pin
    const Row* row;
};

constexpr double kNone = -1;

/// Totals for a bucket that its LodBucket does not contain, while rows are added kind by kind.
struct Tally {
    double coveredOfKind = kNone; ///< ns of the current kind
    double covered = 0;           ///< ns of all kinds so far
    double bestOfKind = kNone;    ///< ns of the kind with most time so far
    ColorSum color;
    std::int64_t longest = -1;
};

template <class Bucket>
constexpr bool kColored = std::is_same_v<Bucket, ColoredBucket>;

struct Coloring {
    const SlicePalette* palette;
    LodEdges edges;
};

/// Equal spans of a window. A span is at least 1 ns long, so spans overlap if the window has fewer ns than buckets.
class Spans {
public:
    Spans(TimeRange window, std::size_t count) : m_edges(count + 1)
    {
        constexpr std::int64_t kLimit = RawSlice::kTimeLimit;
        const std::int64_t begin = std::clamp(toNs(window.begin), -kLimit, kLimit);
        const std::int64_t all = std::clamp(toNs(window.end), begin, kLimit) - begin;
        const auto number = static_cast<std::int64_t>(count);
        const std::int64_t whole = all / number, rest = all % number;
        m_width = std::max<std::int64_t>(whole, 1);
        // Each edge is used many times, so all edges are computed once, without a division each.
        std::int64_t edge = begin, owed = 0;
        for (std::int64_t& at : m_edges) {
            at = edge;
            edge += whole;
            owed += rest;
            if (owed >= number) {
                owed -= number;
                ++edge;
            }
        }
    }
    /// Width of each span in ns; spans of a window differ by at most one ns.
    [[nodiscard]] std::int64_t width() const { return m_width; }
    [[nodiscard]] std::size_t count() const { return m_edges.size() - 1; }
    [[nodiscard]] std::int64_t begin(std::size_t index) const { return m_edges[index]; }
    [[nodiscard]] std::int64_t end(std::size_t index) const { return std::max(m_edges[index + 1], m_edges[index] + 1); }
    /// The first span that ends after `time`.
    [[nodiscard]] std::size_t firstEndingAfter(std::int64_t time) const
    {
        std::size_t low = 0;
        std::size_t high = count();
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (end(middle) <= time)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

private:
    std::vector<std::int64_t> m_edges;
    std::int64_t m_width = 1;
};

template <class Bucket>
void addRow(const PlacedRow& placed, BlockPin& pin, const Spans& spans, const Coloring& how, std::span<Bucket> buckets,
            std::vector<Tally>& tallies)
{
    RowWalk walk{*placed.block, pin, *placed.row, spans.width(), how.edges, how.palette};
    for (std::size_t i = spans.firstEndingAfter(placed.row->begin); i < spans.count(); ++i) {
        const std::int64_t begin = spans.begin(i);
        if (begin > placed.row->end)
            return;
        const RowPart part = walk.next(begin, spans.end(i));
        if (part.count == 0)
            continue;
        Tally& tally = tallies[i];
        buckets[i].count += part.count;
        if constexpr (kColored<Bucket>)
            buckets[i].isOne |= part.isOne;
        tally.coveredOfKind = std::max(tally.coveredOfKind, 0.0) + part.covered;
        tally.color.add(part.color);
        if (part.longest.duration > tally.longest) {
            tally.longest = part.longest.duration;
            buckets[i].name = StringId{part.longest.name};
        }
    }
}

template <class Bucket>
void closeKind(ActivityKind kind, std::span<Bucket> buckets, std::vector<Tally>& tallies)
{
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        Tally& tally = tallies[i];
        if (tally.coveredOfKind < 0)
            continue;
        if (tally.coveredOfKind > tally.bestOfKind) {
            tally.bestOfKind = tally.coveredOfKind;
            buckets[i].kind = kind;
        }
        tally.covered += tally.coveredOfKind;
        tally.coveredOfKind = kNone;
    }
}

template <class Bucket>
void sumUp(const TrackSlices& slices, int depth, TimeRange window, std::span<Bucket> buckets, const Coloring& how)
{
    std::fill(buckets.begin(), buckets.end(), Bucket{});
    if (buckets.empty())
        return;
    const auto blocks = slices.around(toNs(window.begin), toNs(window.end));
    std::vector<BlockPin> pins(blocks.size());
    std::vector<PlacedRow> placed;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!blocks[i].summary().overlaps(toNs(window.begin), toNs(window.end)))
            continue;
        for (const Row& row : blocks[i].summary().rows.rows(depth))
            placed.push_back({&blocks[i], i, &row});
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const PlacedRow& a, const PlacedRow& b) { return a.row->kind < b.row->kind; });
    const Spans spans{window, buckets.size()};
    std::vector<Tally> tallies(buckets.size());
    for (std::size_t i = 0; i < placed.size(); ++i) {
        addRow(placed[i], pins[placed[i].pin], spans, how, buckets, tallies);
        const ActivityKind kind = placed[i].row->kind;
        if (i + 1 == placed.size() || placed[i + 1].row->kind != kind)
            closeKind(kind, buckets, tallies);
    }
    // Spans differ by at most a nanosecond, so two divisions are enough for all.
    const double one = 1 / static_cast<double>(spans.width()), longer = 1 / static_cast<double>(spans.width() + 1);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const double share = tallies[i].covered * (spans.end(i) - spans.begin(i) > spans.width() ? longer : one);
        buckets[i].busy = static_cast<float>(std::clamp(share, 0.0, 1.0));
        if constexpr (kColored<Bucket>) {
            if (tallies[i].covered > 0)
                buckets[i].color = tallies[i].color.over(tallies[i].covered);
            else if (buckets[i].count > 0) // slices without duration have a colour, too
                buckets[i].color = how.palette->colorOf(buckets[i].kind, buckets[i].name);
        }
    }
}

} // namespace

void Trace::summarize(TrackId track, int depth, TimeRange window, std::span<LodBucket> buckets, LodEdges edges) const
{
    sumUp(m->of(track), depth, window, buckets, {nullptr, edges});
}

void summarize(const Trace& trace, TrackId track, int depth, TimeRange window, std::span<ColoredBucket> buckets,
               LodEdges edges, const SlicePalette& palette)
{
    sumUp(trace.slicesOf(track), depth, window, buckets, {&palette, edges});
}

} // namespace profiler
