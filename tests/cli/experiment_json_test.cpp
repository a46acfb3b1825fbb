#include "app/terminal/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

namespace app::terminal {

using namespace advisor;
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;

std::vector<std::string> keys(const Json& object)
{
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items())
        names.push_back(key);
    return names;
}

ExperimentResult result(std::vector<Toggle> changes)
{
    ExperimentResult r;
    r.plan.changes = std::move(changes);
    r.pairs.resize(6);
    r.samplesPerSecond = {.value = 1.25, .low = 1.2, .high = 1.3};
    r.samplesPerSecondA = 800;
    r.samplesPerSecondB = 1000;
    r.unitUsA = 50;
    r.unitUsB = 40;
    r.savedUs = {.value = 10, .low = 8, .high = 12};
    r.peakBytesA = 1000;
    r.verdict = Verdict::Pays;
    r.why = profiler::message<"experiment.slower", "Slower: {ratio} × the samples per second in {pairs}.">(
        {{"ratio", 0.9, "0.9"}, {"pairs", 6, "6 pairs"}});
    r.notes = {profiler::message<"experiment.note.one_at_a_time",
                                 "The trainers ran one at a time, because both together ran out of memory.">()};
    r.loss = {
        .kind = LossKind::NotWorse, .a = 2, .b = 2.002, .margin = 0.01, .highest = 0.003, .steps = 600, .seeds = 3};
    r.noise.cores = 2;
    r.noise.repeatedPairs = 2;
    r.noise.turns = {.seconds = 12, .otherCores = 0.5, .others = {{"cc1plus", 0.4}}};
    r.warmUp.arms[1] = {.steps = 4, .seconds = 2, .ended = false, .causes = {"autotuning"}};
    return r;
}

TEST(ExperimentJson, HasTheFieldsThatProgramsRead)
{
    const Json json = toJson(result({{"loader.workers", "0", "2"}}));
    EXPECT_THAT(keys(json),
                ElementsAre("schema", "baseline", "change", "changes", "pairs", "one_at_a_time", "judged_by",
                            "samples_per_s", "step_us", "epoch_us", "validation_us", "loss", "loss_at_equal_time",
                            "peak_bytes", "verdict", "why", "predicted", "predicted_here", "prediction_held",
                            "measured", "seconds_spent", "objective", "horizon_s", "rescaled", "why_id",
                            "why_parameters", "notes", "noise", "warm_up"));
    EXPECT_EQ(json["change"], (Json{{"key", "loader.workers"}, {"from", "0"}, {"to", "2"}}));
    EXPECT_EQ(json["pairs"], 6);
    EXPECT_EQ(json["verdict"], "pays");
    EXPECT_EQ(json["samples_per_s"]["ci95"], Json::array({1.2, 1.3}));
    EXPECT_EQ(json["step_us"]["ratio"], 1.25);
    EXPECT_EQ(json["step_us"]["ci95"], Json::array({1.2, 1.3}));
    EXPECT_TRUE(json["epoch_us"].is_null());
    EXPECT_EQ(json["measured"]["unit"], "us_per_step");
    EXPECT_EQ(json["peak_bytes"]["a"], 1000);
    EXPECT_TRUE(json["peak_bytes"]["b"].is_null()); // not measured
    EXPECT_EQ(json["peak_bytes"]["of"], "tensors");
    EXPECT_TRUE(json["predicted"].is_null());
    EXPECT_TRUE(json["baseline"].contains("loader"));
}

TEST(ExperimentJson, APredictionIsScaledToTheMeasuredBaseline)
{
    ExperimentResult r = result({{"loader.workers", "0", "2"}});
    EXPECT_TRUE(toJson(r)["prediction_held"].is_null()) << "nothing was predicted";
    r.plan.predicted = Saving{SavingUnit::UsPerStep, 18, 20, 22, 100}; // of 100; converted to 50 here: 9 to 11
    EXPECT_EQ(toJson(r)["predicted"]["low"], 18);
    EXPECT_EQ(toJson(r)["predicted_here"]["low"], 9);
    EXPECT_EQ(toJson(r)["predicted_here"]["high"], 11);
    EXPECT_EQ(toJson(r)["prediction_held"], true);
    r.plan.predicted->ofUs = 0;
    EXPECT_EQ(toJson(r)["prediction_held"], false);
    r.plan.predicted->unit = SavingUnit::UsPerEpoch;
    EXPECT_TRUE(toJson(r)["prediction_held"].is_null()) << "steps were measured";
}

TEST(ExperimentJson, TheReasonHasAnIdAndItsValues)
{
    const Json json = toJson(result({{"loader.workers", "0", "2"}}));
    EXPECT_EQ(json["why_id"], "experiment.slower");
    EXPECT_EQ(json["why_parameters"]["ratio"], 0.9);
    EXPECT_EQ(json["notes"][0]["id"], "experiment.note.one_at_a_time");
    EXPECT_THAT(json["why"].get<std::string>(), testing::EndsWith(json["notes"][0]["text"].get<std::string>()))
        << "the reason with its notes, for people";
}

