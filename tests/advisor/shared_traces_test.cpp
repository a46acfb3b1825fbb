#include "advisor/rule.h"
#include "profiler/analysis/replay/replay.h"
#include "profiler/formats/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

// Verdicts on real traces of other people's programs, as listed on the folder's own page. The folder is
// $STEPSCOPE_SHARED_TRACES, otherwise it is next to the checkout; if it does not exist, the tests are skipped with a
// message.

namespace advisor_test {
namespace {

using advisor::State;
using testing::ElementsAre;
using testing::HasSubstr;

std::filesystem::path pathOf(const std::string& file)
{
    const char* chosen = std::getenv("STEPSCOPE_SHARED_TRACES");
    return std::filesystem::path(chosen ? chosen : STEPSCOPE_SHARED_TRACES) / file;
}

class SharedTraces : public testing::Test {
protected:
    /// Every rule's verdict on a file of the folder; skips the test if the file does not exist.
    void open(const std::string& file)
    {
        const std::filesystem::path path = pathOf(file);
        if (!std::filesystem::exists(path))
            GTEST_SKIP() << path << " is not here";
        const auto trace = profiler::formats::openTrace(path);
        ASSERT_TRUE(trace) << trace.error().message();
        for (advisor::RuleAdvice& row : advisor::advise(**trace, nullptr)) {
            if (m_first.empty())
                m_first = row.id;
            m_advice[row.id] = std::move(row.advice);
        }
    }
    [[nodiscard]] State state(const std::string& id) const { return m_advice.at(id).state; }
    [[nodiscard]] const std::string& reason(const std::string& id) const { return m_advice.at(id).reason.text; }
    /// By key.
    [[nodiscard]] std::vector<std::string> findings() const
    {
        std::vector<std::string> fired;
        for (const auto& [id, advice] : m_advice)
            if (advice.state == State::Fires)
                fired.push_back(id);
        return fired;
    }

