#pragma once

#include "trainer/config/training_config.h"

#include <QString>

namespace app {

/// The overhead of each recording level, shown next to the choice of the level: the last measurement on this machine
/// with this workload and device, and its date; or that there is none.
QString levelCostText(const config::TrainingConfig& configuration);

} // namespace app
