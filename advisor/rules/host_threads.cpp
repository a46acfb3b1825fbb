#include "advisor/advice.h"
#include "advisor/evidence/program_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace advisor::rules {
namespace {

using namespace profiler;

constexpr std::string_view kKey = "host.threads";
// Shortest step, in µs. Chosen: in shorter ones, operators work on too few numbers to be divided (PyTorch divides work
// of at least 32,768 numbers).
constexpr double kMinimumStepUs = 2000;

int numberIn(std::string_view text)
{
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The call that sets the number of threads; nullptr: none.
const ProgramObject* callOf(const ProgramFacts& program)
{
    for (const ProgramObject& object : program.objects)
        if (object.kind == "flag" && object.className == "torch.set_num_threads")
            return &object;
    return nullptr;
}

/// The environment variable that sets it; empty: none. PyTorch prefers the first.
std::string variableOf(const ProgramFacts& program)
{
    for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"})
        if (program.environment.contains(name))
            return name;
    return {};
}

Advice check(const RuleContext& c)
{
    if (c.config)
        return silent(message<"host.threads.trainer", "The trainer uses one thread per core unless its settings say "
                                                      "otherwise.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (!ranOnCpu(c))
        return silent(message<"host.threads.device", "A device computes, and one thread launches its work.">());
    const int threads = numberIn(metadata(c.trace, "host.threads")), cores = c.facts.input.cores;
    const std::optional<ProgramFacts> program = programOf(c.trace).facts;
    if (threads <= 0 || cores <= 0 || !program)
        return cannotTell(message<"host.threads.not_recorded", "The number of threads or of cores is not recorded.">(),
                          Need::Program);
    const ProgramObject* loader = program->trainingLoader();
    const int workers = loader ? static_cast<int>(std::clamp(loader->number("num_workers").value_or(0), 0.0, 1e4)) : 0;
    const MessageParameter used("threads", threads), all("cores", cores);
    if (threads >= cores - workers)
        return silent(
            message<"host.threads.all",
                    "PyTorch computes with as many threads as the cores allow: {threads} of {cores}.">({used, all}));
    const ProgramObject* call = callOf(*program);
    const std::string variable = variableOf(*program);
    if ((!call && variable.empty()) || numberIn(metadata(c.trace, "world_size")) > 1)
        return silent(
            message<"host.threads.default", "PyTorch computes on {threads} of {cores} cores, which the program does "
                                            "not set. The default is one thread per physical core.">({used, all}));
    const analysis::StepStatistics& steps = c.facts.statistics;
    const analysis::StepParts& parts = steps.steadyMeanParts;
    const double computingUs = analysis::toUs(parts.forward + parts.backward + parts.optimizer);
    const MessageParameter time("time", computingUs, timeText(computingUs));
    if (steps.steadyMeanUs < kMinimumStepUs)
        return silent(
            message<"host.threads.short", "A step computes for only {time}: its operators are too small to be "
                                          "divided among threads.">({time}));
    Advice advice = fires(
        call
            ? message<
                  "host.threads.set",
                  "torch.set_num_threads limits PyTorch to {threads} of {cores} cores. Each step computes for {time}.">(
                  {used, all, time})
            : message<"host.threads.variable",
                      "{variable} limits PyTorch to {threads} of {cores} cores. Each step computes for {time}.">(
                  {{"variable", variable}, used, all, time}));
    // If all of it were divided evenly among the cores.
    const double mostUs = computingUs * (1 - static_cast<double>(threads) / static_cast<double>(cores - workers));
    advice.saving = upperBound(SavingUnit::UsPerStep, mostUs);
    advice.timeShare = std::min(1.0, mostUs / steps.steadyMeanUs);
    advice.whyNoToggle = message<"host.threads.no_toggle", "No setting changes it: remove the limit.">();
    advice.caveats = {
        message<"host.threads.small", "Operators on less than about 32,768 numbers use one thread in any case.">(),
        message<"host.threads.others", "If other processes use these cores, more threads slow all of them down.">()};
    if (call && call->site)
        advice.source = {*call->site};
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule host_threads()
{
    // Other findings first: less work is better than the same work on more cores.
    return {kKey, "PyTorch uses fewer threads than cores", check, Needs::Steps, TimePart::Kernels, true};
}

} // namespace advisor::rules
