#include "trainer/session/range_test.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace trainer {

namespace {
// An exponential moving average over about ten points, with bias correction as in Adam.
constexpr double kMemory = 0.9, kDiverged = 4;
constexpr std::size_t kFewest = 10;
} // namespace

void RangeTest::add(double learningRate, double loss)
{
    if (!std::isfinite(loss)) {
        m_diverged = true;
        return;
    }
    m_average = kMemory * m_average + (1 - kMemory) * loss;
    const double smooth = m_average / (1 - std::pow(kMemory, static_cast<double>(m_points.size() + 1)));
    m_lowest = m_points.empty() ? smooth : std::min(m_lowest, smooth);
    m_points.push_back({learningRate, loss, smooth});
    m_diverged = m_diverged || (m_points.size() >= kFewest && smooth > kDiverged * m_lowest);
}

std::optional<double> RangeTest::steepest() const
{
    std::optional<double> found;
    double fastest = 0;
    for (std::size_t i = 1; i < m_points.size(); ++i) {
        const double slope =
            (m_points[i].smooth - m_points[i - 1].smooth) / std::log(m_points[i].rate / m_points[i - 1].rate);
        if (slope < fastest) {
            fastest = slope;
            found = m_points[i].rate;
        }
    }
    return found;
}

std::string RangeTest::toJson() const
{
    std::string text = "[";
    for (const Point& point : m_points)
        text += fmt::format("{}[{},{}]", text.size() == 1 ? "" : ",", point.rate, point.loss);
    return text + "]";
}

} // namespace trainer
