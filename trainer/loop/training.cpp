#include "trainer/loop/training.h"

#include "trainer/data/random.h"
#include "trainer/hooks/autograd_profiler.h"
#include "trainer/hooks/gradient_check.h"
#include "trainer/loop/host.h"
#include "trainer/loop/run.h"
#include "trainer/precision/float32_settings.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <sstream>
#include <utility>

namespace trainer {

namespace key = config::key;
using Seconds = std::chrono::duration<double>;

namespace {

data::LoaderOptions loaderOptions(const config::TrainingConfig& config, const data::SampleSpec& spec, data::Split split,
                                  Recording& recording, const ProcessGroup* group)
{
    using Augment = data::BatchAugment::Kind;
    const bool train = split == data::Split::Train;
    const Augment onDevice = augmentsOnDevice(config, spec) ? spec.augment.kind : Augment::None;
    data::LoaderOptions options;
    options.split = split;
    options.batchSize = config[key::batchSize];
    options.workers = static_cast<int>(config[key::workers]);
    options.prefetchFactor = static_cast<int>(config[key::prefetchFactor]);
    options.persistentWorkers = config[key::persistentWorkers];
    options.shuffle = train && config[key::shuffle];
    options.augment = train && config[key::augment] && onDevice != Augment::Shift;
    options.wholeImages = train && onDevice == Augment::Crop;
    options.shardStreams = config[key::shardStreams];
    options.seed = static_cast<std::uint64_t>(config[key::seed]);
    // Ranks that train wait for each other in every step and need as many batches; in validation no sample may be left
    // out.
    if (group) {
        options.equalRanks = train;
        options.rank = static_cast<int>(group->rank());
        options.ranks = static_cast<int>(group->size());
    }
    if (config[key::pinMemory])
        options.memory = pinnedAllocator();
    options.recorder = recording.events();
    // Workers call no operator of LibTorch but to allocate, so they have one thread each without a word to LibTorch,
    // whose setting is in part one for the whole process.
    options.workerStart = [] { at::GradMode::set_enabled(false); };
    return options;
}

// What LibTorch keeps for the whole process. Its own choice of threads knows nothing of control groups: more threads
// than cores wait for each other.
at::Device withSettings(at::Device device, const config::TrainingConfig& config)
{
    const std::int64_t threads = config[key::threads];
    at::set_num_threads(threads > 0 ? static_cast<int>(threads) : std::min(at::get_num_threads(), usableCores()));
    setTf32(config[key::tf32]);
    setCudnnBenchmark(config[key::cudnnBenchmark]);
    return device;
}

std::int64_t ceilDivide(std::int64_t count, std::int64_t by)
{
    return (count + by - 1) / by;
}

} // namespace

Training::Training(const config::TrainingConfig& config, std::shared_ptr<const data::Dataset> dataset,
                   at::Device device, std::shared_ptr<ProcessGroup> group, Recording& recording, Progress& progress)
    : m_config(config), m_dataset(std::move(dataset)), m_recording(recording), m_progress(progress),
      m_window(config[key::captureOpsEvery], config[key::captureOpsWindow]),
      m_loader(m_dataset, loaderOptions(config, m_dataset->spec(), data::Split::Train, recording, group.get())),
      m_learner(config, m_dataset->spec(), withSettings(device, config), group,
                plannedSteps(config, ceilDivide(m_loader.batchesPerEpoch(), config[key::accumulation]))),
      m_bad(progress), m_feed(config, m_dataset->spec(), device),
      m_metrics(m_learner.objective(), config[key::asyncWork], recording), m_group(group),
      m_syncEvery(config[key::syncEvery]), m_accumulation(config[key::accumulation])
{
    namespace capture = profiler::capture;
    const auto level =
        capture::captureLevelFromName(config[key::captureLevel]).value_or(capture::CaptureLevel::Standard);
    const capture::LevelContents& contents = capture::contentsOf(level);
    recording.setLevel(level);
    if (auto* recorder = recording.events(); recorder && contents.ops)
        m_hook = std::make_unique<OpHook>(*recorder, contents.shapes);
    // LibTorch has one place for who listens to its allocators, and its own profiler takes it, too.
    if (auto* recorder = recording.events(); recorder && contents.memory && !config[key::autogradProfiler])
        m_memoryHook = std::make_unique<MemoryHook>(*recorder);
    if (config[key::emitNvtx])
        m_nvtxOps = std::make_unique<NvtxOps>();
    if (hasValidation())
        m_validationLoader = std::make_unique<data::Loader>(
            m_dataset, loaderOptions(config, m_dataset->spec(), data::Split::Validation, recording, group.get()));
    warnOfKnobs();
}

// Knobs that are switched on and change nothing here.
void Training::warnOfKnobs()
{
    const std::string device(key::augmentOnDevice.name), beside(key::nonBlocking.name);
    if (m_config[key::augmentOnDevice] && m_config[key::augment] && !augmentsOnDevice(m_config, m_dataset->spec()))
        m_progress.warn("This data set has no augmentation that a device could do: the knob changes nothing", device,
                        "images and volumes have one");
    else if (augmentsOnDevice(m_config, m_dataset->spec()) && m_learner.device().is_cpu())
        m_progress.warn("There is no other device than the processor: the training's own thread augments, and waits "
                        "for that, instead of the loader's workers",
                        device, "switch it off, or train on a GPU");
    const auto level = profiler::capture::captureLevelFromName(m_config[key::captureLevel]);
    if (m_recording.events() && m_config[key::autogradProfiler] && level &&
        profiler::capture::contentsOf(*level).memory)
        m_progress.warn("Allocations are not recorded: LibTorch's own profiler listens to them",
                        std::string(key::autogradProfiler.name), "leave it off, as in any real run");
    if (m_config[key::nonBlocking] && !m_feed.runsBeside())
        m_progress.warn("Only copies from page-locked memory run beside the training: these wait", beside,
                        "set loader.pin_memory as well");
}

Training::~Training()
{
    if (m_config[key::autogradProfiler])
        m_recording.setMetadata("debug.autograd_profiler.events", std::to_string(AutogradProfiler::events()));
    if (m_nvtxOps)
        m_recording.setMetadata("debug.emit_nvtx.ranges", std::to_string(NvtxOps::count()));
}

std::int64_t Training::stepsPerEpoch() const
{
    return ceilDivide(m_loader.batchesPerEpoch(), m_accumulation);
}

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
    m_gradientsDue = m_config[key::gradcheck] || m_config[key::gradgradcheck];
    m_batchesLeft = m_loader.batchesPerEpoch();
    m_ahead.reset();
    m_loader.startEpoch(m_epoch);
    // Loaded again, and let go: their random choices depend on epoch and sample alone.
    for (; m_skipBatches > 0; --m_skipBatches, --m_batchesLeft)
        static_cast<void>(m_loader.next());
}

