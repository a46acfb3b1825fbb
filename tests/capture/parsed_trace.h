#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace capture_test {

/// A trace file parsed independently of the product's reader, to check what the writer has actually written.
struct ParsedTrace {
    struct Event {
        std::uint32_t track = 0;
        std::uint64_t index = 0; ///< index in its ring; kNotFromRing for a batch
        profiler::container::EventRecord record{};
    };

    bool whole = false; ///< nothing follows the last complete frame
    bool ended = false;
    std::uint64_t runId = 0;
    std::map<std::uint32_t, std::string> strings;
    std::map<std::uint32_t, profiler::container::TrackEntry> tracks;
    std::vector<Event> events;
    std::map<std::uint32_t, std::uint64_t> nextIndex; ///< by track: lower bound for the index of the ring's next record
    std::map<std::string, std::string> metadata;
    std::map<std::int64_t, std::string> processes; ///< names by pid
    std::vector<profiler::container::DeviceEntry> devices;
    std::vector<profiler::container::ClockTriple> clocks;
    profiler::container::LossEntry loss{};
    std::vector<std::string> problems; ///< names used before they were defined, gaps in the sequence

    [[nodiscard]] std::string name(const Event& event) const;
    [[nodiscard]] std::vector<Event> of(std::string_view trackName) const;
    /// Adds the events that a killed run left in its ring file, except those that are also in the file.
    void add(const profiler::container::RecoveredEvents& leftovers);
};

ParsedTrace parseTrace(const std::filesystem::path& path);

} // namespace capture_test
