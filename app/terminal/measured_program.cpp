#include "app/terminal/measured_program.h"

#include "advisor/change/program_setup.h"
#include "profiler/formats/format.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <system_error>

namespace app::terminal {

using namespace advisor;

namespace {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

runner::Isolation isolationOf(const std::string& name)
{
    return name == "copy"       ? runner::Isolation::Copy
           : name == "in-place" ? runner::Isolation::InPlace
                                : runner::Isolation::Overlay;
}

} // namespace

Result<ProgramSetup> programSetup(const ProgramOptions& options)
{
    ProgramSetup setup;
    std::error_code failed;
    setup.folder = fs::current_path(failed);
    if (failed)
        return profiler::fail<"experiment.program.no_folder", "The working directory no longer exists">(
            Error::Code::NotFound, {}, "change to another one");
    setup.arms[0].command = options.command;
    setup.environment = options.environment;
    setup.isolation = isolationOf(options.isolation);
    setup.terminal = options.terminal;
    setup.seeds = options.seeds;
    setup.startPatience = std::chrono::seconds(options.patienceSeconds);
    setup.logs = options.logs;
    auto ready = change::prepareProgram(setup);
    if (ready)
        ready = change::makeLogFolder(setup);
    if (!ready)
        return tl::unexpected(ready.error());
    return setup;
}

void removeUnusedLogs(const ProgramOptions& options, const ProgramSetup& setup)
{
    std::error_code ignored;
    if (options.logs.empty())
        fs::remove(setup.logs, ignored); // removes only an empty folder
}

Result<std::shared_ptr<const profiler::Trace>>
Recordings::record(const ProgramSetup& setup, const ProgramVariant& variant, const std::stop_token& stop)
{
    if (m_folder.path().empty())
        return profiler::fail<"recording.no_folder", "No temporary folder could be created">(
            profiler::Error::Code::NoSpace, profiler::os::temporaryPath("").string(), "set TMPDIR to another folder");
    const fs::path file = m_folder.path() / fmt::format("{}.sstrace", ++m_count);
    if (const auto recorded = change::recordVariant(setup, variant, file, stop); !recorded)
        return tl::unexpected(recorded.error());
    return profiler::formats::openTrace(file);
}

} // namespace app::terminal
