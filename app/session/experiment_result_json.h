#pragma once

#include "advisor/experiment/experiment.h"

#include <QJsonObject>
#include <optional>

namespace app {

/// A measurement as it is kept, with the plan that it answers.
QJsonObject toJson(const advisor::ExperimentResult& result);
/// nullopt when it is none, or of a configuration that this version does not know.
std::optional<advisor::ExperimentResult> resultFromJson(const QJsonObject& json);

QJsonObject toJson(const advisor::Toggle& toggle);
advisor::Toggle toggleFromJson(const QJsonObject& json);

QJsonObject toJson(const advisor::Machine& machine);
advisor::Machine machineFromJson(const QJsonObject& json);

} // namespace app
