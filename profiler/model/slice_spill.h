#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/ids.h"
#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace profiler {

/// Where a builder puts slices and samples for which there shall be no memory: a file that is gone with the trace. Any
/// thread.
class SliceSpill {
public:
    virtual ~SliceSpill() = default;
    /// Puts slices away.
    /// @param slices  in the order of beginsBefore, at most SliceColumns::kMaxSlices; ordinals are not kept
    /// @return the number by which read() gives them back; empty: they cannot be written, and stay with the caller
    [[nodiscard]] virtual std::optional<std::uint32_t> write(std::span<const RawSlice> slices) = 0;
    /// What write() took; empty where it cannot be read any more.
    [[nodiscard]] virtual std::optional<std::vector<RawSlice>> read(std::uint32_t number) const = 0;
    /// Seals a block and puts it away, to be read when somebody asks for it; it stays in memory where it cannot be
    /// written.
    /// @param slices  as TrackBlock::make() takes them
    [[nodiscard]] virtual BlockRef keep(TrackId track, std::span<const RawSlice> slices) = 0;
    /// Puts samples of a counter away, those in one piece by time.
    /// @return empty: they cannot be written, and stay with the caller
    [[nodiscard]] virtual std::optional<SampleRef> keepSamples(std::span<const CounterSample> samples) = 0;
    /// What keepSamples() took, for the builder itself; empty where it cannot be read any more.
    [[nodiscard]] virtual std::optional<std::vector<CounterSample>> readSamples(std::uint32_t number) const = 0;
    /// The first thing that went wrong, for people; empty: nothing.
    [[nodiscard]] virtual std::string problem() const = 0;
};

} // namespace profiler
