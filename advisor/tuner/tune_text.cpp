#include "advisor/tuner/tune_text.h"

#include "advisor/knob_changes.h"
#include "advisor/tips.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace advisor {

namespace {

/// The rule whose change of this knob was kept last; otherwise the tip with the knob's name.
std::string ruleOf(const TuneResult& result, const std::string& key)
{
    const auto kept = std::find_if(result.trials.rbegin(), result.trials.rend(), [&](const TuneTrial& trial) {
        return trial.outcome == TuneTrial::Outcome::Kept && trial.change.key == key && !tipText(trial.rule).empty();
    });
    return kept == result.trials.rend() ? key : kept->rule;
}

} // namespace

bool isRatioMeasured(const TuneOutcome& result)
{
    // If no kept change contributed a ratio, it is exactly 1.
    return result.whole || result.ratio.low < result.ratio.high;
}

bool isShownFaster(const TuneOutcome& result)
{
    return isRatioMeasured(result) && result.ratio.low > 1;
}

std::string tuneSummary(const TuneOutcome& result)
{
    const auto count = [&](auto takes) { return std::count_if(result.trials.begin(), result.trials.end(), takes); };
    const auto kept = count([](const TuneTrial& trial) { return trial.outcome == TuneTrial::Outcome::Kept; });
    const auto measured = count([](const TuneTrial& trial) { return trial.result.has_value(); });
    if (result.trials.empty())
        return "No change was tried: the settings stay as they are.";
    if (measured == 0)
        return "No tried change could be measured: the settings stay as they are.";
    const std::string changes = fmt::format("{} {}", measured, measured == 1 ? "change" : "changes");
    if (kept == 0)
        return fmt::format("Measured {}; none was shown to pay: the settings stay as they are.", changes);
    if (!isRatioMeasured(result))
        return fmt::format("{} of {} kept; their total effect on samples per second was not measured.", kept, changes);
    if (!isShownFaster(result))
        return fmt::format(
            "{} of {} kept; together they are not shown to be faster: {:.2f} × the samples per second (at "
            "least {:.2f}, at most {:.2f}).",
            kept, changes, result.ratio.value, result.ratio.low, result.ratio.high);
    return fmt::format("{:.2f} × the samples per second (at least {:.2f}, at most {:.2f}): {} of {} kept.",
                       result.ratio.value, result.ratio.low, result.ratio.high, kept, changes);
}

std::string changesText(const TuneTrial& trial)
{
    std::string text = fmt::format("{} = {}", trial.change.key, trial.change.to);
    for (const Toggle& change : trial.with)
        text += fmt::format(", {} = {}", change.key, change.to);
    return text;
}

std::string_view trialVerdict(const TuneTrial& trial)
{
    return trial.outcome == TuneTrial::Outcome::Dropped && trial.result ? verdictName(trial.result->verdict)
                                                                        : outcomeName(trial.outcome);
}

std::vector<TunedCode> codeToPaste(const TuneResult& result)
{
    std::vector<TunedCode> code;
    std::vector<config::Difference> settings = config::difference(result.start, result.best);
    std::vector<Toggle> changes;
    for (const config::Difference& setting : settings)
        changes.push_back({setting.key, setting.a, setting.b});
    // If a batch is only split into parts, the learning rate stays; the code of gradient accumulation shows the size of
    // the parts.
    if (keepTheBatch(changes))
        std::erase_if(settings, [](const auto& setting) { return setting.key == config::key::batchSize.name; });
    for (config::Difference& setting : settings) {
        std::string rule = ruleOf(result, setting.key);
        const Toggle change{setting.key, setting.a, setting.b};
        std::string python = tipCodeOfRun(rule, tip_section::kPyTorch, change, programValues(result.best)),
                    cpp = tipCodeOfRun(rule, tip_section::kLibTorch, change, programValues(result.best));
        if (!python.empty() || !cpp.empty())
            code.push_back({std::move(rule), std::move(setting), std::move(python), std::move(cpp)});
    }
    return code;
}

std::string codeText(const TuneResult& result, std::string_view heading)
{
    const bool python = heading == tip_section::kPyTorch;
    std::string text;
    for (const TunedCode& piece : codeToPaste(result))
        if (const std::string& code = python ? piece.python : piece.cpp; !code.empty())
            text += fmt::format("{} {}: {} instead of {}\n{}\n\n", python ? "#" : "//", piece.setting.key,
                                piece.setting.b, piece.setting.a, code);
    return text;
}

std::string codeMarkdown(const TuneResult& result)
{
    std::string text = "# Code to copy\n\nOne piece of code for each setting that tuning kept, from its tip. Replace "
                       "the names with your own and use the values above each piece.\n";
    const auto code = codeToPaste(result);
    if (code.empty())
        return text + "\nNo change was kept: there is no code to copy.\n";
    for (const TunedCode& piece : code) {
        text += fmt::format("\n## {} = {} (was {})\n", piece.setting.key, piece.setting.b, piece.setting.a);
        for (const auto& [heading, fence, body] :
             {std::tuple("PyTorch", "python", piece.python), std::tuple("LibTorch", "cpp", piece.cpp)})
            if (!body.empty())
                text += fmt::format("\n{}:\n\n```{}\n{}\n```\n", heading, fence, body);
    }
    return text;
}

} // namespace advisor
