#pragma once

#include "trainer/config/protocol.h"

namespace trainer {

/// The capabilities of this trainer and the device it can use.
config::protocol::Description describe();

} // namespace trainer
