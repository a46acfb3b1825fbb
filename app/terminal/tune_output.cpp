#include "app/terminal/tune_output.h"

#include "advisor/experiment/held_prediction.h"
#include "advisor/experiment/result_text.h"
#include "advisor/tuner/tune_text.h"
#include "app/terminal/advice_json.h"
#include "app/terminal/experiment_json.h"
#include "app/terminal/json_text.h"
#include "app/terminal/text_table.h"
#include "profiler/os/files.h"

#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <utility>

namespace app::terminal {

using namespace advisor;

using Json = nlohmann::ordered_json;
using profiler::Error;

namespace {

constexpr std::size_t kReasonWidth = 110;

/// "round 2, loader.workers = 2: pair 4 of at most 20".
std::string lineOf(const TuneProgress& state)
{
    std::string text = fmt::format("round {}", state.round);
    if (state.trying)
        text += fmt::format(", {} = {}", state.trying->key, state.trying->to);
    return text + ": " + state.doing;
}

} // namespace

void TuneLines::operator()(const TuneProgress& state)
{
    std::string line = lineOf(state);
    if (line != m_said)
        m_err << fmt::format("{} · {:.0f} s spent", line, state.secondsSpent) << std::endl;
    m_said = std::move(line);
}

std::string trialsText(const std::vector<TuneTrial>& trials)
{
    if (trials.empty())
        return {};
    TextTable table({"Change", "Verdict", "Samples/s (95 %)", "Measured (95 %)", "Predicted"});
    for (const TuneTrial& trial : trials) {
        std::vector<std::string> row = {changesText(trial), std::string(trialVerdict(trial)), "–", "–",
                                        predictedText(trial.result ? predictedHere(*trial.result) : trial.predicted)};
        if (trial.result) {
            row[2] = ratioText(trial.result->samplesPerSecond);
            row[3] = measuredText(*trial.result);
        }
        table.add(std::move(row));
    }
    std::istringstream rows(table.text());
    std::string text, row;
    std::getline(rows, row); // the header
    text += row + '\n';
    for (const TuneTrial& trial : trials) {
        std::getline(rows, row);
        text += row + '\n';
        // Notes on the measurement are in the report and in the JSON.
        std::string why = trial.why.text;
        for (const profiler::Message& note : trial.notes)
            why += ' ' + note.text;
        if (!why.empty())
            text += wrapped(why, kReasonWidth, 6);
    }
    return text;
}

void addOutcome(Json& json, const TuneOutcome& result)
{
    Json trials = Json::array();
    for (const TuneTrial& trial : result.trials) {
        Json with = Json::array();
        for (const Toggle& change : trial.with)
            with.push_back(toggleJson(change));
        trials.push_back({{"change", toggleJson(trial.change)},
                          {"with", std::move(with)},
                          {"rule", trial.rule},
                          {"title", trial.title},
                          {"outcome", outcomeName(trial.outcome)},
                          {"why", trial.whyText()},
                          {"why_id", trial.why.id},
                          {"why_parameters", parametersJson(trial.why)},
                          {"predicted", savingJson(trial.predicted)},
                          {"experiment", trial.result ? terminal::toJson(*trial.result) : Json(nullptr)}});
    }
    json["samples_per_s_ratio"] = {{"value", result.ratio.value},
                                   {"ci95", Json::array({result.ratio.low, result.ratio.high})},
                                   {"measured", isRatioMeasured(result)}};
    json["whole"] = result.whole ? terminal::toJson(*result.whole) : Json(nullptr);
    json["trials"] = std::move(trials);
    json["stopped"] = result.stopped;
    json["why"] = result.why.text;
    json["why_id"] = result.why.id;
    json["why_parameters"] = parametersJson(result.why);
    json["seconds_spent"] = result.secondsSpent;
}

profiler::Result<void> makeOutput(const std::filesystem::path& folder)
{
    if (folder.empty())
        return {};
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return profiler::fail<"tune.output.not_made", "The folder could not be created: {why}">(
            Error::Code::Unavailable, folder.string(), "choose another folder with -o", {{"why", failed.message()}});
    if (!profiler::os::canWrite(folder))
        return profiler::fail<"tune.output.permission", "The folder is not writable">(
            Error::Code::Permission, folder.string(), "choose another folder with -o");
    return {};
}

profiler::Result<void> writeText(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream file(path, std::ios::binary);
    if (file << text << std::flush)
        return {};
    return profiler::fail<"tune.output.unwritten", "The file cannot be written">(
        Error::Code::Unavailable, path.string(), "choose a folder with free disk space with -o");
}

} // namespace app::terminal
