#pragma once

#include "trainer/data/dataset.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// What datasets of rows share: the split into training and validation, and the normalisation of features.
namespace trainer::data {

/// The training rows and the validation rows of a dataset.
struct RowSplit {
    std::vector<std::int64_t> train, validation;
    [[nodiscard]] const std::vector<std::int64_t>& of(Split split) const
    {
        return split == Split::Train ? train : validation;
    }
};

/// Splits `rows` at random, in the same way on every machine. At least one row is for training.
/// @param share  of the validation, 0 … 1
RowSplit splitRows(std::int64_t rows, double share);

/// out = (value − mean) · scale, per feature.
struct Standardisation {
    std::vector<float> mean, scale;

    void apply(std::span<float> row) const
    {
        for (std::size_t i = 0; i < row.size(); ++i)
            row[i] = (row[i] - mean[i]) * scale[i];
    }
};

/// Mean and deviation of features over rows (Welford 1962: one pass, no cancellation). A constant feature is only
/// shifted.
class FeatureStatistics {
public:
    explicit FeatureStatistics(std::size_t features) : m_mean(features), m_squares(features), m_counts(features) {}
    void add(std::size_t feature, double value)
    {
        const double before = value - m_mean[feature];
        m_mean[feature] += before / static_cast<double>(++m_counts[feature]);
        m_squares[feature] += before * (value - m_mean[feature]);
    }
    [[nodiscard]] Standardisation standardisation() const
    {
        Standardisation result;
        for (std::size_t i = 0; i < m_mean.size(); ++i) {
            const double variance = m_counts[i] > 0 ? m_squares[i] / static_cast<double>(m_counts[i]) : 0;
            result.mean.push_back(static_cast<float>(m_mean[i]));
            result.scale.push_back(variance > 0 ? static_cast<float>(1 / std::sqrt(variance)) : 1.0F);
        }
        return result;
    }

private:
    std::vector<double> m_mean, m_squares;
    std::vector<std::int64_t> m_counts;
};

} // namespace trainer::data
