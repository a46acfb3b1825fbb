#include "tests/trainer/knobs.h"

#include <algorithm>
#include <cstdlib>

namespace trainer_test {

using namespace profiler;
using enum Observable::Expect;

namespace {

auto ops(std::string_view op, std::string_view phase)
{
    return [op, phase](const Seen& seen) { return static_cast<double>(seen.trace().count(op, phase)); };
}

auto noticesWithId(std::string_view id)
{
    return [id](const Seen& seen) {
        return static_cast<double>(std::ranges::count_if(seen.run.records, [&](const protocol::Progress& record) {
            const auto* notice = std::get_if<protocol::Notice>(&record);
            return notice && notice->id == id;
        }));
    };
}

auto numberIn(std::string_view metadata)
{
    return [metadata](const Seen& seen) { return std::strtod(seen.trace().metadata(metadata).c_str(), nullptr); };
}

double firstLoss(const Seen& seen)
{
    for (const Track& track : seen.trace().tracks(TrackKind::Counter))
        if (track.name == "loss")
            return seen.trace().trace().counter(track.id).front().value;
    return 0;
}

double logsOnMain(const Seen& seen)
{
    return static_cast<double>(seen.trace().phases(phase::kLog).size());
}

} // namespace

// What is done around the arithmetic of a step.
std::vector<Observable> workKnobs()
{
    return {
        {"checkpointing",
         "off",
         "all",
         "convolutions forward in the backward pass",
         {},
         ops("aten::conv2d", phase::kBackward),
         Less},
        {"tensors.share_memory", "false", "true", "copies of batches", {}, ops("aten::clone", phase::kCopy), Greater},
        {"tensors.create_on_device",
         "false",
         "true",
         "copies of noise",
         {"augment.noise=0.1"},
         ops("aten::copy_", phase::kCopy),
         Greater},
        {"augment.noise", "0", "0.5", "loss of the first step", {}, firstLoss, Differs},
        {"augment.device", "false", "true", "crops by operators", {}, ops("aten::grid_sampler", phase::kCopy), Less},
        {"host.async_work",
         "false",
         "true",
         "lines of the log written in steps",
         {"run.log_file=/dev/null"},
         logsOnMain,
         Greater},
        {"eval.package",
         "",
         "/no/such/package.pt2",
         "words on why not",
         {},
         noticesWithId("validation.uncompiled"),
         Less},
        {"work.unused", "false", "true", "outputs that nobody reads", {}, ops("aten::softmax", phase::kForward), Less},
        {"parallel.kind", "none", "dp", "results put together", {}, ops("aten::cat", phase::kForward), Less},
        {"parallel.local_ranks",
         "2",
         "4",
         "parts of the batches",
         {"parallel.kind=dp"},
         ops("aten::narrow", phase::kForward),
         Less},
        {"debug.autograd_profiler",
         "false",
         "true",
         "events of LibTorch's profiler",
         {},
         numberIn("debug.autograd_profiler.events"),
         Less},
        {"debug.emit_nvtx", "false", "true", "ranges", {}, numberIn("debug.emit_nvtx.ranges"), Less},
        {"debug.gradcheck", "false", "true", "results", {}, noticesWithId("gradients.agree"), Less},
        {"debug.gradgradcheck", "false", "true", "results", {}, noticesWithId("gradients.agree"), Less},
        {"compile",
         "false",
         "true",
         "words on why not",
         {"device=cpu"},
         noticesWithId("compile.no_graphs_on_cpu"),
         Less},
    };
}

} // namespace trainer_test
