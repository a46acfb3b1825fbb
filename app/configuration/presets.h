#pragma once

#include "trainer/config/training_config.h"

#include <QString>
#include <vector>

namespace app {

/// An example configuration that comes with the app.
struct Preset {
    QString id; ///< stem of its file in resources/examples: "first_run"
    QString title;
    config::TrainingConfig configuration;
};

/// The configurations of resources/examples, the first run first.
std::vector<Preset> allPresets();
/// The naive configuration of "Try it".
Preset firstRun();

} // namespace app
