#include "advisor/evidence/program_values.h"
#include "advisor/rule.h"
#include "advisor/tips.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <vector>

namespace advisor {
namespace {

using test_support::traceFromText;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(TipText, EveryRuleIsExplained)
{
    for (const Rule& rule : allRules()) {
        EXPECT_EQ(tipText(rule.key).substr(0, 2), "# ") << rule.key;
        for (const auto heading : {tip_section::kWhat, tip_section::kWhy, tip_section::kWhenNot})
            EXPECT_THAT(tipSection(rule.key, heading), Not(IsEmpty())) << rule.key << ' ' << heading;
        for (const auto heading : {tip_section::kPyTorch, tip_section::kLibTorch}) {
            const std::string code(tipCode(rule.key, heading));
            EXPECT_THAT(code, Not(IsEmpty())) << rule.key << ' ' << heading;
            EXPECT_THAT(code, Not(HasSubstr("```"))) << rule.key;
        }
    }
}

TEST(TipText, ASectionEndsWhereTheNextBegins)
{
    const std::string why(tipSection("loader.workers", tip_section::kWhy));
    EXPECT_THAT(why, Not(HasSubstr("##")));
    EXPECT_EQ(why.front(), 'I');
    EXPECT_EQ(why.back(), '.');
}

TEST(TipText, UnknownKeysAndHeadingsAreEmpty)
{
    EXPECT_THAT(tipText("no.such_tip"), IsEmpty());
    EXPECT_THAT(tipSection("loader.workers", "No such heading"), IsEmpty());
    EXPECT_THAT(tipCode("loader.workers", tip_section::kWhy), IsEmpty());
}

TEST(TipText, CodeHasTheValuesOfTheRunAndOfTheChange)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("batch.size", "32"));
    const ProgramValues run = programValues(config);
    const Toggle change{"loader.workers", "0", "1"};
    const std::string python = tipCodeOfRun("loader.workers", tip_section::kPyTorch, change, run);
    EXPECT_THAT(python, HasSubstr("DataLoader(dataset, batch_size=32, shuffle=True"));
    EXPECT_THAT(python, HasSubstr("num_workers=1)\n"));
    EXPECT_THAT(tipCodeOfRun("loader.workers", tip_section::kLibTorch, change, run),
                HasSubstr(".batch_size(32).workers(1).max_jobs(2)"));
    EXPECT_THAT(tipCodeOfRun("loader.pin_memory", tip_section::kPyTorch, {}, run),
                HasSubstr("batch_size=32, num_workers=0, "));
    EXPECT_THAT(tipCodeOfRun("loader.prefetch_factor", tip_section::kPyTorch, {}, run),
                HasSubstr("num_workers=num_workers, "))
        << "without workers the code would not run";
    EXPECT_THAT(tipCodeOfRun("host.bound", tip_section::kPyTorch, {}, run), HasSubstr("batch_size=2 * batch_size"))
        << "it is about a larger one";
    const Toggle larger{"batch.size", "32", "64"};
    EXPECT_THAT(tipCodeOfRun("batch.size", tip_section::kPyTorch, larger, run),
                AllOf(HasSubstr("new_batch_size = 64\n"), HasSubstr("batch_size=new_batch_size")));
    EXPECT_THAT(tipCodeOfRun("batch.size", tip_section::kLibTorch, larger, run), HasSubstr("newBatchSize = 64;"));
}

TEST(TipText, UnknownValuesStayVariables)
{
    for (const auto heading : {tip_section::kPyTorch, tip_section::kLibTorch})
        EXPECT_EQ(tipCodeOfRun("loader.pin_memory", heading, {}, {}), tipCode("loader.pin_memory", heading));
    EXPECT_THAT(tipCodeOfRun("optimizer.fused", tip_section::kPyTorch, {}, {}),
                HasSubstr("Optimizer(model.parameters(), **settings, fused=True)"));
}

/// The user's own arguments, containing a number.
std::vector<std::string> numbersInArguments(const std::string& code)
{
    static const std::regex kArguments(
        R"re((\b(batch_size|num_workers|prefetch_factor|lr|momentum|weight_decay|max_lr|max_norm|clip_value|betas|eps)\s*=\s*\(?|"(lr|weight_decay)":\s*|\.(workers|batch_size|max_jobs|momentum|weight_decay|set_lr)\(|(SGD|Adam|AdamW|Conv2d|Linear|BatchNorm2d)(Options)?\()(\d*\.?\d+(e-?\d+)?)(?![\d.]*\s*\*))re");
    std::vector<std::string> found;
    for (std::sregex_iterator match(code.begin(), code.end(), kArguments), none; match != none; ++match)
        if (match->str(7) != "0.0") // the tip is about a missing decay
            found.push_back(match->str());
    return found;
}

TEST(TipText, NoTipInventsTheUsersValues)
{
    EXPECT_THAT(numbersInArguments("DataLoader(d, batch_size=64); SGDOptions(0.1).momentum(0.9)"), SizeIs(3));
    for (const Rule& rule : allRules())
        for (const auto heading : {tip_section::kPyTorch, tip_section::kLibTorch})
            EXPECT_THAT(numbersInArguments(tipCodeOfRun(rule.key, heading, {}, programValues(*traceFromText("main")))),
                        IsEmpty())
                << rule.key << ' ' << heading;
}

