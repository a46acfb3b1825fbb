#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/experiment/program_arm.h"
#include "advisor/rule.h"
#include "advisor/runner/workspace.h"
#include "app/services/origin.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace app {

class JobGuard;
class TraceDocument;
class TrustStore;

/// An experiment or a tuning with a recorded program.
struct ProgramMeasurement {
    std::shared_ptr<const profiler::Trace> trace;
    std::vector<std::string> command, environment; ///< environment: NAME=VALUE, added to the app's own
    std::filesystem::path folder;
    advisor::runner::Isolation isolation = advisor::runner::Isolation::Overlay;
    std::vector<advisor::change::WantedChange> kept; ///< changes in both arms
    std::vector<advisor::RuleAdvice> rules;          ///< analysis of the trace, for the prediction
    Origin origin;
};

/// The recorded program of a document. Fails if the trace does not contain its command and its folder.
profiler::Result<ProgramMeasurement> recordedProgram(const TraceDocument& document);
/// Calls `go` when the user allows the program to run, if its trace is still in the document and no job is running
/// then.
void passRecorded(TrustStore* trust, JobGuard* jobs, const TraceDocument* document, ProgramMeasurement what,
                  const std::function<void(ProgramMeasurement)>& go);

/// How the program is run.
advisor::ProgramSetup programOf(const ProgramMeasurement& what);
/// The same, checked and with a new folder for its output.
profiler::Result<advisor::ProgramSetup> setupOf(const ProgramMeasurement& what);

} // namespace app
