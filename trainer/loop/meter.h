#pragma once

#include "trainer/loop/train_step.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace trainer {

/// Loss and metric over steps. Sums stay on the device; only reading them back waits for it.
class Meter {
public:
    struct Means {
        double loss = 0, metric = 0;
    };

    explicit Meter(Objective objective) : m_objective(objective) {}
    /// @param samples  of the batch
    void add(const TrainStep::Output& output, std::int64_t samples);
    /// Reads what was added since the last read.
    /// @return the mean loss over it
    double read();
    /// Reads, and gives the means over all samples since the last take().
    /// @param group  the samples of all ranks, which all must ask; null: those of this process
    Means take(ProcessGroup* group = nullptr);

    /// Sums so far, after reading them: what a resumed run needs.
    std::vector<double> state();
    void setState(const std::vector<double>& sums);

private:
    Objective m_objective;
    at::Tensor m_loss;          // sum over the samples that were not read yet; undefined: none
    at::Tensor m_sum, m_weight; // of the metric over them; the weight is undefined where m_count has it
    double m_count = 0;
    std::int64_t m_unread = 0;
    double m_lossRead = 0, m_sumRead = 0, m_weightRead = 0;
    std::int64_t m_samplesRead = 0;
};

} // namespace trainer
