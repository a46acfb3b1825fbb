#pragma once

#include <string_view>

namespace profiler {

/// An entry of a generated registry: the file name without its extension, and what the file defines.
template <class T>
struct Registered {
    std::string_view stem;
    T entry;
};

} // namespace profiler
