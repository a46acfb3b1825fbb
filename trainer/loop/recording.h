#pragma once

#include "profiler/capture/cupti_source.h"
#include "profiler/capture/nvtx_ranges.h"
#include "profiler/capture/recorder.h"
#include "profiler/capture/system_sampler.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// Parts of a step and around it, see profiler::phase.
enum class Phase { DataWait, Copy, ZeroGrad, Forward, Backward, Optimizer, Metrics, Log, Checkpoint, Validation };

/// What the training's own thread puts into the trace: steps, phases, counters, metadata. Also when there is no trace,
/// so that the loop need not ask; NVTX ranges are given in any case. Used by the training's thread.
class Recording {
public:
    /// Records nothing.
    Recording();
    /// @param events  false: the trace holds metadata only
    /// @param loaderWorkers  of one loader: there are two, one for each split
    static profiler::Result<std::unique_ptr<Recording>> start(const std::filesystem::path& path, bool events,
                                                              int loaderWorkers = 0);

    /// Records the GPU's work as well. Before the process's first CUDA call.
    /// @return what cannot be recorded, and why; the rest is
    std::vector<profiler::Message> recordGpu();
    /// Samples the machine's and this process's load from now on, at every level: it costs the training's threads
    /// nothing, and what it costs its own is in the trace.
    /// @param gpu  ask the driver for the GPUs' as well
    void sampleSystem(bool gpu);
    /// What windows record; Standard unless this is called. Before the first window.
    void setLevel(profiler::capture::CaptureLevel level) { m_level = level; }
    /// Records also what is only wanted in windows of a few steps: with a GPU, runtime calls and waits. Between steps.
    void setDetailed(bool detailed);

    /// For those who record on threads of their own; null when nothing is recorded.
    [[nodiscard]] profiler::capture::Recorder* events() const { return m_events ? m_recorder.get() : nullptr; }
    /// The training thread's lane; null when nothing is recorded.
    [[nodiscard]] profiler::capture::ThreadBuffer* lane() const { return m_lane; }

    void setMetadata(std::string_view key, std::string_view value);
    void sampleLoss(double loss);
    /// After a step: its rate, and the samples trained on so far, so that the loss can be drawn against them.
    void sampleLearning(double learningRate, std::int64_t samples);
    void sampleSpeed(double samplesPerSecond);
    void sampleMemory(std::int64_t resident, std::int64_t peak);
    [[nodiscard]] std::uint64_t dropped() const;
    /// What keeps the trace from being written (a full disk), once.
    std::optional<profiler::Error> takeError();
    /// Writes the trace's end. The device must have nothing left to do.
    void finish();

private:
    friend class PhaseRange;
    friend class StepRange;
    static constexpr std::size_t kPhases = static_cast<std::size_t>(Phase::Validation) + 1;
    struct Counters {
        std::uint32_t loss = 0, speed = 0, memory = 0, peak = 0, learningRate = 0, samples = 0;
    };
    void nameThings();

    std::unique_ptr<profiler::capture::Recorder> m_recorder;
    std::unique_ptr<profiler::capture::CuptiSource> m_gpu;       // null without a GPU
    std::unique_ptr<profiler::capture::SystemSampler> m_sampler; // null when nothing is recorded
    profiler::capture::CaptureLevel m_level = profiler::capture::CaptureLevel::Standard;
    bool m_events = false, m_errorTaken = false;
    profiler::capture::ThreadBuffer* m_lane = nullptr;
    profiler::capture::NvtxRanges m_nvtx;
    std::uint32_t m_step = 0;
    std::array<std::uint32_t, kPhases> m_phases{};
    Counters m_counters;
};

/// A phase, from construction to destruction, in the trace and as NVTX range.
class PhaseRange {
public:
    /// @param value  batch index, where there is one
    PhaseRange(Recording& recording, Phase phase, std::int64_t value = 0);
    ~PhaseRange();
    PhaseRange(const PhaseRange&) = delete;
    PhaseRange& operator=(const PhaseRange&) = delete;
    /// What the phase moved.
    void setBytes(std::int64_t bytes) { m_bytes = bytes; }

private:
    profiler::capture::NvtxScope m_nvtx;
    profiler::capture::ThreadBuffer* m_lane;
    std::int64_t m_bytes = 0;
};

/// A training step.
class StepRange {
public:
    StepRange(Recording& recording, std::int64_t index)
        : m_range(recording.m_lane, profiler::ActivityKind::Step, recording.m_step, index)
    {
    }

private:
    profiler::capture::OpenRange m_range;
};

} // namespace trainer
