#pragma once

#include "trainer/config/protocol.h"

#include <exception>

namespace trainer {

/// What ended a training, in words for users: out of memory and NaN under debug.anomaly get advice, others LibTorch's
/// own first line.
config::protocol::Notice explain(const std::exception& exception);

} // namespace trainer
