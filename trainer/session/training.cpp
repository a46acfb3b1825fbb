#include "trainer/session/training.h"

#include "profiler/model/result.h"
#include "trainer/data/loader.h"
#include "trainer/data/random.h"
#include "trainer/hooks/gradient_check.h"
#include "trainer/hooks/op_hook.h"
#include "trainer/precision/mixed_precision.h"
#include "trainer/session/machine.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iomanip>
#include <mutex>
#include <sstream>
#include <utility>

namespace trainer {

namespace key = config::key;
using profiler::message;
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
    // Ranks wait for each other in every training step, so they need the same number of batches; validation must not
    // skip any sample.
    if (group) {
        options.equalRanks = train;
        options.rank = static_cast<int>(group->rank());
        options.ranks = static_cast<int>(group->size());
    }
    if (config[key::pinMemory])
        options.memory = pinnedAllocator();
    options.recorder = recording.events();
    // The only LibTorch calls of workers are allocations, so they need no intra-op threads and no thread setting in
    // LibTorch, which is partly global for the process.
    options.workerStart = [] { at::GradMode::set_enabled(false); };
    return options;
}

// Sets the process-wide state of LibTorch. LibTorch's default number of threads ignores control groups: more threads
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

std::int64_t plannedSteps(const config::TrainingConfig& config, std::int64_t stepsPerEpoch)
{
    return config[key::steps] > 0 ? config[key::steps] : config[key::epochs] * stepsPerEpoch;
}

