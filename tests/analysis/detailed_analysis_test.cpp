#include "profiler/analysis/detailed_analysis.h"

#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;
using testing::Key;
using testing::Pair;
using testing::UnorderedElementsAre;

/// Eight steps of 100 µs, of which the first is warm-up, with forward passes; then 500 µs of validation.
constexpr std::string_view kPhases = R"(
    repeat 8 every 100
      main
        step 0 0 100
        phase forward 0 100
    end
    main
      phase validation 800 500
)";

std::map<std::string, double> usByName(const CriticalPath& path)
{
    std::map<std::string, double> us;
    for (const CriticalPath::Share& row : path.byName)
        us[row.name] += toUs(row.time);
    return us;
}

DetailedAnalysis analysisOf(const Trace& trace)
{
    return detailedAnalysis(trace, findSteps(trace));
}

TEST(DetailedAnalysis, ThePathCoversOnlySteadySteps)
{
    const DetailedAnalysis found = analysisOf(*traceFromText(kPhases));
    EXPECT_THAT(usByName(found.path), UnorderedElementsAre(Pair("forward", 700)));
    EXPECT_EQ(found.pathPart.steps, 7U);
    EXPECT_EQ(found.part.steps, 7U);
}

TEST(DetailedAnalysis, ThePathCoversStepsWithOperatorsIfOthersHaveNone)
{
    const DetailedAnalysis found = analysisOf(
        *traceFromText(std::string(kPhases) + "main\nop aten::mm 0 70\nop aten::mm 400 80\nop aten::mm 510 80"));
    EXPECT_THAT(usByName(found.path), UnorderedElementsAre(Pair("aten::mm", 160), Pair("forward", 40)));
    EXPECT_EQ(found.pathPart.steps, 2U) << "a warm-up step with operators is not a steady-state step";
    EXPECT_EQ(found.part.steps, 7U);
}

TEST(DetailedAnalysis, ThePathCoversAllStepsIfOnlyTheWarmUpHasOperators)
{
    const DetailedAnalysis found = analysisOf(*traceFromText(std::string(kPhases) + "main\nop aten::mm 0 70"));
    EXPECT_THAT(usByName(found.path), UnorderedElementsAre(Pair("forward", 700)));
}

TEST(DetailedAnalysis, ThePathCoversAllStepsIfAllHaveOperators)
{
    const DetailedAnalysis found = analysisOf(*traceFromText(R"(
        repeat 8 every 100
          main
            step 0 0 100
            op aten::mm 0 100
        end
    )"));
    EXPECT_THAT(usByName(found.path), UnorderedElementsAre(Pair("aten::mm", 700)));
    EXPECT_EQ(found.pathPart.steps, found.part.steps);
}

TEST(DetailedAnalysis, ThePathCoversTheWholeTraceWithoutSteps)
{
    const DetailedAnalysis found = analysisOf(*traceFromText("main\nop aten::mm 0 100\nop aten::add 150 50"));
    EXPECT_THAT(usByName(found.path), UnorderedElementsAre(Pair("aten::mm", 100), Pair("", 50), Pair("aten::add", 50)));
    EXPECT_EQ(found.pathPart.steps, 0U);
}

TEST(DetailedAnalysis, ThePathDoesNotEndInTrailingLoaderWork)
{
    const DetailedAnalysis found = analysisOf(*traceFromText(R"(
        repeat 4 every 100
          main
            step 0 0 100
            phase forward 0 100
          worker 0
            stage decode 50 95
        end
    )"));
    EXPECT_THAT(usByName(found.path), UnorderedElementsAre(Pair("forward", 300)));
    EXPECT_EQ(found.path.loader.count(), 0);
    EXPECT_THAT(usByName(analysisOf(*traceFromText("worker 0\nstage decode 0 95")).path),
                UnorderedElementsAre(Key("decode")))
        << "only the worker does work";
}

} // namespace
} // namespace profiler::analysis
