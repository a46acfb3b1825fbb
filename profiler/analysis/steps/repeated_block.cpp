#include "profiler/analysis/steps/repeated_block.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace profiler::analysis {

namespace {

using Positions = std::span<const std::size_t>;

constexpr std::size_t kFewest = 3;           // two occurrences are not a repetition
constexpr double kRegular = 0.8;             // share of the distances that are near the usual one
constexpr double kNear = 0.25;               // maximum deviation, relative to the usual distance
constexpr double kLeastCovered = 0.5;        // share of the sequence
constexpr double kLeastShare = 0.8;          // share of what a block must explain
constexpr double kAsGood = 0.02;             // shares that are this close count as equal
constexpr std::size_t kMostFrequencies = 40; // each one requires a pass over the sequence

/// The positions of each pair of neighbours, by pair.
class Pairs {
public:
    explicit Pairs(std::span<const std::uint32_t> names) : m_order(names.size())
    {
        std::vector<std::uint64_t> keys(names.size());
        for (std::size_t i = 0; i < names.size(); ++i)
            keys[i] = std::uint64_t{names[i]} << 32 | (i + 1 < names.size() ? names[i + 1] : ~std::uint32_t{0});
        std::iota(m_order.begin(), m_order.end(), std::size_t{0});
        std::stable_sort(m_order.begin(), m_order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
        for (std::size_t i = 0; i < m_order.size(); ++i)
            if (i == 0 || keys[m_order[i]] != keys[m_order[i - 1]])
                m_first.push_back(i);
        m_first.push_back(m_order.size());
    }
    [[nodiscard]] std::size_t count() const { return m_first.size() - 1; }
    /// In ascending order.
    [[nodiscard]] Positions of(std::size_t pair) const
    {
        return Positions(m_order).subspan(m_first[pair], m_first[pair + 1] - m_first[pair]);
    }

private:
    std::vector<std::size_t> m_order, m_first;
};

std::size_t medianOf(std::vector<std::size_t> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::size_t usualDistance(Positions positions)
{
    std::vector<std::size_t> distances;
    for (std::size_t i = 1; i < positions.size(); ++i)
        distances.push_back(positions[i] - positions[i - 1]);
    return medianOf(std::move(distances));
}

/// True if the positions are about one usual distance apart, over most of the sequence.
bool isRegular(Positions positions, std::size_t names)
{
    if (positions.size() < kFewest)
        return false;
    const std::size_t usual = usualDistance(positions);
    std::size_t near = 0;
    for (std::size_t i = 1; i < positions.size(); ++i) {
        const std::size_t distance = positions[i] - positions[i - 1];
        const std::size_t off = distance > usual ? distance - usual : usual - distance;
        near += static_cast<double>(off) <= kNear * static_cast<double>(usual) ? 1 : 0;
    }
    // One irregular distance is tolerated, such as that of a first step.
    const auto regular = static_cast<double>(near + 1) / static_cast<double>(positions.size() - 1);
    const auto covered = static_cast<double>(positions.back() - positions.front() + usual);
    return regular > kRegular && near > 0 && covered >= kLeastCovered * static_cast<double>(names);
}

/// The share of the content of the blocks starting at `begins` that is typical for them.
double typicalShare(const Pairs& pairs, Positions begins, std::size_t names)
{
    // The first block is skipped, unless there are only two blocks; otherwise there would be nothing to compare.
    const std::size_t skipped = begins.size() > kFewest ? 1 : 0;
    const std::size_t blocks = begins.size() - 1 - skipped;
    std::vector<std::uint32_t> blockOf(names, ~std::uint32_t{0});
    for (std::size_t b = 0; b < blocks; ++b)
        std::fill(blockOf.begin() + static_cast<std::ptrdiff_t>(begins[b + skipped]),
                  blockOf.begin() + static_cast<std::ptrdiff_t>(begins[b + skipped + 1]),
                  static_cast<std::uint32_t>(b));
    std::size_t same = 0, all = 0;
    std::vector<std::size_t> counts;
    for (std::size_t pair = 0; pair < pairs.count(); ++pair) {
        counts.clear(); // occurrences per block that contains the pair
        std::uint32_t last = ~std::uint32_t{0};
        for (const std::size_t position : pairs.of(pair)) {
            const std::uint32_t block = blockOf[position];
            if (block == ~std::uint32_t{0})
                continue;
            if (counts.empty() || block != last)
                counts.push_back(0);
            ++counts.back();
            last = block;
        }
        std::sort(counts.begin(), counts.end());
        // The lower median: of two blocks, what both contain.
        const std::size_t without = blocks - counts.size(), middle = (blocks - 1) / 2;
        const std::size_t typical = middle < without ? 0 : counts[middle - without];
        for (const std::size_t count : counts) {
            same += std::min(count, typical);
            all += std::max(count, typical);
        }
        all += without * typical;
    }
    return all > 0 ? static_cast<double>(same) / static_cast<double>(all) : 0;
}

/// Positions of the closers, to find which blocks contain one and how near the last one is.
class Closers {
public:
    explicit Closers(const std::vector<bool>& closers)
    {
        for (std::size_t i = 0; i < closers.size(); ++i)
            if (closers[i])
                m_positions.push_back(i);
    }
    /// True if most blocks contain a closer, or if there are no closers at all.
    [[nodiscard]] bool endMostOf(Positions begins) const
    {
        std::size_t with = 0;
        for (std::size_t b = 0; b + 1 < begins.size(); ++b) {
            const auto next = std::lower_bound(m_positions.begin(), m_positions.end(), begins[b]);
            with += next != m_positions.end() && *next < begins[b + 1] ? 1 : 0;
        }
        return m_positions.empty() || static_cast<double>(with) >= kRegular * static_cast<double>(begins.size() - 1);
    }
    /// The usual distance to the previous closer; 0 if there is none.
    [[nodiscard]] std::size_t before(Positions begins) const
    {
        std::vector<std::size_t> distances;
        for (const std::size_t begin : begins)
            if (const auto next = std::lower_bound(m_positions.begin(), m_positions.end(), begin);
                next != m_positions.begin())
                distances.push_back(begin - *std::prev(next));
        return distances.empty() ? 0 : medianOf(std::move(distances));
    }

private:
    std::vector<std::size_t> m_positions;
};

/// Pairs with the same frequency: they have the same period, and one of them represents all.
struct Frequency {
    std::vector<std::size_t> pairs;
    double share = 0;
};

std::map<std::size_t, Frequency> regularPairs(const Pairs& pairs, const Closers& closers, std::size_t names)
{
    std::map<std::size_t, Frequency> frequencies;
    for (std::size_t pair = 0; pair < pairs.count(); ++pair)
        if (const Positions positions = pairs.of(pair); isRegular(positions, names) && closers.endMostOf(positions))
            frequencies[positions.size()].pairs.push_back(pair);
    while (frequencies.size() > kMostFrequencies) // keeps those with the most pairs
        frequencies.erase(std::min_element(frequencies.begin(), frequencies.end(), [](const auto& a, const auto& b) {
            return a.second.pairs.size() < b.second.pairs.size();
        }));
    return frequencies;
}

} // namespace

std::optional<RepeatedBlock> repeatedBlock(std::span<const std::uint32_t> names, const std::vector<bool>& closers)
{
    const Pairs pairs(names);
    const Closers ends(closers);
    auto frequencies = regularPairs(pairs, ends, names.size());
    double best = 0;
    for (auto& [count, frequency] : frequencies) {
        frequency.share = typicalShare(pairs, pairs.of(frequency.pairs.front()), names.size());
        best = std::max(best, frequency.share);
    }
    if (best < kLeastShare)
        return std::nullopt;
    const auto chosen = std::find_if(frequencies.rbegin(), frequencies.rend(), [&](const auto& row) {
        return row.second.share >= std::max(kLeastShare, best - kAsGood);
    });
    const auto earlier = [&](std::size_t a, std::size_t b) {
        const Positions atA = pairs.of(a), atB = pairs.of(b);
        return std::pair(ends.before(atA), atA.front()) < std::pair(ends.before(atB), atB.front());
    };
    const auto& same = chosen->second.pairs;
    const Positions begins = pairs.of(*std::min_element(same.begin(), same.end(), earlier));
    return RepeatedBlock{
        .begins = {begins.begin(), begins.end()}, .length = usualDistance(begins), .share = chosen->second.share};
}

} // namespace profiler::analysis
