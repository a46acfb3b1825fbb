#include "advisor/prediction/batch_means.h"

#include "profiler/analysis/percentile.h"

namespace advisor {

std::vector<std::vector<double>> batchesOfNeighbours(std::span<const double> values, std::size_t least)
{
    const std::size_t count = values.size() >= least * kBatches ? kBatches : values.size();
    const std::size_t size = count > 0 ? values.size() / count : 0;
    std::vector<std::vector<double>> batches;
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * size);
        batches.emplace_back(first, i + 1 < count ? first + static_cast<std::ptrdiff_t>(size) : values.end());
    }
    return batches;
}

std::vector<double> batchMeans(std::span<const double> values)
{
    constexpr std::size_t kLeast = 2;
    std::vector<double> means;
    for (const std::vector<double>& batch : batchesOfNeighbours(values, kLeast))
        means.push_back(profiler::analysis::mean(batch));
    return means;
}

} // namespace advisor
