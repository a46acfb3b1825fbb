#include "app/terminal/step_choice.h"

#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/steps/step_repetition.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

namespace app::terminal {

using namespace advisor;

using profiler::Error;

namespace {

bool contains(std::string_view name, std::string_view part)
{
    const auto alike = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
    return std::search(name.begin(), name.end(), part.begin(), part.end(), alike) != name.end();
}

/// Suggested range names: those that contain the given name, or part of it, come first.
std::string suggestedNames(const profiler::Trace& trace, std::string_view wanted)
{
    constexpr std::size_t kLookedAt = 1000, kNamed = 5;
    std::vector<std::string_view> names = profiler::analysis::repeatedRanges(trace, kLookedAt);
    std::stable_partition(names.begin(), names.end(),
                          [wanted](std::string_view name) { return contains(name, wanted) || contains(wanted, name); });
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
        text += (i > 0 ? ", " : "") + std::string(names[i]);
    return text + (names.size() > kNamed ? ", …" : "");
}

struct SearchName {
    std::string_view name;
    StepSearch search;
};
constexpr SearchName kSearches[] = {{"auto", StepSearch::Automatic},
                                    {"marks", StepSearch::Marks},
                                    {"repetition", StepSearch::Repetition},
                                    {"none", StepSearch::None}};

} // namespace

std::vector<std::string> stepSearchNames()
{
    std::vector<std::string> names;
    for (const SearchName& row : kSearches)
        names.emplace_back(row.name);
    return names;
}

StepSearch stepSearchOf(std::string_view name)
{
    const auto* const found = std::find_if(std::begin(kSearches), std::end(kSearches),
                                           [name](const SearchName& row) { return row.name == name; });
    return found == std::end(kSearches) ? StepSearch::Automatic : found->search;
}

profiler::Result<std::vector<profiler::analysis::Step>>
chosenSteps(const profiler::Trace& trace, const StepChoice& choice, const std::filesystem::path& file)
{
    if (choice.search == StepSearch::None)
        return std::vector<profiler::analysis::Step>();
    if (choice.search == StepSearch::Repetition) {
        auto found = profiler::analysis::repeatedSteps(trace);
        if (!found.steps.empty())
            return std::move(found.steps);
        std::string why = found.whyNot.text;
        why.pop_back(); // remove the full stop, because the sentence continues
        return profiler::fail<"steps.no_repetition", "repeated work shows no steps: {why}">(
            Error::Code::Invalid, file.string(),
            "leave out --steps-from, or give a --step-range that the trace contains",
            {{"why", why}, {"error", found.whyNot.id}});
    }
    if (choice.search == StepSearch::Automatic && choice.range.empty())
        return profiler::analysis::detectSteps(trace).steps;
    auto steps = profiler::analysis::findSteps(trace, choice.range);
    if (steps.empty() && !choice.range.empty()) {
        const std::string names = suggestedNames(trace, choice.range);
        return tl::unexpected(
            Error{.code = Error::Code::NotFound,
                  .what = profiler::message<"steps.no_range", "the trace contains no range named {range}">(
                      {{"range", choice.range}}),
                  .where = file.string(),
                  .hint = names.empty() ? "leave out --step-range: no range occurs twice"
                                        : "leave out --step-range, or use a name in the trace: " + names});
    }
    return steps;
}

} // namespace app::terminal
