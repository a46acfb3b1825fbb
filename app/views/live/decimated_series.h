#pragma once

#include <cstddef>
#include <vector>

namespace app {

/// A time series of any length in bounded memory: means over equal numbers of values, which grow with the length of the
/// run. Adding a value is cheap.
class DecimatedSeries {
public:
    static constexpr std::size_t kMost = 1024; ///< more points than a curve has pixels

    void add(double value);
    /// At most kMost means, in order; the last may cover fewer values than the others.
    [[nodiscard]] const std::vector<double>& means() const { return m_means; }

private:
    std::vector<double> m_means;
    std::size_t m_each = 1; ///< values per mean
    std::size_t m_last = 0; ///< values in the last mean so far
    double m_sum = 0;       ///< sum of these values
};

} // namespace app
