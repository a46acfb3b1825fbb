#pragma once

#include "trainer/config/training_config.h"

#include <QString>
#include <vector>

namespace app {

/// A ready configuration that comes with the app.
struct Preset {
    QString id; ///< stem of its file in resources/examples: "first_run"
    QString title;
    config::TrainingConfig configuration;
};

/// Those of resources/examples, the first run first.
std::vector<Preset> allPresets();
/// The naive training of "Try it".
Preset firstRun();

} // namespace app
