#pragma once

#include "advisor/experiment/experiment.h"

#include <QJsonObject>
#include <optional>

namespace app {

/// A measurement in its stored form, with its plan.
QJsonObject toJson(const advisor::ExperimentResult& result);
/// nullopt if it is not a measurement, or has a configuration unknown to this version.
std::optional<advisor::ExperimentResult> resultFromJson(const QJsonObject& json);

QJsonObject toJson(const advisor::Toggle& toggle);
advisor::Toggle toggleFromJson(const QJsonObject& json);

QJsonObject toJson(const advisor::Machine& machine);
advisor::Machine machineFromJson(const QJsonObject& json);

} // namespace app
