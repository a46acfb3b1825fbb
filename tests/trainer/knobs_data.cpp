#include "tests/trainer/knobs.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace trainer_test {

using namespace profiler;
using enum Observable::Expect;

namespace {

double batchBytes(const Seen& seen)
{
    return static_cast<double>(seen.trace().phases(phase::kCopy).at(0).args.bytes);
}

double storedBytes(const Seen& seen)
{
    const auto reads = seen.trace().stages(stage::kRead);
    return std::accumulate(reads.begin(), reads.end(), 0.0,
                           [](double sum, const Slice& read) { return sum + static_cast<double>(read.args.bytes); }) /
           static_cast<double>(reads.size());
}

double parameters(const Seen& seen)
{
    return static_cast<double>(seen.hello().parameters);
}
double trainSamples(const Seen& seen)
{
    return static_cast<double>(seen.hello().trainSamples);
}
double stepsDone(const Seen& seen)
{
    return static_cast<double>(seen.run.one<protocol::Done>().steps);
}
double firstLoss(const Seen& seen)
{
    return seen.trace()
        .trace()
        .counter([&] {
            for (const Track& track : seen.trace().tracks(TrackKind::Counter))
                if (track.name == "loss")
                    return track.id;
            return TrackId{};
        }())
        .at(0)
        .value;
}

double workerTracks(const Seen& seen)
{
    return static_cast<double>(seen.trace().tracks(TrackKind::LoaderWorker).size());
}

double workerStarts(const Seen& seen)
{
    return static_cast<double>(seen.trace().phases(phase::kWorkerStart).size());
}

// How many samples the workers were ahead of the training, at most: reads begun before the wait for a batch was over,
// less what had been handed over by then.
double samplesAhead(const Seen& seen)
{
    const auto reads = seen.trace().stages(stage::kRead);
    std::int64_t most = 0, taken = 0;
    for (const Slice& wait : seen.trace().phases(phase::kDataWait)) {
        const auto begun = std::ranges::count_if(reads, [&](const Slice& read) { return read.begin < wait.begin; });
        most = std::max<std::int64_t>(most, begun - taken);
        taken += 16;
    }
    return static_cast<double>(most);
}

} // namespace

std::vector<Observable> dataKnobs()
{
    // Long steps on few small images: the workers are far faster than the training.
    const std::vector<std::string> slowModel = {"workload=resnet18", "dataset.image_size=16", "run.steps=4",
                                                "loader.workers=1", "dataset.validation_share=0"};
    return {
        {"dataset.samples", "100", "60", "training samples", {}, trainSamples, Greater},
        {"dataset.classes", "2", "4", "weights of the last layer", {}, parameters, Less},
        {"dataset.source_size", "32", "96", "bytes of a stored image", {}, storedBytes, Less},
        {"dataset.image_size", "16", "24", "bytes of a batch", {}, batchBytes, Less},
        {"dataset.validation_share",
         "0.2",
         "0",
         "phases of validation",
         {},
         [](const Seen& seen) { return static_cast<double>(seen.trace().phases(phase::kValidation).size()); },
         Greater},
        {"augment.enabled", "true", "false", "loss of the first step", {}, firstLoss, Differs},
        {"batch.size", "16", "8", "bytes of a batch", {}, batchBytes, Greater},
        {"run.epochs", "1", "2", "steps done", {}, stepsDone, Less},
        {"run.steps", "2", "3", "steps done", {}, stepsDone, Less},
        {"run.seed", "1", "2", "loss of the first step", {}, firstLoss, Differs},
        {"loader.workers",
         "1",
         "2",
         "tracks of loader workers",
         {"loader.persistent_workers=true", "dataset.validation_share=0"},
         workerTracks,
         Less},
        {"loader.prefetch_factor", "1", "6", "samples that the worker was ahead", slowModel, samplesAhead, Less},
        {"loader.persistent_workers",
         "false",
         "true",
         "starts of workers",
         {"loader.workers=1", "run.epochs=3", "dataset.validation_share=0"},
         workerStarts,
         Greater},
        {"loader.shuffle", "true", "false", "loss of the first step", {"augment.enabled=false"}, firstLoss, Differs},
        {"workload", "convnet", "resnet18", "weights", {"run.steps=1"}, parameters, Less},
        {"model.width", "4", "8", "weights", {"run.steps=1"}, parameters, Less},
    };
}

} // namespace trainer_test
