#include "app/views/summary/summary.h"
#include "app/views/summary/summary_sections.h"
#include "profiler/analysis/facts.h"
#include "tests/support/trace_text.h"

#include <QLabel>
#include <QTest>
#include <gtest/gtest.h>

namespace app {
namespace {

using test_support::traceFromText;

constexpr std::string_view kRun = R"(
    device 0 "NVIDIA H100"
    repeat 4 every 100
      main
        step 0 0 100
        op aten::item 15 60
        call cudaLaunchKernel 20 5 corr=5
        call cudaStreamSynchronize 50 20
      stream 0 7
        kernel gemm 30 40 corr=5
    end
)";

std::shared_ptr<const profiler::analysis::Facts> factsOf(const profiler::Trace& trace)
{
    return std::make_shared<const profiler::analysis::Facts>(profiler::analysis::analyse(trace));
}

bool comes(const QWidget& widget, const char* table)
{
    return QTest::qWaitFor([&] { return widget.findChild<EvidenceTable*>(table) != nullptr; }, 20'000);
}

TEST(DetailedAnalysisSummary, RunsWhenVisibleAndItsRowsLinkToTheirEvidence)
{
    const auto trace = traceFromText(kRun);
    Selection selection;
    SummaryPanel panel(&selection);
    panel.resize(1200, 1600);
    panel.show(trace, factsOf(*trace));
    EXPECT_FALSE(panel.findChild<EvidenceTable*>("launches")) << "the view is not visible yet";
    panel.QWidget::show();
    ASSERT_TRUE(comes(panel, "launches"));
    EXPECT_FALSE(panel.findChild<QLabel*>("lookingCloser")->isVisible());
    auto* syncs = panel.findChild<EvidenceTable*>("sync_callers");
    ASSERT_TRUE(syncs);
    EXPECT_EQ(syncs->model()->index(0, 0).data().toString(), "aten::item");
    auto* path = panel.findChild<EvidenceTable*>("critical_path");
    ASSERT_TRUE(path);
    emit syncs->rowActivated(syncs->evidence()->row(0));
    ASSERT_TRUE(selection.slice());
    EXPECT_EQ(trace->name(trace->slice(*selection.slice())), "cudaStreamSynchronize");
    EXPECT_TRUE(panel.findChild<EvidenceTable*>("cannot_tell"));
}

TEST(DetailedAnalysisSummary, ShowsTheCurrentTrace)
{
    const auto first = traceFromText(kRun), second = traceFromText("repeat 4 every 100\nmain\nstep 0 0 100\nend");
    DetailedAnalysisSummary look(nullptr);
    look.show(first, factsOf(*first));
    look.QWidget::show();
    look.show(second, factsOf(*second)); // while the first is being analysed
    ASSERT_TRUE(comes(look, "critical_path"));
    EXPECT_FALSE(look.findChild<EvidenceTable*>("launches"));
    look.show(nullptr, nullptr);
    EXPECT_FALSE(look.isVisible());
    EXPECT_FALSE(look.findChild<EvidenceTable*>("critical_path"));
}

TEST(DetailedAnalysisSummary, DoesNotAnalyseAGrowingTrace)
{
    const auto trace = traceFromText(std::string(kRun) + "lost live\n");
    ASSERT_TRUE(trace->captureStats().live);
    DetailedAnalysisSummary look(nullptr);
    look.show(trace, factsOf(*trace));
    EXPECT_TRUE(look.isHidden());
}

} // namespace
} // namespace app
