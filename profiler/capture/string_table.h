#pragma once

#include "profiler/io/wire/frame.h"
#include "profiler/io/wire/ring_file_live.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profiler::capture {

/// All strings of a run, interned by content. Id 0 is "". Thread-safe; locks, so lanes keep a cache before it.
class StringTable {
public:
    struct Interned {
        std::uint32_t id = 0;
        std::string_view text; ///< lives as long as the table and its ring
    };

    /// @param ring  keeps the strings for recovery after a kill; outlives the table
    explicit StringTable(wire::LiveRing& ring);
    /// Text beyond wire::kMaxStringBytes is cut.
    Interned intern(std::string_view text);

    /// Of an id that intern() gave; "" for others.
    [[nodiscard]] std::string text(std::uint32_t id) const;

    /// Payloads of frames of type Strings with what was interned since the last call.
    std::vector<wire::Payload> takeNew();

private:
    mutable std::mutex m_mutex; ///< held for a look-up or an insertion; never while the trace file is written
    wire::LiveRing& m_ring;
    std::unordered_map<std::string_view, std::uint32_t> m_ids;
    std::vector<std::string_view> m_texts; ///< by id
    std::deque<std::string> m_overflow;    ///< texts that the ring has no room for
    std::size_t m_taken = 0;
};

} // namespace profiler::capture