TEST(TipText, TheOptimizerIsTheProgramsOwn)
{
    const auto fused = [](const ProgramValues& values) {
        return tipCodeOfRun("optimizer.fused", tip_section::kPyTorch, {}, values);
    };
    EXPECT_THAT(fused({.optimizer = "torch.optim.AdamW",
                       .optimizerSettings = "lr=0.003, weight_decay=0.1",
                       .hasAllSettings = true,
                       .learningRate = "0.003"}),
                HasSubstr("optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=0.1, fused=True)"));
    EXPECT_THAT(fused({.optimizer = "torch.optim.SGD", .optimizerSettings = "lr=0.1", .learningRate = "0.1"}),
                HasSubstr("torch.optim.SGD(model.parameters(), lr=0.1, **settings, fused=True)"));
    EXPECT_THAT(fused({.optimizer = "torch.optim.Adadelta", .optimizerSettings = "lr=0.1", .learningRate = "0.1"}),
                HasSubstr("torch.optim.Adadelta(model.parameters(), lr=0.1, **settings, foreach=True)"));
    EXPECT_THAT(tipCodeOfRun("optimizer.kind", tip_section::kLibTorch, {}, {.learningRate = "0.003"}),
                HasSubstr("AdamWOptions(0.003).weight_decay(weightDecay)"));
}

TEST(TipText, LibTorchCountsBatchesInFlightOverAllWorkers)
{
    ProgramValues run;
    run.prefetchFactor = 3;
    const auto code = [&](std::string_view key, const Toggle& change) {
        return tipCodeOfRun(key, tip_section::kLibTorch, change, run);
    };
    EXPECT_THAT(code("loader.workers", {"loader.workers", "0", "8"}), HasSubstr(".workers(8).max_jobs(24)"));
    run.prefetchFactor.reset();
    EXPECT_THAT(code("loader.workers", {"loader.workers", "0", "8"}),
                HasSubstr(".workers(8).max_jobs(prefetch * workers)"));
    run = {.workers = 8, .prefetchFactor = 3};
    for (const char* tip : {"loader.prefetch_factor", "step.variance"})
        EXPECT_THAT(code(tip, {"loader.prefetch_factor", "3", "5"}), HasSubstr(".workers(8).max_jobs(40)")) << tip;
}

TEST(ProgramValues, ComeFromFactsThatTheHooksRecord)
{
    const ProgramValues values = programValues(*traceFromText(R"(
        meta loader.batch_size 48
        meta loader.workers 3
        meta loader.prefetch_factor 0
        meta optimizer.count 1
        meta optimizer.class torch.optim.AdamW
        meta optimizer.settings betas=(0.8, 0.99), lr=0.0003
        main
          op aten::conv2d 0 5 shapes=[[16,3,8,8]]
    )"));
    EXPECT_EQ(values.batchSize, 48);
    EXPECT_EQ(values.workers, 3);
    EXPECT_EQ(values.prefetchFactor, std::nullopt);
    EXPECT_EQ(values.optimizer, "torch.optim.AdamW");
    EXPECT_EQ(values.learningRate, "0.0003");
    EXPECT_TRUE(values.hasAllSettings);
}

TEST(ProgramValues, OfOneOfSeveralOptimizersDoNotDescribeTheProgram)
{
    const ProgramValues facts = programValues(*traceFromText(
        "meta optimizer.count 2\nmeta optimizer.class torch.optim.Adam\nmeta optimizer.settings lr=0.1\nmain"));
    EXPECT_EQ(facts, ProgramValues());
    const auto ranges = [](std::string_view second) {
        return programValues(
                   *traceFromText("main\n annotation Optimizer.step#SGD.step 0 5\n annotation Optimizer.step#" +
                                  std::string(second) + ".step 10 5"))
            .optimizer;
    };
    EXPECT_EQ(ranges("SGD"), "torch.optim.SGD");
    EXPECT_EQ(ranges("Adam"), "");
    EXPECT_EQ(programValues(*traceFromText("main\n annotation Optimizer.step#Lion.step 0 5")).optimizer, "Lion");
}

TEST(ProgramValues, TheBatchIsThatOfMostConvolutions)
{
    const auto batch = [](int ofOthers) {
        std::string text = "main\nrepeat 8 every 100\n op aten::conv2d 0 5 shapes=[[16,3,8,8],[4,3,3,3]]\nend\n";
        for (int i = 0; i < ofOthers; ++i)
            text += " op aten::conv2d " + std::to_string(1000 + 10 * i) + " 5 shapes=[[5,3,8,8],[4,3,3,3]]\n";
        return programValues(*traceFromText(text)).batchSize;
    };
    EXPECT_EQ(batch(2), 16);
    EXPECT_EQ(batch(3), std::nullopt) << "under four fifths";
    EXPECT_EQ(
        programValues(*traceFromText("main\n op aten::conv2d 0 5 shapes=[[16,3,8,8]]\n op Scatter 9 1")).batchSize,
        std::nullopt)
        << "copies of the model get a part of the batch";
    EXPECT_EQ(programValues(*traceFromText("main\n op aten::linear 0 5 shapes=[[16,8],[4,8]]")).batchSize, std::nullopt)
        << "rows of a matrix may be words";
}

} // namespace
} // namespace advisor
