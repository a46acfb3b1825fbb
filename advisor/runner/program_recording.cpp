#include "advisor/runner/program_recording.h"

#include "advisor/experiment/trainer_process.h"
#include "advisor/runner/child_process.h"
#include "advisor/runner/workspace.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"
#include "profiler/os/process_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace advisor::runner {

namespace fs = std::filesystem;
namespace os = profiler::os;
using profiler::Error;
using profiler::Result;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kHeartbeat{50};
constexpr int kMostTimes = 10; // maximum, as a multiple of the requested time, for programs with few steps
// An interrupted Python process exits at its next instruction and writes the end of its trace; if it does something
// else, a stronger signal ends it. Hundreds of MB are written within seconds.
constexpr std::chrono::seconds kToInterrupt{5}, kToEnd{30};
constexpr std::uintmax_t kSteps = 12; // as reported by resources/python/stepscope/steps.py

std::uintmax_t sizeOf(const fs::path& file)
{
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(file, failed);
    return failed ? 0 : size;
}

std::string textOf(const fs::path& path, std::uintmax_t from = 0)
{
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(from));
    return {std::istreambuf_iterator<char>(file), {}};
}

/// One recording, from the start of the program to its trace.
class Recording {
public:
    Recording(const RecordingPlan& plan, const std::stop_token& stop) : m_plan(plan), m_stop(stop) {}

    Result<void> run(const fs::path& trace)
    {
        if (auto started = start(); !started)
            return started;
        if (auto recorded = follow(); !recorded)
            return recorded;
        end();
        m_tree.reset();
        return take(trace);
    }

private:
    Result<void> start();
    Result<void> follow();
    void end();
    Result<void> take(const fs::path& trace);
    [[nodiscard]] std::string lastOutput() const
    {
        OutputTail tail;
        tail.add(textOf(m_plan.log, m_logBegin));
        return tail.lastLines();
    }

    const RecordingPlan& m_plan;
    const std::stop_token& m_stop;
    std::optional<Workspace> m_workspace;
    fs::path m_folder; // the files that `record` writes, inside and outside of the private view
    os::Descriptor m_log;
    std::uintmax_t m_logBegin = 0;
    std::optional<os::ProcessTree> m_tree;
    int m_failure = 0; // exit status of a program that failed before its first step
};

