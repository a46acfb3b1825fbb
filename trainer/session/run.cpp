#include "trainer/session/run.h"

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/memory/tensor_memory.h"
#include "trainer/session/host_work.h"
#include "trainer/session/machine.h"
#include "trainer/session/progress.h"
#include "trainer/session/searches.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string_view>

namespace trainer {

namespace fs = std::filesystem;
namespace key = config::key;
namespace protocol = config::protocol;
using profiler::Error;
using profiler::message;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

namespace {

/// Warning for a command that the trainer cannot parse. @param why  the error of parseCommand()
profiler::Message notUnderstood(const std::string& why)
{
    return message<"command.not_understood", "A command was not understood: {why}">({{"why", why}});
}

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

/// The files that a run writes in addition to its trace: a log with one line per step, and checkpoints. Written inside
/// the step or on a background thread (host.async_work). Single-threaded.
class RunFiles {
public:
    /// @param first  this is the first or only rank: the others write no files but contribute their state
    /// @param steps  already done: a resumed run appends to the log after them
    /// Throws profiler::Failure if the log cannot be opened or the run cannot append to it.
    RunFiles(const config::TrainingConfig& config, Recording& recording, Progress& progress, bool first,
             std::int64_t steps = 0);
    ~RunFiles();

    /// Call it after each step, with its number.
    /// @param seconds  since the run began
    void stepDone(std::int64_t number, const Training::Step& step, double seconds, Training& training);
    /// Returns when everything is on the disk and all failures are reported.
    void finish();

private:
    void log(std::string line, std::shared_future<double> loss);
    void checkpoint(Training& training);
    void reportErrors();

    Recording& m_recording;
    Progress& m_progress;
    bool m_apart, m_first;
    std::int64_t m_checkpointEvery;
    std::filesystem::path m_folder;
    std::string m_logFile;                       // empty: none
    std::shared_ptr<std::ofstream> m_log;        // null: none
    std::deque<std::future<void>> m_checkpoints; // being written to the disk, oldest first
    HostWork m_work;
};

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

std::string lossText(double loss)
{
    return std::isnan(loss) ? "not a number" : "infinite";
}

class Run {
public:
    Run(Training& training, const Surroundings& around)
        : m_training(training), m_around(around), m_reports(around.recording, around.progress),
          m_files(around.config, around.recording, around.progress, !around.group || around.group->rank() == 0,
                  training.steps()),
          m_ranks(around.group ? around.group->size() : 1),
          m_planned(plannedSteps(around.config, training.stepsPerEpoch()))
    {
        if (around.config[key::schedule] == "range_test")
            m_range.emplace();
    }

    protocol::Done run()
    {
        agree();
        if (m_training.takeEpochEnd() && !stopped())
            endEpoch(Clock::now());
        while (!stopped() && !finished())
            epoch();
        m_done.seconds = elapsed();
        m_files.finish();
        m_done.steps = m_training.steps();
        m_done.samples = m_training.samples() * m_ranks;
        m_done.skipped = m_training.trainStep().weights().skipped();
        m_done.samplesPerSecond = m_stepSeconds > 0 ? static_cast<double>(m_samples) / m_stepSeconds : 0;
        m_done.peakBytes = peakBytes(m_training.trainStep().device());
        m_done.peakOf = peakOf(m_training.trainStep().device());
        m_done.stopped = stopped();
        reportSkips();
        reportRange();
        reportGraph();
        return m_done;
    }

private:
    // All ranks must stop at the same step, otherwise the remaining ranks would wait for the others.
    void agree()
    {
        m_rangeOver = m_range && m_range->diverged();
        if (!m_around.group)
            return;
        m_agreed = m_around.group->anyOf(m_around.commands.stopRequested());
        if (m_range)
            m_rangeOver = m_around.group->anyOf(m_rangeOver);
    }
    [[nodiscard]] bool stopped() const { return m_around.group ? m_agreed : m_around.commands.stopRequested(); }
    [[nodiscard]] bool finished() const { return m_training.steps() >= m_planned || m_rangeOver; }
    [[nodiscard]] double elapsed() const { return Seconds(Clock::now() - m_begin).count(); }

    void epoch()
    {
        const auto begin = Clock::now();
        m_training.beginEpoch();
        while (!m_training.epochFinished() && !finished()) {
            handleCommands();
            agree();
            if (stopped() || finished())
                break;
            step();
        }
        endEpoch(begin);
    }

