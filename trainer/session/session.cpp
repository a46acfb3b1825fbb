#include "trainer/session/session.h"

#include "profiler/formats/container/sealed_writer.h"
#include "profiler/model/result.h"
#include "profiler/model/version.h"
#include "profiler/os/libraries.h"
#include "profiler/os/machine.h"
#include "profiler/os/process.h"
#include "stepscope_run_base_schedules_registry.h"
#include "stepscope_training_optimizers_registry.h"
#include "stepscope_training_workloads_registry.h"
#include "trainer/memory/tensor_memory.h"
#include "trainer/parallel/local_ranks.h"
#include "trainer/parallel/process_group.h"
#include "trainer/session/failure.h"
#include "trainer/session/machine.h"
#include "trainer/session/run.h"
#include "trainer/session/searches.h"
#include "trainer/workloads/parts/network.h"
#include "trainer_data_datasets_registry.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

namespace trainer {

namespace protocol = config::protocol;
namespace key = config::key;
using profiler::message;
using profiler::Result;
using profiler::os::Library;
using protocol::Exit;

namespace {

Result<std::shared_ptr<const data::Dataset>> openDataset(const config::TrainingConfig& config, Progress& progress,
                                                         std::stop_token stop)
{
    const data::OpenProgress report = [&](std::string_view what, std::int64_t done, std::int64_t total) {
        progress.report(protocol::Preparing{std::string(what), done, total});
    };
    for (const auto& [stem, kind] : datasets::all())
        if (stem == config[key::dataset])
            return kind.open(config, report, std::move(stop));
    return profiler::fail<"trainer.no_dataset", "there is no such kind of dataset">(profiler::Error::Code::Unsupported,
                                                                                    config[key::dataset]);
}

std::string_view titleOf(const std::string& dataset)
{
    for (const auto& [stem, kind] : datasets::all())
        if (stem == dataset)
            return kind.title;
    return dataset;
}

struct ChosenDevice {
    c10::Device device{c10::kCPU};
    std::string name;       ///< "cpu", or the GPU's name
    profiler::Message note; ///< why "auto" did not choose a GPU; empty: no note
};

/// @return why the GPU cannot be used; empty: it can
profiler::Message loadCudaLibraries()
{
    // The global scope lets the libraries of libtorch_cuda find each other's symbols.
    if (!Library::open("libtorch_cuda.so", Library::Binding::Now, Library::Scope::Global))
        return profiler::message<"device.no_cuda_libraries", "LibTorch's CUDA libraries cannot be loaded: {why}">(
            {{"why", Library::lastError()}});
    if (!at::globalContext().hasCUDA())
        return profiler::message<"device.no_usable_gpu", "LibTorch finds no usable GPU">();
    at::globalContext().lazyInitDevice(c10::kCUDA);
    return {};
}

/// The device that the configuration asks for. Loads LibTorch's CUDA libraries only if a GPU is used: they are not
/// linked, so that the trainer starts faster and needs less memory on a machine without a GPU.
Result<ChosenDevice> chooseDevice(const config::TrainingConfig& config, const GpuState& gpu)
{
    const std::string wanted = config[config::key::device];
    if (wanted == "cpu" || !gpu.available)
        return ChosenDevice{c10::kCPU, "cpu", {}};
    const profiler::Message problem = loadCudaLibraries();
    if (problem.empty()) {
        // With DDP, each process on this machine has its own GPU.
        const bool isRank = config[config::key::parallel] == "ddp" && LocalRanks::isRank();
        const int index = isRank ? Ranks::fromEnvironment().localRank : 0;
        const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
        c10::impl::VirtualGuardImpl(c10::kCUDA).setDevice(device);
        return ChosenDevice{device, gpu.name, {}};
    }
    if (wanted == "cuda")
        return tl::unexpected(profiler::Error{profiler::Error::Code::Unavailable, problem, gpu.name,
                                              "set device=cpu to train without it"});
    return ChosenDevice{c10::kCPU, "cpu", problem};
}

void describeRun(Recording& recording, const config::TrainingConfig& config, const ChosenDevice& device)
{
    recording.setMetadata("config", config.toJson());
    recording.setMetadata("workload", config[key::workload]);
    recording.setMetadata("batch.size", config.text(key::batchSize.name));
    recording.setMetadata("device", device.name);
    recording.setMetadata("stepscope.version", profiler::version());
    recording.setMetadata("versions.torch", TORCH_VERSION);
    for (const auto& [library, version] : loadedLibraryVersions())
        recording.setMetadata("versions." + library, version);
    recording.setMetadata("host.cores", std::to_string(usableCores()));
    recording.setMetadata("host.cpu", profiler::os::processorName());
    recording.setMetadata("host.cpu_flags", profiler::os::processorFlags());
    recording.setMetadata("host.threads", std::to_string(at::get_num_threads()));
}

protocol::Hello hello(const Training& training, const data::Dataset& dataset, const ChosenDevice& device,
                      const Invocation& invocation)
{
    protocol::Hello record;
    record.pid = profiler::os::processId();
    record.torchVersion = TORCH_VERSION;
    record.device = device.name;
    record.parameters = training.trainStep().parameterCount();
    record.trainSamples = dataset.size(data::Split::Train);
    record.validationSamples = dataset.size(data::Split::Validation);
    record.stepsPerEpoch = training.stepsPerEpoch();
    record.totalSteps = invocation.turns ? 0 : plannedSteps(invocation.config, record.stepsPerEpoch);
    return record;
}

/// Stores the number of steps that a training reached, even if it ends with an exception.
class StepReached {
public:
    StepReached(const Training& training, std::int64_t& step) : m_training(training), m_step(step) {}
    ~StepReached() { m_step = m_training.steps(); }
    StepReached(const StepReached&) = delete;
    StepReached& operator=(const StepReached&) = delete;

private:
    const Training& m_training;
    std::int64_t& m_step;
};

/// A Stop arrived before all ranks had joined.
struct StoppedWhileJoining {};

class Session {
public:
    Session(const Invocation& invocation, Progress& progress)
        : m_invocation(invocation), m_config(invocation.config), m_progress(progress),
          m_commands(STDIN_FILENO, invocation.turns && !isFurtherRank())
    {
    }

