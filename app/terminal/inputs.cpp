#include "app/terminal/inputs.h"

#include "app/terminal/interrupt.h"
#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/steps/step_repetition.h"
#include "profiler/job/job_files.h"
#include "profiler/os/connections.h"
#include "profiler_formats_formats_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

namespace app::terminal {

namespace {

using profiler::Error;

// Shorter operations show no progress, which would only flicker.
constexpr auto kQuiet = std::chrono::milliseconds(500);
constexpr auto kBetweenLines = std::chrono::milliseconds(100);
constexpr int kStderr = 2;

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

ProgressLine::ProgressLine(std::string what) : m_what(std::move(what)), m_begin(Clock::now()), m_last(m_begin) {}

ProgressLine::~ProgressLine()
{
    if (m_shown)
        std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(double share)
{
    if (interrupts() > 0)
        m_stop.request_stop();
    const auto now = Clock::now();
    if (now - m_begin < kQuiet || now - m_last < kBetweenLines || !profiler::os::isTerminal(kStderr))
        return;
    m_last = now;
    m_shown = true;
    std::fputs(fmt::format("\r\x1b[K{} … {:.0f} %", m_what, share * 100).c_str(), stderr);
}

profiler::Result<std::shared_ptr<const profiler::Trace>> openTrace(const std::filesystem::path& path)
{
    const std::filesystem::path file = profiler::job::onlyTraceIn(std::array{path}).value_or(path);
    ProgressLine line("Reading " + file.filename().string());
    profiler::formats::ReadOptions options;
    options.progress = [&](double share) { line.show(share); };
    options.stop = line.stop();
    return profiler::formats::openTrace(file, options);
}

profiler::Result<void> checkTraceName(const std::filesystem::path& path, std::string_view command)
{
    using profiler::Error;
    const std::string name = path.filename().string();
    for (const auto& [stem, format] : profiler::formats::all())
        for (const std::string_view extension : format.extensions)
            if (stem != "stepscope" && name.ends_with(extension))
                return profiler::fail<"output.not_sstrace",
                                      "{command} writes only Stepscope's own format (.sstrace), not {extension}">(
                    Error::Code::Invalid, path.string(), fmt::format("{} into a .sstrace, then convert that", command),
                    {{"command", command}, {"extension", extension}});
    return {};
}

tl::expected<config::TrainingConfig, int> loadConfiguration(const std::filesystem::path& file, const Streams& streams)
{
    auto config = config::TrainingConfig::load(file);
    if (config)
        return *config;
    streams.err << config.error().message() << '\n';
    return tl::unexpected(kBadInput);
}

tl::expected<config::TrainingConfig, int>
withAssignments(config::TrainingConfig config, const std::vector<std::string>& assignments, const Streams& streams)
{
    for (const std::string& assignment : assignments)
        if (const auto set = config.setAssignment(assignment); !set) {
            streams.err << set.error().message() << '\n';
            return tl::unexpected(kWrongUsage);
        }
    return config;
}

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
