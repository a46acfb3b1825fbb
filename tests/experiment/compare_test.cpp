#include "advisor/experiment/difference.h"

#include "profiler/formats/format.h"
#include "tests/support/trace_text.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor {
namespace {

using test_support::traceFromText;
using testing::ElementsAre;
using testing::IsEmpty;

/// A message with this id.
testing::Matcher<const profiler::Message&> hasId(const std::string& id)
{
    return testing::Field(&profiler::Message::id, id);
}

/// The reason that a setting differs, with its values in a and b.
testing::Matcher<const profiler::Message&> settingDiffers(const std::string& key, const std::string& a,
                                                          const std::string& b)
{
    return testing::Truly([=](const profiler::Message& message) {
        const auto is = [&](std::string_view name, const std::string& value) {
            const auto* parameter = message.find(name);
            return parameter && parameter->text == value;
        };
        return message.id == "diff.not_comparable.setting" && is("key", key) && is("a", a) && is("b", b);
    });
}

/// Uses the steps that the traces mark.
Difference difference(const profiler::Trace& a, const profiler::Trace& b)
{
    return advisor::difference(a, b, profiler::analysis::findSteps(a), profiler::analysis::findSteps(b));
}

std::shared_ptr<const profiler::Trace> run(const std::string& head, int forward, int conv)
{
    return traceFromText(head + R"(
        main
          repeat 10 every 1000
            step 0 0 )" + std::to_string(400 + forward) +
                         "\nphase forward 0 " + std::to_string(forward) + "\nop aten::conv2d 0 " +
                         std::to_string(conv) + "\nphase optimizer " + std::to_string(forward) + " 100\nend\n");
}

TEST(Compare, ReportsFirstWhatMakesRunsIncomparable)
{
    const auto a = run("meta batch.size 32\nmeta workload convnet\nmeta host.cpu one\nmeta ranks 1\n", 400, 300);
    const auto b = run("meta batch.size 64\nmeta workload resnet18\nmeta host.cpu two\nmeta ranks 2\n", 400, 300);
    const Difference found = difference(*a, *b);
    EXPECT_THAT(found.whyNot,
                ElementsAre(settingDiffers("ranks", "1", "2"), settingDiffers("workload", "convnet", "resnet18"),
                            settingDiffers("batch.size", "32", "64"), settingDiffers("host.cpu", "one", "two")));
    EXPECT_EQ(found.verdict, Difference::Verdict::NotComparable);
    EXPECT_THAT(difference(*a, *a).whyNot, IsEmpty());
}

TEST(Compare, ShapesShowTheBatchWithoutAConfiguration)
{
    const auto of = [](int samples, const std::string& head = "") {
        return traceFromText(head + "main\nrepeat 10 every 1000\nstep 0 0 900\nop aten::conv2d 0 100 shapes=\"[[" +
                             std::to_string(samples) + ", 3, 8, 8], [64, 3, 7, 7], []]\"\nend\n");
    };
    EXPECT_THAT(difference(*of(32), *of(64)).whyNot, testing::Contains(hasId("diff.not_comparable.batch_by_shapes")));
    EXPECT_THAT(difference(*of(32), *of(32)).whyNot, IsEmpty());
    EXPECT_THAT(difference(*of(32, "meta batch.size 64\n"), *of(64, "meta batch.size 64\n")).whyNot,
                testing::Not(testing::Contains(hasId("diff.not_comparable.batch_by_shapes"))))
        << "parts of a batch may be smaller";
}

TEST(Compare, ALinearLayerShowsTheBatchOnlyIfNothingElseComesFirst)
{
    const auto of = [](const std::vector<std::string>& inputs) {
        std::string text = "main\n";
        for (std::size_t i = 0; i < 4; ++i)
            text += "step " + std::to_string(i) + " " + std::to_string(1000 * i) + " 900\nop aten::linear " +
                    std::to_string(1000 * i) + " 100 shapes=\"[[" + inputs[i % inputs.size()] +
                    "], [64, 64], [64]]\"\n" + "op aten::relu " + std::to_string(1000 * i + 200) + " 100\n";
        return traceFromText(text);
    };
    const auto batch = hasId("diff.not_comparable.batch_by_shapes");
    EXPECT_THAT(difference(*of({"32, 128, 64", "32, 64"}), *of({"8, 128, 64", "8, 64"})).whyNot,
                testing::Contains(batch));
    const Difference packed = difference(*of({"812, 64", "790, 64"}), *of({"803, 64", "777, 64"}));
    EXPECT_THAT(packed.whyNot, testing::Not(testing::Contains(batch)));
    EXPECT_THAT(packed.notes, ElementsAre(hasId("diff.note.batch_by_shapes")));
    const Difference longer = difference(*of({"128, 32, 64"}), *of({"96, 16, 64"}));
    EXPECT_THAT(longer.whyNot, testing::Not(testing::Contains(batch)));
    EXPECT_THAT(longer.notes, testing::SizeIs(1));
    EXPECT_THAT(difference(*of({"32, 64"}), *of({"32, 64"})).notes, IsEmpty());
}

