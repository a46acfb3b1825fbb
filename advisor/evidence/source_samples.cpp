#include "advisor/evidence/source_samples.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace advisor {
namespace {

using namespace profiler;
using Json = nlohmann::json;
using Place = SourceSamples::Place;

// More than the hooks write, which is at most 80,000 samples and 20,000 stacks of 12 frames.
constexpr std::size_t kMostBytes = 16u << 20;
constexpr int kMostDepth = 6;
constexpr double kMostIntervals = 8; ///< that a sample stands for

const Json& list(const Json& json, const char* key)
{
    static const Json s_empty = Json::array();
    const auto entry = json.find(key);
    return entry != json.end() && entry->is_array() ? *entry : s_empty;
}

/// An integer from 0 to `most`; no value for anything else.
std::optional<std::int64_t> whole(const Json& value, std::int64_t most)
{
    if (!value.is_number_integer())
        return std::nullopt;
    const auto number = value.get<std::int64_t>();
    return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

std::vector<Place> placesOf(const Json& json, std::size_t files)
{
    std::vector<Place> places;
    for (const Json& entry : list(json, "places")) {
        Place place;
        if (entry.is_array() && entry.size() == 3 && entry[2].is_string()) {
            const auto file = whole(entry[0], static_cast<std::int64_t>(files) - 1);
            const auto line = whole(entry[1], 100'000'000);
            if (file && line)
                place = {static_cast<std::size_t>(*file), static_cast<int>(*line), entry[2].get<std::string>()};
        }
        places.push_back(std::move(place)); // keeps the indices of places valid; places without a line are dropped
                                            // later
    }
    return places;
}

/// No value for anything but two numbers of plausible size.
std::optional<LineAllocations> allocationsAt(const Json& numbers, std::size_t at)
{
    constexpr std::int64_t kMost = std::int64_t{1} << 53; // beyond 2^53, JSON numbers are not exact
    const auto bytes = whole(numbers[at], kMost), count = whole(numbers[at + 1], kMost);
    return bytes && count ? std::optional(LineAllocations{*bytes, *count}) : std::nullopt;
}

/// What lines allocated, if it was recorded.
/// @return false if it is damaged
bool readAllocations(const Json& json, SourceSamples& into)
{
    if (json.contains("exact")) {
        const Json& exact = list(json, "exact");
        if (!json["exact"].is_array() || exact.size() % 3 != 0)
            return false;
        for (std::size_t i = 0; i < exact.size(); i += 3) {
            const auto place = whole(exact[i], static_cast<std::int64_t>(into.places.size()) - 1);
            const auto allocated = allocationsAt(exact, i + 1);
            if (!place || !allocated)
                return false;
            into.exact.emplace_back(static_cast<std::size_t>(*place), *allocated);
        }
        into.allocations = AllocationSource::Exact;
    } else if (json.contains("allocated")) {
        const Json& allocated = list(json, "allocated");
        if (allocated.size() != 2 * into.samples.size())
            return false;
        for (std::size_t i = 0; i < into.samples.size(); ++i) {
            const auto found = allocationsAt(allocated, 2 * i);
            if (!found)
                return false;
            into.samples[i].allocated = *found;
        }
        into.allocations = AllocationSource::Sampled;
    }
    return true;
}

} // namespace

std::optional<SourceSamples> readSourceSamples(std::string_view document)
{
    if (document.size() > kMostBytes)
        return std::nullopt;
    bool tooDeep = false;
    const auto keep = [&](int depth, Json::parse_event_t, Json&) {
        tooDeep = tooDeep || depth > kMostDepth;
        return depth <= kMostDepth;
    };
    const Json json = Json::parse(document.begin(), document.end(), keep, false);
    if (json.is_discarded() || !json.is_object() || tooDeep)
        return std::nullopt;
    SourceSamples found;
    for (const Json& file : list(json, "files"))
        found.files.push_back(file.is_string() ? file.get<std::string>() : std::string());
    found.places = placesOf(json, found.files.size());
    for (const Json& entry : list(json, "stacks")) {
        std::vector<std::size_t> stack;
        if (entry.is_array())
            for (const Json& number : entry)
                if (const auto place = whole(number, static_cast<std::int64_t>(found.places.size()) - 1))
                    stack.push_back(static_cast<std::size_t>(*place));
        found.stacks.push_back(std::move(stack));
    }
    const auto begin = json.contains("begin_ns") ? whole(json["begin_ns"], INT64_MAX / 2) : std::nullopt;
    const Json& samples = list(json, "samples");
    if (!begin || samples.size() < 4)
        return std::nullopt;
    std::int64_t at = *begin;
    for (std::size_t i = 0; i + 1 < samples.size(); i += 2) {
        const auto elapsed = whole(samples[i + 1], std::int64_t{1} << 40);
        if (!samples[i].is_number_integer() || !elapsed)
            return std::nullopt;
        at = std::min(at + *elapsed * 1000, INT64_MAX / 2);
        const auto stack = whole(samples[i], static_cast<std::int64_t>(found.stacks.size()) - 1);
        found.samples.push_back({traceTime(at), stack ? static_cast<int>(*stack) : -1, {}});
    }
    if (!readAllocations(json, found))
        return std::nullopt;
    const auto number = [&](const char* key) {
        const auto entry = json.find(key);
        return entry != json.end() && entry->is_number() ? std::max(0.0, entry->get<double>()) : 0.0;
    };
    found.intervalUs = number("interval_us");
    found.costUs = number("cost_us");
    return found;
}

TimeRange SourceSamples::rangeOf(std::size_t sample) const
{
    const TraceTime begin = samples[sample].time;
    const auto intervals = [&](double count) {
        return Nanoseconds(static_cast<std::int64_t>(std::max(intervalUs, 1.0) * 1000 * count));
    };
    return {begin, sample + 1 == samples.size()
                       ? begin + intervals(1)
                       : std::min(samples[sample + 1].time, begin + intervals(kMostIntervals))};
}

const std::vector<std::size_t>* SourceSamples::stackOf(std::size_t sample) const
{
    const int stack = samples[sample].stack;
    return stack < 0 ? nullptr : &stacks[static_cast<std::size_t>(stack)];
}

std::optional<TrackId> sampledTrack(const Trace& trace)
{
    std::optional<TrackId> track;
    for (const ActivityKind kind : {ActivityKind::Phase, ActivityKind::Step})
        if (const auto slices = trace.ofKind(kind); !slices.empty())
            track = slices.front().id.track;
    return track;
}

} // namespace advisor
