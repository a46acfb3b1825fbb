#include "tests/trainer/knobs.h"

namespace trainer_test {

using namespace profiler;
using enum Observable::Expect;

namespace {

double parameters(const Seen& seen)
{
    return static_cast<double>(seen.hello().parameters);
}

auto forwardOps(std::string_view op)
{
    return [op](const Seen& seen) { return static_cast<double>(seen.trace().count(op, phase::kForward)); };
}

} // namespace

std::vector<Observable> modelKnobs()
{
    const std::vector<std::string> one = {"run.steps=1", "model.width=0"};
    const std::vector<std::string> transformer = {"workload=vit", "model.size=tiny", "model.width=0", "run.steps=2",
                                                  "capture.ops_every=1"};
    return {
        {"model.size", "tiny", "small", "weights", one, parameters, Less},
        {"model.depth", "1", "3", "weights", {"run.steps=1"}, parameters, Less},
        {"model.norm", "batch", "none", "weights", {"run.steps=1"}, parameters, Greater},
        {"model.conv_bias", "true", "false", "weights", {"run.steps=1"}, parameters, Greater},
        {"attention", "math", "sdpa", "softmaxes of the forward pass", transformer, forwardOps("aten::softmax"),
         Greater},
        {"fuse.pointwise", "false", "true", "error functions of the forward pass", transformer, forwardOps("aten::erf"),
         Greater},
    };
}

} // namespace trainer_test
