// Faults that only recorded Python programs have: loops in Python, the wrong number type, too few threads, a loader
// that is constructed again for each epoch.

#include "advisor/evidence/source_lines.h"
#include "advisor/rule.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using test_support::HasText;
using test_support::traceFromText;
using testing::DoubleNear;

Advice adviceFor(std::string_view id, const std::string& text)
{
    for (auto& row : advisor::advise(*traceFromText(text), nullptr))
        if (row.id == id)
            return row.advice;
    return {};
}

std::string site(int line, std::string_view function = "f")
{
    return fmt::format(
        R"("site":{{"file":"/p/a.py","line":{0},"column":0,"end_line":{0},"end_column":9,"function":"{1}"}})", line,
        function);
}

/// A program whose step of 10,000 µs consists of these phases.
std::string program(std::string_view facts, std::string_view phases, std::string_view meta = {})
{
    return fmt::format("meta program {{\"schema\":1,\"script\":\"/p/a.py\"{}}}\nmeta host.cpu some processor\n"
                       "meta host.cores 8\n{}\nmain\nrepeat 12 every 10000\nstep 0 0 10000\n{}\nend\n",
                       facts, meta, phases);
}

/// Samples of line 5 for the first part of each step and of line 7 for the rest.
/// @param loops  of these places
std::string samples(int firstUs, std::string_view loops = "[[0,0],[0,0]]")
{
    std::string text = "0,0";
    for (int step = 0; step < 12; ++step)
        text += fmt::format(",1,{},0,{}", firstUs, 10000 - firstUs);
    return fmt::format(R"(meta lines {{"schema":1,"interval_us":10000,"begin_ns":0,"files":["/p/a.py"],)"
                       R"("places":[[0,5,"f"],[0,7,"f"]],"loops":{},"stacks":[[0],[1]],"samples":[{}]}})",
                       loops, text);
}

std::string repeating(std::string_view function, int repeats, int count)
{
    return fmt::format(R"(,"forward_order":true,"forward_lines":[{{"function":"{}","repeats":{},"count":{},{}}}])",
                       function, repeats, count, site(5));
}

std::string callsPerStep(int calls)
{
    std::string text;
    for (int i = 0; i < calls; ++i)
        text += fmt::format("phase forward {} 100\n", 200 * i);
    return text + "phase backward 5000 2000\n";
}

constexpr std::string_view kPasses = "phase forward 0 6000\nphase backward 6000 3000\n";

} // namespace

TEST(ModelLoop, CountsTheCallsOfAModelPerBackwardPass)
{
    const std::string call = R"(,"objects":[{"id":"forward:0","kind":"forward","class":"Net","count":96,)" + site(12) +
                             R"(,"settings":{}}],"forward_lines":[])";
    const Advice advice = adviceFor("model.loop", program(call, callsPerStep(8)));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("model.loop.calls"));
    EXPECT_THAT(advice.reason, HasNumber("calls", 8));
    ASSERT_EQ(advice.source.size(), 1U);
    EXPECT_EQ(advice.source[0].line, 12);
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->kind, advisor::SavingKind::UpperBound);
    EXPECT_NEAR(advice.saving->high, 2800.0 * 7 / 8, 1) << "one call remains";
    EXPECT_EQ(adviceFor("model.loop", samples(5000) + "\n" + program(call, callsPerStep(7))).state, State::Silent);
}

TEST(ModelLoop, NamesTheLineThatRepeatsAFunction)
{
    const auto judged = [](std::string_view function, int repeats, int firstUs) {
        return adviceFor("model.loop",
                         samples(firstUs) + "\n" + program(repeating(function, repeats, 2 * repeats), kPasses));
    };
    const Advice cell = judged("lstm_cell", 128, 3000);
    ASSERT_EQ(cell.state, State::Fires) << cell.reason;
    EXPECT_THAT(cell.reason, HasId("model.loop.cell"));
    EXPECT_THAT(cell.reason, HasNumber("share", DoubleNear(0.3, 0.01)));
    ASSERT_EQ(cell.source.size(), 1U);
    EXPECT_EQ(cell.source[0].line, 5);
    ASSERT_TRUE(cell.saving);
    EXPECT_NEAR(cell.saving->high, 6000, 50) << "the lines and the backward pass";
    EXPECT_THAT(judged("__setitem__", 128, 3000).reason, HasId("model.loop.lines"));
    EXPECT_EQ(judged("__setitem__", 128, 900).state, State::Silent) << "too little time";
    EXPECT_EQ(judged("__setitem__", 15, 3000).state, State::Silent) << "not a loop over elements";
    EXPECT_EQ(judged("conv2d", 16, 5000).state, State::Silent) << "156 µs each: large operators";
}

