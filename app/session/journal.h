#pragma once

#include "advisor/experiment/experiment.h"

#include <QString>
#include <vector>

namespace app {

/// A change that was measured and kept.
struct KeptChange {
    QString ruleId;
    QString title; ///< of the finding
    advisor::Toggle toggle;
    advisor::ExperimentResult result;
};

/// The changes that were kept, in order.
struct Journal {
    std::vector<KeptChange> changes;

    /// How much faster than the naive run, after the first `count` changes: the product of their measured ratios.
    [[nodiscard]] double factorAfter(std::size_t count) const;
    /// Of how many changes a saving was predicted, and in how many of these the measured one lay in the predicted
    /// range.
    struct Predictions {
        int held = 0, made = 0;
    };
    [[nodiscard]] Predictions predictions() const;
    [[nodiscard]] const KeptChange* find(const QString& ruleId) const;
};

} // namespace app
