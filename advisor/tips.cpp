#include "advisor/tips.h"

#include "advisor_tips.h"
#include "trainer/config/training_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>

namespace advisor {

namespace {

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlank = " \n\r\t";
    const auto begin = text.find_first_not_of(kBlank);
    return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// How code writes a setting before its value, and the variable that stands for the user's own value.
struct Written {
    std::string_view key, before, variable;
};
constexpr std::array kWritten = {Written{config::key::batchSize.name, "new_batch_size = ", ""},
                                 Written{config::key::batchSize.name, "newBatchSize = ", ""},
                                 Written{config::key::batchSize.name, "batch_size=", "batch_size"},
                                 Written{config::key::batchSize.name, ".batch_size(", "batchSize"},
                                 Written{config::key::workers.name, "num_workers=", "num_workers"},
                                 Written{config::key::workers.name, ".workers(", "workers"},
                                 Written{config::key::prefetchFactor.name, "prefetch_factor=", "prefetch_factor"},
                                 Written{config::key::learningRate.name, "Options(", "lr"}};

constexpr std::string_view kJobs = ".max_jobs(";

/// The position after an argument that begins at `begin`: where its comma, the closing bracket of the call or the end
/// of the line is.
std::size_t endOfArgument(std::string_view code, std::size_t begin)
{
    int depth = 0;
    for (std::size_t i = begin; i < code.size(); ++i) {
        depth += code[i] == '(' ? 1 : 0;
        if (depth == 0 && (code[i] == ',' || code[i] == ')' || code[i] == ';' || code[i] == '\n'))
            return i;
        depth -= code[i] == ')' ? 1 : 0;
    }
    return code.size();
}

bool isPartOfName(char character)
{
    return std::isalnum(static_cast<unsigned char>(character)) || character == '_';
}

/// Replaces arguments that follow `before`.
/// @param only replaces only arguments with this text; empty: all
void replaceArgument(std::string& code, std::string_view before, std::string_view only, const std::string& value)
{
    for (std::size_t at = code.find(before); at != code.npos; at = code.find(before, at + before.size())) {
        // "new_batch_size = " does not match "batch_size="; the name of a member function follows its dot.
        if (at > 0 && isPartOfName(before.front()) && isPartOfName(code[at - 1]) && before != "Options(")
            continue;
        const std::size_t begin = at + before.size(), length = endOfArgument(code, begin) - begin;
        if (only.empty() || std::string_view(code).substr(begin, length) == only)
            code.replace(begin, length, value);
    }
}

void replaceAll(std::string& code, std::string_view from, std::string_view to)
{
    for (std::size_t at = code.find(from); at != code.npos; at = code.find(from, at + to.size()))
        code.replace(at, from.size(), to);
}

/// Replaces a number that follows `before` in the code.
std::optional<std::int64_t> numberBehind(std::string_view code, std::string_view before)
{
    std::int64_t number = 0;
    const auto at = code.find(before);
    if (at == code.npos ||
        std::from_chars(code.data() + at + before.size(), code.data() + code.size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

/// LibTorch counts the batches in flight over all workers, PyTorch per worker.
void setJobs(std::string& code, std::optional<std::int64_t> each)
{
    if (const auto workers = numberBehind(code, ".workers("); workers && each)
        replaceArgument(code, kJobs, {}, std::to_string(*workers * *each));
}

/// Empty: unknown.
std::string valueOf(std::string_view setting, const ProgramValues& values, std::string_view code)
{
    const auto text = [](const std::optional<std::int64_t>& value) {
        return value ? std::to_string(*value) : std::string();
    };
    if (setting == config::key::batchSize.name)
        return text(values.batchSize);
    if (setting == config::key::learningRate.name)
        return values.learningRate;
    if (setting == config::key::prefetchFactor.name)
        return text(values.prefetchFactor);
    // A loader without workers rejects arguments about workers.
    const bool needsWorkers = code.find("prefetch_factor=") != code.npos ||
                              code.find("persistent_workers=") != code.npos || code.find(kJobs) != code.npos;
    return values.workers == 0 && needsWorkers ? std::string() : text(values.workers);
}

void setOptimizer(std::string& code, const ProgramValues& values)
{
    if (!values.optimizer.empty())
        replaceAll(code, " Optimizer(", " " + values.optimizer + "(");
    if (!optimizerForms(values.optimizer.substr(values.optimizer.rfind('.') + 1)).fused)
        replaceAll(code, "fused=True)   # your class and its settings; or foreach=True",
                   "foreach=True)   # your class and its settings");
    if (values.hasAllSettings && !values.optimizerSettings.empty())
        replaceAll(code, "**settings", values.optimizerSettings);
    else if (!values.optimizerSettings.empty())
        replaceAll(code, "**settings", values.optimizerSettings + ", **settings");
}

constexpr std::string_view kHead =
    "# The tips\n\nGenerated by `stepscope-cli describe --tips` from the table of knobs and the texts in this folder; "
    "a test fails if it is out of date.\n\nEach key is a knob of the training: `--set key=value` in a terminal, a row "
    "of the form in the app. The default is the first value, or follows the range. `stepscope-cli advise` shows the "
    "advice for a trace, and `stepscope-cli experiment` measures the effect of a change on your machine.\n\n| tip | "
    "key | values | applies to | when not |\n|---|---|---|---|---|\n";

constexpr std::string_view kFindings =
    "\nFindings of the advisor without a single knob:\n\n| finding | id | when not |\n|---|---|---|\n";

std::string titleOf(std::string_view text)
{
    const std::string_view line = text.substr(0, text.find('\n'));
    return std::string(line.substr(line.find_first_not_of("# ")));
}

/// Converts a Markdown list, whose items may span several lines, to the content of a table cell.
std::string cell(std::string_view list)
{
    std::string text;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] == '|')
            text += "\\|";
        else if (list[i] != '\n')
            text += list[i];
        else if (list.substr(i + 1, 2) == "- ")
            text += "<br>";
        else
            text += ' ';
        if ((text.empty() || text.ends_with("<br>")) && list.substr(i + 1, 2) == "- ")
            i += 2;
    }
    return text.starts_with("- ") ? text.substr(2) : text;
}

std::string valuesOf(const config::Knob& knob)
{
    switch (knob.type) {
    case config::KnobType::Flag:
        return knob.fallback == config::Value(true) ? "true, false" : "false, true";
    case config::KnobType::Choice:
        return fmt::format("{}", fmt::join(knob.choices, ", "));
    default:
        return fmt::format("{}; {}", config::allowedText(knob), config::toText(knob.fallback));
    }
}

} // namespace

std::string_view tipText(std::string_view key)
{
    const auto tips = embeddedTips();
    const auto found = std::find_if(tips.begin(), tips.end(), [&](const EmbeddedTip& tip) { return tip.key == key; });
    return found == tips.end() ? std::string_view() : found->text;
}

std::string_view tipSection(std::string_view key, std::string_view heading)
{
    const std::string_view text = tipText(key);
    const std::string mark = "\n## " + std::string(heading) + "\n";
    const auto begin = text.find(mark);
    if (begin == text.npos)
        return {};
    const std::string_view rest = text.substr(begin + mark.size());
    return trimmed(rest.substr(0, rest.find("\n## ")));
}

std::string_view tipCode(std::string_view key, std::string_view heading)
{
    const std::string_view section = tipSection(key, heading);
    constexpr std::string_view kFence = "```";
    const auto open = section.find(kFence);
    if (open == section.npos)
        return {};
    const auto begin = section.find('\n', open) + 1;
    const auto end = section.find(kFence, begin);
    return end == section.npos ? std::string_view() : section.substr(begin, end - begin);
}

std::string tipCodeOfRun(std::string_view key, std::string_view heading, const std::optional<Toggle>& change,
                         const ProgramValues& values)
{
    std::string code(tipCode(key, heading));
    if (change)
        for (const Written& written : kWritten)
            if (written.key == change->key)
                // A tip's own code may use a rule of thumb; a batch size is set once, where the code names the new
                // value.
                replaceArgument(code, written.before,
                                written.key == config::key::batchSize.name ? written.variable : std::string_view(),
                                change->to);
    for (const Written& written : kWritten)
        if (const std::string value = valueOf(written.key, values, code); !value.empty() && !written.variable.empty())
            replaceArgument(code, written.before, written.variable, value);
    setJobs(code, change && change->key == config::key::prefetchFactor.name ? numberBehind(change->to, {})
                                                                            : values.prefetchFactor);
    setOptimizer(code, values);
    return code;
}

std::string tipTable()
{
    std::string table(kHead);
    for (const config::Knob& knob : config::knobs()) {
        const std::string_view text = tipText(knob.key);
        if (text.empty())
            continue;
        table += fmt::format("| [{}]({}.md) | `{}` | {} | {}{} | {} |\n", titleOf(text), knob.key, knob.key,
                             valuesOf(knob), knob.where, knob.needsGpu ? "; needs a GPU" : "",
                             cell(tipSection(knob.key, tip_section::kWhenNot)));
    }
    table += kFindings;
    for (const EmbeddedTip& tip : embeddedTips())
        if (!config::findKnob(tip.key))
            table += fmt::format("| [{}]({}.md) | `{}` | {} |\n", titleOf(tip.text), tip.key, tip.key,
                                 cell(tipSection(tip.key, tip_section::kWhenNot)));
    return table;
}

} // namespace advisor
