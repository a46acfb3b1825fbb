#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace profiler::analysis {

double percentile(std::vector<double> values, double share)
{
    if (values.empty())
        return 0;
    const double rank = std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(rank));
    const auto lower = values.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(values.begin(), lower, values.end());
    const auto above = std::min_element(lower + 1, values.end());
    return above == values.end() ? *lower : *lower + (rank - static_cast<double>(below)) * (*above - *lower);
}

double mean(const std::vector<double>& values)
{
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace profiler::analysis
