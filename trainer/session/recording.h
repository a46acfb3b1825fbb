#pragma once

#include "profiler/capture/cupti/source.h"
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

/// Phases of a step and between steps, see profiler::phase.
enum class Phase { DataWait, Copy, ZeroGrad, Forward, Backward, Optimizer, Metrics, Log, Checkpoint, Validation };

/// Writes the events of the training thread to the trace: steps, phases, counters, metadata. Works without a trace too,
/// so that the loop needs no special case; NVTX ranges are always emitted. Called only by the training thread.
class Recording {
public:
    /// Records nothing.
    Recording();
    /// @param events  false: the trace contains only metadata
    /// @param loaderWorkers  per loader: there are two loaders, one per split
    static profiler::Result<std::unique_ptr<Recording>> start(const std::filesystem::path& path, bool events,
                                                              int loaderWorkers = 0);

    /// Records the GPU's work as well. Call it before the process's first CUDA call.
    /// @return what cannot be recorded and why; everything else is recorded
    std::vector<profiler::Message> recordGpu();
    /// Samples the load of the machine and of this process from now on, at every detail level: it does not slow down
    /// the training threads, and its own overhead is in the trace.
    /// @param gpu  also query the GPU load from the driver
    void sampleSystem(bool gpu);
    /// Detail level of the windows; Standard by default. Call it before the first window.
    void setLevel(profiler::capture::CaptureLevel level) { m_level = level; }
    /// Also records the events that are only wanted in windows of a few steps: with a GPU, runtime calls and waits.
    /// Call it between steps.
    void setDetailed(bool detailed);

    /// For code that records on other threads; null if nothing is recorded.
    [[nodiscard]] profiler::capture::Recorder* events() const { return m_events ? m_recorder.get() : nullptr; }

    void setMetadata(std::string_view key, std::string_view value);
    void sampleLoss(double loss);
    /// After a step: records its learning rate and the samples trained on so far, the x axis of the loss.
    void sampleLearning(double learningRate, std::int64_t samples);
    void sampleSpeed(double samplesPerSecond);
    void sampleMemory(std::int64_t resident, std::int64_t peak);
    [[nodiscard]] std::uint64_t dropped() const;
    /// Returns once why the trace cannot be written (for example, a full disk).
    std::optional<profiler::Error> takeError();
    /// Finishes the trace. The device must be idle.
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
    std::unique_ptr<profiler::capture::SystemSampler> m_sampler; // null if nothing is recorded
    profiler::capture::CaptureLevel m_level = profiler::capture::CaptureLevel::Standard;
    bool m_events = false, m_errorTaken = false;
    profiler::capture::ThreadBuffer* m_buffer = nullptr;
    profiler::capture::NvtxRanges m_nvtx;
    std::uint32_t m_step = 0;
    std::array<std::uint32_t, kPhases> m_phases{};
    Counters m_counters;
};

/// A phase, from construction to destruction, in the trace and as an NVTX range.
class PhaseRange {
public:
    /// @param value  batch index, if there is one
    PhaseRange(Recording& recording, Phase phase, std::int64_t value = 0);
    ~PhaseRange();
    PhaseRange(const PhaseRange&) = delete;
    PhaseRange& operator=(const PhaseRange&) = delete;
    /// Number of bytes that the phase moved.
    void setBytes(std::int64_t bytes) { m_bytes = bytes; }

private:
    profiler::capture::NvtxScope m_nvtx;
    profiler::capture::ThreadBuffer* m_buffer;
    std::int64_t m_bytes = 0;
};

/// A training step.
class StepRange {
public:
    StepRange(Recording& recording, std::int64_t index)
        : m_range(recording.m_buffer, profiler::ActivityKind::Step, recording.m_step, index)
    {
    }

private:
    profiler::capture::OpenRange m_range;
};

/// Chooses the steps whose operators are recorded: a window near the start, after the warm-up of the first steps, one
/// window per period, and additional steps on request.
class OpWindow {
public:
    /// @param every  length of the period in steps; 0: only steps from request()
    /// @param length  steps per window
    OpWindow(std::int64_t every, std::int64_t length) : m_every(every), m_length(length) {}

    /// Records the next `steps` steps, starting with `next`.
    void request(std::int64_t next, std::int64_t steps) { m_requestedUntil = next + steps; }
    [[nodiscard]] bool contains(std::int64_t step) const
    {
        if (step < m_requestedUntil)
            return true;
        if (m_every == 0)
            return false;
        const bool first = step >= kWarmup && step < kWarmup + m_length;
        return first || (step >= m_every && step % m_every < m_length);
    }
    /// Number of batches recorded at the start of each validation pass.
    [[nodiscard]] std::int64_t validationBatches() const { return m_every == 0 ? 0 : m_length; }

private:
    // The first steps allocate memory and choose algorithms, so they are not representative of later steps.
    static constexpr std::int64_t kWarmup = 3;
    std::int64_t m_every, m_length, m_requestedUntil = 0;
};

} // namespace trainer
