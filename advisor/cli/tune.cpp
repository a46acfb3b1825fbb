#include "advisor/cli/advice_json.h"
#include "advisor/cli/commands.h"
#include "advisor/cli/configured.h"
#include "advisor/cli/experiment_json.h"
#include "advisor/cli/interrupt.h"
#include "advisor/cli/interrupt_watch.h"
#include "advisor/cli/text_table.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/numbers.h"
#include "advisor/report/report.h"
#include "advisor/tip_text.h"
#include "advisor/tuner/tuner.h"
#include "profiler/io/formats/format.h"

#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace advisor::cli {

namespace {

namespace protocol = config::protocol;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using profiler::Error;

// Long enough for a few windows of recorded operators, short against an experiment.
constexpr std::chrono::seconds kRecord{8};
constexpr std::chrono::seconds kToStop{60};

/// A folder that goes away with its owner.
class TemporaryFolder {
public:
    TemporaryFolder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "stepscope-tune-XXXXXX").string();
        if (::mkdtemp(pattern.data()))
            m_path = pattern;
    }
    ~TemporaryFolder()
    {
        std::error_code ignored;
        if (!m_path.empty())
            std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

/// Lets a training run for a while, then stops it; its trace is read when it has ended.
profiler::Result<std::shared_ptr<const profiler::Trace>> recordOnce(const std::filesystem::path& program,
                                                                    const config::TrainingConfig& config,
                                                                    const std::filesystem::path& file,
                                                                    const std::stop_token& stop)
{
    config::TrainingConfig recorded = config;
    if (const auto set = recorded.set(config::key::captureEnabled.name, "true"); !set)
        return tl::unexpected(Error{Error::Code::Invalid, set.error().message(), {}, {}});
    auto trainer = TrainerProcess::start(recorded, {.program = program, .trace = file, .turns = false});
    if (!trainer)
        return tl::unexpected(trainer.error());
    std::optional<Clock::time_point> firstStep, told;
    for (;;) {
        const auto progress = (*trainer)->next(std::chrono::milliseconds(50));
        if (progress && std::holds_alternative<protocol::StepProgress>(*progress) && !firstStep)
            firstStep = Clock::now();
        const auto now = Clock::now();
        if (!told && (stop.stop_requested() || (firstStep && now - *firstStep > kRecord))) {
            static_cast<void>((*trainer)->send(protocol::Stop{})); // it may have ended just now
            told = now;
        }
        if (told && now - *told > kToStop)
            (*trainer)->kill();
        if (progress)
            continue;
        if (const auto exit = (*trainer)->exited()) {
            if (stop.stop_requested())
                return tl::unexpected(Error{Error::Code::Cancelled, "The recording was cancelled", {}, {}});
            if (exit->signal != 0 || exit->status != 0)
                return tl::unexpected(Error{Error::Code::Unavailable, exit->message(), {}, {}});
            return profiler::formats::openTrace(file);
        }
    }
}

Json codeJson(const TuneResult& result)
{
    Json rows = Json::array();
    for (const TuneTrial& trial : result.trials)
        if (trial.outcome == TuneTrial::Outcome::Kept)
            rows.push_back({{"key", trial.change.key},
                            {"python", tipCode(trial.change.key, tip_section::kPyTorch)},
                            {"cpp", tipCode(trial.change.key, tip_section::kLibTorch)}});
    return rows;
}

Json toJson(const TuneResult& result)
{
    Json trials = Json::array();
    for (const TuneTrial& trial : result.trials)
        trials.push_back({{"change", toggleJson(trial.change)},
                          {"title", trial.title},
                          {"outcome", outcomeName(trial.outcome)},
                          {"why", trial.why},
                          {"predicted", savingJson(trial.predicted)},
                          {"experiment", trial.result ? cli::toJson(*trial.result) : Json(nullptr)}});
    Json changes = Json::array();
    for (const config::Difference& change : config::difference(result.start, result.best))
        changes.push_back({{"key", change.key}, {"from", change.a}, {"to", change.b}});
    return {{"schema", 1},
            {"start", Json::parse(result.start.toJson())},
            {"best", Json::parse(result.best.toJson())},
            {"changes", changes},
            {"samples_per_s_ratio",
             {{"value", result.ratio.value}, {"ci95", Json::array({result.ratio.low, result.ratio.high})}}},
            {"trials", trials},
            {"code", codeJson(result)},
            {"stopped", result.stopped},
            {"why", result.why},
            {"seconds_spent", result.secondsSpent}};
}

std::string toText(const TuneResult& result)
{
    TextTable table({"Change", "Outcome", "Ratio", "95 %", "Measured", "Predicted"});
    for (const TuneTrial& trial : result.trials) {
        std::vector<std::string> row = {
            trial.change.key + " = " + trial.change.to, std::string(outcomeName(trial.outcome)), "–", "–", "–", "–"};
        if (trial.result) {
            const Interval& ratio = trial.result->samplesPerSecond;
            row[2] = fmt::format("{:.3f}", ratio.value);
            row[3] = fmt::format("{:.3f}–{:.3f}", ratio.low, ratio.high);
            row[4] = timeText(trial.result->savedUs.value);
        }
        if (trial.predicted)
            row[5] = fmt::format("{} to {}", timeText(trial.predicted->low), timeText(trial.predicted->high));
        table.add(std::move(row));
    }
    std::string text = table.empty() ? std::string("Nothing was tried.\n") : table.text();
    text += fmt::format("{:.2f} × the samples per second (at least {:.2f}, at most {:.2f}), in {:.0f} s. {}\n",
                        result.ratio.value, result.ratio.low, result.ratio.high, result.secondsSpent, result.why);
    for (const TuneTrial& trial : result.trials)
        if (trial.outcome == TuneTrial::Outcome::Kept)
            text += fmt::format("\n{} = {}, in PyTorch:\n{}\n", trial.change.key, trial.change.to,
                                tipCode(trial.change.key, tip_section::kPyTorch));
    return text;
}

/// The configuration and the report, where they are asked for.
profiler::Result<void> writeFiles(const TuneOptions& options, const TuneResult& result)
{
    if (options.output.empty())
        return {};
    std::error_code failed;
    std::filesystem::create_directories(options.output, failed);
    if (failed)
        return tl::unexpected(Error{Error::Code::Unavailable, "The folder cannot be made: " + failed.message(),
                                    options.output.string(), "choose another with -o"});
    if (const auto saved = result.best.save(options.output / "config.json"); !saved)
        return tl::unexpected(Error{Error::Code::Unavailable, saved.error().message(), {}, {}});
    ReportInput input;
    input.tuning = &result;
    input.title = "Tuning report";
    return writeReport(options.output / "report.html", input);
}

} // namespace

