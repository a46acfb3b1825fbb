#pragma once

#include <cstddef>
#include <vector>

namespace app {

/// The course of a figure over a run of any length in little memory: means of equally many values each, of more values
/// the longer the run. Adding is cheap, whatever came before.
class DecimatedSeries {
public:
    static constexpr std::size_t kMost = 1024; ///< more than a curve has pixels

    void add(double value);
    /// At most kMost, in order; the last may be of fewer values than the others.
    [[nodiscard]] const std::vector<double>& means() const { return m_means; }

private:
    std::vector<double> m_means;
    std::size_t m_each = 1; ///< values in a mean
    std::size_t m_last = 0; ///< values in the last mean so far
    double m_sum = 0;       ///< of those
};

} // namespace app
