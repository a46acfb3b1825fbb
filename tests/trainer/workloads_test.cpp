#include "tests/trainer/trainer_run.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <ostream>
#include <tuple>

using namespace trainer_test;
using testing::HasSubstr;

namespace {

MATCHER_P(IsNear, tolerance, "")
{
    return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance;
}

/// A model at its smallest on data that are generated for it.
struct Pair {
    std::string workload, dataset, metric;
    std::vector<std::string> settings;
    std::size_t steps = 48; ///< that it takes to see the loss fall
    [[nodiscard]] std::vector<std::string> all() const
    {
        std::vector<std::string> list = {"workload=" + workload, "dataset.kind=" + dataset,
                                         "dataset.path=",        "dataset.samples=200",
                                         "model.size=tiny",      "model.width=0",
                                         "batch.size=8",         "augment.enabled=false",
                                         "optimizer.kind=adamw", "optimizer.learning_rate=0.003"};
        list.insert(list.end(), settings.begin(), settings.end());
        return list;
    }
    friend void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.workload << " on " << pair.dataset; }
};

const std::vector<Pair>& pairs()
{
    static const std::vector<Pair> all = {
        {"convnet", "mnist", "accuracy", {"optimizer.learning_rate=0.03"}},
        {"resnet18", "mnist", "accuracy", {}},
        {"resnet50", "mnist", "accuracy", {}},
        {"vit", "mnist", "accuracy", {"attention=sdpa", "optimizer.learning_rate=0.001"}, 100},
        {"gpt", "text", "perplexity", {"dataset.context=32"}},
        {"bert", "text", "perplexity", {"dataset.context=32", "attention=sdpa"}},
        {"lstm", "text", "perplexity", {"dataset.context=32", "optimizer.learning_rate=0.01"}},
        {"lstm", "arrays", "accuracy", {"optimizer.learning_rate=0.01", "dataset.classes=3"}},
        {"mlp", "csv", "accuracy", {}},
        {"mlp", "mnist", "accuracy", {}},
    };
    return all;
}

class Workloads : public testing::TestWithParam<Pair> {};

double mean(const std::vector<double>& values, std::size_t first, std::size_t count)
{
    return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(first),
                           values.begin() + static_cast<std::ptrdiff_t>(first + count), 0.0) /
           static_cast<double>(count);
}

TEST_P(Workloads, LearnTheirGeneratedData)
{
    const TestFolder folder;
    const std::size_t steps = GetParam().steps;
    const auto seen = losses(folder.path(), GetParam().all(), static_cast<int>(steps));
    ASSERT_EQ(seen.size(), steps);
    EXPECT_LT(mean(seen, steps - 8, 8), 0.9 * mean(seen, 0, 8));
}

TEST_P(Workloads, AreJudgedByTheirOwnMetric)
{
    const TestFolder folder;
    auto settings = GetParam().all();
    settings.insert(settings.end(), {"run.steps=2", "dataset.samples=24"});
    const auto run = train(folder.path(), settings);
    EXPECT_EQ(run.ended.status, 0) << run.ended.output;
    const auto epoch = run.one<protocol::EpochProgress>();
    EXPECT_EQ(epoch.metric, GetParam().metric);
    EXPECT_EQ(run.one<protocol::Done>().metric, GetParam().metric);
    if (epoch.metric == "perplexity") {
        EXPECT_NEAR(epoch.validationAccuracy, std::exp(epoch.validationLoss), 0.2 * epoch.validationAccuracy);
    } else {
        EXPECT_GE(epoch.validationAccuracy, 0);
        EXPECT_LE(epoch.validationAccuracy, 1);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Workloads, testing::ValuesIn(pairs()),
                         [](const auto& test) { return test.param.workload + "_" + test.param.dataset; });

/// The text of a notice's value; empty where it has none of that name.
std::string textOf(const protocol::Notice& notice, std::string_view name)
{
    for (const protocol::NoticeValue& value : notice.parameters)
        if (value.name == name)
            return value.text;
    return {};
}

TEST(WorkloadPairs, ThatDoNotFitAreRefusedWithBothNames)
{
    const TestFolder folder;
    for (const auto& [workload, dataset, takes, gives] :
         {std::tuple("gpt", "mnist", "tokens", "images"), std::tuple("convnet", "text", "images", "tokens"),
          std::tuple("mlp", "text", "rows", "tokens")}) {
        const auto run =
            train(folder.path(), {std::string("workload=") + workload, std::string("dataset.kind=") + dataset,
                                  "dataset.path=", "dataset.samples=10"});
        EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::BadInput));
        const auto notice = run.one<protocol::Notice>();
        EXPECT_EQ(notice.id, "model.dataset");
        EXPECT_THAT(textOf(notice, "takes"), HasSubstr(takes));
        EXPECT_THAT(textOf(notice, "gives"), HasSubstr(gives));
    }
}

// Three steps of four would hide no token.
TEST(Bert, HasSomethingToPredictInTheSmallestBatch)
{
    const TestFolder folder;
    const auto found = losses(folder.path(),
                              {"workload=bert", "dataset.kind=text", "dataset.path=", "model.size=tiny",
                               "model.width=0", "dataset.context=2", "batch.size=1"},
                              30);
    ASSERT_EQ(found.size(), 30u);
    for (const double loss : found)
        EXPECT_TRUE(std::isfinite(loss) && loss > 0) << loss;
}

TEST(Attention, WrittenOutAndAsOneOperatorAgree)
{
    const TestFolder folder;
    for (const char* workload : {"workload=gpt", "workload=bert"}) {
        const std::vector<std::string> base = {
            workload,        "dataset.kind=text",  "dataset.path=", "model.size=tiny",
            "model.width=0", "dataset.context=24", "batch.size=4",  "optimizer.learning_rate=0.01"};
        auto math = base, sdpa = base;
        math.emplace_back("attention=math");
        sdpa.emplace_back("attention=sdpa");
        const auto plain = losses(folder.path(), math, 6);
        ASSERT_EQ(plain.size(), 6u);
        EXPECT_THAT(losses(folder.path(), sdpa, 6), testing::Pointwise(IsNear(1e-3), plain)) << workload;
    }
}

TEST(FusedPointwise, ComputesTheSame)
{
    const TestFolder folder;
    const auto run = [&](const char* fused) {
        return losses(
            folder.path(),
            {"workload=vit", "dataset.kind=mnist", "dataset.path=", "model.size=tiny", "model.width=0", fused}, 4);
    };
    EXPECT_THAT(run("fuse.pointwise=true"), testing::Pointwise(IsNear(1e-3), run("fuse.pointwise=false")));
}

TEST(MaskedTokens, AreTheSameWithAnyNumberOfWorkers)
{
    const TestFolder folder;
    const std::vector<std::string> base = {"workload=bert",   "dataset.kind=text", "dataset.path=",
                                           "model.size=tiny", "model.width=0",     "dataset.context=16"};
    auto with = [&](const char* workers) {
        auto settings = base;
        settings.emplace_back(workers);
        return losses(folder.path(), settings, 6);
    };
    const auto none = with("loader.workers=0");
    ASSERT_EQ(none.size(), 6u);
    EXPECT_EQ(with("loader.workers=1"), none);
    EXPECT_EQ(with("loader.workers=4"), none);
}

} // namespace
