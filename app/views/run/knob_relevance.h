#pragma once

#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QString>
#include <string_view>

namespace app {

/// Why a knob does nothing with the other choices as they are ("No effect unless Schedule is cyclic"); empty when it
/// does something.
QString whyNoEffect(std::string_view key, const config::TrainingConfig& configuration);

/// Why a knob cannot be used on this machine; empty when it can, or when the machine is not known yet.
/// @param description  null until the trainer was asked
QString whyNotHere(const config::Knob& knob, const config::protocol::Description* description);

} // namespace app