std::optional<BatchTensors> Training::nextBatch()
{
    auto batch = m_ahead ? std::move(*m_ahead) : fetch();
    m_ahead.reset();
    m_batchesLeft = batch ? m_batchesLeft - 1 : 0;
    return batch;
}

// While the device is at the step's work, which reading the loss would wait for.
void Training::fetchAhead()
{
    if (m_feed.runsBeside() && m_batchesLeft > 0)
        m_ahead = fetch();
}

std::optional<BatchTensors> Training::fetch()
{
    std::optional<data::Batch> batch;
    {
        const PhaseRange phase(m_recording, Phase::DataWait, m_loader.batchesPerEpoch() - m_batchesLeft);
        batch = m_loader.next();
    }
    if (!batch)
        return std::nullopt;
    m_bad.add(data::Split::Train, batch->bad);
    BatchTensors tensors;
    if (batch->count == 0)
        return tensors;
    PhaseRange phase(m_recording, Phase::Copy, batch->index);
    tensors = m_feed.place(*batch, true,
                           data::sampleSeed(static_cast<std::uint64_t>(m_config[key::seed]), m_epoch, batch->index));
    phase.setBytes(tensors.bytes());
    return tensors;
}

std::shared_future<double> Training::measure(Learner::Output output, std::int64_t samples, bool last)
{
    if (last && m_syncEvery > 0 && (m_steps + 1) % m_syncEvery == 0)
        return m_metrics.addAndRead(std::move(output), samples);
    m_metrics.add(std::move(output), samples);
    m_metrics.sample();
    return {};
}

void Training::train(const BatchTensors& batch, bool last, Group& group)
{
    const double share =
        m_accumulation == 1 ? 1 : static_cast<double>(batch.count) / static_cast<double>(group.expected);
    const Learner::Output output = m_learner.accumulate(batch, share, last, m_recording);
    group.step.samples += batch.count;
    if (m_accumulation == 1)
        group.step.lossOnDevice = output.loss;
    else
        group.loss = group.loss.defined() ? group.loss.add(output.loss, batch.count) : output.loss * batch.count;
    // Of the last one the metrics are read after the update: reading waits for the device.
    if (last)
        group.last = {output, batch.count};
    else
        measure(output, batch.count, false);
}

