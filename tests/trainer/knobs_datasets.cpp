#include "tests/trainer/knobs.h"

namespace trainer_test {

using namespace profiler;
using enum Observable::Expect;

namespace {

double batchBytes(const Seen& seen)
{
    return static_cast<double>(seen.trace().phases(phase::kCopy).at(0).args.bytes);
}

double stepsDone(const Seen& seen)
{
    return static_cast<double>(seen.run.one<protocol::Done>().steps);
}

double finalLoss(const Seen& seen)
{
    return seen.run.one<protocol::Done>().finalLoss;
}

} // namespace

std::vector<Observable> datasetKnobs()
{
    const auto generated = [](std::vector<std::string> settings) {
        settings.insert(settings.end(), {"dataset.path=", "model.size=tiny", "model.width=0"});
        return settings;
    };
    return {
        {"dataset.context", "8", "16", "bytes of a batch",
         generated({"workload=lstm", "dataset.kind=text", "run.steps=1"}), batchBytes, Less},
        {"data.normalize", "true", "false", "final loss", {"run.steps=1"}, finalLoss, Differs},
        {"loader.shard_streams", "true", "false", "steps of an epoch",
         generated({"dataset.kind=stream", "loader.workers=2", "dataset.validation_share=0"}), stepsDone, Less},
    };
}

} // namespace trainer_test