Training::Training(const config::TrainingConfig& config, std::shared_ptr<const data::Dataset> dataset,
                   at::Device device, std::shared_ptr<ProcessGroup> group, Recording& recording, Progress& progress)
    : m_config(config), m_dataset(std::move(dataset)), m_recording(recording), m_progress(progress),
      m_window(config[key::captureOpsEvery], config[key::captureOpsWindow]),
      m_loader(m_dataset, loaderOptions(config, m_dataset->spec(), data::Split::Train, recording, group.get())),
      m_trainStep(config, m_dataset->spec(), withSettings(device, config), group,
                  plannedSteps(config, ceilDivide(m_loader.batchesPerEpoch(), config[key::accumulation])),
                  recording.events()),
      m_bad(progress), m_feed(config, m_dataset->spec(), device),
      m_metrics(m_trainStep.objective(), config[key::asyncWork], recording), m_group(group),
      m_syncEvery(config[key::syncEvery]), m_accumulation(config[key::accumulation])
{
    namespace capture = profiler::capture;
    const auto level =
        capture::captureLevelFromName(config[key::captureLevel]).value_or(capture::CaptureLevel::Standard);
    const capture::LevelContents& contents = capture::contentsOf(level);
    recording.setLevel(level);
    if (auto* recorder = recording.events(); recorder && contents.ops)
        m_hook = std::make_unique<OpHook>(*recorder, contents.shapes);
    // LibTorch has a single listener for its allocators, and its own profiler uses it too.
    if (auto* recorder = recording.events(); recorder && contents.memory && !config[key::autogradProfiler])
        m_memoryHook = std::make_unique<MemoryHook>(*recorder);
    if (config[key::emitNvtx])
        m_nvtxOps = std::make_unique<NvtxOps>();
    if (hasValidation())
        m_validationLoader = std::make_unique<data::Loader>(
            m_dataset, loaderOptions(config, m_dataset->spec(), data::Split::Validation, recording, group.get()));
    warnOfKnobs();
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
    // Loads and discards batches that were already trained on: random choices depend only on epoch and sample.
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

// Fetches while the device runs the step's work; reading the loss waits for that work.
void Training::fetchAhead()
{
    if (m_feed.isAsynchronous() && m_batchesLeft > 0)
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
    const bool empty = batch->count == 0;
    if (empty && !m_group)
        return tensors;
    if (empty)
        data::dummyBatch(*batch, m_dataset->spec(), m_config[key::batchSize]);
    PhaseRange phase(m_recording, Phase::Copy, batch->index);
    tensors = m_feed.place(*batch, true,
                           data::sampleSeed(static_cast<std::uint64_t>(m_config[key::seed]), m_epoch, batch->index));
    phase.setBytes(tensors.bytes());
    if (empty)
        tensors.count = 0;
    return tensors;
}

std::shared_future<double> Training::measure(TrainStep::Output output, std::int64_t samples, bool last)
{
    if (last && isReadBack())
        return m_metrics.addAndRead(std::move(output), samples);
    m_metrics.add(std::move(output), samples);
    m_metrics.sample();
    return {};
}

void Training::train(const BatchTensors& batch, bool last, Group& group)
{
    if (batch.count == 0) { // only keeps the other ranks going; it does not change the weights
        static_cast<void>(m_trainStep.dummyBatch(batch, m_recording));
        return;
    }
    const double share =
        m_accumulation == 1 ? 1 : static_cast<double>(batch.count) / static_cast<double>(group.expected);
    const TrainStep::Output output = m_trainStep.accumulate(batch, share, last, m_recording);
    group.step.samples += batch.count;
    if (m_accumulation == 1)
        group.step.lossOnDevice = output.loss;
    else
        group.loss = group.loss.defined() ? group.loss.add(output.loss, batch.count) : output.loss * batch.count;
    // The metrics of the last micro-batch are read after the update, because reading waits for the device.
    if (last)
        group.last = {output, batch.count};
    else
        measure(output, batch.count, false);
}

void Training::finish(Group& group)
{
    if (!group.begun)
        return;
    // With fewer samples than expected (bad files, the end of an epoch), the mean is taken over the samples that are
    // there.
    const double factor = correction(group);
    group.step.learningRate = m_trainStep.weights().learningRate(m_steps);
    m_trainStep.update(m_steps, factor, m_recording);
    fetchAhead();
    if (group.last.samples > 0)
        group.step.loss = measure(group.last.output, group.last.samples, true);
    else if (group.step.samples > 0 && isReadBack()) // the last batch was empty, but those before it were not
        group.step.loss = m_metrics.read();
    m_samples += group.step.samples;
    if (group.loss.defined())
        group.step.lossOnDevice = group.loss / group.step.samples;
    m_recording.sampleLearning(group.step.learningRate, m_samples * ranks());
}

// Must be equal on all ranks, otherwise their weights would diverge: all ranks use the total count.
double Training::correction(const Group& group) const
{
    if (m_accumulation == 1)
        return 1;
    std::vector<double> samples = {static_cast<double>(group.step.samples)};
    if (m_group)
        m_group->addUp(samples);
    return samples[0] > 0 ? static_cast<double>(group.expected * ranks()) / samples[0] : 1;
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
            // Ranks exchange gradients in the last micro-batch of a step, so every rank must take part in it.
            const bool last = i + 1 == batches;
            if (batch->count == 0 && !(m_group && last))
                continue;
            if (batch->count > 0 && std::exchange(m_gradientsDue, false))
                checkGradientsOf(*batch);
            if (!std::exchange(group.begun, true))
                m_trainStep.begin(m_recording);
            train(*batch, last, group);
        }
        finish(group);
    }
    ++m_steps;
    if (!m_blocksReported)
        reportBlocks();
    if (const auto failure = m_trainStep.takeCompileFailure())
        m_progress.report(*failure);
    group.step.seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
    return group.step;
}

Meter::Means Training::takeMeans()
{
    m_bad.reportTotal();
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
    meter.add(m_trainStep.evaluate(tensors), tensors.count);
    result.samples += batch.count;
    if (const auto notice = m_trainStep.takePackageNotice())
        m_progress.report(*notice);
}

