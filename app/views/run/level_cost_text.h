#pragma once

#include "trainer/config/training_config.h"

#include <QString>

namespace app {

/// What each level of recording costs, beside the choice of the level: as it was measured on this machine with this
/// workload and device, and when; or that it was not.
QString levelCostText(const config::TrainingConfig& configuration);

} // namespace app