    Exit run()
    {
        const GpuState gpu = askGpuDriver();
        if (!acceptable(gpu))
            return Exit::BadInput;
        const auto dataset = openDataset(m_config, m_progress, m_commands.stopToken());
        if (!dataset)
            return refuse(dataset.error());
        for (const profiler::Message& notice : (*dataset)->notices())
            m_progress.warn(notice);
        if ((*dataset)->size(data::Split::Train) == 0) {
            m_progress.fail(message<"dataset.empty", "The dataset has no training samples">(),
                            m_config[key::datasetPath], "choose another folder");
            return Exit::BadInput;
        }
        if (const auto fit = fits(m_config, (*dataset)->spec(), titleOf(m_config[key::dataset])); !fit)
            return refuse(fit.error());
        if (auto started = startRecording(gpu); !started)
            return refuse(started.error());
        const auto device = chooseDevice(m_config, gpu);
        if (!device)
            return refuse(device.error());
        if (m_config[key::compile] && device->device.is_cpu())
            m_progress.warn(message<"compile.no_graphs_on_cpu",
                                    "CUDA graphs are not available on the CPU: the training runs without them">(),
                            std::string(key::compile.name), "train on a GPU");
        if (!device->note.empty())
            m_progress.warn(device->note, gpu.name, "the training runs on the CPU");
        if (m_config[key::findMax] && !findBatch(**dataset))
            return m_commands.stopRequested() ? refuse({profiler::Error::Code::Cancelled, {}, {}, {}}) : Exit::Failed;
        startRanks();
        const Exit exit = train(*dataset, *device);
        m_recording->finish();
        if (m_ranks && exit == Exit::Done)
            m_ranks->wait();
        if (const auto error = m_recording->takeError())
            m_progress.warn(message<"training.trace_incomplete", "The trace is incomplete: {why}">(
                                {{"why", error->what.text}, {"error", error->what.id}}),
                            error->where, error->hint);
        else if (isRank() && !m_ranks)
            sealTrace();
        return exit;
    }

private:
    // The program that started rank 0 seals its trace. Nothing else knows the traces of the other ranks, and of those
    // that torchrun started.
    void sealTrace()
    {
        if (m_invocation.trace.empty())
            return;
        const std::filesystem::path trace = LocalRanks::traceOf(m_invocation.trace, Ranks::fromEnvironment().rank);
        if (const auto sealed = profiler::container::sealTrace(trace); !sealed)
            m_progress.warn(message<"training.trace_not_sealed", "The trace was not compressed: {why}">(
                                {{"why", sealed.error().what.text}, {"error", sealed.error().what.id}}),
                            sealed.error().where, sealed.error().hint);
    }