// Another program ran during a quarter of the first run.
TEST(Compare, CorrelatedStepsWidenTheInterval)
{
    const auto run = [](int slowSteps, int usual) {
        std::string text = "main\n";
        for (int i = 0, at = 0; i < 200; ++i) {
            const int us = usual + (i < slowSteps + 20 && i >= 20 ? 60 : 0) + i % 3;
            text += "step " + std::to_string(i) + " " + std::to_string(at) + " " + std::to_string(us) + "\n";
            at += us;
        }
        return traceFromText(text + "op aten::mm 0 5\n");
    };
    EXPECT_EQ(difference(*run(50, 1000), *run(0, 1000)).verdict, Difference::Verdict::NotShown);
    EXPECT_EQ(difference(*run(0, 1000), *run(0, 900)).verdict, Difference::Verdict::Faster);
}

TEST(Compare, ListsWhatChangedByPhaseAndOperator)
{
    const auto a = run("", 500, 400), b = run("", 300, 200);
    const Difference found = difference(*a, *b);
    ASSERT_FALSE(found.phases.empty());
    EXPECT_EQ(found.phases.front().name, "forward");
    EXPECT_DOUBLE_EQ(found.phases.front().aUs - found.phases.front().bUs, 200);
    ASSERT_FALSE(found.ops.empty());
    EXPECT_EQ(found.ops.front().name, "aten::conv2d");
    EXPECT_DOUBLE_EQ(found.ops.front().aUs, 400);
    EXPECT_EQ(found.spreadA.count, 10);
    EXPECT_DOUBLE_EQ(found.spreadA.p50, 900);
    EXPECT_THAT(found.stepsUsB, testing::Each(700));
    EXPECT_EQ(found.verdict, Difference::Verdict::Faster);
}

TEST(Compare, ListsWhichKindOfKernelChanged)
{
    const auto gpu = [](int gemm) {
        return traceFromText("device 0 gpu\nmain\nrepeat 4 every 1000\nstep 0 0 1000\nend\nstream 0 7\nrepeat 4 every "
                             "1000\nkernel sgemm_a 0 " +
                             std::to_string(gemm) + "\nkernel elementwise_kernel_b 500 50\nend\n");
    };
    const Difference found = difference(*gpu(400), *gpu(100));
    ASSERT_FALSE(found.classes.empty());
    EXPECT_EQ(found.classes.front().name, "gemm");
    EXPECT_DOUBLE_EQ(found.classes.front().aUs, 400);
    EXPECT_DOUBLE_EQ(found.classes.front().bUs, 100);
}

/// Ten equal steps of `us`, except for the first one of `firstUs`.
std::shared_ptr<const profiler::Trace> warmed(int firstUs, int us, const std::string& more = "")
{
    std::string text = "main\n";
    for (int i = 0, at = 0; i < 10; ++i) {
        const int duration = (i == 0 ? firstUs : us) + i % 2;
        text += "step " + std::to_string(i) + " " + std::to_string(at) + " " + std::to_string(duration) +
                "\nop aten::mm " + std::to_string(at) + " " + std::to_string(us / 2) + "\n";
        at += duration;
    }
    return traceFromText(text + more);
}

TEST(Compare, WarmUpDoesNotAffectTheVerdict)
{
    const Difference found = difference(*warmed(50000, 1000), *warmed(1000, 1000));
    EXPECT_EQ(found.verdict, Difference::Verdict::NotShown);
    ASSERT_TRUE(found.ci95 && found.meanStepUs && found.statistic && found.statistic->ci95);
    EXPECT_TRUE(found.statistic->steady);
    EXPECT_GT(found.ci95->second, 5);
    EXPECT_GT(found.meanStepUs->ratio(), 5) << "all marks, as they are";
    EXPECT_NEAR(found.statistic->stepUs.ratio(), 1, 0.001);
    EXPECT_LT(found.statistic->ci95->second, 1.01);
    const Difference faster = difference(*warmed(1000, 1000), *warmed(50000, 900));
    EXPECT_EQ(faster.verdict, Difference::Verdict::Faster);
}

