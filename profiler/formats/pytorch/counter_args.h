#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// The values of counter events, one event at a time.
class CounterArgs {
public:
    /// @param json  the event's arguments, an object; must outlive the entries
    /// @return false if they cannot be read
    bool read(std::string_view json);

    [[nodiscard]] const std::vector<std::pair<std::string_view, double>>& entries() const { return m_entries; }
    /// Number of values of any type.
    [[nodiscard]] std::size_t count() const { return m_count; }

private:
    bool readPlain(std::string_view json);
    bool readAny(std::string_view json);

    std::vector<std::pair<std::string_view, double>> m_entries;
    std::vector<std::string> m_keys; ///< keys that contain escapes
    std::size_t m_count = 0;
};

} // namespace profiler::formats::json