    // Reads the epoch's means and validates.
    void endEpoch(Clock::time_point begin)
    {
        protocol::EpochProgress report;
        const Meter::Means train = m_training.takeMeans();
        if (const auto loss = checkLosses(true))
            m_reports.setLoss(*loss);
        m_reports.flush();
        report.epoch = m_training.epoch();
        report.metric = m_done.metric = metricName(m_training.trainStep().objective());
        report.trainLoss = m_done.finalLoss = train.loss;
        report.trainAccuracy = train.metric;
        report.epochSeconds = Seconds(Clock::now() - begin).count();
        agree();
        if (stopped())
            return;
        const auto validation = m_training.validate([this] { return m_around.commands.stopRequested(); });
        agree();
        if (stopped())
            return;
        report.validationLoss = validation.means.loss;
        report.validationAccuracy = m_done.validationAccuracy = validation.means.metric;
        report.validationSeconds = validation.seconds;
        report.samples = m_training.samples() * m_ranks;
        report.seconds = elapsed();
        m_around.progress.report(report);
    }

    void step()
    {
        const std::int64_t index = m_training.steps();
        const Training::Step step = m_training.step();
        m_samples += step.samples * m_ranks;
        m_stepSeconds += step.seconds;
        if (step.loss.valid())
            m_losses.push_back({index, step.learningRate, step.loss});
        const auto loss = checkLosses(false);
        m_reports.setTotals(m_training.samples() * m_ranks, elapsed(), step.learningRate,
                            m_training.trainStep().weights().skipped());
        m_reports.add(index, m_training.epoch(), step.samples * m_ranks, step.seconds, loss);
        m_files.stepDone(index, step, elapsed(), m_training);
        if (const auto error = m_around.recording.takeError())
            m_around.progress.warn(
                message<"training.trace_ended", "The trace can no longer be written; the training continues: {why}">(
                    {{"why", error->what.text}, {"error", error->what.id}}),
                error->where, error->hint);
    }

    // @param all  waits for the losses that are still being computed
    // @return the latest loss
    std::optional<double> checkLosses(bool all)
    {
        std::optional<double> last;
        const auto isReady = [](const ReadLoss& read) {
            return read.loss.wait_for(Seconds(0)) == std::future_status::ready;
        };
        while (!m_losses.empty() && (all || isReady(m_losses.front()))) {
            const ReadLoss read = std::move(m_losses.front());
            m_losses.pop_front();
            last = read.loss.get();
            checkLoss(read.step, read.learningRate, *last);
        }
        return last;
    }

    void checkLoss(std::int64_t index, double learningRate, double loss)
    {
        if (m_range)
            return m_range->add(learningRate, loss);
        if (std::isfinite(loss) || m_lossLost)
            return;
        m_lossLost = true;
        if (m_around.config[key::onNan] == "stop")
            profiler::throwError<"training.loss_lost", "The loss is {loss} at step {step}">(
                profiler::Error::Code::Invalid, {},
                "lower optimizer.learning_rate, clip gradients with gradient.clip_norm, or set run.on_nan=continue; "
                "debug.anomaly shows the operator",
                {{"loss", lossText(loss)}, {"step", index}});
        m_around.progress.warn(
            message<"training.loss_lost_goes_on",
                    "The loss is {loss} since step {step} or shortly before; the training continues because of "
                    "run.on_nan">({{"loss", lossText(loss)}, {"step", index}}),
            {}, "lower optimizer.learning_rate, or clip gradients with gradient.clip_norm");
    }

    void reportSkips()
    {
        if (m_done.skipped > 0)
            m_around.progress.inform(
                message<"training.steps_skipped", "FP16 gradients overflowed and their steps were skipped, which is "
                                                  "normal until the loss scale settles">(),
                {}, {}, m_done.skipped);
    }

    void reportRange()
    {
        if (!m_range)
            return;
        m_around.recording.setMetadata("range_test.curve", m_range->toJson());
        const auto best = m_range->steepest();
        if (!best)
            return m_around.progress.warn(message<"range_test.none", "Range test: the loss did not fall at any "
                                                                     "learning rate">(),
                                          {}, "test a wider range or run more steps");
        const std::string rate = config::toText(*best);
        m_around.recording.setMetadata("range_test.steepest", rate);
        m_around.progress.inform(
            message<"range_test.steepest", "Range test: the loss fell fastest at a learning rate of {rate}">(
                {{"rate", *best, rate}}),
            {}, "set optimizer.learning_rate to this rate and schedule.kind to one_cycle or cosine");
    }

