#pragma once

#include <cctype>
#include <string_view>

namespace profiler::analysis {

/// "iteration" of "iteration 12", "iteration_12" and "iteration12": ranges that differ by a number are of one kind.
inline std::string_view withoutNumber(std::string_view range)
{
    const auto end = range.find_last_not_of("0123456789");
    if (end == range.npos || end + 1 == range.size())
        return range;
    const bool joined = std::isalpha(static_cast<unsigned char>(range[end])) == 0;
    return range.substr(0, joined ? end : end + 1);
}

} // namespace profiler::analysis
