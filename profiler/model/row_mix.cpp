#include "profiler/model/row_mix.h"

#include <algorithm>
#include <bit>

namespace profiler {
namespace {

std::uint8_t unitBitsFor(std::uint64_t ns)
{
    return static_cast<std::uint8_t>(std::max(static_cast<int>(std::bit_width(ns)) - 32, 0));
}

} // namespace

std::uint32_t RowMixMaker::numberOf(std::uint32_t name)
{
    const auto mask = static_cast<std::uint32_t>(m_table.size() - 1);
    std::uint32_t at = (name * 0x9e3779b1U) >> 7 & mask;
    for (; m_table[at] != 0; at = (at + 1) & mask)
        if (m_found[m_table[at] - 1].name == name)
            return m_table[at] - 1;
    m_found.push_back({name, 0, 0});
    m_table[at] = static_cast<std::uint32_t>(m_found.size());
    if (m_found.size() * 2 > m_table.size())
        grow();
    return static_cast<std::uint32_t>(m_found.size() - 1);
}

void RowMixMaker::grow()
{
    const std::vector<Found> found = std::move(m_found);
    m_found.clear();
    m_table.assign(m_table.size() * 4, 0);
    for (const Found& one : found)
        m_found[numberOf(one.name)] = one;
}

void RowMixMaker::add(std::span<const std::pair<std::uint32_t, std::int64_t>> slices, RowMixes& mixes,
                      std::vector<std::uint32_t>& fine)
{
    constexpr std::size_t kTable = 512; ///< grows for a row with more names
    m_found.clear();
    m_table.assign(kTable, 0);
    m_numberOf.clear();
    std::uint64_t all = 0;
    for (const auto& [name, ns] : slices) {
        const std::uint32_t number = numberOf(name);
        m_numberOf.push_back(number);
        m_found[number].ns += static_cast<std::uint64_t>(ns);
        all += static_cast<std::uint64_t>(ns);
    }
    const auto count = static_cast<std::uint32_t>(slices.size());
    RowMix mix;
    mix.bins = static_cast<std::uint8_t>(std::min<std::size_t>(m_found.size(), RowMix::kBins));
    mix.unitBits = unitBitsFor(all);
    mix.groupBits = static_cast<std::uint8_t>(mixGroupBits(count));
    mix.firstName = static_cast<std::uint32_t>(mixes.names.size());
    mix.names = static_cast<std::uint32_t>(std::min<std::size_t>(m_found.size(), RowMix::kMostNames));
    mix.coarse = static_cast<std::uint32_t>(mixes.times.size());
    mix.fine = static_cast<std::uint32_t>(fine.size());
    std::vector<std::uint32_t> order(m_found.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::partial_sort(order.begin(), order.begin() + mix.names, order.end(), [this](std::uint32_t a, std::uint32_t b) {
        return m_found[a].ns != m_found[b].ns ? m_found[a].ns > m_found[b].ns : a < b;
    });
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        Found& found = m_found[order[i]];
        found.bin = std::min(i, RowMix::kBins - 1);
        if (i < mix.names)
            mixes.names.push_back({found.name, static_cast<std::uint32_t>(found.ns >> mix.unitBits)});
    }
    if (mix.bins >= 2) {
        std::array<std::uint64_t, RowMix::kBins> sums{};
        const auto put = [&](std::vector<std::uint32_t>& times) {
            for (std::uint32_t bin = 0; bin < mix.bins; ++bin)
                times.push_back(static_cast<std::uint32_t>(sums[bin] >> mix.unitBits));
        };
        const bool hasFine = mix.groupBits > kFineMixBits;
        const std::uint32_t inCoarse = (1U << mix.groupBits) - 1, inFine = (1U << kFineMixBits) - 1;
        for (std::uint32_t i = 0; i < count; ++i) {
            if ((i & inCoarse) == 0)
                put(mixes.times);
            if (hasFine && (i & inFine) == 0)
                put(fine);
            sums[m_found[m_numberOf[i]].bin] += static_cast<std::uint64_t>(slices[i].second);
        }
        put(mixes.times);
        if (hasFine)
            put(fine);
    }
    mixes.rows.push_back(mix);
}

RowColors::RowColors(const RowMix& mix, const RowMixes& mixes, std::span<const std::uint32_t> fine, ActivityKind kind,
                     std::uint32_t count, const SlicePalette& palette)
    : m_bins(mix.bins), m_bits(mix.groupBits), m_count(count)
{
    const auto names = std::span{mixes.names}.subspan(mix.firstName, mix.names);
    const std::size_t ownBins = names.size() > m_bins ? m_bins - 1 : names.size();
    for (std::size_t i = 0; i < ownBins; ++i)
        m_colors[i] = palette.colorOf(kind, StringId{names[i].name});
    if (ownBins < names.size()) {
        // Names without any time still have a colour: all names that share a bin may be among them.
        ColorSum others;
        double time = 0;
        for (const NameTime& other : names.subspan(ownBins)) {
            const double weight = other.units + 1e-3;
            others.add(palette.colorOf(kind, StringId{other.name}), weight);
            time += weight;
        }
        m_colors[m_bins - 1] = others.over(time);
    }
    if (m_bins < 2)
        return;
    if (mix.groupBits > kFineMixBits && !fine.empty()) {
        m_times = fine.data() + mix.fine;
        m_bits = kFineMixBits;
    } else {
        m_times = mixes.times.data() + mix.coarse;
    }
}

RowColors::Sum RowColors::node(std::uint32_t group) const
{
    const std::uint32_t* const times = m_times + std::size_t{group} * m_bins;
    Sum sum;
    for (std::uint32_t bin = 0; bin < m_bins; ++bin) {
        const double time = times[bin];
        sum.color.add(m_colors[bin], time);
        sum.time += time;
    }
    return sum;
}

RowColors::Sum RowColors::before(double entries) const
{
    if (!m_times)
        return {};
    const std::uint32_t last = (m_count - 1) >> m_bits;
    const std::uint32_t group = std::min(static_cast<std::uint32_t>(std::max(entries, 0.0)) >> m_bits, last);
    // The last group of a row may have fewer entries.
    const double its = group == last ? m_count - (last << m_bits) : 1U << m_bits;
    const double rest = std::clamp((entries - (group << m_bits)) / its, 0.0, 1.0);
    Sum sum = node(group);
    if (rest > 0) {
        const Sum next = node(group + 1);
        const auto step = [rest](double& from, double to) { from += (to - from) * rest; };
        step(sum.color.red, next.color.red);
        step(sum.color.green, next.color.green);
        step(sum.color.blue, next.color.blue);
        step(sum.time, next.time);
    }
    return sum;
}

MixedColor RowColors::average(const Sum& from, const Sum& to, const MixedColor& otherwise) const
{
    if (m_bins == 1)
        return m_colors[0];
    const double time = to.time - from.time;
    if (!(time > 0))
        return otherwise;
    const ColorSum between{to.color.red - from.color.red, to.color.green - from.color.green,
                           to.color.blue - from.color.blue};
    return between.over(time);
}

} // namespace profiler
