#include "app/views/live/decimated_series.h"

namespace app {

void DecimatedSeries::add(double value)
{
    if (m_means.empty() || m_last == m_each) {
        if (m_means.size() == kMost) { // all of them are full: merge pairs
            for (std::size_t i = 0; i < kMost / 2; ++i)
                m_means[i] = (m_means[2 * i] + m_means[2 * i + 1]) / 2;
            m_means.resize(kMost / 2);
            m_each *= 2;
        }
        m_means.push_back(0);
        m_sum = 0;
        m_last = 0;
    }
    m_sum += value;
    ++m_last;
    m_means.back() = m_sum / static_cast<double>(m_last);
}

} // namespace app