TEST(Compare, LessThanTheMinimumEffectIsNoDifference)
{
    EXPECT_EQ(difference(*warmed(1000, 1005), *warmed(1000, 1000)).verdict, Difference::Verdict::NotShown);
    EXPECT_EQ(difference(*warmed(1000, 1020), *warmed(1000, 1000)).verdict, Difference::Verdict::Faster);
    EXPECT_EQ(difference(*warmed(1000, 1000), *warmed(1000, 1020)).verdict, Difference::Verdict::Slower);
}

TEST(Compare, AFewEqualStepsGiveNoInterval)
{
    const auto equal = [](int us) {
        return traceFromText("main\nrepeat 3 every 1000\nstep 0 0 " + std::to_string(us) + "\nop aten::mm 0 100\nend");
    };
    const Difference found = difference(*equal(900), *equal(500));
    EXPECT_FALSE(found.ci95);
    EXPECT_FALSE(found.statistic->ci95);
    EXPECT_EQ(found.verdict, Difference::Verdict::NotShown);
}

TEST(Compare, OperatorsShowDifferentWorkWithoutKernels)
{
    const auto ops = [](const std::string& op, const std::string& head = "") {
        return traceFromText(head + "main\nrepeat 10 every 1000\nstep 0 0 1000\nop " + op + "\nend");
    };
    const auto why = [](const auto& a, const auto& b) { return difference(*a, *b).whyNot; };
    EXPECT_THAT(why(ops("aten::mm 0 900"), ops("aten::conv2d 0 900")),
                ElementsAre(hasId("diff.not_comparable.operators")));
    EXPECT_THAT(why(ops("aten::mm 0 900"), ops("aten::mm 0 500")), IsEmpty());
    const auto small = ops("aten::mm 0 900 shapes=\"[[8, 8], [8, 8]]\""),
               large = ops("aten::mm 0 900 shapes=\"[[64, 64], [64, 64]]\"");
    EXPECT_THAT(why(small, large), ElementsAre(hasId("diff.not_comparable.operators")));
    EXPECT_THAT(why(small, small), IsEmpty());
    EXPECT_THAT(why(small, ops("aten::mm 0 900")), IsEmpty()) << "shapes that one does not record are no difference";
}

TEST(Compare, UnknownWorkIsReported)
{
    const auto bare = [](const std::string& head) {
        return traceFromText(head + "main\nrepeat 10 every 1000\nstep 0 0 1000\nend");
    };
    EXPECT_THAT(difference(*bare(""), *bare("")).whyNot, ElementsAre(hasId("diff.not_comparable.work_unknown")));
    EXPECT_THAT(difference(*bare("meta workload convnet\n"), *bare("meta workload convnet\n")).whyNot, IsEmpty());
}

TEST(Compare, ModelsAndBatchesOfRecordedProgramsShowTheirWork)
{
    const auto program = [](const std::string& model, int parameters, int batch) {
        return traceFromText(
            R"(meta program {"schema":1,"objects":[{"id":"model:0","kind":"model","class":")" + model +
            R"(","parameters":)" + std::to_string(parameters) +
            R"(},{"id":"loader:0","kind":"loader","role":"training","count":10,"class":"torch.utils.data.DataLoader",)" +
            R"("settings":{"batch_size":{"value":)" + std::to_string(batch) + R"(,"given":true}}}]})" +
            "\nmain\nrepeat 10 every 1000\nstep 0 0 1000\nend");
    };
    const auto why = [](const auto& a, const auto& b) { return difference(*a, *b).whyNot; };
    const auto trained = program("models.Net", 1200, 32);
    EXPECT_THAT(why(trained, trained), IsEmpty());
    EXPECT_THAT(why(trained, program("models.Net", 1300, 32)), ElementsAre(hasId("diff.not_comparable.models")));
    EXPECT_THAT(why(trained, program("models.Other", 1200, 32)), ElementsAre(hasId("diff.not_comparable.models")));
    EXPECT_THAT(why(trained, program("models.Net", 1200, 64)), ElementsAre(hasId("diff.not_comparable.loader_batch")));
}