int tuneTraining(const TuneOptions& options, const Streams& streams)
{
    const auto start = loadConfiguration(options.config, streams);
    if (!start)
        return start.error();
    const auto program = findTrainer();
    const TemporaryFolder folder;
    if (!program || folder.path().empty()) {
        streams.err << (program ? "There is no room for temporary files (set TMPDIR)" : program.error().message())
                    << '\n';
        return kBadInput;
    }
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    TunePlan plan;
    plan.start = *start;
    plan.trainer = *program;
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    int recordings = 0;
    plan.record = [&](const config::TrainingConfig& config, const std::stop_token& stopped) {
        return recordOnce(*program, config, folder.path() / fmt::format("{}.sstrace", ++recordings), stopped);
    };
    std::string said;
    const auto result = tune(
        plan,
        [&](const TuneProgress& state) {
            if (state.doing != said)
                streams.err << fmt::format("{} · {:.0f} s spent", state.doing, state.secondsSpent) << std::endl;
            said = state.doing;
        },
        stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        return kBadInput;
    }
    if (const auto written = writeFiles(options, *result); !written) {
        streams.err << written.error().message() << '\n';
        return kBadInput;
    }
    if (options.json)
        streams.out << toJson(*result).dump(2) << '\n';
    else
        streams.out << toText(*result);
    return kDone;
}

} // namespace advisor::cli
