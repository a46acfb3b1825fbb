#include "advisor/report/report.h"

#include "advisor/report/svg_chart.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace advisor {
namespace {

using test_support::traceFromText;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHostile = R"(
    meta workload <script>alert(1)</script>
    device 0 "<img src=x onerror=alert(2)>"
    main
      repeat 10 every 1000
        step 0 0 1000
        phase "data wait" 0 500
        phase forward 500 500
        op "aten::<b>\"&'" 500 400
      end
    stream 0 7
      repeat 10 every 1000
        kernel "k</td></table><script src=https://example.org/x.js>" 500 300
      end
    counter loss
      sample 0 1
      sample 5000 0.5
)";

/// Checks that tags are closed in reverse order of opening.
void expectWellFormed(const std::string& html)
{
    std::vector<std::string> open;
    static const std::regex tag(R"(<(/?)([a-zA-Z0-9]+)[^>]*?(/?)>)");
    const std::set<std::string> empty = {"meta", "br", "hr", "img"};
    for (std::sregex_iterator at(html.begin(), html.end(), tag), end; at != end; ++at) {
        const std::string name = (*at)[2];
        if (empty.contains(name) || (*at)[3] == "/")
            continue;
        if ((*at)[1] != "/") {
            open.push_back(name);
            continue;
        }
        ASSERT_FALSE(open.empty()) << "</" << name << "> closes nothing";
        ASSERT_EQ(open.back(), name);
        open.pop_back();
    }
    EXPECT_TRUE(open.empty()) << open.size();
}

TEST(Report, EscapesEveryName)
{
    const auto trace = traceFromText(kHostile);
    ReportInput input;
    input.trace = trace.get();
    input.title = "a <title> & more";
    const std::string html = toHtml(reportModel(input));
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, Not(HasSubstr("<img")));
    EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)"));
    EXPECT_THAT(html, HasSubstr("a &lt;title&gt; &amp; more"));
    expectWellFormed(html);
}

TEST(Report, IsSelfContained)
{
    const auto trace = traceFromText(kHostile);
    ReportInput input;
    input.trace = trace.get();
    const std::string html = toHtml(reportModel(input));
    for (const char* mark : {"<link", "src=\"", "href=\"", "@import", "url("})
        EXPECT_THAT(html, Not(HasSubstr(mark)));
    EXPECT_THAT(html, HasSubstr("default-src 'none'"));
    EXPECT_THAT(html, HasSubstr("<svg"));
}

TEST(Report, HasFindingsFiguresEnvironmentAndWhatWasNotFound)
{
    const auto trace = traceFromText(kHostile);
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("batch.size", "48"));
    ReportInput input;
    input.trace = trace.get();
    input.config = &config;
    const ReportModel model = reportModel(input);
    const std::string html = toHtml(model);
    for (const char* part : {"Step duration", "Where step time goes", "Findings", "loader.workers", "Not found",
                             "Cannot tell", "critical path", "batch.size", "Code to copy", "Loss"})
        EXPECT_THAT(html, HasSubstr(part)) << part;
}

TEST(Report, ContainsTheDetailedAnalysis)
{
    const auto trace = traceFromText(R"(
        device 0 "NVIDIA H100"
        main
          op aten::item 0 50
          call cudaLaunchKernel 2 5 corr=1
          call cudaMemsetAsync 10 5 corr=2
          call cudaStreamSynchronize 20 25
        stream 0 7
          kernel gemm 10 10 corr=1
          memset m 30 10 corr=2 bytes=8
          copy HtoD 50 10 bytes=4 src=pinned dst=device
    )");
    ReportInput input;
    input.trace = trace.get();
    const ReportModel model = reportModel(input);
    std::vector<std::string> headings;
    for (const ReportModel::Table& table : model.tables) {
        headings.push_back(table.heading);
        for (const auto& row : table.rows)
            EXPECT_EQ(row.size(), table.header.size()) << table.heading;
    }
    for (const char* heading : {"Kernel launches and launch queue", "What decided the duration (critical path)",
                                "Copy bandwidth vs. best achieved", "Memset callers", "Synchronization callers",
                                "What the trace does not record"})
        EXPECT_THAT(headings, testing::Contains(heading));
}

TEST(Report, ExperimentsAreShownWithTheirPrediction)
{
    ExperimentResult result;
    result.plan.changes = {{"loader.workers", "0", "2"}};
    result.plan.predicted = Saving{SavingUnit::UsPerStep, 1000, 2000, 3000};
    result.verdict = Verdict::Pays;
    result.samplesPerSecond = {1.5, 1.4, 1.6};
    result.savedUs = {2100, 1900, 2300};
    ReportInput input;
    input.experiments = {result};
    const std::string html = toHtml(reportModel(input));
    EXPECT_THAT(html, HasSubstr("loader.workers = 2 (was 0)"));
    EXPECT_THAT(html, HasSubstr("1.00–3.00 ms"));
    EXPECT_THAT(html, HasSubstr("2.10 ms (1.90 ms to 2.30 ms)"));
    EXPECT_THAT(html, HasSubstr("pays"));
}

TEST(Report, TuningShowsItsResultAndCode)
{
    TuneResult tuning;
    ASSERT_TRUE(tuning.best.set("loader.workers", "2"));
    tuning.trials = {{{"loader.workers", "0", "2"},
                      {},
                      "loader.workers",
                      "The step waits for data",
                      {},
                      ExperimentResult{},
                      TuneTrial::Outcome::Kept,
                      profiler::foreignText("Faster"),
                      {}},
                     {{"batch.size", "32", "64"},
                      {},
                      "batch.size",
                      "x",
                      {},
                      std::nullopt,
                      TuneTrial::Outcome::Failed,
                      profiler::foreignText("out of <memory>"),
                      {}}};
    tuning.ratio = {2, 1.9, 2.1};
    ReportInput input;
    input.tuning = &tuning;
    const std::string html = toHtml(reportModel(input));
    EXPECT_THAT(html, HasSubstr("2.00 × the samples per second"));
    EXPECT_THAT(html, HasSubstr("num_workers"));
    EXPECT_THAT(html, HasSubstr("out of &lt;memory&gt;"));
    expectWellFormed(html);
}

TEST(Report, IsWrittenCompletelyOrNotAtAll)
{
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "stepscope-report";
    std::filesystem::create_directories(folder);
    const auto path = folder / "report.html";
    ASSERT_TRUE(writeReport(path, {}));
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_THAT(text.str(), testing::EndsWith("</html>\n"));
    const auto failed = writeReport(folder / "no" / "such" / "report.html", {});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().what.id, "report.unwritten");
    std::filesystem::remove_all(folder);
}

TEST(SvgChart, OmitsValuesThatAreNotNumbers)
{
    const std::string chart = svg::lines({{"loss", {1, std::nan(""), 2}}}, "", false).svg;
    EXPECT_THAT(chart, Not(HasSubstr("nan")));
    EXPECT_EQ(svg::lines({{"none", {}}}, "", true).svg, "");
    EXPECT_EQ(svg::shares({{"a", 0, "#000000"}}).svg, "");
}

TEST(SvgChart, ManyValuesKeepTheirSpikes)
{
    std::vector<double> values(100'000, 1);
    values[54'321] = 7;
    const std::string chart = svg::lines({{"step", values}}, "ms", true).svg;
    EXPECT_LT(chart.size(), 40'000U);
    EXPECT_THAT(chart, HasSubstr(",10.0 ")); // the top of the plot
}

} // namespace
} // namespace advisor