    std::map<std::string, advisor::Advice> m_advice;
    std::string m_first; ///< the rule that is shown first
};

TEST_F(SharedTraces, WithoutWorkersTheLoaderIsFound)
{
    open("v100_resnet50_nw0_a.json.gz");
    if (IsSkipped())
        return;
    EXPECT_THAT(findings(), ElementsAre("loader.pin_memory", "loader.workers", "optimizer.fused", "precision.amp",
                                        "zero_grad.set_to_none"));
    for (const char* id : {"model.conv_bias", "sync.every_n_steps", "precision.tf32"})
        EXPECT_EQ(state(id), State::Silent) << id << ": " << reason(id);
    EXPECT_EQ(state("cudnn.benchmark"), State::CannotTell) << reason("cudnn.benchmark");
    EXPECT_EQ(state("tensors.create_on_device"), State::Silent) << reason("tensors.create_on_device");
    EXPECT_THAT(reason("loader.pin_memory"), HasSubstr("12 copies"));
    EXPECT_THAT(reason("loader.pin_memory"), HasSubstr("10.1 GB/s"));
    EXPECT_THAT(reason("model.conv_bias"), HasSubstr("318"));
    EXPECT_EQ(m_first, "loader.workers") << "the largest part of the step";
}

TEST_F(SharedTraces, WithFourWorkersItIsNotTheLoader)
{
    open("v100_resnet50_nw4_a.json.gz");
    if (IsSkipped())
        return;
    EXPECT_THAT(findings(), ElementsAre("compile", "host.bound", "loader.pin_memory", "optimizer.fused",
                                        "precision.amp", "zero_grad.set_to_none"));
    EXPECT_EQ(state("loader.workers"), State::Silent) << reason("loader.workers");
    EXPECT_EQ(state("loader.prefetch_factor"), State::Silent) << reason("loader.prefetch_factor");
    EXPECT_EQ(state("step.variance"), State::CannotTell) << "the first of six steps, and one more";
    const profiler::Message& variance = m_advice.at("step.variance").reason;
    EXPECT_EQ(variance.find("low")->text, "116 ms");
    EXPECT_EQ(variance.find("high")->text, "182 ms");
}

TEST_F(SharedTraces, ABusyDeviceIsAdvisedMixedPrecisionAndNothingElse)
{
    open("v100_resnet_gpu_bound_ns.json.gz");
    if (IsSkipped())
        return;
    EXPECT_THAT(findings(), ElementsAre("precision.amp"));
}

TEST_F(SharedTraces, ALaunchBoundModelIsFound)
{
    open("h100_bertsmall_launch_bound.json.gz");
    if (IsSkipped())
        return;
    EXPECT_THAT(findings(), ElementsAre("compile", "host.bound", "sync.every_n_steps"));
    EXPECT_EQ(m_advice.at("sync.every_n_steps").title, "Each step waits to read a value back") << "of a mask";
    EXPECT_EQ(state("attention"), State::Silent) << reason("attention");
    EXPECT_EQ(state("precision.amp"), State::Silent) << reason("precision.amp");
}

TEST_F(SharedTraces, TheControlHasNoStall)
{
    open("h100_qwen_gpu_bound_control.json.gz");
    if (IsSkipped())
        return;
    EXPECT_THAT(findings(), ElementsAre("fuse.pointwise"));
    EXPECT_THAT(reason("fuse.pointwise"), HasSubstr("54.6 %"));
}

TEST_F(SharedTraces, ExportsOfNsightAreAdvisedByTheirKernels)
{
    for (const char* file : {"nsys_2gpu_before.sqlite", "nsys_2gpu_after.sqlite"}) {
        m_advice.clear();
        open(file);
        if (IsSkipped())
            return;
        EXPECT_THAT(findings(), ElementsAre("fuse.pointwise")) << file;
        EXPECT_EQ(m_advice.at("optimizer.fused").reason.id, "ops.not_recorded");
    }
    // On the rank that is analyzed, two of three gaps begin with work in the launch queue.
    EXPECT_EQ(state("host.bound"), State::Silent);
    EXPECT_EQ(m_advice.at("host.bound").reason.id, "launch_queue.full");
}

class ReplayOfSharedTraces : public testing::TestWithParam<const char*> {};

TEST_P(ReplayOfSharedTraces, WithoutAChangeTakesAsLongAsTheRun)
{
    using namespace profiler::analysis;
    const std::filesystem::path path = pathOf(GetParam());
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << path << " is not here";
    const auto trace = profiler::formats::openTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    const std::vector<Step> steps = findSteps(**trace);
    const ReplayGraph graph = ReplayGraph::of(**trace, steps);
    const Replayed replayed = graph.replay();
    const auto real = static_cast<double>((*trace)->range().duration().count());
    EXPECT_NEAR(static_cast<double>(replayed.duration.count()), real, 0.01 * real);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const double us = toUs(steps[i].range.duration());
        EXPECT_NEAR(replayed.stepUs[i], us, 0.01 * us) << "step " << i;
    }
    // Half of any one kind of work never takes longer.
    for (const auto where : {ReplayWork::Where::Host, ReplayWork::Where::Device})
        EXPECT_LE(
            graph.replay([&](const ReplayWork& work) { return ReplayChange{.factor = work.where == where ? 0.5 : 1}; })
                .duration,
            replayed.duration);
    // The chain has no holes, and ends at the end of the trace.
    const CriticalPath chain = criticalPath(**trace, graph);
    ASSERT_FALSE(chain.pieces.empty());
    EXPECT_EQ(chain.total(), chain.pieces.back().range.end - chain.pieces.front().range.begin);
    EXPECT_EQ(chain.pieces.back().range.end, (*trace)->range().begin + replayed.duration);
}

INSTANTIATE_TEST_SUITE_P(All, ReplayOfSharedTraces,
                         testing::Values("v100_resnet50_nw0_a.json.gz", "v100_resnet50_nw4_a.json.gz",
                                         "v100_resnet_gpu_bound_ns.json.gz", "h100_bertsmall_launch_bound.json.gz",
                                         "h100_qwen_gpu_bound_control.json.gz", "nsys_2gpu_before.sqlite",
                                         "nsys_2gpu_after.sqlite"));

} // namespace
} // namespace advisor_test
