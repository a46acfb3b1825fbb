#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/ids.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// How the time of a row is divided among names, so that a pixel that covers thousands of slices can show their mix.
/// The index stores names but no colours: the viewer chooses the colours, which may change after a file was written.
namespace profiler {

/// A colour that the level-of-detail index can average over time: three numbers in a colour space that the viewer
/// chooses.
struct MixedColor {
    float red = 0, green = 0, blue = 0;
};

/// Colours multiplied by the ns for which they are shown. The sums are doubles because the part of a slice beyond a
/// bucket's end is subtracted again.
struct ColorSum {
    double red = 0, green = 0, blue = 0;

    void add(const MixedColor& color, double ns)
    {
        red += color.red * ns;
        green += color.green * ns;
        blue += color.blue * ns;
    }
    void add(const ColorSum& other)
    {
        red += other.red;
        green += other.green;
        blue += other.blue;
    }
    [[nodiscard]] MixedColor over(double ns) const
    {
        return {static_cast<float>(red / ns), static_cast<float>(green / ns), static_cast<float>(blue / ns)};
    }
};

/// Assigns a colour to each kind and name of one trace.
class SlicePalette {
public:
    virtual ~SlicePalette() = default;
    [[nodiscard]] virtual MixedColor colorOf(ActivityKind kind, StringId name) const = 0;
};

/// A name in a row and the total time of its slices.
struct NameTime {
    std::uint32_t name = 0;
    std::uint32_t units = 0; ///< time in the units of RowMix
};

/// Where the per-name times of one row are stored. A row has one time ("bin") for each of its names. A row with more
/// than kBins names has a bin for each of the names with most time, and a last bin for all others, whose mix is assumed
/// to be constant. Times are cumulative: for each group, the sum over all slices before it, with the row's totals at
/// the end.
struct RowMix {
    static constexpr std::uint32_t kBins = 16;
    static constexpr std::uint32_t kMostNames = 64; ///< number of names stored per row: those with most time

    std::uint32_t firstName = 0, names = 0; ///< in RowMixes::names, most time first
    std::uint32_t coarse = 0;               ///< first time in RowMixes::times, for groups of `1 << groupBits` slices
    std::uint32_t fine = 0;    ///< first time in RowIndex, for groups of 16; only for rows whose groups are larger
    std::uint8_t bins = 0;     ///< 0: unknown (file of an older version); 1: all slices have the same name
    std::uint8_t unitBits = 0; ///< times are in units of 2^unitBits ns, so that the row's total fits
    std::uint8_t groupBits = 0;
};

/// log2 of the size of the groups whose times are always in memory, for a row of `count` slices.
constexpr std::uint32_t mixGroupBits(std::uint32_t count)
{
    return count > 1024 ? 6 : 4;
}
inline constexpr std::uint32_t kFineMixBits = 4;
/// Number of times of a row: one per bin for each group, plus the totals.
constexpr std::uint32_t mixTimes(std::uint32_t count, std::uint32_t groupBits, std::uint32_t bins)
{
    return bins < 2 ? 0 : (((count - 1) >> groupBits) + 2) * bins;
}

/// The mixes of all rows of a block, in the order of the rows.
struct RowMixes {
    std::vector<RowMix> rows; ///< empty if unknown
    std::vector<NameTime> names;
    std::vector<std::uint32_t> times;

    [[nodiscard]] std::size_t bytes() const
    {
        return rows.capacity() * sizeof(RowMix) + names.capacity() * sizeof(NameTime) +
               times.capacity() * sizeof(std::uint32_t);
    }
};

/// Computes the mix of one row after another. Reuses its tables between rows.
class RowMixMaker {
public:
    /// Adds a row whose slices have these names and durations in ns, in this order.
    /// @param fine  receives the times in groups of 16, for rows whose groups are larger
    void add(std::span<const std::pair<std::uint32_t, std::int64_t>> slices, RowMixes& mixes,
             std::vector<std::uint32_t>& fine);

private:
    struct Found {
        std::uint32_t name, bin;
        std::uint64_t ns;
    };
    /// Index in m_found of a name, which is added if it is new.
    std::uint32_t numberOf(std::uint32_t name);
    void grow();

    std::vector<Found> m_found;
    std::vector<std::uint32_t> m_numberOf; ///< for each slice of the row, its index in m_found
    std::vector<std::uint32_t> m_table;    ///< open addressing by name: index + 1, 0 for free
};

/// The mix of one row in the colours of a palette. Sums over any part of the row take constant time.
class RowColors {
public:
    /// @param fine  times of the row's block if it is in memory; if empty, the groups of the summary are used
    RowColors(const RowMix& mix, const RowMixes& mixes, std::span<const std::uint32_t> fine, ActivityKind kind,
              std::uint32_t count, const SlicePalette& palette);

    /// The total time of several entries, and the time-weighted sum of their colours.
    struct Sum {
        ColorSum color;
        double time = 0;
    };
    /// Sum over all entries before `entries`; a fraction of an entry counts proportionally.
    [[nodiscard]] Sum before(double entries) const;
    /// Time-weighted average colour of the entries between two such sums; `otherwise` if they take no time or their mix
    /// is unknown.
    [[nodiscard]] MixedColor average(const Sum& from, const Sum& to, const MixedColor& otherwise) const;

private:
    [[nodiscard]] Sum node(std::uint32_t group) const;

    std::array<MixedColor, RowMix::kBins> m_colors;
    const std::uint32_t* m_times = nullptr; ///< null if there is only one name or the mix is unknown
    std::uint32_t m_bins = 0, m_bits = 0, m_count = 0;
};

} // namespace profiler
