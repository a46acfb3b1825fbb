#pragma once

#include "profiler/formats/pytorch/event_sink.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// Finds device work whose launch is not in the file, and calls that share an id and cannot be told apart.
class LaunchCheck {
public:
    void add(const ScanResult& part);
    /// Adds the findings to `losses`. The rows are those of the results.
    void report(const std::vector<RowInfo>& rows, Losses& losses) const;

private:
    /// Correlation ids and the file offsets of their events.
    struct Numbered {
        std::vector<std::int64_t> ids;
        std::vector<std::uint64_t> offsets;
    };
    /// A runtime call and the driver call inside it may share an id.
    enum Interface : std::uint8_t { kRuntime, kDriver, kInterfaces };

    void reportMissing(Losses& losses) const;
    static void reportShared(const std::vector<const Numbered*>& calls, Losses& losses);

    std::map<std::uint32_t, std::array<Numbered, kInterfaces>> m_calls; ///< by row
    Numbered m_work;
};

} // namespace profiler::formats::json
