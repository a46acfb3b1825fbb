#include "advisor/tuner/tuned_code.h"

#include "advisor/evidence/batch_facts.h"
#include "advisor/tip_text.h"

#include <algorithm>
#include <fmt/format.h>
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
