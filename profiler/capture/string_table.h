#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profiler::capture {

/// All strings of a run, interned by content. Id 0 is "". Thread-safe, but takes a lock, so thread buffers have a cache
/// in front of it.
class StringTable {
public:
    struct Interned {
        std::uint32_t id = 0;
        std::string_view text; ///< valid as long as the table and its ring
    };

    /// @param ring  stores the strings for recovery after a kill; must outlive the table
    explicit StringTable(container::LiveRing& ring);
    /// Text beyond container::kMaxStringBytes is truncated.
    Interned intern(std::string_view text);

    /// The text of an id returned by intern(); "" for other ids.
    [[nodiscard]] std::string text(std::uint32_t id) const;

    /// Payloads of Strings frames with the strings interned since the last call.
    std::vector<container::Payload> takeNew();

private:
    mutable std::mutex m_mutex; ///< held for a look-up or an insertion; never while the trace file is written
    container::LiveRing& m_ring;
    std::unordered_map<std::string_view, std::uint32_t> m_ids;
    std::vector<std::string_view> m_texts; ///< by id
    std::deque<std::string> m_overflow;    ///< texts that do not fit into the ring file
    std::size_t m_taken = 0;
};

} // namespace profiler::capture