TEST(ModelLoop, CannotTellWithoutCounts)
{
    EXPECT_EQ(adviceFor("model.loop", samples(3000) + "\n" + program("", kPasses)).state, State::CannotTell);
}

TEST(PrecisionFloat64, NamesTheCallThatChoosesTheType)
{
    const auto modules = [](std::string_view type) {
        return fmt::format(
            R"(,"modules":[{{"name":"a","parameters":10,"dtype":"{}"}},{{"name":"b","parameters":9,"dtype":"float32"}}])",
            type);
    };
    const std::string objects = R"(,"objects":[{"id":"model:0","kind":"model","class":"Net",)" + site(3) +
                                R"(,"settings":{}},{"id":"cast:0","kind":"cast","class":"Module.double",)" + site(4) +
                                R"(,"settings":{}}])";
    const Advice advice = adviceFor("precision.float64", program(modules("float64") + objects, kPasses));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_NEAR(advice.timeShare, 0.9, 1e-6);
    ASSERT_EQ(advice.source.size(), 1U);
    EXPECT_EQ(advice.source[0].line, 4);
    EXPECT_EQ(adviceFor("precision.float64", program(modules("float32") + objects, kPasses)).state, State::Silent);
    EXPECT_EQ(adviceFor("precision.float64", program(modules("float64"), "phase forward 0 499\n")).state,
              State::Silent);
    EXPECT_EQ(adviceFor("precision.float64", program("", kPasses)).state, State::CannotTell);
}

