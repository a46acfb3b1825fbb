#include "app/terminal/program_options.h"

#include "advisor/change/program_setup.h"

#include <system_error>

namespace app::terminal {

using namespace advisor;

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

namespace {

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

} // namespace app::terminal
