#pragma once

#include "advisor/advice.h"
#include "advisor/experiment/experiment.h"
#include "app/services/journal.h"
#include "trainer/config/protocol.h"

#include <QString>
#include <chrono>

namespace app {

/// "38.0–52.0 ms": two formatted numbers as a range; a shared unit appears once.
QString rangeText(const QString& low, const QString& high);
/// "Could save 38.0–52.0 ms per step.", "At most 52.0 ms per step."
QString savingText(const advisor::Saving& saving);
/// "Workers: 0 → 2", with the knob's label; "Workers = 2" if the previous value is unknown.
QString toggleText(const advisor::Toggle& toggle);
/// "about 40 s", "about 3 min".
QString aboutText(std::chrono::seconds duration);
/// "0.120 lower (95 % interval 0.0800–0.160)": the effect of the change on a loss.
QString lossDifferenceText(const advisor::Interval& saved);
/// "1.38 × (95 % interval 1.29–1.47)".
QString ratioAndInterval(const advisor::Interval& ratio);
/// "Pays: 1.43 × faster (95 % interval 1.40–1.46), loss unchanged".
QString verdictText(const advisor::ExperimentResult& result);
/// "writing images (198 of 3,000)".
QString preparingText(const config::protocol::Preparing& preparing);
/// "3 of 4 measured savings were in the predicted range"; empty if nothing was predicted.
QString predictionsText(const Journal& journal);
/// "predicted 38.0–52.0 ms, measured 44.1 ms (42.0–46.2 ms) per step".
QString predictedAndMeasured(const advisor::ExperimentResult& result);

} // namespace app