TEST(ExperimentJson, TheLossCheckStatesItsMarginAndSteps)
{
    ExperimentResult r = result({{"loader.workers", "0", "2"}});
    const Json loss = toJson(r)["loss"];
    EXPECT_EQ(loss["kind"], "not worse");
    EXPECT_EQ(loss["parity"], true);
    EXPECT_EQ(loss["tolerance"], 0.02);
    EXPECT_EQ(loss["margin"], 0.01);
    EXPECT_EQ(loss["highest"], 0.003);
    EXPECT_EQ(loss["steps"], 600);
    EXPECT_EQ(loss["seeds"], 3);
    EXPECT_EQ(loss["at"], "same batches");
    for (const auto& [kind, name, parity] :
         {std::tuple{LossKind::Worse, "worse", Json(false)}, std::tuple{LossKind::NotShown, "not shown", Json(false)},
          std::tuple{LossKind::NotCompared, "not compared", Json(nullptr)}}) {
        r.loss.kind = kind;
        EXPECT_EQ(toJson(r)["loss"]["kind"], name);
        EXPECT_EQ(toJson(r)["loss"]["parity"], parity);
    }
}

TEST(ExperimentJson, NoiseAndWarmUpAreTheMeasuredOnes)
{
    const Json json = toJson(result({{"loader.workers", "0", "2"}}));
    EXPECT_EQ(json["noise"]["pairs_repeated"], 2);
    EXPECT_EQ(json["noise"]["others_cores"], 0.5);
    EXPECT_EQ(json["noise"]["processes"], (Json::array({{{"name", "cc1plus"}, {"cores", 0.4}}})));
    EXPECT_TRUE(json["noise"]["clock_mhz"].is_null()) << "not known";
    EXPECT_EQ(json["warm_up"]["b"]["ended"], false);
    EXPECT_EQ(json["warm_up"]["b"]["causes"], Json::array({"autotuning"}));
    EXPECT_EQ(json["objective"], "step time");
}

TEST(ExperimentJson, ALargerBatchHasNoIntervalForItsStep)
{
    const Json json = toJson(result({{"batch.size", "32", "64"}}));
    EXPECT_TRUE(json["step_us"]["ci95"].is_null());
    EXPECT_FALSE(json["samples_per_s"]["ci95"].is_null());
    EXPECT_TRUE(toJson(result({{"gradient.accumulation", "1", "4"}}))["step_us"]["ci95"].is_null());
}

TEST(ExperimentJson, AgainstItselfNothingChanges)
{
    const Json json = toJson(result({}));
    EXPECT_TRUE(json["change"].is_null());
    EXPECT_EQ(json["changes"], Json::array());
}

TEST(ExperimentJson, AValidationIsMeasuredByItself)
{
    ExperimentResult r = result({{"eval.no_grad", "false", "true"}});
    r.plan.measure = "validation";
    r.plan.predicted = Saving{.unit = SavingUnit::UsPerValidation, .low = 1, .mid = 2, .high = 3};
    const Json json = toJson(r);
    EXPECT_TRUE(json["step_us"].is_null());
    EXPECT_EQ(json["validation_us"]["a"], 50);
    EXPECT_EQ(json["measured"]["unit"], "us_per_validation");
    EXPECT_EQ(json["predicted"]["high"], 3);
}

TEST(ExperimentJson, ConvergenceIsMeasuredInLoss)
{
    ExperimentResult r = result({{"optimizer.kind", "adam", "adamw"}});
    r.plan.objective = Objective::LossAtEqualTime;
    r.lossAtEqualTime = LossAtEqualTime{.validation = true,
                                        .seconds = 20,
                                        .seeds = {{2.0, 1.8, 0.105}, {2.2, 2.0, 0.095}},
                                        .a = 2.1,
                                        .b = 1.9,
                                        .ratio = {1.1, 1.08, 1.13},
                                        .saved = {0.2, 0.15, 0.25},
                                        .diverged = {0, 1}};
    const Json json = toJson(r);
    EXPECT_EQ(json["judged_by"], "convergence");
    EXPECT_EQ(json["objective"], "screening at equal time");
    EXPECT_EQ(json["horizon_s"], 20);
    const Json& losses = json["loss_at_equal_time"];
    EXPECT_EQ(losses["a"], 2.1);
    EXPECT_EQ(losses["b"], 1.9);
    EXPECT_EQ(losses["difference"], 0.2);
    EXPECT_EQ(losses["ci95"], Json::array({0.15, 0.25}));
    EXPECT_EQ(losses["of"], "validation");
    EXPECT_EQ(losses["seconds"], 20);
    EXPECT_EQ(losses["seeds"][1], (Json{{"a", 2.2}, {"b", 2.0}}));
    EXPECT_EQ(losses["diverged"]["b"], 1);
    EXPECT_EQ(json["measured"], (Json{{"unit", "loss"}, {"value", 0.2}, {"ci95", {0.15, 0.25}}}));
}

TEST(ExperimentJson, MemoryIsMeasuredInBytes)
{
    ExperimentResult r = result({{"checkpointing", "off", "all"}});
    r.plan.objective = Objective::Memory;
    r.savedBytes = {300, 250, 350};
    const Json json = toJson(r);
    EXPECT_TRUE(json["loss_at_equal_time"].is_null());
    EXPECT_EQ(json["measured"], (Json{{"unit", "bytes"}, {"value", 300.0}, {"ci95", {250.0, 350.0}}}));
}

TEST(ExperimentJson, UnmeasuredValuesAreNotZero)
{
    ExperimentResult empty;
    empty.plan.changes = {{"loader.workers", "0", "2"}};
    const Json json = toJson(empty);
    for (const char* field : {"a", "b", "ci95"})
        EXPECT_TRUE(json["samples_per_s"][field].is_null()) << field;
    EXPECT_EQ(Json::parse(json.dump())["samples_per_s"]["ratio"], nullptr);
    EXPECT_TRUE(json["measured"]["ci95"].is_null());
    EXPECT_EQ(Json::parse(json.dump())["measured"]["value"], nullptr);
}

} // namespace
} // namespace app::terminal
