#include "app/services/program_measurement.h"

#include "advisor/change/program_setup.h"
#include "advisor/runner/shell_words.h"
#include "app/document/trace_document.h"
#include "app/record/record_settings.h"
#include "app/services/job_guard.h"
#include "app/services/trust_store.h"

#include <utility>

namespace app {

profiler::Result<ProgramMeasurement> recordedProgram(const TraceDocument& document)
{
    const auto trace = document.trace();
    const auto recorded = [&](const char* key) {
        const auto found = trace->metadata().find(key);
        return found == trace->metadata().end() ? std::string() : found->second;
    };
    const auto words = advisor::runner::shellWords(recorded("record.command"));
    const std::string folder = recorded("record.directory");
    if (!words || words->empty() || folder.empty())
        return profiler::fail<"measure.no_command",
                              "Not measured: the trace does not contain the recorded command and its folder.">(
            profiler::Error::Code::Invalid, {}, "Record the program again.");
    return ProgramMeasurement{.trace = trace,
                              .command = *words,
                              .environment = recordedEnvironment(recorded("record.command"), folder),
                              .folder = folder,
                              .kept = {},
                              .rules =
                                  document.advice() ? document.advice()->rules : std::vector<advisor::RuleAdvice>(),
                              .origin = document.program()};
}

void passRecorded(TrustStore* trust, JobGuard* jobs, const TraceDocument* document, ProgramMeasurement what,
                  const std::function<void(ProgramMeasurement)>& go)
{
    const std::vector<std::string> command = what.command;
    const std::filesystem::path folder = what.folder;
    trust->passProgram(command, folder, [=, what = std::move(what)] {
        trust->passIsolation(what.folder, [=](advisor::runner::Isolation isolation) {
            if (document->trace() != what.trace || !jobs->mayStart())
                return;
            ProgramMeasurement isolated = what;
            isolated.isolation = isolation;
            go(std::move(isolated));
        });
    });
}

advisor::ProgramSetup programOf(const ProgramMeasurement& what)
{
    advisor::ProgramSetup setup;
    setup.arms[0].command = what.command;
    setup.folder = what.folder;
    setup.environment = what.environment;
    setup.isolation = what.isolation;
    return setup;
}

profiler::Result<advisor::ProgramSetup> setupOf(const ProgramMeasurement& what)
{
    advisor::ProgramSetup setup = programOf(what);
    if (const auto ready = advisor::change::prepareProgram(setup); !ready)
        return tl::unexpected(ready.error());
    if (const auto made = advisor::change::makeLogFolder(setup); !made)
        return tl::unexpected(made.error());
    return setup;
}

} // namespace app
