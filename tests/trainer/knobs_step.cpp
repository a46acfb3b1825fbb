#include "tests/trainer/knobs.h"

#include <algorithm>

namespace trainer_test {

using namespace profiler;
using enum Observable::Expect;

namespace {

auto ops(std::string_view op, std::string_view phase)
{
    return [op, phase](const Seen& seen) { return static_cast<double>(seen.trace().count(op, phase)); };
}

double lastLoss(const Seen& seen)
{
    return seen.run.one<protocol::Done>().finalLoss;
}

// Operators that autograd numbered: only those can have a node to go backward through.
double numberedOpsInValidation(const Seen& seen)
{
    const auto found = seen.trace().opsIn(phase::kValidation);
    return static_cast<double>(std::ranges::count_if(found, [](const Slice& op) { return op.sequence >= 0; }));
}

double stepsWithOps(const Seen& seen)
{
    return static_cast<double>(seen.trace().stepsWithOps().size());
}

double slices(const Seen& seen)
{
    return static_cast<double>(seen.trace().trace().sliceCount());
}

} // namespace

std::vector<Observable> stepKnobs()
{
    return {
        {"optimizer.kind",
         "sgd",
         "adamw",
         "square roots in the optimizer",
         {},
         ops("aten::sqrt", phase::kOptimizer),
         Less},
        {"optimizer.learning_rate", "0.01", "0.1", "final loss", {}, lastLoss, Differs},
        {"optimizer.momentum", "0", "0.9", "final loss", {}, lastLoss, Differs},
        {"optimizer.weight_decay", "0", "0.1", "final loss", {}, lastLoss, Differs},
        {"zero_grad.set_to_none",
         "false",
         "true",
         "fills of gradients with zeros",
         {},
         ops("aten::zero_", phase::kZeroGrad),
         Greater},
        {"memory_format",
         "contiguous",
         "channels_last",
         "reordering of batches",
         {},
         ops("aten::clone", phase::kCopy),
         Less},
        {"precision.amp", "off", "bf16", "casts in the forward pass", {}, ops("aten::_to_copy", phase::kForward), Less},
        {"sync.every_n_steps", "1", "0", "values read back", {}, ops("aten::item", phase::kMetrics), Greater},
        {"eval.no_grad",
         "false",
         "true",
         "operators with a gradient in validation",
         {},
         numberedOpsInValidation,
         Greater},
        {"debug.anomaly",
         "false",
         "true",
         "checks for NaN in backward",
         {},
         ops("aten::isnan", phase::kBackward),
         Less},
        {"capture.enabled", "true", "false", "slices in the trace", {}, slices, Greater},
        {"capture.level", "always", "standard", "steps with operators", {"run.steps=6"}, stepsWithOps, Less},
        {"capture.ops_every", "0", "4", "steps with operators", {"run.steps=10"}, stepsWithOps, Less},
        {"capture.ops_window", "1", "2", "steps with operators", {"run.steps=8"}, stepsWithOps, Less},
    };
}

} // namespace trainer_test
