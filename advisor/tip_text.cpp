#include "advisor/tip_text.h"

#include "advisor_tips.h"

#include <algorithm>
#include <string>

namespace advisor {

namespace {

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlank = " \n\r\t";
    const auto begin = text.find_first_not_of(kBlank);
    return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
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

} // namespace advisor
