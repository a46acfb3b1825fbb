#include "trainer/step/meter.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <utility>

namespace trainer {

void Meter::add(const TrainStep::Output& output, std::int64_t samples)
{
    const at::NoGradGuard noGradients;
    const Measured measured = measure(m_objective, output.pass, output.loss);
    const bool first = m_unread == 0;
    m_loss = first ? output.loss * samples : m_loss.add(output.loss, samples);
    m_sum = first ? measured.sum : m_sum.add(measured.sum);
    if (measured.weight.defined())
        m_weight = first ? measured.weight : m_weight.add(measured.weight);
    m_count += measured.count;
    m_unread += samples;
}

double Meter::read()
{
    if (m_unread == 0)
        return 0;
    const double loss = m_loss.item<double>();
    m_lossRead += loss;
    m_sumRead += m_sum.item<double>();
    m_weightRead += m_weight.defined() ? m_weight.item<double>() : std::exchange(m_count, 0);
    m_samplesRead += m_unread;
    return loss / static_cast<double>(std::exchange(m_unread, 0));
}

std::vector<double> Meter::state()
{
    read();
    return {m_lossRead, m_sumRead, m_weightRead, static_cast<double>(m_samplesRead)};
}

void Meter::setState(const std::vector<double>& sums)
{
    m_lossRead = sums.at(0);
    m_sumRead = sums.at(1);
    m_weightRead = sums.at(2);
    m_samplesRead = static_cast<std::int64_t>(sums.at(3));
}

Meter::Means Meter::take(ProcessGroup* group)
{
    std::vector<double> sums = state();
    setState({0, 0, 0, 0});
    if (group)
        group->addUp(sums);
    return {sums[0] / std::max(sums[3], 1.0), metricValue(m_objective, sums[1], sums[2])};
}

} // namespace trainer
