#pragma once

#include "trainer/step/train_step.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace trainer {

/// Sums loss and metric over steps. The sums stay on the device; only reading them back waits for it.
class Meter {
public:
    struct Means {
        double loss = 0, metric = 0;
    };

    explicit Meter(Objective objective) : m_objective(objective) {}
    /// @param samples  of the batch
    void add(const TrainStep::Output& output, std::int64_t samples);
    /// Reads the sums since the last read.
    /// @return the mean loss over them
    double read();
    /// Reads the sums and returns the means over all samples since the last take().
    /// @param group  combines all ranks, which must all call it; null: only this process
    Means take(ProcessGroup* group = nullptr);

    /// The current sums, after reading them: part of the state of a resumed run.
    std::vector<double> state();
    void setState(const std::vector<double>& sums);

private:
    Objective m_objective;
    at::Tensor m_loss;          // sum over the samples not yet read; undefined: none
    at::Tensor m_sum, m_weight; // sum of the metric over them; m_weight is undefined if m_count holds the weight
    double m_count = 0;
    std::int64_t m_unread = 0;
    double m_lossRead = 0, m_sumRead = 0, m_weightRead = 0;
    std::int64_t m_samplesRead = 0;
};

} // namespace trainer
