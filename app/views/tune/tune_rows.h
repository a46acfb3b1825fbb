#pragma once

#include "advisor/tuner/tuner.h"
#include "app/document/evidence_model.h"

#include <QString>
#include <vector>

namespace app {

/// The columns of the table of tried changes.
std::vector<EvidenceModel::Column> tuneColumns();
/// A tried change; its key is its index.
EvidenceRow tuneRow(const advisor::TuneTrial& trial, std::size_t number);
/// The change being tried, below the finished ones.
EvidenceRow tuneRow(const advisor::TuneProgress& progress);
/// Explains the outcome of a trial in one or two sentences: its title, predicted and measured saving, and the reason.
QString trialText(const advisor::TuneTrial& trial);

} // namespace app
