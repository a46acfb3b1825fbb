#pragma once

#include "profiler/io/formats/json/event_sink.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// Finds device work whose launch is not in the file, and calls that cannot be told apart by their ids.
class LaunchCheck {
public:
    void add(const Harvest& part);
    /// Adds to `losses`. The rows are those of the harvests.
    void report(const std::vector<LaneInfo>& rows, Losses& losses) const;

private:
    /// Correlation ids, and where their events lie.
    struct Numbered {
        std::vector<std::int64_t> ids;
        std::vector<std::uint64_t> offsets;
    };
    /// A runtime call and the driver call that it makes may share an id.
    enum Interface : std::uint8_t { kRuntime, kDriver, kInterfaces };

    void reportMissing(Losses& losses) const;
    static void reportShared(const std::vector<const Numbered*>& calls, Losses& losses);

    std::map<std::uint32_t, std::array<Numbered, kInterfaces>> m_calls; ///< by row
    Numbered m_work;
};

} // namespace profiler::formats::json
