#include "advisor/tip_text.h"

#include "advisor_tips.h"

#include <algorithm>
#include <array>

namespace advisor {

namespace {

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlank = " \n\r\t";
    const auto begin = text.find_first_not_of(kBlank);
    return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// How code writes a setting, up to its value.
struct Written {
    std::string_view key, before;
};
constexpr std::array kWritten = {
    Written{config::key::batchSize.name, "batch_size="}, Written{config::key::batchSize.name, ".batch_size("},
    Written{config::key::workers.name, "num_workers="}, Written{config::key::workers.name, ".workers("},
    Written{config::key::prefetchFactor.name, "prefetch_factor="}};

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
    return setting != tip && setting != config::key::prefetchFactor.name &&
           (tip.starts_with("loader.") || tip.starts_with("transfer.") || tip == "step.variance");
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
        if (value.empty())
            continue;
        for (std::size_t at = code.find(written.before); at != code.npos; at = code.find(written.before, at)) {
            at += written.before.size();
            code.replace(at, endOfArgument(code, at) - at, value);
        }
    }
    return code;
}

} // namespace advisor
