#pragma once

#include <cstdint>
#include <string>

namespace profiler {

/// "12,345": a count as people read it, in notes. Places in a file (bytes, rows) are written plainly: they are
/// searched.
inline std::string countText(std::uint64_t count)
{
    std::string text = std::to_string(count);
    for (std::size_t at = text.size(); at > 3; at -= 3)
        text.insert(at - 3, 1, ',');
    return text;
}

} // namespace profiler
