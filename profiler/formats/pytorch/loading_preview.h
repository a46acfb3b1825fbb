#pragma once

#include "profiler/formats/format.h"
#include "profiler/formats/pytorch/event_sink.h"

#include <chrono>
#include <cstdint>

namespace profiler::formats::json {

/// Shows the rows that were read so far while the rest of a long file is being read: first after
/// ReadOptions::previewAfter, then at intervals four times as long. Does nothing without ReadOptions::preview. Used by
/// the committing thread only.
class LoadingPreview {
public:
    explicit LoadingPreview(const ReadOptions& options);

    /// Called after each committed part; `whole` is everything committed so far.
    void show(SharedBuild& shared, const ScanResult& whole);

private:
    using Clock = std::chrono::steady_clock;

    const ReadOptions& m_options;
    Clock::time_point m_next;
    std::uint64_t m_room; ///< bytes of memory that previews may still take
};

} // namespace profiler::formats::json
