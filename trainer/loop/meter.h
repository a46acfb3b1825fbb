#pragma once

#include "trainer/loop/learner.h"

#include <cstdint>
#include <optional>

namespace trainer {

/// Loss and accuracy over steps. Sums stay on the device; only reading them back waits for it.
class Meter {
public:
    struct Means {
        double loss = 0, accuracy = 0;
    };

    void add(const Learner::Output& output, const at::Tensor& labels);
    /// Reads what was added since the last read.
    /// @return the mean loss over it
    double read();
    /// Reads, and gives the means over all samples since the last take().
    Means take();

private:
    at::Tensor m_loss, m_correct; // sums over the samples that were not read yet; undefined: none
    std::int64_t m_unread = 0;
    double m_lossRead = 0, m_correctRead = 0;
    std::int64_t m_samplesRead = 0;
};

} // namespace trainer
