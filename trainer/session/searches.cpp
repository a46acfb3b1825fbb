#include "trainer/session/searches.h"

#include "profiler/os/connections.h"
#include "profiler/os/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <vector>

namespace trainer {

namespace protocol = config::protocol;
namespace os = profiler::os;
using Outcome = BatchTrial::Outcome;

namespace {

// The first step allocates the gradients and the optimizer's state; the second step runs with all of them. A CUDA graph
// has its own memory pool and is recorded in the fourth step.
constexpr const char *kSteps = "run.steps=3", *kCompiledSteps = "run.steps=5";

// An exponential moving average over about ten points, with bias correction as in Adam.
constexpr double kMemory = 0.9, kDiverged = 4;
constexpr std::size_t kFewest = 10;

std::int64_t availableBytes()
{
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("MemAvailable:"))
            return std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10) * 1024;
    return 0;
}

std::vector<std::string> argumentsFor(const config::TrainingConfig& config, std::int64_t batch, int progress)
{
    std::vector<std::string> commandLine = {"stepscope-train", "--progress-fd", std::to_string(progress)};
    const auto set = [&](const std::string& assignment) {
        commandLine.insert(commandLine.end(), {"--set", assignment});
    };
    for (const config::Difference& change : difference(config::TrainingConfig(), config))
        set(change.key + "=" + change.b);
    for (const char* assignment :
         {"batch.find_max=false", config[config::key::compile] ? kCompiledSteps : kSteps, "capture.enabled=false",
          "run.checkpoint_every=0", "run.resume=", "run.log_file=", "parallel.kind=none", "run.on_nan=continue"})
        set(assignment);
    set("batch.size=" + std::to_string(batch));
    return commandLine;
}

BatchTrial outcomeOf(const std::string& progress, const os::ExitStatus& exit)
{
    // Killed by the kernel, or by its own runtime after an allocation failed on a thread that cannot report it.
    if (exit.signal != 0)
        return {Outcome::OutOfMemory, {}};
    profiler::Message last;
    for (std::size_t begin = 0, end; (end = progress.find('\n', begin)) != std::string::npos; begin = end + 1)
        if (const auto record = protocol::parseProgress(std::string_view(progress).substr(begin, end - begin)))
            if (const auto* notice = std::get_if<protocol::Notice>(&*record)) {
                // A warning counts too: the step fitted, but not as the requested CUDA graph.
                if (notice->id == "training.out_of_memory" || notice->id == "compile.out_of_memory")
                    return {Outcome::OutOfMemory, {}};
                if (notice->severity == protocol::Notice::Severity::Error)
                    last = {notice->id, {}, sentence(*notice)};
            }
    if (exit.isSuccess())
        return {Outcome::Fits, {}};
    if (last.empty())
        last = profiler::message<"batch_search.no_step", "the trainer ended before its first step">();
    return {Outcome::Failed, last};
}

} // namespace

std::optional<std::int64_t> searchBatch(std::int64_t first, std::int64_t most,
                                        const std::function<BatchTrial(std::int64_t)>& tryOut)
{
    std::int64_t fits = 0, tooLarge = 0;
    // If training works with fewer samples, the number of samples caused the failure: libraries report a lack of memory
    // in many different ways.
    const auto failsAlways = [&](std::int64_t batch) {
        const BatchTrial trial = tryOut(batch);
        (trial.outcome == Outcome::Fits ? fits : tooLarge) = batch;
        return trial.outcome == Outcome::Failed && fits == 0;
    };
    for (std::int64_t batch = std::min(first, most); tooLarge == 0; batch = std::min(batch * 2, most)) {
        if (failsAlways(batch))
            return std::nullopt;
        if (fits == most)
            return fits;
    }
    while (tooLarge - fits > std::max<std::int64_t>(fits / 8, 1))
        if (failsAlways(fits + (tooLarge - fits) / 2))
            return std::nullopt;
    return fits > 0 ? std::optional(fits) : std::nullopt;
}

std::int64_t largestBatch(std::int64_t samples)
{
    const config::Knob* knob = config::findKnob(config::key::batchSize.name);
    return std::min(samples, static_cast<std::int64_t>(knob->max));
}

BatchTrial tryBatch(const config::TrainingConfig& config, std::int64_t batch, std::int64_t limitBytes)
{
    auto progress = os::makePipe();
    if (!progress)
        return {Outcome::Failed, profiler::message<"batch_search.no_pipe", "a pipe cannot be created: {why}">(
                                     {{"why", std::strerror(errno)}})};
    const std::int64_t limit = limitBytes > 0 ? limitBytes : availableBytes() / 10 * 9;
    os::ChildSpec spec{.program = "/proc/self/exe",
                       .words = argumentsFor(config, batch, progress->writing.get()),
                       .hasInput = false,
                       .hasErrors = false, // hides the C++ runtime's message about the crash
                       .inherited = {progress->writing.get()},
                       .endsWithThread = true,
                       .leavesCore = false};
    if (limit > 0)
        spec.mostDataBytes = static_cast<std::uint64_t>(limit);
    const auto trainer = os::startChild(spec);
    if (!trainer)
        return {Outcome::Failed, profiler::message<"batch_search.no_process", "a process cannot be started: {why}">(
                                     {{"why", std::strerror(errno)}})};
    progress->writing.reset();
    std::string output;
    while (os::readNext(progress->reading.get(), output)) {
    }
    return outcomeOf(output, os::waitForChild(*trainer).value_or(os::ExitStatus()));
}

void RangeTest::add(double learningRate, double loss)
{
    if (!std::isfinite(loss)) {
        m_diverged = true;
        return;
    }
    m_average = kMemory * m_average + (1 - kMemory) * loss;
    const double smooth = m_average / (1 - std::pow(kMemory, static_cast<double>(m_points.size() + 1)));
    m_lowest = m_points.empty() ? smooth : std::min(m_lowest, smooth);
    m_points.push_back({learningRate, loss, smooth});
    m_diverged = m_diverged || (m_points.size() >= kFewest && smooth > kDiverged * m_lowest);
}

std::optional<double> RangeTest::steepest() const
{
    std::optional<double> found;
    double fastest = 0;
    for (std::size_t i = 1; i < m_points.size(); ++i) {
        const double slope =
            (m_points[i].smooth - m_points[i - 1].smooth) / std::log(m_points[i].rate / m_points[i - 1].rate);
        if (slope < fastest) {
            fastest = slope;
            found = m_points[i].rate;
        }
    }
    return found;
}

std::string RangeTest::toJson() const
{
    std::string text = "[";
    for (const Point& point : m_points)
        text += fmt::format("{}[{},{}]", text.size() == 1 ? "" : ",", point.rate, point.loss);
    return text + "]";
}

} // namespace trainer
