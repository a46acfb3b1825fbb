#pragma once

#include "trainer/config/training_config.h"
#include "trainer/session/progress.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

/// Searches of a training for its own settings: the largest batch that fits, and the learning rate.
namespace trainer {

/// The result of a few steps with some batch size.
struct BatchTrial {
    enum class Outcome { Fits, OutOfMemory, Failed } outcome = Outcome::Failed;
    profiler::Message why; ///< Failed: the trainer's error; empty if it reported none
};

/// Finds the largest batch that fits: doubles it until it no longer fits, then bisects the gap down to an eighth.
/// @param most  upper limit for all tries
/// @return nullopt if not even the first fits, or if `tryOut` failed for another reason before any batch fitted; a
/// failure after that counts as too large
std::optional<std::int64_t> searchBatch(std::int64_t first, std::int64_t most,
                                        const std::function<BatchTrial(std::int64_t)>& tryOut);

/// The largest batch size that a dataset with this many samples and the range of batch.size allow.
std::int64_t largestBatch(std::int64_t samples);

/// Trains a few steps with this batch size in a separate process of this program, which may safely run out of memory.
/// @param limitBytes  CPU memory limit (RLIMIT_DATA); 0: the memory available now, minus a tenth
BatchTrial tryBatch(const config::TrainingConfig& config, std::int64_t batch, std::int64_t limitBytes);

/// The curve of a learning rate range test (Smith 2015): the loss over a rising learning rate, and its evaluation.
class RangeTest {
public:
    void add(double learningRate, double loss);
    /// The smoothed loss has risen to four times its minimum or is NaN: higher rates give no further information.
    [[nodiscard]] bool diverged() const { return m_diverged; }
    /// The rate at which the smoothed loss fell fastest over the logarithm of the rate; nullopt if it never fell.
    [[nodiscard]] std::optional<double> steepest() const;
    /// [[rate, loss], …] as JSON.
    [[nodiscard]] std::string toJson() const;

private:
    struct Point {
        double rate, loss, smooth;
    };
    std::vector<Point> m_points;
    double m_average = 0, m_lowest = 0;
    bool m_diverged = false;
};

} // namespace trainer
