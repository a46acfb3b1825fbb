#include "trainer/loop/meter.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <utility>

namespace trainer {

void Meter::add(const Learner::Output& output, const at::Tensor& labels)
{
    const at::NoGradGuard noGradients;
    const std::int64_t count = labels.size(0);
    const at::Tensor correct = output.scores.argmax(1).eq(labels).sum();
    m_loss = m_unread > 0 ? m_loss.add(output.loss, count) : output.loss * count;
    m_correct = m_unread > 0 ? m_correct.add(correct) : correct;
    m_unread += count;
}

double Meter::read()
{
    if (m_unread == 0)
        return 0;
    const double loss = m_loss.item<double>();
    m_lossRead += loss;
    m_correctRead += m_correct.item<double>();
    m_samplesRead += m_unread;
    return loss / static_cast<double>(std::exchange(m_unread, 0));
}

Meter::Means Meter::take()
{
    read();
    const auto samples = static_cast<double>(std::max<std::int64_t>(m_samplesRead, 1));
    const Means means{m_lossRead / samples, m_correctRead / samples};
    m_lossRead = m_correctRead = 0;
    m_samplesRead = 0;
    return means;
}

} // namespace trainer
