#pragma once

#include "profiler/capture/recording_limits.h"

#include <atomic>
#include <cstdint>

namespace profiler::capture::injection {

/// Whether a training loop is in the steps that are recorded.
enum class StepWindow : std::uint8_t { Before, Inside, After };

/// State of a rank that the processes that it forks share with it.
struct SharedWithChildren {
    std::atomic<StepWindow> window{StepWindow::Before};
    std::atomic<std::uint64_t> bytes{0}; ///< written by all of them, see RecorderOptions::usedBytes
};
/// Created on first use, before a loader forks its workers; a process that was started by exec has its own.
SharedWithChildren& sharedWithChildren();

/// The limits in the environment, read once. Values that cannot be read are ignored: the command has checked them.
const RecordingLimits& recordingLimits();
/// True if this process is one of the chosen ranks, or not a rank of a job. In a process of any other rank, the first
/// call reports the rank to the command.
bool isChosenRank(const RecordingLimits& limits);

} // namespace profiler::capture::injection
