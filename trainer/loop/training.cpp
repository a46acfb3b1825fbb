#include "trainer/loop/training.h"

#include "trainer/loop/host.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <chrono>
#include <utility>

namespace trainer {

namespace key = config::key;
using Seconds = std::chrono::duration<double>;

namespace {

data::LoaderOptions loaderOptions(const config::TrainingConfig& config, data::Split split, Recording& recording)
{
    data::LoaderOptions options;
    options.split = split;
    options.batchSize = config[key::batchSize];
    options.workers = static_cast<int>(config[key::workers]);
    options.prefetchFactor = static_cast<int>(config[key::prefetchFactor]);
    options.persistentWorkers = config[key::persistentWorkers];
    options.shuffle = split == data::Split::Train && config[key::shuffle];
    options.augment = split == data::Split::Train && config[key::augment];
    options.seed = static_cast<std::uint64_t>(config[key::seed]);
    if (config[key::pinMemory])
        options.memory = pinnedAllocator();
    options.recorder = recording.events();
    // Workers call no operator of LibTorch but to allocate, so they have one thread each without a word to LibTorch,
    // whose setting is in part one for the whole process.
    options.workerStart = [] { at::GradMode::set_enabled(false); };
    return options;
}

// LibTorch's own choice knows nothing of control groups: more threads than cores wait for each other.
at::Device withThreads(at::Device device, std::int64_t threads)
{
    at::set_num_threads(threads > 0 ? static_cast<int>(threads) : std::min(at::get_num_threads(), usableCores()));
    return device;
}

} // namespace

Training::Training(const config::TrainingConfig& config, std::shared_ptr<const data::Dataset> dataset,
                   at::Device device, Recording& recording, Progress& progress)
    : m_dataset(std::move(dataset)), m_recording(recording),
      m_window(config[key::captureOpsEvery], config[key::captureOpsWindow]),
      m_learner(config, m_dataset->spec(), withThreads(device, config[key::threads])), m_bad(progress),
      m_loader(m_dataset, loaderOptions(config, data::Split::Train, recording)), m_meter(m_learner.objective()),
      m_syncEvery(config[key::syncEvery])
{
    if (auto* recorder = recording.events())
        m_hook = std::make_unique<OpHook>(*recorder);
    if (hasValidation())
        m_validationLoader =
            std::make_unique<data::Loader>(m_dataset, loaderOptions(config, data::Split::Validation, recording));
}

Training::~Training() = default;

void Training::setDetailed(bool on)
{
    if (!m_hook || on == std::exchange(m_detailed, on))
        return;
    m_hook->set(on);
    m_recording.setDetailed(on);
}

void Training::beginEpoch()
{
    ++m_epoch;
    m_batchesLeft = m_loader.batchesPerEpoch();
    m_loader.startEpoch(m_epoch);
}

BatchTensors Training::copyIn(const data::Batch& batch)
{
    PhaseRange phase(m_recording, Phase::Copy, batch.index);
    const BatchTensors placed = m_learner.place(viewOf(batch, m_dataset->spec()));
    phase.setBytes(placed.bytes());
    return placed;
}

std::optional<double> Training::measure(const Learner::Output& output, std::int64_t samples)
{
    const PhaseRange phase(m_recording, Phase::Metrics);
    m_meter.add(output, samples);
    if (m_syncEvery == 0 || (m_steps + 1) % m_syncEvery != 0)
        return std::nullopt;
    const double loss = m_meter.read();
    m_recording.sampleLoss(loss);
    return loss;
}

Training::Step Training::step()
{
    const auto begin = std::chrono::steady_clock::now();
    setDetailed(m_window.contains(m_steps));
    Step result;
    {
        const StepRange range(m_recording, m_steps);
        std::optional<data::Batch> batch;
        {
            const PhaseRange phase(m_recording, Phase::DataWait, stepsPerEpoch() - m_batchesLeft);
            batch = m_loader.next();
        }
        m_batchesLeft = batch ? m_batchesLeft - 1 : 0;
        if (batch && batch->count > 0) {
            const BatchTensors tensors = copyIn(*batch);
            const Learner::Output output = m_learner.train(tensors, m_recording);
            result.loss = measure(output, tensors.count);
            result.lossOnDevice = output.loss;
            result.samples = batch->count;
        }
        if (batch)
            m_bad.add(data::Split::Train, batch->bad);
    }
    ++m_steps;
    result.seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
    return result;
}

Meter::Means Training::takeMeans()
{
    m_bad.sumUp();
    return m_meter.take();
}

Training::Validation Training::validate(const std::function<bool()>& stop)
{
    Validation result;
    if (!m_validationLoader)
        return result;
    const auto begin = std::chrono::steady_clock::now();
    setDetailed(m_window.validationBatches() > 0);
    Meter meter(m_learner.objective());
    {
        const PhaseRange pass(m_recording, Phase::Validation, m_epoch);
        m_validationLoader->startEpoch(m_validations++);
        for (std::int64_t index = 0; !stop(); ++index) {
            std::optional<data::Batch> batch;
            {
                const PhaseRange phase(m_recording, Phase::DataWait, index);
                batch = m_validationLoader->next();
            }
            if (!batch)
                break;
            m_bad.add(data::Split::Validation, batch->bad);
            if (batch->count == 0)
                continue;
            const BatchTensors tensors = copyIn(*batch);
            meter.add(m_learner.evaluate(tensors), tensors.count);
            result.samples += batch->count;
            if (index + 1 == m_window.validationBatches())
                setDetailed(false);
        }
        result.means = meter.take();
    }
    setDetailed(false);
    result.seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
    return result;
}

void Training::park()
{
    setDetailed(false);
    m_loader.park();
    if (m_validationLoader)
        m_validationLoader->park();
}

void Training::unpark()
{
    m_loader.unpark();
    if (m_validationLoader)
        m_validationLoader->unpark();
}

} // namespace trainer