    void reportGraph()
    {
        if (m_training.trainStep().graphIsUnused())
            m_around.progress.warn(
                message<"compile.no_graph", "No step ran as a CUDA graph: recording needs a full batch after the third "
                                            "step, and there was none">(),
                std::string(key::compile.name), "train for more steps");
    }

    // Handles commands at the end of a step; after Pause it waits here for the next command.
    void handleCommands()
    {
        while (const auto complaint = m_around.commands.takeComplaint())
            m_around.progress.warn(notUnderstood(*complaint));
        bool paused = false;
        for (auto command = m_around.commands.take(); command && !m_around.commands.stopRequested();
             command = paused ? m_around.commands.wait() : m_around.commands.take()) {
            if (const auto* record = std::get_if<protocol::Record>(&*command))
                m_training.recordOps(record->steps);
            else if (std::holds_alternative<protocol::Turn>(*command))
                m_around.progress.warn(message<"command.turn", "Turns need a trainer that was started with --turns">());
            else if (const bool pause = std::holds_alternative<protocol::Pause>(*command); pause != paused)
                setPaused(paused = pause);
        }
        if (paused)
            setPaused(false);
    }

    void setPaused(bool paused)
    {
        if (!paused)
            return m_training.unpark();
        m_reports.flush();
        m_training.park();
    }

    Training& m_training;
    const Surroundings& m_around;
    StepReports m_reports;
    RunFiles m_files;
    struct ReadLoss {
        std::int64_t step;
        double learningRate;
        std::shared_future<double> loss;
    };
    std::deque<ReadLoss> m_losses; // losses that are still being computed
    std::int64_t m_ranks;          // each rank trains on the same number of samples per step
    std::optional<RangeTest> m_range;
    Clock::time_point m_begin = Clock::now();
    std::int64_t m_planned, m_samples = 0;
    double m_stepSeconds = 0;
    bool m_agreed = false, m_rangeOver = false, m_lossLost = false;
    protocol::Done m_done;
};

// The first rank receives the turns and shares them with the others as numbers in an all-reduce.
constexpr std::array<std::string_view, 3> kUnits = {"steps", "epoch", "validation"};

class Turns {
public:
    Turns(Training& training, const Surroundings& around)
        : m_training(training), m_around(around), m_first(!around.group || around.group->rank() == 0),
          m_files(around.config, around.recording, around.progress, m_first)
    {
    }

    protocol::Done run()
    {
        const auto begin = Clock::now();
        m_training.park();
        while (!m_stopped)
            m_first ? handleCommand(m_around.commands.wait()) : follow();
        const Meter::Means means = m_training.takeMeans();
        m_done.finalLoss = means.loss;
        m_done.steps = m_training.steps();
        m_done.seconds = Seconds(Clock::now() - begin).count();
        m_done.samplesPerSecond = m_timed > 0 ? static_cast<double>(m_samples) / m_timed : 0;
        m_done.peakBytes = peakBytes(m_training.trainStep().device());
        m_done.peakOf = peakOf(m_training.trainStep().device());
        m_done.stopped = true;
        return m_done;
    }

private:
    // All ranks must stop at the same place, otherwise the remaining ranks would wait for the others.
    bool stopped()
    {
        const bool here = m_around.commands.stopRequested();
        m_stopped = m_around.group ? m_around.group->anyOf(here) : here;
        return m_stopped;
    }

    void handleCommand(const protocol::Command& command)
    {
        while (const auto complaint = m_around.commands.takeComplaint())
            m_around.progress.warn(notUnderstood(*complaint));
        if (const auto* record = std::get_if<protocol::Record>(&command))
            m_training.recordOps(record->steps);
        else if (std::holds_alternative<protocol::Stop>(command))
            share(std::nullopt);
        else if (const auto* turn = std::get_if<protocol::Turn>(&command))
            share(*turn);
        // Pause and Resume are ignored: the trainer is paused between turns, and a turn is timed.
    }

    /// @param turn  nullopt: the run is over
    void share(const std::optional<protocol::Turn>& turn)
    {
        const auto unit = std::find(kUnits.begin(), kUnits.end(), turn ? turn->what : kUnits.front());
        std::vector<double> numbers = {turn ? 1.0 : 0.0, static_cast<double>(unit - kUnits.begin()),
                                       turn ? static_cast<double>(turn->drop) : 0.0,
                                       turn ? static_cast<double>(turn->count) : 0.0};
        if (m_around.group)
            m_around.group->addUp(numbers);
        m_stopped = !turn;
        if (turn)
            take(*turn);
    }

