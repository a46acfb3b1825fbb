#pragma once

#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QString>
#include <string_view>

namespace app {

/// Why a knob has no effect under the current choices ("No effect unless Schedule is cyclic"); empty if it has an
/// effect.
QString whyNoEffect(std::string_view key, const config::TrainingConfig& configuration);

/// Why a knob cannot be used on this machine; empty if it can, or if the machine is not known yet.
/// @param description  null until the trainer has been queried
QString whyNotHere(const config::Knob& knob, const config::protocol::Description* description);

} // namespace app
