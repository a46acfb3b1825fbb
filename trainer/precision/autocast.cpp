#include "trainer/precision/autocast.h"

namespace trainer {

Autocast::Autocast(at::DeviceType device, bool enabled) : m_device(device), m_enabled(enabled)
{
    if (!m_enabled)
        return;
    m_before = at::autocast::is_autocast_enabled(device);
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::set_autocast_dtype(device, at::kBFloat16);
    at::autocast::increment_nesting();
}

Autocast::~Autocast()
{
    if (!m_enabled)
        return;
    // The cache holds the weights in BF16: they change in the optimizer.
    if (at::autocast::decrement_nesting() == 0)
        at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, m_before);
}

} // namespace trainer
