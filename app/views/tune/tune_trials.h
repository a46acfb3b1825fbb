#pragma once

#include "advisor/tuner/tuner.h"
#include "app/charts/xy_chart.h"
#include "app/document/evidence_model.h"
#include "app/services/run_store.h"

#include <QString>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The changes that a tuning tried, as rows of a table, as text, and as a chart.
namespace app {

/// The columns of the table of tried changes.
std::vector<EvidenceModel::Column> tuneColumns();
/// A tried change; its key is its index.
EvidenceRow tuneRow(const advisor::TuneTrial& trial, std::size_t number);
/// The change being tried, below the finished ones.
EvidenceRow tuneRow(const advisor::TuneProgress& progress);
/// Explains the outcome of a trial in one or two sentences: its title, predicted and measured saving, and the reason.
QString trialText(const advisor::TuneTrial& trial);

/// Throughput against the values of a numeric knob: of the trials that changed it, with 95 % intervals, and of the kept
/// runs that differ from the tuned configuration in this knob only.
/// @param key      "batch.size", "loader.workers"
/// @param tuned    the configuration in which the tuning started; null: of a program, to which no kept run belongs
XyChart::Content throughputOver(std::string_view key, std::span<const advisor::TuneTrial> trials,
                                std::span<const RunRecord> runs, const config::TrainingConfig* tuned);

} // namespace app
