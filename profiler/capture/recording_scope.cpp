#include "profiler/capture/recording_scope.h"

#include "profiler/model/parse_number.h"
#include "profiler/os/machine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace profiler::capture {

namespace {

/// A whole number that is the entire text; not negative.
std::optional<std::int64_t> numberOf(std::string_view text)
{
    const auto value = parseNumber<std::int64_t>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

/// "7" or "64-71". No value if the text is neither; the range may be reversed.
std::optional<NumberRange> rangeOf(std::string_view text)
{
    const std::size_t dash = text.find('-');
    const auto first = numberOf(text.substr(0, dash));
    const auto last = dash == text.npos ? first : numberOf(text.substr(dash + 1));
    return first && last ? std::optional(NumberRange{*first, *last}) : std::nullopt;
}

std::optional<long> numberIn(const char* variable)
{
    const char* text = std::getenv(variable);
    long value = 0;
    if (!text || std::from_chars(text, text + std::strlen(text), value).ec != std::errc{} || value < 0)
        return std::nullopt;
    return value;
}

/// Names of the variables of a launcher.
struct Launcher {
    const char *rank, *size;
    const char* job; ///< null: none
};
// torchrun, also used by accelerate and deepspeed; Open MPI; MPICH and Intel MPI; srun.
constexpr Launcher kLaunchers[] = {{"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
                                   {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
                                   {"PMI_RANK", "PMI_SIZE", nullptr},
                                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"}};

} // namespace

Result<NumberRange> stepRangeOf(std::string_view text)
{
    const auto range = rangeOf(text);
    if (!range)
        return fail<"record.steps.syntax", "\"{text}\" is not a range of steps">(
            Error::Code::Invalid, "--steps", "write the first and the last step, counted from 0: 10-29",
            {{"text", text}});
    if (range->first > range->last)
        return fail<"record.steps.reversed", "step {first} is after step {last}">(
            Error::Code::Invalid, "--steps", "write the first step first",
            {{"first", range->first}, {"last", range->last}});
    return *range;
}

Result<std::vector<NumberRange>> rankListOf(std::string_view text)
{
    std::vector<NumberRange> ranges;
    for (std::string_view left = text;;) {
        const std::size_t comma = left.find(',');
        const std::string_view part = left.substr(0, comma);
        const auto range = rangeOf(part);
        if (!range)
            return fail<"record.ranks.syntax", "\"{text}\" is neither a rank nor a range of ranks">(
                Error::Code::Invalid, "--ranks", "separate ranks and ranges by commas: 0,7,64-71", {{"text", part}});
        if (range->first > range->last)
            return fail<"record.ranks.reversed", "rank {first} is after rank {last}">(
                Error::Code::Invalid, "--ranks", "write the smaller rank first",
                {{"first", range->first}, {"last", range->last}});
        ranges.push_back(*range);
        if (comma == left.npos)
            break;
        left.remove_prefix(comma + 1);
    }
    std::ranges::sort(ranges, {}, &NumberRange::first);
    std::vector<NumberRange> merged;
    for (const NumberRange& range : ranges) {
        // Written so that the largest possible rank does not overflow.
        if (!merged.empty() && range.first - merged.back().last <= 1)
            merged.back().last = std::max(merged.back().last, range.last);
        else
            merged.push_back(range);
    }
    return merged;
}

std::string rankListText(const std::vector<NumberRange>& ranks)
{
    std::string text;
    for (const NumberRange& range : ranks) {
        text += (text.empty() ? "" : ",") + std::to_string(range.first);
        if (range.last > range.first)
            text += '-' + std::to_string(range.last);
    }
    return text;
}

Result<std::uint64_t> byteCountOf(std::string_view text)
{
    constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},
                                                              {"B", 1},
                                                              {"KB", 1e3},
                                                              {"MB", 1e6},
                                                              {"GB", 1e9},
                                                              {"TB", 1e12},
                                                              {"KiB", 1024.},
                                                              {"MiB", 1024. * 1024},
                                                              {"GiB", 1024. * 1024 * 1024}};
    constexpr double kLeast = 1e6, kMost = 1e18;
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(read.ptr, static_cast<std::size_t>(text.data() + text.size() - read.ptr));
    const auto known = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
    if (read.ec != std::errc{} || !std::isfinite(value) || value < 0)
        return fail<"record.size.syntax", "\"{text}\" is not a size">(
            Error::Code::Invalid, "--max-size", "write a number and a unit: 500MB, 2GB", {{"text", text}});
    if (known == std::end(kUnits))
        return fail<"record.size.unit", "\"{unit}\" is not a unit of size">(
            Error::Code::Invalid, "--max-size", "use KB, MB, GB, TB, KiB, MiB or GiB", {{"unit", unit}});
    const double bytes = value * known->second;
    if (bytes < kLeast || bytes > kMost)
        return fail<"record.size.range", "\"{text}\" is too {what} for a recording">(
            Error::Code::Invalid, "--max-size", "use at least 1MB",
            {{"text", text}, {"what", bytes < kLeast ? "small" : "large"}});
    return static_cast<std::uint64_t>(bytes);
}

bool containsRank(const std::vector<NumberRange>& ranks, std::int64_t rank)
{
    return ranks.empty() || std::ranges::any_of(ranks, [&](const NumberRange& range) { return range.contains(rank); });
}

std::vector<std::pair<std::string, std::string>> rankMetadata()
{
    for (const Launcher& launcher : kLaunchers) {
        const auto rank = numberIn(launcher.rank), size = numberIn(launcher.size);
        if (!rank || !size || *size < 2 || *rank >= *size)
            continue;
        std::vector<std::pair<std::string, std::string>> found{{rank_key::kRank, std::to_string(*rank)},
                                                               {rank_key::kWorldSize, std::to_string(*size)},
                                                               {rank_key::kHost, os::hostName()}};
        const char* job = launcher.job ? std::getenv(launcher.job) : nullptr;
        if (job && std::string_view(job) != "none") // torchrun's default
            found.emplace_back(rank_key::kJob, job);
        return found;
    }
    return {};
}

} // namespace profiler::capture