    bool acceptable(const GpuState& gpu)
    {
        const auto problems = m_config.problems(gpu.available);
        for (const config::ConfigError& problem : problems) {
            const config::Knob* knob = config::findKnob(problem.key);
            const bool aboutGpu = !gpu.available && knob && (knob->needsGpu || problem.key == key::device.name);
            profiler::Message what = messageOf(problem);
            if (aboutGpu)
                what.parameters.emplace_back("gpu", gpu.reason.id);
            m_progress.fail(what, {}, aboutGpu ? gpu.reason.text : "");
        }
        if (!problems.empty())
            return false;
        std::optional<int> localRank;
        try {
            if (isRank())
                localRank = Ranks::fromEnvironment().localRank;
        } catch (const profiler::Failure& failure) {
            m_progress.fail(failure.error().what, failure.error().where, failure.error().hint);
            return false;
        }
        const auto enough = enoughGpus(m_config, gpu, localRank);
        if (!enough)
            m_progress.fail(enough.error().what, enough.error().where, enough.error().hint);
        return enough.has_value();
    }

    // Without DDP these environment variables are irrelevant: this process may itself be a job of some launcher.
    bool isRank() const { return m_config[key::parallel] == "ddp" && LocalRanks::isRank(); }

    Exit refuse(const profiler::Error& error)
    {
        if (error.code == profiler::Error::Code::Cancelled) {
            protocol::Done done;
            done.stopped = true;
            m_progress.report(done);
            return Exit::Done;
        }
        m_progress.fail(error.what, error.where, error.hint);
        return Exit::BadInput;
    }

    // Call it before LibTorch uses the GPU: CUPTI must be initialised first.
    Result<void> startRecording(const GpuState& gpu)
    {
        m_recording = std::make_unique<Recording>();
        if (m_invocation.trace.empty())
            return {};
        // All ranks are started with the same command line.
        const int rank = isRank() ? Ranks::fromEnvironment().rank : 0;
        auto started = Recording::start(LocalRanks::traceOf(m_invocation.trace, rank), m_config[key::captureEnabled],
                                        static_cast<int>(m_config[key::workers]));
        if (!started)
            return tl::unexpected(started.error());
        m_recording = std::move(*started);
        const bool usesGpu = gpu.available && m_config[key::device] != "cpu";
        if (usesGpu)
            for (const profiler::Message& note : m_recording->recordGpu())
                m_progress.warn(
                    message<"training.gpu_not_recorded", "Some of the GPU's work cannot be recorded: {why}">(
                        {{"why", note.text}, {"error", note.id}}));
        m_recording->sampleSystem(usesGpu);
        return {};
    }

    // All LibTorch objects live only inside this function, before the trace is finished: loader workers have their own
    // thread buffers.
    Exit train(const std::shared_ptr<const data::Dataset>& dataset, const ChosenDevice& device)
    {
        std::int64_t step = -1;
        countCpuMemory();
        try {
            const auto group = joinGroup(device);
            at::manual_seed(static_cast<std::uint64_t>(m_config[key::seed] + (group ? group->rank() : 0)));
            Training training(m_config, dataset, device.device, group, *m_recording, m_progress);
            if (!m_config[key::resume].empty())
                resume(training);
            const StepReached reached(training, step);
            describeRun(*m_recording, m_config, device);
            m_recording->setMetadata("dataset.train_samples", std::to_string(dataset->size(data::Split::Train)));
            m_recording->setMetadata("work.unneeded_gradients",
                                     std::to_string(training.trainStep().unneededGradients()));
            m_progress.report(hello(training, *dataset, device, m_invocation));
            const Surroundings around{m_config, *m_recording, m_progress, m_commands, group.get()};
            const protocol::Done done =
                m_invocation.turns ? trainByTurns(training, around) : trainThrough(training, around);
            training.trainStep().synchronize();
            m_progress.report(done);
            return Exit::Done;
        } catch (const StoppedWhileJoining&) {
            return refuse({profiler::Error::Code::Cancelled, {}, {}, {}});
        } catch (const std::exception& exception) {
            if (const auto death = deathOfRank())
                m_progress.fail(*death, {}, rankError());
            else
                m_progress.report(explain(exception, step));
            return Exit::Failed;
        }
    }

