#include "trainer/session/recording.h"

namespace trainer {

using namespace profiler;

namespace {

constexpr std::string_view kNames[] = {phase::kDataWait,   phase::kCopy,      phase::kZeroGrad, phase::kForward,
                                       phase::kBackward,   phase::kOptimizer, phase::kMetrics,  phase::kLog,
                                       phase::kCheckpoint, phase::kValidation};

} // namespace

Recording::Recording() = default;

Result<std::unique_ptr<Recording>> Recording::start(const std::filesystem::path& path, bool events, int loaderWorkers)
{
    static_assert(std::size(kNames) == kPhases);
    capture::RecorderOptions options;
    options.path = path;
    options.maxThreads += 2 * loaderWorkers; // in addition to those of LibTorch, CUDA and Stepscope
    auto recorder = capture::Recorder::start(options);
    if (!recorder)
        return tl::unexpected(recorder.error());
    auto recording = std::make_unique<Recording>();
    recording->m_recorder = std::move(*recorder);
    recording->m_events = events;
    if (events)
        recording->nameThings();
    return recording;
}

void Recording::nameThings()
{
    m_buffer = &m_recorder->nameThisThread("main thread", TrackKind::MainThread);
    m_step = m_recorder->intern("step");
    for (std::size_t i = 0; i < kPhases; ++i)
        m_phases[i] = m_recorder->intern(kNames[i]);
    m_counters = {m_recorder->addCounter("loss", ""),          m_recorder->addCounter("speed", "samples/s"),
                  m_recorder->addCounter("memory", "bytes"),   m_recorder->addCounter("peak memory", "bytes"),
                  m_recorder->addCounter("learning rate", ""), m_recorder->addCounter("samples", "samples")};
}

std::vector<profiler::Message> Recording::recordGpu()
{
    if (!m_events)
        return {};
    auto source =
        capture::CuptiSource::start(*m_recorder, capture::systemCupti(), {.level = capture::CuptiLevel::Always});
    if (!source)
        return {source.error().asMessage()};
    m_gpu = std::move(*source);
    return m_gpu->notes();
}

void Recording::sampleSystem(bool gpu)
{
    if (m_events)
        m_sampler = capture::SystemSampler::start(*m_recorder, {.gpu = gpu});
}

void Recording::setDetailed(bool detailed)
{
    // stop() reports failures of CUPTI.
    if (m_gpu)
        static_cast<void>(m_gpu->setLevel(detailed ? m_level : capture::CaptureLevel::Always));
}

void Recording::setMetadata(std::string_view key, std::string_view value)
{
    if (m_recorder)
        m_recorder->setMetadata(key, value);
}

void Recording::sampleLoss(double loss)
{
    if (m_buffer)
        m_buffer->sample(m_counters.loss, TraceClock::now(), loss);
}

void Recording::sampleLearning(double learningRate, std::int64_t samples)
{
    if (!m_buffer)
        return;
    const TraceTime now = TraceClock::now();
    m_buffer->sample(m_counters.learningRate, now, learningRate);
    m_buffer->sample(m_counters.samples, now, static_cast<double>(samples));
}

void Recording::sampleSpeed(double samplesPerSecond)
{
    if (m_buffer)
        m_buffer->sample(m_counters.speed, TraceClock::now(), samplesPerSecond);
}

void Recording::sampleMemory(std::int64_t resident, std::int64_t peak)
{
    if (!m_buffer)
        return;
    const TraceTime now = TraceClock::now();
    m_buffer->sample(m_counters.memory, now, static_cast<double>(resident));
    m_buffer->sample(m_counters.peak, now, static_cast<double>(peak));
}

std::uint64_t Recording::dropped() const
{
    return m_recorder ? m_recorder->stats().dropped : 0;
}

std::optional<Error> Recording::takeError()
{
    if (!m_recorder || m_errorTaken)
        return std::nullopt;
    const auto state = m_recorder->error();
    if (state)
        return std::nullopt;
    m_errorTaken = true;
    return state.error();
}

void Recording::finish()
{
    m_sampler.reset();
    if (m_gpu)
        static_cast<void>(m_gpu->stop()); // the trace's notes contain the failure
    // takeError() finds a failure in error().
    if (m_recorder)
        static_cast<void>(m_recorder->finish());
}

PhaseRange::PhaseRange(Recording& recording, Phase phase, std::int64_t value)
    : m_nvtx(&recording.m_nvtx, kNames[static_cast<std::size_t>(phase)]), m_buffer(recording.m_buffer)
{
    if (m_buffer)
        m_buffer->open(ActivityKind::Phase, recording.m_phases[static_cast<std::size_t>(phase)], value);
}

PhaseRange::~PhaseRange()
{
    if (m_buffer)
        m_buffer->close(m_bytes);
}

} // namespace trainer
