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

/// Where a builder puts slices and samples beyond its memory budget: a file that is deleted together with the trace.
/// Thread-safe.
class SliceSpill {
public:
    virtual ~SliceSpill() = default;
    /// Writes slices to the spill.
    /// @param slices  in the order of beginsBefore, at most SliceColumns::kMaxSlices; ordinals are not stored
    /// @return the number to pass to read(); empty if the slices cannot be written and stay with the caller
    [[nodiscard]] virtual std::optional<std::uint32_t> write(std::span<const RawSlice> slices) = 0;
    /// Slices that write() stored; empty if they can no longer be read.
    [[nodiscard]] virtual std::optional<std::vector<RawSlice>> read(std::uint32_t number) const = 0;
    /// Seals a block and writes it to the spill, to be read on demand; the block stays in memory if it cannot be
    /// written.
    /// @param slices  as for TrackBlock::make()
    [[nodiscard]] virtual BlockRef keep(TrackId track, std::span<const RawSlice> slices) = 0;
    /// Writes samples of a counter to the spill; samples of one call are sorted by time.
    /// @return empty if the samples cannot be written and stay with the caller
    [[nodiscard]] virtual std::optional<SampleRef> keepSamples(std::span<const CounterSample> samples) = 0;
    /// Samples that keepSamples() stored, for use by the builder; empty if they can no longer be read.
    [[nodiscard]] virtual std::optional<std::vector<CounterSample>> readSamples(std::uint32_t number) const = 0;
    /// Description of the first failure; empty if there was none.
    [[nodiscard]] virtual std::string problem() const = 0;
};

} // namespace profiler
