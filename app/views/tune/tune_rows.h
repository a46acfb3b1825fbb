#pragma once

#include "advisor/tuner/tuner.h"
#include "app/models/evidence_model.h"

#include <QString>
#include <vector>

namespace app {

/// The columns of the table of what was tried.
std::vector<EvidenceModel::Column> tuneColumns();
/// A change that was tried; its key is its number, from 0.
EvidenceRow tuneRow(const advisor::TuneTrial& trial, std::size_t number);
/// What is being tried, under those that ended.
EvidenceRow tuneRow(const advisor::TuneProgress& progress);
/// Why a trial ended as it did, in a sentence or two: its title, predicted beside measured, why.
QString trialText(const advisor::TuneTrial& trial);

} // namespace app
