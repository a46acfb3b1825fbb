#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace profiler {

/// A number that the compiler does not mix up with ids of another kind.
template <class Tag, class Rep = std::uint32_t>
struct Id {
    Rep value = 0;
    friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using TrackId = Id<struct TrackTag>;                            ///< index into Trace::tracks()
using StringId = Id<struct StringTag>;                          ///< index into the trace's string pool; 0 is ""
using LaunchId = Id<struct LaunchTag>;                          ///< one of the trace's launch configurations; 0 for
                                                                ///< none
using DeviceId = Id<struct DeviceTag>;                          ///< CUDA device ordinal
using StreamId = Id<struct StreamTag>;                          ///< CUDA stream number as CUPTI reports it
using CorrelationId = Id<struct CorrelationTag, std::uint64_t>; ///< joins a runtime call and its device work; 0 for
                                                                ///< none

/// One slice of a trace; stays valid in every later snapshot of a growing trace.
struct SliceId {
    TrackId track;
    std::uint32_t ordinal = 0; ///< position in arrival order within the track
    friend constexpr auto operator<=>(const SliceId&, const SliceId&) = default;
};

} // namespace profiler

template <class Tag, class Rep>
struct std::hash<profiler::Id<Tag, Rep>> {
    std::size_t operator()(const profiler::Id<Tag, Rep>& id) const noexcept { return std::hash<Rep>{}(id.value); }
};
template <>
struct std::hash<profiler::SliceId> {
    std::size_t operator()(const profiler::SliceId& id) const noexcept
    {
        return std::hash<std::uint64_t>{}((std::uint64_t{id.track.value} << 32) | id.ordinal);
    }
};
