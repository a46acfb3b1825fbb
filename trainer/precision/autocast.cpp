#include "trainer/precision/autocast.h"

namespace trainer {

Autocast::Autocast(at::DeviceType device, std::optional<at::ScalarType> type)
    : m_device(device), m_enabled(type.has_value())
{
    if (!m_enabled)
        return;
    m_before = at::autocast::is_autocast_enabled(device);
    m_typeBefore = at::autocast::get_autocast_dtype(device);
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::set_autocast_dtype(device, *type);
    at::autocast::increment_nesting();
}

Autocast::~Autocast()
{
    if (!m_enabled)
        return;
    // Clears the cached half-precision weights, because the optimizer changes the weights.
    if (at::autocast::decrement_nesting() == 0)
        at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, m_before);
    at::autocast::set_autocast_dtype(m_device, m_typeBefore);
}

std::optional<at::ScalarType> Autocast::current(at::DeviceType device)
{
    if (!at::autocast::is_autocast_enabled(device))
        return std::nullopt;
    return at::autocast::get_autocast_dtype(device);
}

} // namespace trainer
