#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/ids.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// How the time of a row divides among names, so that a pixel over thousands of slices can show their mix. The index
/// knows names and no colours: what a colour stands for is the viewer's business, and may change after a file was
/// written.
namespace profiler {

/// A colour as the level-of-detail index averages it by time: three numbers in a space of the viewer's choice.
struct MixedColor {
    float red = 0, green = 0, blue = 0;
};

/// Colours times the ns for which they are shown. Doubles: the end of a long slice is taken off again.
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

/// Gives each kind and name of one trace its colour.
class SlicePalette {
public:
    virtual ~SlicePalette() = default;
    [[nodiscard]] virtual MixedColor colorOf(ActivityKind kind, StringId name) const = 0;
};

/// A name of a row and the time of its slices.
struct NameTime {
    std::uint32_t name = 0;
    std::uint32_t units = 0; ///< of time, see RowMix
};

/// Where the times of one row are. A row has one time ("bin") for each of its names; one with more than kBins names has
/// a bin for each of those with most time, and the last for all others, whose mix is taken to be the same everywhere.
/// Times are sums of all slices before a group, group by group, with the row's sums at the end.
struct RowMix {
    static constexpr std::uint32_t kBins = 16;
    static constexpr std::uint32_t kMostNames = 64; ///< kept of a row, those with most time

    std::uint32_t firstName = 0, names = 0; ///< in RowMixes::names, most time first
    std::uint32_t coarse = 0;               ///< first time in RowMixes::times; in groups of `1 << groupBits` slices
    std::uint32_t fine = 0;    ///< first time in RowIndex, in groups of 16; only of rows whose groups are larger
    std::uint8_t bins = 0;     ///< 0: not known (a file of an older version); 1: all slices have one name
    std::uint8_t unitBits = 0; ///< times are in units of 2^unitBits ns, so that the sum of a row fits
    std::uint8_t groupBits = 0;
};

/// log2 of the slices of a group whose times are always in memory, of a row of so many slices.
constexpr std::uint32_t mixGroupBits(std::uint32_t count)
{
    return count > 1024 ? 6 : 4;
}
inline constexpr std::uint32_t kFineMixBits = 4;
/// Times of a row: those of each group, and the sums.
constexpr std::uint32_t mixTimes(std::uint32_t count, std::uint32_t groupBits, std::uint32_t bins)
{
    return bins < 2 ? 0 : (((count - 1) >> groupBits) + 2) * bins;
}

/// Of the rows of a block, row by row.
struct RowMixes {
    std::vector<RowMix> rows; ///< empty: not known
    std::vector<NameTime> names;
    std::vector<std::uint32_t> times;

    [[nodiscard]] std::size_t bytes() const
    {
        return rows.capacity() * sizeof(RowMix) + names.capacity() * sizeof(NameTime) +
               times.capacity() * sizeof(std::uint32_t);
    }
};

/// Finds the mix of rows, one after the other. Keeps its tables from row to row.
class RowMixMaker {
public:
    /// A row whose slices have these names and durations in ns, in their order.
    /// @param fine  gets the times in groups of 16, of rows whose groups are larger
    void add(std::span<const std::pair<std::uint32_t, std::int64_t>> slices, RowMixes& mixes,
             std::vector<std::uint32_t>& fine);

private:
    struct Found {
        std::uint32_t name, bin;
        std::uint64_t ns;
    };
    /// Number of a name among those found in the row.
    std::uint32_t numberOf(std::uint32_t name);
    void grow();

    std::vector<Found> m_found;
    std::vector<std::uint32_t> m_numberOf; ///< of each slice of the row, in m_found
    std::vector<std::uint32_t> m_table;    ///< open addressing by name: number + 1; 0: free
};

/// The mix of one row in the colours of a palette: sums over any part of it, in time that does not depend on the part.
class RowColors {
public:
    /// @param fine  of the row's block where that is in memory; empty: groups of the summary do
    RowColors(const RowMix& mix, const RowMixes& mixes, std::span<const std::uint32_t> fine, ActivityKind kind,
              std::uint32_t count, const SlicePalette& palette);

    /// Time of some entries, and their colours times it.
    struct Sum {
        ColorSum color;
        double time = 0;
    };
    /// Of all entries before one; a fraction of an entry counts as such.
    [[nodiscard]] Sum before(double entries) const;
    /// Average colour of the entries between two such sums, weighted by time; `otherwise` where they take no time or
    /// nothing is known of them.
    [[nodiscard]] MixedColor average(const Sum& from, const Sum& to, const MixedColor& otherwise) const;

private:
    [[nodiscard]] Sum node(std::uint32_t group) const;

    std::array<MixedColor, RowMix::kBins> m_colors;
    const std::uint32_t* m_times = nullptr; ///< null: one name, or not known
    std::uint32_t m_bins = 0, m_bits = 0, m_count = 0;
};

} // namespace profiler
