#include "trainer/session/run_files.h"

#include "profiler/model/failure.h"
#include "trainer/config/training_config.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace trainer {

namespace key = config::key;
using profiler::Error;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCheckpoints = 2; // checkpoints that are waiting for the disk

// Fulfils a promise when its scope is left for any reason.
class OnLeaving {
public:
    explicit OnLeaving(std::promise<void>& promise) : m_promise(promise) {}
    ~OnLeaving() { m_promise.set_value(); }
    OnLeaving(const OnLeaving&) = delete;
    OnLeaving& operator=(const OnLeaving&) = delete;

private:
    std::promise<void>& m_promise;
};

constexpr std::string_view kColumns = "step,seconds,samples,step_seconds,learning_rate,loss";

// The lines of an earlier run's log to keep: a run that resumes after `steps` steps writes the later lines again. The
// last line may be incomplete.
std::string keptLines(const fs::path& path, std::int64_t steps)
{
    std::ifstream file(path);
    std::string kept, line;
    if (!std::getline(file, line))
        return kept; // missing or empty: start a new log
    if (line != kColumns)
        profiler::throwError<"log.not_a_log", "The resumed run cannot append to this file: it is not a training log">(
            Error::Code::Malformed, path.string(), "set run.log_file to another file");
    while (std::getline(file, line) && !file.eof()) {
        std::int64_t step = -1;
        const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), step);
        if (failed == std::errc() && *end == ',' && step < steps)
            kept += line + '\n';
    }
    return kept;
}

// Written so that the disk never holds less of the log than before.
std::shared_ptr<std::ofstream> openLog(const fs::path& path, std::int64_t steps)
{
    const std::string kept = steps > 0 ? keptLines(path, steps) : std::string();
    const fs::path part = kept.empty() ? path : fs::path(path.string() + ".part");
    errno = 0;
    auto log = std::make_shared<std::ofstream>(part);
    *log << kColumns << '\n' << kept << std::flush;
    std::error_code failed;
    if (!*log)
        failed.assign(errno, std::generic_category());
    else if (part != path)
        fs::rename(part, path, failed);
    if (!*log || failed)
        profiler::throwError<"log.not_written", "The log file cannot be written: {why}">(
            Error::Code::Io, path.string(), "set run.log_file to a file in a writable folder",
            {{"why", failed.message()}});
    return log;
}

} // namespace

RunFiles::RunFiles(const config::TrainingConfig& config, Recording& recording, Progress& progress, bool first,
                   std::int64_t steps)
    : m_recording(recording), m_progress(progress), m_apart(config[key::asyncWork]), m_first(first),
      m_checkpointEvery(config[key::checkpointEvery]), m_folder(config[key::checkpointPath]),
      m_work(m_apart, recording.events())
{
    const std::string path = config[key::logFile];
    if (path.empty() || !first)
        return;
    m_logFile = path;
    m_log = openLog(path, steps);
}

RunFiles::~RunFiles() = default;

void RunFiles::stepDone(std::int64_t number, const Training::Step& step, double seconds, Training& training)
{
    using config::toText;
    if (m_log)
        log(std::to_string(number) + "," + toText(seconds) + "," +
                std::to_string(training.samples() * training.ranks()) + "," + toText(step.seconds) + "," +
                toText(step.learningRate) + ",",
            step.loss);
    if (m_checkpointEvery > 0 && (number + 1) % m_checkpointEvery == 0)
        checkpoint(training);
    reportErrors();
}

void RunFiles::log(std::string line, std::shared_future<double> loss)
{
    std::optional<PhaseRange> phase;
    if (!m_apart)
        phase.emplace(m_recording, Phase::Log);
    m_work.give(profiler::phase::kLog,
                [path = m_logFile, file = m_log, line = std::move(line), loss = std::move(loss)] {
                    if (!(*file << line << (loss.valid() ? config::toText(loss.get()) : "") << '\n' << std::flush))
                        profiler::throwError<"log.line_lost", "A line could not be written to the log file">(
                            Error::Code::Io, path, "check that its disk has free space");
                });
}

void RunFiles::checkpoint(Training& training)
{
    // Each checkpoint holds a copy of the whole state: a slow disk must not fill the memory.
    for (; m_checkpoints.size() >= kMostCheckpoints; m_checkpoints.pop_front())
        m_checkpoints.front().wait();
    // The copy is always made here, because the next step changes the weights.
    const PhaseRange phase(m_recording, Phase::Checkpoint);
    const auto state = std::make_shared<SavedState>(training.save());
    auto sums = training.metricsState();
    if (!m_first)
        return;
    const auto path = m_folder / ("step" + std::to_string(training.steps()) + ".checkpoint");
    const auto written = std::make_shared<std::promise<void>>();
    m_checkpoints.push_back(written->get_future());
    m_work.give(profiler::phase::kCheckpoint, [state, sums = std::move(sums), path, written] {
        const OnLeaving fulfil(*written);
        Training::addMetrics(*state, sums.get());
        trainer::save(*state, path);
    });
}

void RunFiles::reportErrors()
{
    while (const auto error = m_work.takeError())
        try {
            std::rethrow_exception(error);
        } catch (const profiler::Failure& failure) {
            m_progress.warn(failure.error().what, failure.error().where,
                            failure.error().hint + "; the training continues");
        } catch (const std::exception& failure) {
            m_progress.warn(profiler::message<"training.file_not_written",
                                              "A file could not be written; the training continues: {why}">(
                {{"why", failure.what()}}));
        }
}

void RunFiles::finish()
{
    m_work.finish();
    reportErrors();
}

} // namespace trainer