Result<void> Recording::start()
{
    const auto recorder = findCommandLineProgram();
    if (!recorder)
        return tl::unexpected(recorder.error());
    auto workspace = Workspace::make(m_plan.folder, m_plan.isolation, m_plan.files);
    if (!workspace)
        return tl::unexpected(workspace.error());
    m_workspace.emplace(std::move(*workspace));
    auto folder = m_workspace->exchange();
    if (!folder)
        return tl::unexpected(folder.error());
    m_folder = std::move(*folder);
    m_log = os::openToAppend(m_plan.log);
    if (!m_log)
        return profiler::fail<"recording.no_log", "The log of the recording cannot be written: {why}">(
            Error::Code::Io, m_plan.log.string(),
            "check that the disk has free space and that you can write to the folder", {{"why", std::strerror(errno)}});
    m_logBegin = sizeOf(m_plan.log);
    os::ProcessSpec spec;
    spec.words = {recorder->string(),
                  "record",
                  "--ops",
                  "-o",
                  (m_folder / "program.sstrace").string(),
                  "--report",
                  (m_folder / "report.json").string(),
                  "--"};
    EnvironmentVariables environment = currentEnvironment();
    for (const std::string& assignment : m_plan.environment) {
        const std::size_t equals = assignment.find('=');
        environment[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }
    for (const std::string& word : m_plan.command)
        spec.words.push_back(m_workspace->inside(word));
    keepServicesPrivate(environment);
    environment["STEPSCOPE_FIRST_STEPS"] = (m_folder / "steps").string();
    if (!m_plan.hookChanges.empty())
        environment["STEPSCOPE_CHANGES"] = m_plan.hookChanges;
    for (const auto& [variable, value] : environment)
        spec.environment.push_back(fmt::format("{}={}", variable, value));
    spec.folder = m_workspace->folder();
    spec.output = m_log.get();
    spec.terminal = m_plan.terminal;
    spec.view = m_workspace->view();
    os::StartFailure failure;
    m_tree = os::ProcessTree::start(spec, failure);
    if (!m_tree)
        return profiler::fail<"recording.not_started", "The program could not be started for recording: {why}">(
            Error::Code::Unavailable, m_plan.folder.string(),
            failure.stage == os::StartFailure::Stage::View ? "choose another isolation" : "close other programs",
            {{"why", std::strerror(failure.number)}});
    return {};
}

/// Waits until the program has trained long enough or has exited.
Result<void> Recording::follow()
{
    const fs::path steps = m_folder / "steps";
    std::optional<Clock::time_point> trains;
    auto heard = Clock::now();
    std::uintmax_t printed = sizeOf(m_plan.log);
    while (!m_tree->status()) {
        os::waitForAny(std::array{m_tree->descriptor()}, kHeartbeat);
        if (m_stop.stop_requested())
            return profiler::fail<"recording.cancelled", "The recording was cancelled">(Error::Code::Cancelled);
        const auto now = Clock::now();
        const std::uintmax_t made = sizeOf(steps);
        if (made > 0 && !trains)
            trains = now;
        if (trains && now - *trains >= (made >= kSteps ? 1 : kMostTimes) * m_plan.least)
            return {};
        if (const std::uintmax_t size = sizeOf(m_plan.log); size != printed) {
            printed = size;
            heard = now;
        }
        if (!trains && now - heard >= m_plan.startPatience)
            return profiler::fail<"recording.no_step",
                                  "The program completed no step and printed nothing for {seconds}">(
                Error::Code::Unavailable, lastOutput(), "run it alone and check where it hangs",
                {{"seconds", m_plan.startPatience.count() * 1e6, fmt::format("{} s", m_plan.startPatience.count())}});
    }
    if (sizeOf(steps) == 0)
        m_failure = os::exitStatus(*m_tree->status()).status; // `record` exits with the status of the program
    return {};
}

/// `record` passes signals on, and writes the trace after the program has exited.
void Recording::end()
{
    const auto begin = Clock::now();
    int sent = 0;
    while (!m_tree->status() && Clock::now() - begin < kToEnd && !m_stop.stop_requested()) {
        const int wanted = Clock::now() - begin < kToInterrupt ? SIGINT : SIGTERM;
        if (sent != wanted)
            os::sendSignal(m_tree->program(), wanted);
        sent = wanted;
        os::waitForAny(std::array{m_tree->descriptor()}, kHeartbeat);
    }
}

Result<void> Recording::take(const fs::path& trace)
{
    const auto report = nlohmann::json::parse(textOf(m_folder / "report.json"), nullptr, false);
    if (report.is_object() && report.contains("error") && report["error"].is_object()) {
        const auto field = [&](const char* name) { return report["error"].value(name, ""); };
        const std::string output = lastOutput();
        return tl::unexpected(Error{Error::Code::Unavailable, profiler::Message(field("id"), {}, field("what")),
                                    output.empty() ? field("where") : output, field("hint")});
    }
    if (m_failure != 0)
        return profiler::fail<"recording.program_failed",
                              "The program exited with status {status} before its first step">(
            Error::Code::Unavailable, lastOutput(), "run it alone until it trains", {{"status", m_failure}});
    std::error_code failed;
    fs::copy_file(m_folder / "program.sstrace", trace, fs::copy_options::overwrite_existing, failed);
    if (failed)
        return profiler::fail<"recording.no_trace", "Recording the program produced no trace: {why}">(
            Error::Code::Unavailable, lastOutput(), "record it separately: stepscope-cli record -- COMMAND",
            {{"why", failed.message()}});
    return {};
}

} // namespace

Result<void> recordProgram(const RecordingPlan& plan, const fs::path& trace, const std::stop_token& stop)
{
    return Recording(plan, stop).run(trace);
}

} // namespace advisor::runner