TEST(Compare, KernelsOutsideTheStepsDoNotCount)
{
    const auto gpu = [](const std::string& behind) {
        return traceFromText("device 0 gpu\nmain\nrepeat 4 every 1000\nstep 0 0 1000\nend\nstream 0 7\n"
                             "repeat 4 every 1000\nkernel sgemm_a 0 400\nend\n" +
                             behind);
    };
    const Difference found = difference(*gpu("kernel sgemm_a 9000 4000\n"), *gpu(""));
    ASSERT_FALSE(found.kernels.empty());
    EXPECT_DOUBLE_EQ(found.kernels.front().aUs, 400);
    EXPECT_EQ(found.kernels.front().countA, 4);
    EXPECT_DOUBLE_EQ(found.classes.front().aUs, 400);
    ASSERT_TRUE(found.kernelStepUs);
    EXPECT_DOUBLE_EQ(found.kernelStepUs->ratio(), 1);
    EXPECT_DOUBLE_EQ(found.kernelUs.a, 5600) << "of the whole trace, as summarize has it";
}

/// One of our own runs with this configuration; one step for each duration.
std::shared_ptr<const profiler::Trace> configured(const std::vector<int>& us, const std::string& config)
{
    std::string text = "meta config " + config + "\nmain\n";
    int at = 0;
    for (std::size_t i = 0; i < us.size(); ++i) {
        text += "step " + std::to_string(i) + " " + std::to_string(at) + " " + std::to_string(us[i]) +
                "\nop aten::mm " + std::to_string(at) + " 100\n";
        at += us[i];
    }
    return traceFromText(text);
}

TEST(Compare, StepsArePairedIfBothRunsTrainOnTheSameBatches)
{
    // Batches differ by a factor of two; each is 10 % slower in a.
    std::vector<int> a, b;
    for (int i = 0; i < 12; ++i) {
        b.push_back(i % 2 ? 1000 : 2000 + 10 * i);
        a.push_back(b.back() * 11 / 10 + i % 3);
    }
    const std::string workers0 = R"({"loader":{"workers":0}})", workers2 = R"({"loader":{"workers":2}})";
    const Difference found = difference(*configured(a, workers0), *configured(b, workers2));
    ASSERT_TRUE(found.statistic && found.statistic->ci95);
    EXPECT_EQ(found.statistic->kind, Difference::Statistic::Kind::PairedRatio);
    EXPECT_NEAR(found.statistic->stepUs.ratio(), 1.1, 0.002);
    EXPECT_EQ(found.statistic->stepsA, found.statistic->stepsB);
    EXPECT_EQ(found.verdict, Difference::Verdict::Faster);
    EXPECT_EQ(headline(found, "b", "a").id, "diff.faster");
    EXPECT_EQ(basis(found).id, "diff.basis.paired");

    // Another seed gives other batches: medians are used, which are inconclusive with this spread.
    const Difference unpaired = difference(*configured(a, R"({"run":{"seed":7}})"), *configured(b, workers0));
    ASSERT_TRUE(unpaired.statistic);
    EXPECT_EQ(unpaired.statistic->kind, Difference::Statistic::Kind::MedianRatio);
    EXPECT_EQ(unpaired.verdict, Difference::Verdict::NotShown);
    EXPECT_EQ(headline(unpaired, "b", "a").id, "diff.not_shown");
}

TEST(Compare, ImportedRunsAreComparedByMedians)
{
    const Difference found = difference(*warmed(1000, 1000), *warmed(1000, 800));
    ASSERT_TRUE(found.statistic);
    EXPECT_EQ(found.statistic->kind, Difference::Statistic::Kind::MedianRatio);
    EXPECT_NEAR(found.statistic->stepUs.ratio(), 1.25, 0.001);
    const profiler::Message said = headline(found, "b", "a");
    EXPECT_EQ(said.id, "diff.faster");
    EXPECT_EQ(said.text, "b is 25 % faster than a");
    EXPECT_EQ(headline(difference(*warmed(1000, 800), *warmed(1000, 1000)), "This run", "a").text,
              "This run is 20 % slower than a");
    EXPECT_EQ(headline(difference(*warmed(1000, 3000), *warmed(1000, 1000)), "b", "a").id, "diff.times_as_fast");
}

