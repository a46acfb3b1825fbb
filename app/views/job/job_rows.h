#pragma once

#include "app/document/evidence_model.h"
#include "profiler/analysis/job/step_waits.h"
#include "profiler/job/open_job.h"

#include <vector>

namespace app {

/// The tables of a job: their columns and rows. The key of a row is the index of what it shows.

std::vector<EvidenceModel::Column> stragglerColumns();
/// The key is an index into JobAnalysis::stragglers.
std::vector<EvidenceRow> stragglerRows(const profiler::job::Job& job);

std::vector<EvidenceModel::Column> rankColumns();
/// The key is an index into Job::ranks.
std::vector<EvidenceRow> rankRows(const profiler::job::Job& job);

std::vector<EvidenceModel::Column> waitColumns();
/// The key is an index into `waits`.
std::vector<EvidenceRow> waitRows(const profiler::job::Job& job,
                                  const std::vector<profiler::analysis::StepWait>& waits);

std::vector<EvidenceModel::Column> groupColumns();
std::vector<EvidenceRow> groupRows(const profiler::job::Job& job);

std::vector<EvidenceModel::Column> collectiveColumns();
std::vector<EvidenceRow> collectiveRows(const profiler::job::Job& job);

} // namespace app
