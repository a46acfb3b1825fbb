#pragma once

#include "profiler/io/formats/json/category.h"
#include "profiler/io/formats/json/event.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace profiler::formats::json {

/// What tells rows apart. A text is represented by its hash.
struct LaneKey {
    std::int64_t process = 0, thread = 0;  ///< thread of a device's lane: only what our writer made up
    std::int64_t device = -1, stream = -1; ///< lanes of devices only
    Lane lane = Lane::Host;
    bool processIsText = false, threadIsText = false;
    std::uint8_t category = 0; ///< rows of asynchronous events: one more than the index of their category
    friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};

/// What is known of a row before the metadata events are.
struct LaneInfo {
    LaneKey key;
    std::string processText, threadText;  ///< where they are no numbers
    std::optional<TrackId> track;         ///< once it has a slice
    std::optional<std::int64_t> device{}; ///< instead of the key's, where processes number their devices alike
};

/// The builder, as several scanning threads use it: each keeps what it was told, so that the lock is seldom asked for.
class SharedBuild {
public:
    TraceBuilder builder; ///< of the thread that commits; scanning threads go through the functions below

    std::uint32_t internName(std::string_view text);
    std::uint32_t internArgs(const SliceArgs& args);
    /// The number of a key's row.
    std::uint32_t lane(const LaneKey& key, const Event& event);
    [[nodiscard]] Lane laneKind(std::uint32_t lane) const;
    /// Slices of a row. It becomes a track here, so that a part which does not count leaves no empty ones.
    void addMany(std::uint32_t lane, std::vector<RawSlice>&& slices);

    /// Runs `work` while no scanning thread adds a name, arguments or a row: it is to be short.
    template <class Work>
    void undisturbed(Work&& work)
    {
        const std::scoped_lock lock(m_mutex);
        work();
    }

    /// Rows by their number. Of the committing thread, after the scanning threads have ended, or undisturbed().
    std::vector<LaneInfo> lanes;

private:
    mutable std::mutex m_mutex; ///< held for a look-up at most
    std::map<LaneKey, std::uint32_t> m_ids;
};

/// Which row an event belongs to.
LaneKey laneKey(const Event& event, Lane lane);

} // namespace profiler::formats::json
