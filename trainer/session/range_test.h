#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainer {

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
