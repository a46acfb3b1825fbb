#include "trainer/loop/session.h"

#include "trainer/loop/device.h"
#include "trainer/loop/failure.h"
#include "trainer/loop/host.h"
#include "trainer/loop/run.h"
#include "trainer/models/options.h"
#include "trainer_data_datasets_registry.h"

#include <ATen/ATen.h>
#include <torch/version.h>
#include <unistd.h>

namespace trainer {

namespace protocol = config::protocol;
namespace key = config::key;
using profiler::Result;
using protocol::Exit;

namespace {

Result<std::shared_ptr<const data::Dataset>> openDataset(const config::TrainingConfig& config, Progress& progress,
                                                         std::stop_token stop)
{
    const data::OpenProgress tell = [&](std::string_view what, std::int64_t done, std::int64_t total) {
        progress.report(protocol::Preparing{std::string(what), done, total});
    };
    for (const auto& [stem, kind] : datasets::all())
        if (stem == config[key::dataset])
            return kind.open(config, tell, std::move(stop));
    return tl::unexpected(
        profiler::Error{profiler::Error::Code::Unsupported, "there is no such data set", config[key::dataset], {}});
}

std::string_view titleOf(const std::string& dataset)
{
    for (const auto& [stem, kind] : datasets::all())
        if (stem == dataset)
            return kind.title;
    return dataset;
}

void describeRun(Recording& recording, const config::TrainingConfig& config, const ChosenDevice& device)
{
    recording.setMetadata("config", config.toJson());
    recording.setMetadata("workload", config[key::workload]);
    recording.setMetadata("batch.size", config.text(key::batchSize.name));
    recording.setMetadata("device", device.name);
    recording.setMetadata("versions.torch", TORCH_VERSION);
    recording.setMetadata("host.cores", std::to_string(usableCores()));
    recording.setMetadata("host.cpu", processorName());
    recording.setMetadata("host.cpu_flags", processorFlags());
    recording.setMetadata("host.threads", std::to_string(at::get_num_threads()));
}

protocol::Hello hello(const Training& training, const data::Dataset& dataset, const ChosenDevice& device,
                      const Invocation& invocation)
{
    protocol::Hello record;
    record.pid = getpid();
    record.torchVersion = TORCH_VERSION;
    record.device = device.name;
    record.parameters = training.learner().parameterCount();
    record.trainSamples = dataset.size(data::Split::Train);
    record.validationSamples = dataset.size(data::Split::Validation);
    record.stepsPerEpoch = training.stepsPerEpoch();
    record.totalSteps = invocation.turns ? 0 : plannedSteps(invocation.config, record.stepsPerEpoch);
    return record;
}

class Session {
public:
    Session(const Invocation& invocation, Progress& progress)
        : m_invocation(invocation), m_config(invocation.config), m_progress(progress),
          m_commands(STDIN_FILENO, invocation.turns)
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
        for (const std::string& notice : (*dataset)->notices())
            m_progress.warn(notice);
        if ((*dataset)->size(data::Split::Train) == 0) {
            m_progress.fail("The data set has no samples to train on", m_config[key::datasetPath],
                            "choose another folder");
            return Exit::BadInput;
        }
        if (const auto fit = fits(m_config, (*dataset)->spec(), titleOf(m_config[key::dataset])); !fit)
            return refuse(fit.error());
        if (auto started = startRecording(gpu); !started)
            return refuse(started.error());
        const auto device = chooseDevice(m_config, gpu);
        if (!device)
            return refuse(device.error());
        if (!device->note.empty())
            m_progress.warn(device->note, gpu.name, "the training runs on the processor");
        const Exit exit = train(*dataset, *device);
        m_recording->finish();
        if (const auto error = m_recording->takeError())
            m_progress.warn("The trace is not complete: " + error->what, error->where, error->mend);
        return exit;
    }

private:
    bool acceptable(const GpuState& gpu)
    {
        const auto problems = m_config.problems(gpu.available);
        for (const config::ConfigError& problem : problems) {
            const config::Knob* knob = config::findKnob(problem.key);
            const bool aboutGpu = !gpu.available && knob && (knob->needsGpu || problem.key == key::device.name);
            m_progress.fail(problem.message(), {}, aboutGpu ? gpu.reason : "");
        }
        return problems.empty();
    }

    Exit refuse(const profiler::Error& error)
    {
        if (error.code == profiler::Error::Code::Cancelled) {
            protocol::Done done;
            done.stopped = true;
            m_progress.report(done);
            return Exit::Done;
        }
        m_progress.fail(error.what, error.where, error.mend);
        return Exit::BadInput;
    }

    // Before LibTorch touches the GPU: CUPTI must be there first.
    Result<void> startRecording(const GpuState& gpu)
    {
        m_recording = std::make_unique<Recording>();
        if (m_invocation.trace.empty())
            return {};
        auto started = Recording::start(m_invocation.trace, m_config[key::captureEnabled]);
        if (!started)
            return tl::unexpected(started.error());
        m_recording = std::move(*started);
        if (gpu.available && m_config[key::device] != "cpu")
            for (const std::string& note : m_recording->recordGpu())
                m_progress.warn("Not all of the GPU's work can be recorded: " + note);
        return {};
    }

    // Everything of LibTorch lives and dies in here, before the trace gets its end: loader workers have lanes of their
    // own.
    Exit train(const std::shared_ptr<const data::Dataset>& dataset, const ChosenDevice& device)
    {
        try {
            at::manual_seed(static_cast<std::uint64_t>(m_config[key::seed]));
            Training training(m_config, dataset, device.device, *m_recording, m_progress);
            describeRun(*m_recording, m_config, device);
            m_progress.report(hello(training, *dataset, device, m_invocation));
            const Surroundings around{m_config, *m_recording, m_progress, m_commands};
            const protocol::Done done =
                m_invocation.turns ? trainByTurns(training, around) : trainThrough(training, around);
            training.learner().synchronize();
            m_progress.report(done);
            return Exit::Done;
        } catch (const std::exception& exception) {
            m_progress.report(explain(exception));
            return Exit::Failed;
        }
    }

    const Invocation& m_invocation;
    const config::TrainingConfig& m_config;
    Progress& m_progress;
    Commands m_commands;
    std::unique_ptr<Recording> m_recording;
};

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

} // namespace trainer