void Training::finish(Group& group)
{
    if (group.step.samples == 0)
        return;
    // Fewer samples than expected (bad files, the end of an epoch): their mean is over those that came.
    const double factor =
        m_accumulation == 1 ? 1 : static_cast<double>(group.expected) / static_cast<double>(group.step.samples);
    group.step.learningRate = m_learner.weights().learningRate(m_steps);
    m_learner.update(m_steps, factor, m_recording);
    fetchAhead();
    if (group.last.samples > 0)
        group.step.loss = measure(group.last.output, group.last.samples, true);
    m_samples += group.step.samples;
    if (group.loss.defined())
        group.step.lossOnDevice = group.loss / group.step.samples;
    m_recording.sampleLearning(group.step.learningRate, m_samples);
}

Training::Step Training::step()
{
    const auto begin = std::chrono::steady_clock::now();
    setDetailed(m_window.contains(m_steps));
    Group group;
    {
        const StepRange range(m_recording, m_steps);
        std::optional<AutogradProfiler> profiler;
        if (m_config[key::autogradProfiler])
            profiler.emplace();
        const std::int64_t batches = std::min(m_accumulation, m_batchesLeft);
        group.expected = batches * m_config[key::batchSize];
        for (std::int64_t i = 0; i < batches; ++i) {
            const auto batch = nextBatch();
            if (!batch)
                break;
            if (batch->count == 0)
                continue;
            if (std::exchange(m_gradientsDue, false))
                checkGradientsOf(*batch);
            if (group.step.samples == 0)
                m_learner.begin(m_recording);
            train(*batch, i + 1 == batches, group);
        }
        finish(group);
    }
    ++m_steps;
    if (!m_blocksTold)
        tellOfBlocks();
    if (const auto failure = m_learner.takeCompileFailure())
        m_progress.warn("The step could not be compiled as a CUDA graph; the training goes on without", *failure,
                        "a graph needs fixed shapes, and no operator that waits for the device");
    group.step.seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
    return group.step;
}

void Training::checkGradientsOf(const BatchTensors& batch)
{
    for (const bool second : {false, true}) {
        if (!m_config[second ? key::gradgradcheck : key::gradcheck])
            continue;
        const std::string name(second ? key::gradgradcheck.name : key::gradcheck.name);
        try {
            const GradientCheck check = checkGradients(m_learner.network(), batch, second);
            std::ostringstream worst;
            worst << "the worst of " << check.elements << " differs by " << std::setprecision(2) << check.worst;
            if (check.agrees())
                m_progress.report(config::protocol::Notice{config::protocol::Notice::Severity::Info,
                                                           name + ": gradients agree with differences, " + worst.str(),
                                                           check.where,
                                                           {},
                                                           1});
            else
                m_progress.warn(name + ": gradients do not agree with differences, " + worst.str(), check.where,
                                "a kink of the function may lie there; otherwise its backward pass is wrong");
        } catch (const std::exception& failure) {
            m_progress.warn(name + " cannot be done with this model: " + std::string(failure.what()).substr(0, 200));
        }
    }
}

// Which parts are recomputed, once their costs are known.
void Training::tellOfBlocks()
{
    if (m_config[key::checkpointing] != "off" && m_learner.checkpointing().costs().empty())
        m_progress.warn("This model has no blocks: nothing of it is recomputed", std::string(key::checkpointing.name),
                        "choose another workload to see what recomputation saves");
    else if (m_config[key::checkpointing] == "cheap" && m_learner.checkpointing().decided()) {
        const auto costs = m_learner.checkpointing().costs();
        m_recording.setMetadata("checkpointing.blocks", partsText(costs));
        m_progress.report(config::protocol::Notice{
            config::protocol::Notice::Severity::Info, choiceText(costs), std::string(key::checkpointing.name), {}, 1});
    } else if (m_config[key::checkpointing] == "cheap")
        return;
    m_blocksTold = true;
}

Meter::Means Training::takeMeans()
{
    m_bad.sumUp();
    return m_metrics.take(m_group.get());
}

void Training::takeBatch(const data::Batch& batch, Meter& meter, Validation& result)
{
    BatchTensors tensors;
    {
        PhaseRange phase(m_recording, Phase::Copy, batch.index);
        tensors = m_feed.place(batch, false, 0);
        phase.setBytes(tensors.bytes());
    }
    meter.add(m_learner.evaluate(tensors), tensors.count);
    result.samples += batch.count;
    if (const auto notice = m_learner.takePackageNotice())
        m_progress.report(*notice);
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
            if (batch->count > 0)
                takeBatch(*batch, meter, result);
            if (index + 1 == m_window.validationBatches())
                setDetailed(false);
        }
        result.means = meter.take(m_group.get());
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
