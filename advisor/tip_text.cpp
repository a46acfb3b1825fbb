#include "advisor/tip_text.h"

#include "advisor_tips.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace advisor {

namespace {

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlank = " \n\r\t";
    const auto begin = text.find_first_not_of(kBlank);
    return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

constexpr std::string_view kWorkers = ".workers(", kJobs = ".max_jobs(", kPrefetch = config::key::prefetchFactor.name;

/// How code writes a setting, up to its value.
struct Written {
    std::string_view key, before;
};
constexpr std::array kWritten = {Written{config::key::batchSize.name, "batch_size="},
                                 Written{config::key::batchSize.name, ".batch_size("},
                                 Written{config::key::workers.name, "num_workers="},
                                 Written{config::key::workers.name, kWorkers}, Written{kPrefetch, "prefetch_factor="}};

/// Past an argument that begins at `begin`: where its comma or the call's bracket stands.
std::size_t endOfArgument(std::string_view code, std::size_t begin)
{
    int depth = 0;
    for (std::size_t i = begin; i < code.size(); ++i) {
        depth += code[i] == '(' ? 1 : 0;
        if (depth == 0 && (code[i] == ',' || code[i] == ')'))
            return i;
        depth -= code[i] == ')' ? 1 : 0;
    }
    return code.size();
}

/// Is this number a mere example in the tip's code, for which the run's own can stand? A tip on launches or on batches
/// in stock is about another than the run has.
bool isExample(std::string_view setting, std::string_view tip)
{
    return setting != tip && setting != kPrefetch &&
           (tip.starts_with("loader.") || tip.starts_with("transfer.") || tip == "step.variance");
}

/// Behind `before` in code; 0 without one.
int numberBehind(std::string_view code, std::string_view before)
{
    int number = 0;
    if (const auto at = code.find(before); at != code.npos)
        std::from_chars(code.data() + at + before.size(), code.data() + code.size(), number);
    return number;
}

void replaceArgument(std::string& code, std::string_view before, const std::string& value)
{
    for (std::size_t at = code.find(before); at != code.npos; at = code.find(before, at)) {
        at += before.size();
        code.replace(at, endOfArgument(code, at) - at, value);
    }
}

/// LibTorch counts the batches in flight over all workers, PyTorch for each: as many for each as the run has or gets,
/// else as in the tip's example.
void setJobs(std::string& code, std::string_view example, std::string_view tip, const std::optional<Toggle>& change,
             const config::TrainingConfig* config)
{
    const int workers = numberBehind(code, kWorkers), exampleWorkers = numberBehind(example, kWorkers);
    if (workers == 0 || exampleWorkers == 0)
        return;
    int each = numberBehind(example, kJobs) / exampleWorkers;
    if (change && change->key == kPrefetch)
        each = numberBehind(change->to, {});
    else if (config && tip.starts_with("loader.") && tip != kPrefetch)
        each = static_cast<int>((*config)[config::key::prefetchFactor]);
    replaceArgument(code, kJobs, std::to_string(workers * each));
}

/// Empty: the code stays as it is, also of a loader without workers, with which the examples do not run.
std::string valueOf(std::string_view setting, std::string_view tip, const std::optional<Toggle>& change,
                    const config::TrainingConfig* config)
{
    if (change && change->key == setting)
        return change->to;
    const std::string value = config && isExample(setting, tip) ? config->text(setting) : std::string();
    return value == "0" ? std::string() : value;
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
                         const config::TrainingConfig* config)
{
    std::string code(tipCode(key, heading));
    for (const Written& written : kWritten) {
        const std::string value = valueOf(written.key, key, change, config);
        if (!value.empty())
            replaceArgument(code, written.before, value);
    }
    setJobs(code, tipCode(key, heading), key, change, config);
    return code;
}

} // namespace advisor