TEST(HostThreads, OnlyALimitThatTheProgramSetsIsAFinding)
{
    const std::string limit = R"(,"environment":{"OMP_NUM_THREADS":"2"})";
    const Advice advice = adviceFor("host.threads", program(limit, kPasses, "meta host.threads 2"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("host.threads.variable"));
    ASSERT_TRUE(advice.saving);
    EXPECT_NEAR(advice.saving->high, 9000 * 0.75, 1) << "at most if all of it were divided among eight cores";
    const std::string call = R"(,"objects":[{"id":"flag:0","kind":"flag","class":"torch.set_num_threads",)" + site(2) +
                             R"(,"settings":{"value":{"value":2}}}])";
    const Advice called = adviceFor("host.threads", program(call, kPasses, "meta host.threads 2"));
    EXPECT_THAT(called.reason, HasId("host.threads.set"));
    ASSERT_EQ(called.source.size(), 1U);
    EXPECT_EQ(called.source[0].line, 2);
    const auto state = [&](const std::string& facts, std::string_view meta) {
        return adviceFor("host.threads", program(facts, kPasses, meta)).state;
    };
    EXPECT_EQ(state("", "meta host.threads 4"), State::Silent) << "PyTorch's default: physical cores";
    EXPECT_EQ(state(limit, "meta host.threads 8"), State::Silent);
    EXPECT_EQ(state(limit, "meta host.threads 2\nmeta world_size 2"), State::Silent) << "ranks share the cores";
    const std::string workers =
        R"(,"objects":[{"id":"loader:0","kind":"loader","class":"DataLoader","role":"training",)"
        R"("count":1,"settings":{"num_workers":{"value":6}}}])";
    EXPECT_EQ(state(limit + workers, "meta host.threads 2"), State::Silent) << "workers need the other cores";
}

TEST(HostPython, AddsUpTheLinesOfALoop)
{
    const Advice advice =
        adviceFor("host.python", samples(3000, "[[0,0],[6,8]]") + "\n" + program("", "phase forward 0 3000\n"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("host.python.loop"));
    EXPECT_THAT(advice.reason, HasText("place", "a.py:6–8"));
}

TEST(HostPython, CountsLoopsBetweenForwardAndBackward)
{
    const std::string phases = "phase forward 0 3000\nphase loss 3000 5000\nphase backward 8000 2000\n";
    const auto judged = [&](std::string_view loops) {
        return adviceFor("host.python", samples(3000, loops) + "\n" + program("", phases));
    };
    const Advice loop = judged("[[0,0],[6,8]]");
    ASSERT_EQ(loop.state, State::Fires) << loop.reason;
    EXPECT_NEAR(loop.timeShare, 0.5, 0.01);
    EXPECT_EQ(judged("[[0,0],[0,0]]").state, State::Silent) << "the loss function";
    EXPECT_EQ(judged("[[0,0],[9,12]]").state, State::Silent) << "a damaged entry: the loop does not contain its line";
}

TEST(ZeroGrad, WithoutOperatorsThePhaseShowsWhatFillsCost)
{
    const auto judged = [](bool none, int us) {
        return adviceFor(
            "zero_grad.set_to_none",
            program(fmt::format(R"(,"objects":[{{"id":"zero_grad:0","kind":"zero_grad","class":"Optimizer.zero_grad",)"
                                R"("count":12,{},"settings":{{"set_to_none":{{"value":{}}}}}}}])",
                                site(9), none),
                    fmt::format("phase \"zero grad\" 0 {}\nphase forward 2000 3000\n", us)));
    };
    const Advice fills = judged(false, 101);
    ASSERT_EQ(fills.state, State::Fires) << fills.reason;
    ASSERT_TRUE(fills.proposed);
    EXPECT_EQ(fills.proposed->to, "true");
    ASSERT_EQ(fills.source.size(), 1U);
    EXPECT_EQ(fills.source[0].line, 9);
    EXPECT_EQ(judged(false, 99).state, State::Silent);
    EXPECT_THAT(judged(true, 1000).reason, HasId("program.zero_grad.none"));
}

TEST(Ranking, AValidationThatTakesMostOfTheRunComesFirst)
{
    const std::string validation =
        R"(,"objects":[{"id":"validation:0","kind":"validation","class":"Net","count":3,)"
        R"("grad":true,"time_us":200000,"settings":{}},{"id":"optimizer:0","kind":"optimizer",)"
        R"("class":"torch.optim.SGD","count":12,"settings":{"lr":{"value":0.1}}}])";
    const std::string text = program(validation, "phase forward 0 3000\nphase optimizer 3000 3000\n") +
                             "main\nphase validation 130000 200000\n";
    const auto advice = advisor::advise(*traceFromText(text), nullptr);
    ASSERT_FALSE(advice.empty());
    EXPECT_EQ(advice[0].id, "eval.no_grad");
    EXPECT_NEAR(advice[0].impact, 200000.0 / 12 / 2, 1);
}

TEST(LoaderWorkers, NamesTheLinesThatPrepareBatches)
{
    const std::string backward = R"(,"objects":[{"id":"backward:0","kind":"backward","class":"backward","count":12,)" +
                                 site(30, "main") + R"(,"settings":{}}])";
    const auto judged = [&](std::string_view function) {
        std::string lines = samples(6000);
        lines.replace(lines.find(R"([0,7,"f"])"), 9, fmt::format(R"([0,7,"{}"])", function));
        return adviceFor("loader.workers",
                         lines + "\n" + program(backward, "phase \"data wait\" 6000 4000\nphase forward 0 6000\n"));
    };
    const Advice dataset = judged("Data.get");
    ASSERT_EQ(dataset.state, State::Fires) << dataset.reason;
    ASSERT_EQ(dataset.source.size(), 1U);
    EXPECT_EQ(dataset.source[0].line, 7);
    EXPECT_THAT(judged("main").source, testing::IsEmpty()) << "the loop that asks for batches";
}

TEST(LoaderPersistentWorkers, KeepsTheLoaderIfTheProgramConstructsItAgain)
{
    const auto loader = [](int number) {
        return fmt::format(
            R"({{"id":"loader:{}","kind":"loader","class":"torch.utils.data.DataLoader","role":"training",)"
            R"("count":6,{},"settings":{{"num_workers":{{"value":2}}}}}})",
            number, site(20));
    };
    const auto judged = [&](const std::string& loaders) {
        std::string text =
            fmt::format("meta program {{\"schema\":1,\"script\":\"/p/a.py\",\"objects\":[{}]}}\nmain\n", loaders);
        for (int epoch = 0; epoch < 3; ++epoch) {
            const int at = epoch * 20000;
            text += fmt::format("phase \"start workers\" {} 9000\nphase \"data wait\" {} 500\n", at, at + 9000);
            for (int step = 0; step < 10; ++step)
                text += fmt::format("step {} {} 1000\nphase forward {} 400\n", epoch * 10 + step,
                                    at + 9500 + step * 1000, at + 9600 + step * 1000);
        }
        return adviceFor("loader.persistent_workers", text);
    };
    const Advice again = judged(loader(0) + ',' + loader(1));
    ASSERT_EQ(again.state, State::Fires) << again.reason;
    EXPECT_FALSE(again.proposed);
    EXPECT_THAT(again.whyNoToggle, HasId("program.loader.again"));
    EXPECT_TRUE(judged(loader(0)).proposed);
}

} // namespace advisor_test