    /// Executed by all ranks except the first.
    void follow()
    {
        std::vector<double> numbers(4, 0.0);
        m_around.group->addUp(numbers);
        m_stopped = numbers[0] == 0;
        if (!m_stopped)
            take({std::string(kUnits.at(static_cast<std::size_t>(numbers[1]))), static_cast<std::int64_t>(numbers[2]),
                  static_cast<std::int64_t>(numbers[3])});
    }

    void take(const protocol::Turn& turn)
    {
        m_result = {};
        m_result.what = turn.what;
        m_losses.clear();
        m_training.unpark();
        for (std::int64_t i = 0; i < turn.drop + turn.count && !stopped(); ++i) {
            // Work of the dropped steps must not overlap the timed steps.
            if (i == turn.drop)
                m_training.trainStep().synchronize();
            once(turn.what, i >= turn.drop, i + 1 == turn.drop + turn.count);
        }
        m_training.park();
        if (m_stopped || stopped())
            return;
        gather();
        m_samples += m_result.samples;
        m_around.progress.report(m_result);
    }

    // Collects the results of a turn over all ranks. Done at the end, because reading a loss back in every step would
    // wait for the device.
    void gather()
    {
        std::vector<double> sums; // per step: sum of its losses and their number, at most one from each rank
        for (const at::Tensor& loss : m_losses)
            sums.insert(sums.end(), {loss.defined() ? loss.item<double>() : 0.0, loss.defined() ? 1.0 : 0.0});
        const std::size_t steps = sums.size();
        sums.resize(steps + static_cast<std::size_t>(m_training.ranks()) + 1);
        const auto peaks = sums.begin() + static_cast<std::ptrdiff_t>(steps);
        peaks[m_around.group ? m_around.group->rank() : 0] =
            static_cast<double>(peakTensorBytes(m_training.trainStep().device()));
        sums.back() = static_cast<double>(m_result.samples);
        if (m_around.group)
            m_around.group->addUp(sums);
        for (std::size_t i = 0; i < steps; i += 2)
            if (sums[i + 1] > 0)
                m_result.losses.push_back(sums[i] / sums[i + 1]);
        // The rank with the highest peak.
        m_result.peakBytes = static_cast<std::int64_t>(*std::max_element(peaks, sums.end() - 1));
        m_result.samples = static_cast<std::int64_t>(sums.back());
    }

    void once(const std::string& what, bool timed, bool last)
    {
        const auto begin = Clock::now();
        std::int64_t samples = 0;
        if (what == "steps")
            samples = step(timed);
        else if (what == "epoch")
            samples = epoch();
        else
            samples = validation(timed);
        // A step's share of the device's work is only known when the last step ends, so the last step waits for all of
        // it; epochs and validations always end with a wait.
        if (what != "steps" || last)
            m_training.trainStep().synchronize();
        if (!timed)
            return;
        m_result.samples += samples;
        m_result.seconds.push_back(Seconds(Clock::now() - begin).count());
        m_timed += m_result.seconds.back();
    }

    // The start of an epoch counts towards its first step: a normal run has this cost as well.
    std::int64_t step(bool timed)
    {
        if (m_training.epochFinished())
            m_training.beginEpoch();
        const std::int64_t index = m_training.steps();
        const Training::Step step = m_training.step();
        m_files.stepDone(index, step, Seconds(Clock::now() - m_begin).count(), m_training);
        if (timed)
            m_losses.push_back(step.lossOnDevice);
        return step.samples;
    }

    std::int64_t epoch()
    {
        std::int64_t samples = 0;
        m_training.beginEpoch();
        while (!m_training.epochFinished() && !stopped())
            samples += m_training.step().samples;
        return samples;
    }

    std::int64_t validation(bool timed)
    {
        // Its means are over all ranks, which are combined only at the end of the pass.
        const auto validation = m_training.validate([this] { return m_around.commands.stopRequested(); });
        if (timed)
            m_result.losses.push_back(validation.means.loss);
        return validation.samples;
    }

    Training& m_training;
    const Surroundings& m_around;
    bool m_first, m_stopped = false;
    RunFiles m_files; // the cost of writing files is part of a step
    Clock::time_point m_begin = Clock::now();
    protocol::TurnResult m_result;
    std::vector<at::Tensor> m_losses; // of each timed step; undefined if it had no samples
    protocol::Done m_done;
    std::int64_t m_samples = 0;
    double m_timed = 0;
};

} // namespace

protocol::Done trainThrough(Training& training, const Surroundings& around)
{
    return Run(training, around).run();
}

protocol::Done trainByTurns(Training& training, const Surroundings& around)
{
    return Turns(training, around).run();
}

} // namespace trainer