    // The code that finds the mismatch does not know the checkpoint's file.
    void resume(Training& training) const
    {
        const std::string path = m_config[key::resume];
        try {
            training.restore(loadState(path));
        } catch (const profiler::Failure& failure) {
            profiler::Error error = failure.error();
            error.where = path;
            if (error.hint.empty())
                error.hint = "choose another checkpoint with run.resume, or start without one";
            throw profiler::Failure(std::move(error));
        }
    }

    // The surviving ranks lose the connection to a dead rank a moment before its exit is noticed.
    std::optional<profiler::Message> deathOfRank() const
    {
        for (int tries = 0; m_ranks && tries < 20 && !m_ranks->death(); ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return m_ranks ? m_ranks->death() : std::nullopt;
    }

    // A rank that follows the first one and receives no commands itself.
    [[nodiscard]] bool isFurtherRank() const
    {
        const char* rank = std::getenv("RANK");
        return m_config[key::parallel] == "ddp" && LocalRanks::isRank() && std::string_view(rank) != "0";
    }

    // If torchrun started this process, it already is a rank; otherwise the other ranks are started here.
    void startRanks()
    {
        const auto ranks = static_cast<int>(m_config[key::localRanks]);
        if (m_config[key::parallel] != "ddp" || LocalRanks::isRank() || ranks < 2)
            return;
        std::vector<std::string> arguments;
        for (const config::Difference& change : difference(config::TrainingConfig(), m_config))
            arguments.insert(arguments.end(), {"--set", change.key + "=" + change.b});
        if (m_invocation.turns)
            arguments.emplace_back("--turns");
        m_ranks = std::make_unique<LocalRanks>(
            ranks, arguments, m_invocation.trace, [this](int rank, const std::string& line) { forward(rank, line); },
            [this] { abortGroup(); });
    }

    // After another rank died, this rank's device may wait for it forever. Runs on a thread of m_ranks, which catches
    // no exceptions.
    void abortGroup()
    {
        std::shared_ptr<ProcessGroup> group;
        {
            const std::lock_guard lock(m_ranksMutex);
            group = m_group.lock();
        }
        try {
            if (group)
                group->abort();
        } catch (const std::exception& failure) { // the thread that waits for the exchange reports it
            std::fprintf(stderr, "the exchange between the ranks could not be aborted: %s\n", failure.what());
        }
    }

    // Forwards warnings and errors of another rank. Runs on the thread that watches the ranks.
    void forward(int rank, const std::string& line)
    {
        const auto record = protocol::parseProgress(line);
        const auto* notice = record ? std::get_if<protocol::Notice>(&*record) : nullptr;
        if (!notice || notice->severity == protocol::Notice::Severity::Info)
            return;
        std::fprintf(stderr, "rank %d: %s\n", rank, sentence(*notice).c_str());
        const std::lock_guard lock(m_ranksMutex);
        if (notice->severity == protocol::Notice::Severity::Error && m_rankError.empty())
            m_rankError = "rank " + std::to_string(rank) + " said: " + sentence(*notice);
    }

    std::string rankError() const
    {
        const std::lock_guard lock(m_ranksMutex);
        return m_rankError.empty() ? "check the output of that rank" : m_rankError;
    }

    // Called while waiting for the other ranks to join.
    void watchRanks() const
    {
        if (const auto death = m_ranks->death())
            throw profiler::Failure({profiler::Error::Code::Unavailable, *death, {}, {}});
        if (m_commands.stopRequested())
            throw StoppedWhileJoining();
    }

    std::shared_ptr<ProcessGroup> joinGroup(const ChosenDevice& device)
    {
        if (m_config[key::parallel] != "ddp")
            return nullptr;
        const Ranks ranks = Ranks::fromEnvironment();
        m_recording->setMetadata("rank", std::to_string(ranks.rank));
        m_recording->setMetadata("ranks", std::to_string(ranks.size));
        auto group = std::make_shared<ProcessGroup>(ranks, device.device,
                                                    m_ranks ? [this] { watchRanks(); } : std::function<void()>());
        {
            const std::lock_guard lock(m_ranksMutex);
            m_group = group;
        }
        if (m_ranks && m_ranks->death()) // it died before the group was known to abortGroup()
            group->abort();
        return group;
    }

    // Tries batches in separate processes, which may run out of memory.
    bool findBatch(const data::Dataset& dataset)
    {
        profiler::Message failure;
        const auto tryOut = [&](std::int64_t batch) {
            if (m_commands.stopRequested())
                return BatchTrial{BatchTrial::Outcome::Failed, {}};
            m_progress.report(protocol::Preparing{"Trying batch size " + std::to_string(batch), 0, 0});
            const BatchTrial trial = tryBatch(m_config, batch, m_config[key::memoryLimit] << 20);
            if (!trial.why.empty())
                failure = trial.why;
            return trial;
        };
        const auto found =
            searchBatch(m_config[key::batchSize], largestBatch(dataset.size(data::Split::Train)), tryOut);
        if (m_commands.stopRequested())
            return false;
        if (!found) {
            m_progress.fail(failure.empty()
                                ? message<"batch_search.none_fits",
                                          "No batch size was found: even the smallest does not fit into memory">()
                                : message<"batch_search.failed", "No batch size was found: {why}">(
                                      {{"why", failure.text}, {"error", failure.id}}),
                            {}, "start the search from a smaller batch.size");
            return false;
        }
        if (!failure.empty())
            m_progress.warn(message<"batch_search.larger_failed",
                                    "A larger batch failed, which was treated as out of memory: {why}">(
                {{"why", failure.text}, {"error", failure.id}}));
        m_progress.inform(message<"batch_search.found", "The largest batch that fits is {batch}; the training uses it">(
                              {{"batch", *found}}),
                          {}, "raise optimizer.learning_rate accordingly, see optimizer.lr_scaling");
        if (const auto set = m_config.set(key::batchSize.name, std::to_string(*found)); !set) {
            m_progress.fail(messageOf(set.error()));
            return false;
        }
        return true;
    }

    const Invocation& m_invocation;
    config::TrainingConfig m_config;
    Progress& m_progress;
    Commands m_commands;
    std::unique_ptr<Recording> m_recording;
    mutable std::mutex m_ranksMutex;     // protects m_rankError and m_group
    std::string m_rankError;             // of the first rank that failed
    std::weak_ptr<ProcessGroup> m_group; // while it trains
    std::unique_ptr<LocalRanks> m_ranks; // null: no other ranks, or they were not started here
};

template <class Entry>
std::vector<protocol::Choice> choices(const std::vector<profiler::Registered<Entry>>& all)
{
    std::vector<protocol::Choice> list;
    for (const auto& [stem, entry] : all)
        list.push_back({std::string(stem), std::string(entry.title), std::string(entry.doc)});
    return list;
}

} // namespace

Exit runSession(const Invocation& invocation, Progress& progress)
{
    try {
        return Session(invocation, progress).run();
    } catch (const std::exception& exception) {
        progress.report(explain(exception));
        return Exit::Failed;
    }
}

protocol::Description describe()
{
    const GpuState gpu = askGpuDriver();
    return {choices(workloads::all()),
            choices(datasets::all()),
            choices(optimizers::all()),
            choices(schedules::all()),
            gpu.available,
            gpu.reason.text,
            gpu.reason.id,
            TORCH_VERSION,
            usableCores()};
}

} // namespace trainer