Training::Validation Training::validate(const std::function<bool()>& stop)
{
    Validation result;
    if (!m_validationLoader)
        return result;
    const auto begin = std::chrono::steady_clock::now();
    setDetailed(m_window.validationBatches() > 0);
    Meter meter(m_trainStep.objective());
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

// Warns about knobs that are switched on without any effect.
void Training::warnOfKnobs()
{
    const std::string device(key::augmentOnDevice.name), copies(key::nonBlocking.name);
    if (m_config[key::augmentOnDevice] && m_config[key::augment] && !augmentsOnDevice(m_config, m_dataset->spec()))
        m_progress.warn(message<"augment.no_device_augmentation",
                                "This dataset has no augmentation that can run on the device: the knob has no "
                                "effect">(),
                        device, "use a dataset of images");
    else if (augmentsOnDevice(m_config, m_dataset->spec()) && m_trainStep.device().is_cpu())
        m_progress.warn(message<"augment.on_the_processor",
                                "The training runs on the CPU: its own thread augments the batches instead of the "
                                "loader's workers, which delays each step">(),
                        device, "switch it off, or train on a GPU");
    const auto level = profiler::capture::captureLevelFromName(m_config[key::captureLevel]);
    if (m_recording.events() && m_config[key::autogradProfiler] && level &&
        profiler::capture::contentsOf(*level).memory)
        m_progress.warn(message<"training.no_allocations",
                                "Allocations are not recorded: LibTorch's own profiler uses the allocation listener">(),
                        std::string(key::autogradProfiler.name), "switch it off, as in any real training");
    if (m_config[key::nonBlocking] && !m_feed.isAsynchronous())
        m_progress.warn(
            message<"transfer.copies_wait", "Only copies from pinned memory are asynchronous: these copies block">(),
            copies, "set loader.pin_memory too");
}

void Training::checkGradientsOf(const BatchTensors& batch)
{
    for (const bool second : {false, true}) {
        if (!m_config[second ? key::gradgradcheck : key::gradcheck])
            continue;
        const std::string name(second ? key::gradgradcheck.name : key::gradcheck.name);
        try {
            const GradientCheck check = checkGradients(m_trainStep.network(), batch, second);
            std::ostringstream worst;
            worst << std::setprecision(2) << check.worst;
            if (check.agrees())
                m_progress.inform(
                    message<"gradients.agree",
                            "{knob}: gradients agree with finite differences; the largest deviation of {elements} "
                            "elements is {worst}">(
                        {{"knob", name}, {"elements", check.elements}, {"worst", check.worst, worst.str()}}),
                    check.where);
            else
                m_progress.warn(
                    message<"gradients.disagree", "{knob}: gradients disagree with finite differences; the largest "
                                                  "deviation of {elements} elements is {worst}">(
                        {{"knob", name}, {"elements", check.elements}, {"worst", check.worst, worst.str()}}),
                    check.where, "check the backward pass, unless the function is not differentiable at this point");
        } catch (const std::exception& failure) {
            m_progress.warn(message<"gradients.not_checked", "{knob} does not work with this model: {why}">(
                {{"knob", name}, {"why", std::string(failure.what()).substr(0, 200)}}));
        }
    }
}

// Reports which blocks are recomputed, once their costs are known.
void Training::reportBlocks()
{
    if (m_config[key::checkpointing] != "off" && m_trainStep.checkpointing().costs().empty())
        m_progress.warn(message<"checkpointing.no_blocks", "This model has no blocks: nothing is recomputed">(),
                        std::string(key::checkpointing.name), "choose another workload to use recomputation");
    else if (m_config[key::checkpointing] == "cheap" && m_trainStep.checkpointing().decided()) {
        const auto costs = m_trainStep.checkpointing().costs();
        m_recording.setMetadata("checkpointing.blocks", partsText(costs));
        m_progress.inform(message<"checkpointing.chosen", "{choice}">({{"choice", choiceText(costs)}}),
                          std::string(key::checkpointing.name));
    } else if (m_config[key::checkpointing] == "cheap")
        return;
    m_blocksReported = true;
}

namespace {

// Settings that must be equal in the saved training and in the run that resumes it.
const config::Key<std::string> kSame[] = {key::workload, key::optimizer, key::dataset};

std::vector<std::pair<std::string, at::Generator>> generators(at::Device device)
{
    std::vector<std::pair<std::string, at::Generator>> all = {{"generator.cpu", at::detail::getDefaultCPUGenerator()}};
    if (!device.is_cpu())
        all.emplace_back("generator.device", at::globalContext().defaultGenerator(device));
    return all;
}

// Each rank draws its own random numbers.
std::string ofRank(const std::string& name, std::int64_t rank)
{
    return rank == 0 ? name : name + ".rank" + std::to_string(rank);
}

} // namespace

// Saves the generators of every rank; the first rank gets all of them.
void Training::saveGenerators(SavedState& state) const
{
    for (auto& [name, generator] : generators(m_trainStep.device())) {
        at::Tensor own;
        {
            const std::lock_guard lock(generator.mutex());
            own = generator.get_state();
        }
        if (!m_group) {
            state.tensors.emplace(name, own);
            continue;
        }
        // All other ranks contribute zeros, so the sum of each byte is its value.
        const auto bytes = static_cast<std::size_t>(own.numel());
        std::vector<double> all(bytes * static_cast<std::size_t>(m_group->size()));
        std::copy_n(own.const_data_ptr<std::uint8_t>(), bytes,
                    all.begin() + static_cast<std::ptrdiff_t>(bytes) * m_group->rank());
        m_group->addUp(all);
        for (std::int64_t rank = 0; rank < m_group->size(); ++rank) {
            at::Tensor theirs = at::empty_like(own);
            std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(bytes) * rank, bytes,
                        theirs.mutable_data_ptr<std::uint8_t>());
            state.tensors.emplace(ofRank(name, rank), theirs);
        }
    }
}

