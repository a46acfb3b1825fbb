#pragma once

#include "trainer/config/protocol.h"

namespace trainer {

/// What this trainer can do, and with which device.
config::protocol::Description describe();

} // namespace trainer