TEST(Compare, AMeanThatDisagreesIsNoted)
{
    std::vector<int> usual(12, 1000), withSlow(12, 1000);
    for (int i = 0; i < 12; ++i) {
        usual[static_cast<std::size_t>(i)] += i % 4;
        withSlow[static_cast<std::size_t>(i)] += i % 4 + (i == 6 || i == 9 ? 2000 : 0);
    }
    const Difference found = difference(*configured(withSlow, "{}"), *configured(usual, R"({"run":{"seed":7}})"));
    EXPECT_THAT(found.notes, testing::Contains(hasId("diff.note.means_differ")));
    EXPECT_EQ(found.verdict, Difference::Verdict::NotShown) << "the median step did not change";
    EXPECT_THAT(difference(*configured(usual, "{}"), *configured(usual, "{}")).notes, IsEmpty());
}

TEST(Compare, MedianAndMeanDisagreeOnTheResNetsWithAndWithoutWorkers)
{
    const char* chosen = std::getenv("STEPSCOPE_SHARED_TRACES");
    const std::filesystem::path folder = chosen ? chosen : STEPSCOPE_SHARED_TRACES;
    const auto a = profiler::formats::openTrace(folder / "v100_resnet50_nw0_a.json.gz", {});
    const auto b = profiler::formats::openTrace(folder / "v100_resnet50_nw4_a.json.gz", {});
    if (!a || !b)
        GTEST_SKIP() << "the traces in " << folder << " are absent";
    const Difference found = difference(**a, **b);
    ASSERT_TRUE(found.statistic && found.statistic->ci95 && found.meanStepUs && found.medianStepUs);
    EXPECT_EQ(found.statistic->kind, Difference::Statistic::Kind::MedianRatio)
        << "nothing shows that the batches are the same";
    EXPECT_NEAR(found.meanStepUs->ratio(), 1.25, 0.01);
    EXPECT_NEAR(found.medianStepUs->ratio(), 1.39, 0.015);
    EXPECT_NEAR(found.statistic->stepUs.ratio(), 1.39, 0.02);
    EXPECT_LT(found.statistic->ci95->first, 1.25) << "six steps each: the interval is wide";
    EXPECT_GT(found.statistic->ci95->second, 1.5);
    EXPECT_THAT(found.notes, testing::Contains(hasId("diff.note.means_differ")));
    // The headline claims only what the statistic's interval allows.
    const bool clears = found.statistic->ci95->first > 1.01;
    EXPECT_EQ(headline(found, "b", "a").id, clears ? "diff.faster" : "diff.not_shown");
}

TEST(Compare, EachReasonAgainstComparingHasItsId)
{
    const auto gpu = [](const std::string& name, const std::string& kernel) {
        return traceFromText("device 0 " + name +
                             "\nmain\nrepeat 4 every 1000\nstep 0 0 1000\nend\nstream 0 7\n"
                             "repeat 4 every 1000\nkernel " +
                             kernel + " 0 400\nend\n");
    };
    const auto why = [](const auto& a, const auto& b) { return difference(*a, *b).whyNot; };
    EXPECT_THAT(why(gpu("H100", "gemm"), gpu("V100", "gemm")), ElementsAre(hasId("diff.not_comparable.hardware")));
    EXPECT_THAT(why(gpu("H100", "gemm"), gpu("H100", "relu")), ElementsAre(hasId("diff.not_comparable.kernels")));
    const auto noSteps = traceFromText("device 0 H100\nstream 0 7\nkernel gemm 0 400\n");
    EXPECT_THAT(why(gpu("H100", "gemm"), noSteps), ElementsAre(hasId("diff.not_comparable.steps")));
    const auto two = traceFromText("device 0 H100\ndevice 1 H100\nmain\nrepeat 4 every 1000\nstep 0 0 1000\nend\n"
                                   "stream 0 7\nrepeat 4 every 1000\nkernel gemm 0 400\nend\n"
                                   "stream 1 7\nrepeat 4 every 1000\nkernel gemm 0 400\nend\n");
    EXPECT_THAT(why(gpu("H100", "gemm"), two), testing::Contains(hasId("diff.not_comparable.device_count")));
    const Difference found = difference(*gpu("H100", "gemm"), *gpu("V100", "gemm"));
    EXPECT_EQ(headline(found, "b", "a").id, "diff.not_comparable");
    EXPECT_TRUE(basis(found).empty()) << "no figure that should not be used";
}

} // namespace
} // namespace advisor