// A rank that the saved training did not have starts from its seed.
void Training::restoreGenerators(const SavedState& state) const
{
    for (auto& [name, generator] : generators(m_trainStep.device()))
        if (const auto found = state.tensors.find(ofRank(name, m_group ? m_group->rank() : 0));
            found != state.tensors.end()) {
            const std::lock_guard lock(generator.mutex());
            generator.set_state(found->second);
        }
}

SavedState Training::save()
{
    SavedState state;
    saveGenerators(state);
    if (m_group && m_group->rank() != 0)
        return state;
    for (const auto& name : kSame)
        state.texts.emplace(name.name, m_config[name]);
    m_trainStep.save(state);
    state.numbers = {{"step", static_cast<double>(m_steps)},
                     {"samples", static_cast<double>(m_samples)},
                     {"epoch", static_cast<double>(m_epoch)},
                     {"batches", static_cast<double>(m_loader.batchesPerEpoch() - m_batchesLeft)},
                     {"batch size", static_cast<double>(m_config[key::batchSize])},
                     {"validations", static_cast<double>(m_validations)}};
    return state;
}

std::shared_future<std::vector<double>> Training::metricsState()
{
    auto sums = m_metrics.state();
    if (!m_group)
        return sums;
    std::vector<double> all = sums.get();
    m_group->addUp(all);
    std::promise<std::vector<double>> known;
    known.set_value(std::move(all));
    return known.get_future().share();
}

void Training::addMetrics(SavedState& state, const std::vector<double>& sums)
{
    for (std::size_t i = 0; i < sums.size(); ++i)
        state.numbers.emplace("meter." + std::to_string(i), sums[i]);
}

void Training::restore(const SavedState& state)
{
    for (const auto& name : kSame) {
        const auto found = state.texts.find(std::string(name.name));
        if (found == state.texts.end() || found->second != m_config[name])
            profiler::throwError<"checkpoint.other_configuration",
                                 "The checkpoint belongs to a training with {key} = {saved}; this training has {key} = "
                                 "{value}">(profiler::Error::Code::Invalid, {},
                                            "change the configuration, or choose another checkpoint with run.resume",
                                            {{"key", name.name},
                                             {"saved", found == state.texts.end() ? "(unknown)" : found->second},
                                             {"value", m_config[name]}});
    }
    m_trainStep.restore(state);
    restoreGenerators(state);
    m_steps = state.integer("step");
    m_samples = state.integer("samples");
    m_validations = state.integer("validations");
    m_epoch = state.integer("epoch");
    const std::int64_t done = state.integer("batches");
    // With another batch size the position within the epoch is meaningless: the next epoch begins.
    if (state.integer("batch size") != m_config[key::batchSize] || done > m_loader.batchesPerEpoch())
        return;
    if (done == m_loader.batchesPerEpoch()) {
        m_epochEndDue = true;
    } else {
        --m_epoch; // beginEpoch() increments it again
        m_skipBatches = done;
    }
    if (m_group && m_group->rank() != 0)
        return; // the sums are over all ranks
    std::vector<double> sums;
    for (std::size_t i = 0; i < m_metrics.state().get().size(); ++i)
        sums.push_back(state.number("meter." + std::to_string(i)));
    m_metrics.setState(sums);
}

} // namespace trainer
