#include "advisor/experiment/trainer_process.h"
#include "advisor/runner/child_process.h"
#include "profiler/os/files.h"
#include "profiler/os/pipes.h"
#include "profiler/os/process.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>

namespace advisor {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::message;
using profiler::Result;
using Clock = std::chrono::steady_clock;

namespace {

// LibTorch's libraries are a gigabyte, which takes time to read from a cold disk.
constexpr std::chrono::seconds kDescribeLimit{30};
constexpr std::size_t kLongestDescription = 16 << 20;

bool canRun(const fs::path& path)
{
    std::error_code error;
    return fs::is_regular_file(path, error) && profiler::os::canExecute(path);
}

std::optional<fs::path> firstThatRuns(const std::vector<fs::path>& paths)
{
    for (const fs::path& path : paths)
        if (canRun(path))
            return path;
    return std::nullopt;
}

/// Looks in the folder of this program, or at its place in the build tree.
std::vector<fs::path> nearThisProgram(const char* name)
{
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    if (error)
        return {};
    std::vector<fs::path> result = {folder / name};
    for (fs::path tree = folder; tree.has_relative_path(); tree = tree.parent_path()) {
        if (!fs::exists(tree / "CMakeCache.txt", error))
            continue;
        result.push_back(tree / "bin" / name);
        break;
    }
    return result;
}

std::vector<fs::path> inPath(const char* name)
{
    std::vector<fs::path> result;
    const char* folders = std::getenv("PATH");
    std::istringstream list(folders ? folders : "");
    for (std::string folder; std::getline(list, folder, ':');)
        if (!folder.empty())
            result.push_back(fs::path(folder) / name);
    return result;
}

struct Program {
    const char* name;
    const char* variable; ///< the environment variable that may name it
    std::string hint;
};

Result<fs::path> find(const Program& program)
{
    if (const char* chosen = std::getenv(program.variable); chosen && *chosen) {
        if (canRun(chosen))
            return fs::absolute(chosen);
        return profiler::fail<"program.bad_variable", "{variable} does not name an executable program">(
            Error::Code::NotFound, chosen, fmt::format("unset it, or set it to the path of {}", program.name),
            {{"variable", program.variable}});
    }
    if (const auto near = firstThatRuns(nearThisProgram(program.name)))
        return *near;
    if (const auto found = firstThatRuns(inPath(program.name)))
        return *found;
    return profiler::fail<"program.not_found", "{program} was not found">(Error::Code::NotFound, {}, program.hint,
                                                                          {{"program", program.name}});
}

} // namespace

std::string commandForTrainer()
{
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    for (const fs::path& part : program)
        if (part == "site-packages" || part == "dist-packages")
            return "pip install 'stepscope[trainer]'";
    if (const char* image = std::getenv("APPDIR"); image && program.native().starts_with(std::string(image) + '/'))
        return "pip install 'stepscope[trainer]'"; // an AppImage cannot be extended
    for (fs::path tree = program.parent_path(); tree.has_relative_path(); tree = tree.parent_path())
        if (fs::exists(tree / "CMakeCache.txt", error))
            return "packaging/build release -- stepscope-train";
    return "sudo apt-get install stepscope-trainer";
}

Result<fs::path> findTrainer()
{
    return find({"stepscope-train", "STEPSCOPE_TRAINER",
                 fmt::format("install it ({}), or set STEPSCOPE_TRAINER to its path", commandForTrainer())});
}

Result<fs::path> findCommandLineProgram()
{
    return find({"stepscope-cli", "STEPSCOPE_CLI", "reinstall Stepscope, or set STEPSCOPE_CLI to its path"});
}

Result<config::protocol::Description> describeTrainer(const fs::path& program)
{
    const auto failed = [&](profiler::Message what) {
        return tl::unexpected(Error{Error::Code::Unavailable, std::move(what), program.string(), {}});
    };
    ChildCommand command;
    command.program = program;
    command.arguments = {"--describe"};
    command.joinErrors = false;
    auto process = ChildProcess::start(command);
    if (!process)
        return tl::unexpected(process.error());
    std::string text;
    const auto until = Clock::now() + kDescribeLimit;
    while (true) {
        // Check before reading, so that everything it wrote before it exited is read.
        const bool ended = process->status().has_value();
        const bool open = profiler::os::readAvailable(process->output(), text);
        if (ended)
            break;
        if (Clock::now() > until || text.size() > kLongestDescription)
            return failed(
                message<"trainer.describes_not", "The trainer did not describe its capabilities within {limit}">(
                    {{"limit", kDescribeLimit.count() * 1e6, fmt::format("{} s", kDescribeLimit.count())}}));
        profiler::os::waitForAny(std::array{open ? process->output() : process->end()}, std::chrono::milliseconds(100));
    }
    if (const auto end = profiler::os::exitStatus(*process->status()); !end.isSuccess()) {
        TrainerExit exit;
        exit.status = end.status;
        exit.signal = end.signal;
        return failed(exit.asMessage());
    }
    auto description = config::protocol::parseDescription(text);
    if (!description)
        return failed(
            message<"trainer.bad_description", "The trainer's description of its capabilities cannot be read: {why}">(
                {{"why", description.error()}}));
    return std::move(*description);
}

} // namespace advisor
