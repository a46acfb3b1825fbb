#include "advisor/change/tool.h"

#include "profiler/os/files.h"
#include "profiler/os/pipes.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>

namespace advisor::change {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

namespace {

using Clock = std::chrono::steady_clock;

Error writesTooMuch(const ChildCommand& command)
{
    return profiler::makeError<"tool.output", "{program} produced too much output">(
        Error::Code::Unavailable, {}, {}, {{"program", command.program.filename().string()}});
}

Error tookTooLong(const ChildCommand& command, const ToolLimits& limits)
{
    const auto seconds = limits.time.count() / 1000;
    return profiler::makeError<"tool.time", "{program} took longer than {limit}">(
        Error::Code::Unavailable, {}, {},
        {{"program", command.program.filename().string()},
         {"limit", static_cast<double>(seconds) * 1e6, fmt::format("{} s", seconds)}});
}

/// Waits until a descriptor is readable or the time is over. With a negative descriptor, waits a short time.
void waitFor(int descriptor, Clock::time_point end)
{
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const std::chrono::milliseconds most(descriptor < 0 ? 5 : 1000);
    profiler::os::waitForAny(std::array{descriptor}, std::clamp(left, std::chrono::milliseconds(0), most));
}

bool canRun(const fs::path& program)
{
    std::error_code failed;
    return fs::is_regular_file(program, failed) && profiler::os::canExecute(program);
}

} // namespace

Result<ToolOutput> runTool(const ChildCommand& command, const ToolLimits& limits)
{
    auto process = ChildProcess::start(command);
    if (!process)
        return tl::unexpected(process.error());
    const auto end = Clock::now() + limits.time;
    ToolOutput output;
    while (profiler::os::readAvailable(process->output(), output.text)) {
        if (output.text.size() > limits.bytes)
            return tl::unexpected(writesTooMuch(command));
        if (Clock::now() >= end)
            return tl::unexpected(tookTooLong(command, limits));
        waitFor(process->output(), end);
    }
    std::optional<int> status;
    while (!(status = process->status())) {
        if (Clock::now() >= end)
            return tl::unexpected(tookTooLong(command, limits));
        waitFor(process->end(), end);
    }
    output.status = profiler::os::exitStatus(*status).shellStatus();
    return output;
}

Result<fs::path> findTool(std::string_view name)
{
    if (name.find('/') != name.npos) {
        if (canRun(name))
            return fs::absolute(name);
        return profiler::fail<"tool.not_runnable", "No executable program has this path">(
            Error::Code::NotFound, std::string(name), "check the path");
    }
    const char* folders = std::getenv("PATH");
    std::istringstream list(folders ? folders : "");
    for (std::string folder; std::getline(list, folder, ':');)
        if (folder.starts_with('/') && canRun(fs::path(folder) / name))
            return fs::path(folder) / name;
    return profiler::fail<"tool.not_found", "{program} was not found">(
        Error::Code::NotFound, "PATH", fmt::format("install {}, or add its folder to PATH", name), {{"program", name}});
}

} // namespace advisor::change
