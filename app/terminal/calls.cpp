#include "advisor/evidence/source_lines.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/output.h"
#include "profiler/analysis/call_tree/call_views.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;
namespace {

using Json = nlohmann::ordered_json;
using profiler::Error;
using profiler::Result;
using profiler::Trace;
using namespace profiler::analysis;

constexpr std::size_t kMostRows = 60;      ///< in the text output; the JSON contains all
constexpr double kLeastShare = 0.005;      ///< of the rows of the text output
constexpr std::size_t kMostNameWidth = 72; ///< characters of a name in the text output

CallGrouping groupingOf(std::string_view name)
{
    return name == "python" ? CallGrouping::Python : name == "module" ? CallGrouping::Module : CallGrouping::Operator;
}

Result<void> checkGrouping(const Trace& trace, const CallsOptions& options)
{
    if (advisor::hasCallsOrSamples(trace, groupingOf(options.by)))
        return {};
    const std::string where = options.trace.string();
    if (options.by == "python")
        return profiler::fail<"calls.no_python", "the trace contains no Python functions">(
            Error::Code::NotFound, where,
            "record the program with stepscope-cli record, or with torch.profiler.profile(with_stack=True), or group "
            "with "
            "--by operator");
    if (options.by == "module")
        return profiler::fail<"calls.no_modules", "the trace contains no calls of nn.Module">(
            Error::Code::NotFound, where,
            "record it with torch.profiler.profile(with_stack=True), or group with --by operator");
    return profiler::fail<"calls.no_host", "the trace contains no activity of host threads">(
        Error::Code::NotFound, where, "record operators or CUDA calls (record --level standard, or --ops)");
}

/// The scope: one step, or everything.
Result<CallScope> scopeOfOptions(const Trace& trace, const CallsOptions& options)
{
    if (!options.step)
        return CallScope{};
    const auto steps = chosenSteps(trace, options.steps, options.trace);
    if (!steps)
        return tl::unexpected(steps.error());
    const auto chosen = std::ranges::find_if(*steps, [&](const Step& step) { return step.index == *options.step; });
    if (chosen != steps->end())
        return scopeOf(trace, {*chosen});
    return profiler::fail<"calls.no_step", "the trace has no step {step}">(
        Error::Code::NotFound, options.trace.string(),
        steps->empty() ? std::string("leave out --step: the trace has no steps")
                       : fmt::format("use a step from {} to {}", steps->front().index, steps->back().index),
        {{"step", *options.step}});
}

double us(profiler::Nanoseconds time)
{
    return toUs(time);
}

Json toJson(const CallTree& tree, const CallsOptions& options)
{
    Json nodes = Json::array();
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& node = tree.nodes[i];
        nodes.push_back(
            {{"name", tree.name(node)},
             {"kind", profiler::activityName(node.kind)},
             {"parent", node.parent == 0 ? Json(nullptr) : Json(node.parent - 1)},
             {"self_us", us(node.self)},
             {"total_us", us(node.total)},
             {"calls", node.calls > 0 || tree.sampledEvery.count() == 0 ? Json(node.calls) : Json(nullptr)}});
    }
    return {{"schema", 1},
            {"by", options.by},
            {"time", options.device ? "device" : "host"},
            {"order", options.bottomUp ? "bottom-up" : "top-down"},
            {"steps", tree.steps},
            {"sampled_every_us", tree.sampledEvery.count() > 0 ? Json(us(tree.sampledEvery)) : Json(nullptr)},
            {"total_us", us(tree.total())},
            {"calls", nodes}};
}

std::string shortened(std::string_view name, std::size_t most)
{
    std::string text(name);
    if (text.size() <= most)
        return text;
    text.resize(most - 1);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
        text.pop_back(); // a letter is not cut
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0)
        text.pop_back();
    return text + "…";
}

std::string toText(const CallTree& tree, const CallsOptions& options)
{
    TextTable table({"call", "total", "share", "self", "calls"});
    std::vector<std::size_t> depths(tree.nodes.size());
    std::size_t left = 0, rows = 0;
    const double all = us(tree.total());
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& node = tree.nodes[i];
        depths[i] = node.parent == 0 ? 0 : depths[node.parent] + 1;
        const double share = all > 0 ? us(node.total) / all : 0;
        if (share < kLeastShare || rows == kMostRows) {
            ++left;
            continue;
        }
        ++rows;
        table.add({std::string(2 * depths[i], ' ') + shortened(tree.name(node), kMostNameWidth),
                   profiler::timeText(us(node.total)), profiler::shareText(share),
                   node.self.count() > 0 ? profiler::timeText(us(node.self)) : "-",
                   node.calls > 0 ? profiler::countText(node.calls) : "-"});
    }
    std::string text = fmt::format("{} {} time, {}", profiler::timeText(all), options.device ? "device" : "host",
                                   options.bottomUp ? "callers of each call by self time" : "calls by total time");
    if (tree.sampledEvery.count() > 0)
        text += fmt::format(", sampled every {}", profiler::timeText(us(tree.sampledEvery)));
    text += '\n' + table.text();
    if (left > 0)
        text += fmt::format("  {} more call{} in the JSON (--json).\n",
                            profiler::countText(static_cast<std::int64_t>(left)), left == 1 ? " is" : "s are");
    return text;
}

} // namespace

int calls(const CallsOptions& options, const Streams& streams)
{
    const auto fails = [&](const Error& error) {
        streams.err << error.message() << '\n';
        return kBadInput;
    };
    const auto trace = openTrace(options.trace);
    if (!trace)
        return fails(trace.error());
    if (const auto fits = checkGrouping(**trace, options); !fits)
        return fails(fits.error());
    const auto scope = scopeOfOptions(**trace, options);
    if (!scope)
        return fails(scope.error());
    CallTreeOptions treeOptions;
    treeOptions.by = groupingOf(options.by);
    treeOptions.time = options.device ? CallTime::Device : CallTime::Host;
    treeOptions.scope = *scope;
    treeOptions.stepRange = options.steps.range;
    CallTree tree;
    {
        ProgressLine progress("reading the calls");
        treeOptions.progress = [&](double share) { progress.show(share); };
        tree = advisor::callsOrSamples(**trace, treeOptions, progress.stop());
        if (progress.stop().stop_requested())
            return kInterrupted;
    }
    if (options.bottomUp)
        tree = bottomUp(tree);
    if (options.collapsed)
        streams.out << collapsedStacks(tree);
    else if (options.json)
        streams.out << jsonText(toJson(tree, options)) << '\n';
    else
        streams.out << toText(tree, options);
    return kDone;
}

} // namespace app::terminal
