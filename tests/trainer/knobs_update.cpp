#include "tests/trainer/knobs.h"

#include <algorithm>
#include <numeric>

namespace trainer_test {

using namespace profiler;
using enum Observable::Expect;

namespace {

double lastLoss(const Seen& seen)
{
    return seen.run.one<protocol::Done>().finalLoss;
}

std::vector<double> rates(const Seen& seen)
{
    std::vector<double> values;
    for (const Track& track : seen.trace().tracks(TrackKind::Counter))
        if (track.name == "learning rate")
            for (const auto& sample : seen.trace().trace().counter(track.id))
                values.push_back(sample.value);
    return values;
}
double firstRate(const Seen& seen)
{
    return rates(seen).front();
}
double lastRate(const Seen& seen)
{
    return rates(seen).back();
}
double highestRate(const Seen& seen)
{
    return std::ranges::max(rates(seen));
}
double sumOfRates(const Seen& seen)
{
    const auto all = rates(seen);
    return std::accumulate(all.begin(), all.end(), 0.0);
}

auto ops(std::string_view op, std::string_view phase)
{
    return [op, phase](const Seen& seen) { return static_cast<double>(seen.trace().count(op, phase)); };
}

double optimizerSteps(const Seen& seen)
{
    return static_cast<double>(seen.trace().phases(phase::kOptimizer).size());
}

double opsInOptimizer(const Seen& seen)
{
    return static_cast<double>(seen.trace().opsIn(phase::kOptimizer).size());
}

} // namespace

// Optimizer, schedule and gradients. Five steps each, unless said otherwise.
std::vector<Observable> updateKnobs()
{
    return {
        {"optimizer.nesterov", "false", "true", "final loss", {}, lastLoss, Differs},
        {"optimizer.beta1", "0.9", "0.5", "final loss", {"optimizer.kind=adam"}, lastLoss, Differs},
        {"optimizer.beta2", "0.999", "0.5", "final loss", {"optimizer.kind=adam"}, lastLoss, Differs},
        {"optimizer.epsilon", "1e-08", "0.1", "final loss", {"optimizer.kind=adam"}, lastLoss, Differs},
        {"optimizer.trust_coefficient", "0.001", "0.1", "final loss", {"optimizer.kind=lars"}, lastLoss, Differs},
        {"optimizer.implementation",
         "for-loop",
         "foreach",
         "operators over lists of tensors",
         {},
         ops("aten::_foreach_add_", phase::kOptimizer),
         Less},
        {"optimizer.lr_scaling",
         "none",
         "linear",
         "learning rate with half of the reference batch",
         {},
         lastRate,
         Greater},
        {"optimizer.lr_base_batch", "16", "64", "learning rate", {"optimizer.lr_scaling=sqrt"}, lastRate, Greater},
        {"schedule.kind", "constant", "cosine", "learning rate at the end", {}, lastRate, Greater},
        {"schedule.warmup_steps", "0", "4", "first learning rate", {}, firstRate, Greater},
        {"schedule.final_share", "0", "0.5", "learning rate at the end", {"schedule.kind=linear"}, lastRate, Less},
        {"schedule.step_size", "1", "1000", "learning rate at the end", {"schedule.kind=step"}, lastRate, Less},
        {"schedule.gamma",
         "0.1",
         "0.5",
         "learning rate at the end",
         {"schedule.kind=step", "schedule.step_size=2"},
         lastRate,
         Less},
        {"schedule.cycle_steps", "2", "500", "highest learning rate", {"schedule.kind=cyclic"}, highestRate, Greater},
        {"schedule.lowest_share", "0.1", "0.5", "first learning rate", {"schedule.kind=cyclic"}, firstRate, Less},
        {"schedule.cycle_share",
         "0.6",
         "1",
         "sum of the learning rates",
         {"schedule.kind=one_cycle"},
         sumOfRates,
         Less},
        {"schedule.range_lowest",
         "1e-06",
         "0.001",
         "first learning rate",
         {"schedule.kind=range_test"},
         firstRate,
         Less},
        {"gradient.accumulation", "1", "2", "changes of the weights", {}, optimizerSteps, Greater},
        {"gradient.clip_norm", "0", "0.01", "final loss", {}, lastLoss, Differs},
        {"gradient.clip_value", "0", "0.001", "final loss", {}, lastLoss, Differs},
        {"model.frozen_blocks", "0", "1", "operators that change weights", {}, opsInOptimizer, Greater},
    };
}

} // namespace trainer_test
