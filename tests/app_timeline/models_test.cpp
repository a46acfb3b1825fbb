#include "app/charts/chart.h"
#include "app/document/evidence_model.h"
#include "app/document/selection.h"
#include "app/document/step_parts.h"
#include "app/tables/range_sums.h"
#include "app/tables/slice_details.h"
#include "profiler/analysis/facts.h"
#include "profiler/model/trace_builder.h"
#include "tests/app_timeline/training_trace.h"
#include "tests/support/trace_text.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <gtest/gtest.h>

namespace app {
namespace {

using namespace profiler;

EvidenceRow row(const QString& name, double value)
{
    EvidenceRow made;
    made.cells = {{name, 0}, {QString::number(value), value}};
    made.swatch = SliceClass::Forward;
    return made;
}

TEST(ChartFrame, NumbersStepsByTheirOwnIndex)
{
    const auto numbersOf = [](const std::vector<std::int64_t>& indices) {
        std::vector<analysis::Step> steps;
        for (const std::int64_t index : indices)
            steps.emplace_back().index = index;
        const ChartFrame frame{QRectF(0, 0, 100.0 * static_cast<double>(steps.size()), 100), 1,
                               static_cast<int>(steps.size())};
        std::vector<std::int64_t> numbers;
        for (const int step : frame.numbered(steps))
            numbers.push_back(indices[static_cast<std::size_t>(step)]);
        return numbers;
    };
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(numbersOf({3, 4, 5}), (Numbers{3, 4, 5}));
    EXPECT_EQ(numbersOf({3, 40, 41, 90}), (Numbers{3, 40, 41, 90}))
        << "a time between two steps does not belong to a step";
    // If there is not enough space for all: at or after each round number.
    std::vector<std::int64_t> many(1000);
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i] = static_cast<std::int64_t>(i < 503 ? i : i + 4);
    std::vector<analysis::Step> steps;
    for (const std::int64_t index : many)
        steps.emplace_back().index = index;
    const ChartFrame frame{QRectF(0, 0, 1000, 100), 1, 1000};
    const std::vector<int> places = frame.numbered(steps);
    ASSERT_EQ(places.size(), 11U);
    EXPECT_EQ(many[static_cast<std::size_t>(places[5])], 500);
    EXPECT_EQ(many[static_cast<std::size_t>(places[6])], 600);
    EXPECT_EQ(places[6], 596);
}

TEST(EvidenceModel, KeepsItsContractWhileItsRowsChange)
{
    EvidenceModel model({{"Name", false}, {"Time", true}});
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setRows({row("a", 1), row("b", 2)});
    model.setRows({row("b", 2), row("c", 3)});
    model.setDark(true);
    model.setRows({});
    model.setRows({row("x", 1)});
    EXPECT_EQ(model.rowCount(), 1);
    EXPECT_EQ(model.columnCount(), 2);
}

TEST(EvidenceModel, NumbersAreRightAlignedAndSortByValue)
{
    EvidenceModel model({{"Name", false}, {"Time", true}});
    model.setRows({row("a", 12.5)});
    EXPECT_EQ(model.index(0, 1).data(EvidenceModel::kSortRole).toDouble(), 12.5);
    EXPECT_TRUE(model.index(0, 1).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
    EXPECT_TRUE(model.index(0, 0).data(Qt::TextAlignmentRole).toInt() & Qt::AlignLeft);
    EXPECT_FALSE(model.index(0, 0).data(Qt::DecorationRole).isNull());
    EXPECT_TRUE(model.index(0, 1).data(Qt::DecorationRole).isNull());
    EXPECT_EQ(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), "Time");
}

TEST(EvidenceModel, TheSameRowsWithNewValuesKeepTheScrollPosition)
{
    EvidenceModel model({{"Name", false}, {"Time", true}});
    model.setRows({row("a", 1), row("b", 2)});
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset), changes(&model, &QAbstractItemModel::dataChanged);
    model.setRows({row("a", 5), row("b", 6)});
    EXPECT_EQ(resets.size(), 0);
    EXPECT_EQ(changes.size(), 1);
}

/// A track with a slice [0, 100) that contains two others, and a wait on another track.
std::shared_ptr<const Trace> nested()
{
    TraceBuilder builder;
    const auto add = [&](TrackId track, std::string_view name, ActivityKind kind, std::int64_t begin, std::int64_t end,
                         int depth) {
        Slice slice;
        slice.begin = traceTime(begin);
        slice.duration = Nanoseconds{end - begin};
        slice.name = builder.intern(name);
        slice.kind = kind;
        slice.depth = static_cast<std::uint8_t>(depth);
        builder.add(track, slice);
    };
    Track main, worker;
    main.kind = TrackKind::MainThread;
    main.name = "main thread";
    worker.kind = TrackKind::LoaderWorker;
    worker.name = "loader worker 0";
    const TrackId m = builder.addTrack(main), w = builder.addTrack(worker);
    add(m, "forward", ActivityKind::Phase, 0, 100, 0);
    add(m, "aten::conv2d", ActivityKind::CpuOp, 10, 40, 1);
    add(m, "aten::conv2d", ActivityKind::CpuOp, 50, 60, 1);
    add(w, "wait for room", ActivityKind::LoaderWait, 20, 120, 0);
    return builder.finish();
}

const RangeSums::Sum* sumOf(const std::vector<RangeSums::Sum>& sums, std::string_view name)
{
    for (const RangeSums::Sum& sum : sums)
        if (sum.name == name)
            return &sum;
    return nullptr;
}

TEST(RangeSums, AreExclusiveAndClippedToTheRange)
{
    const auto trace = nested();
    const RangeSums sums = rangeSums(*trace, {traceTime(30), traceTime(80)});
    EXPECT_EQ(sums.count, 4);
    EXPECT_EQ(sumOf(sums.byName, "aten::conv2d")->self, Nanoseconds{20}) << "10 of the first, 10 of the second";
    EXPECT_EQ(sumOf(sums.byName, "aten::conv2d")->count, 2);
    EXPECT_EQ(sumOf(sums.byName, "forward")->self, Nanoseconds{30});
    EXPECT_EQ(sumOf(sums.byName, "wait for room")->self, Nanoseconds{50});
    EXPECT_EQ(sums.self, Nanoseconds{100});
    EXPECT_EQ(sums.byName.front().name, "wait for room") << "most time first";
    EXPECT_EQ(sumOf(sums.byName, "forward")->longestDuration, Nanoseconds{50});
}

TEST(RangeSums, GiveEachTracksBusyTime)
{
    const auto trace = nested();
    const RangeSums sums = rangeSums(*trace, {traceTime(50), traceTime(150)});
    ASSERT_EQ(sums.byTrack.size(), 2U);
    EXPECT_EQ(sums.byTrack[0].busy, Nanoseconds{50}) << "nested slices count once";
    EXPECT_EQ(sums.byTrack[0].count, 2);
    EXPECT_EQ(sums.byTrack[1].busy, Nanoseconds{70});
    EXPECT_EQ(rangeSums(*trace, {traceTime(110), traceTime(150)}).byTrack.size(), 1U) << "only tracks with slices";
}

TEST(RangeSums, GiveTheWholeTraceItsTime)
{
    const auto trace = test::trainingTrace({.steps = 20});
    const RangeSums sums = rangeSums(*trace, trace->range());
    Nanoseconds byClass{}, phases{};
    for (const auto& sum : sums.byClass)
        byClass += sum.self;
    EXPECT_EQ(byClass, sums.self);
    EXPECT_EQ(static_cast<std::int64_t>(sums.byName.size()),
              std::min(sums.names, static_cast<std::int64_t>(RangeSums::kMostNames)));
    for (const Slice& slice : trace->ofKind(ActivityKind::Phase))
        if (trace->name(slice) == phase::kDataWait)
            phases += slice.duration;
    EXPECT_EQ(sumOf(sums.byName, "data wait")->self, phases);
}

TEST(SliceSums, AreOfTheSelectedSlicesOnly)
{
    const auto trace = test_support::traceFromText(R"(
        main
          op outer 0 100
          op between 10 80
          op inner 20 30
          op other 60 10
          op later 200 50
        stream 0 7
          kernel gemm 40 20
          kernel gemm 70 20
    )");
    const auto ops = trace->ofKind(ActivityKind::CpuOp);
    const auto kernels = trace->ofKind(ActivityKind::Kernel);
    const RangeSums sums =
        sliceSums(*trace, {ops[0].id, ops[2].id, ops[4].id, kernels[0].id}); // outer, inner, later, the first gemm
    EXPECT_EQ(sums.count, 4);
    EXPECT_EQ(sums.range, (TimeRange{traceTime(0), traceTime(250'000)}));
    EXPECT_EQ(sumOf(sums.byName, "outer")->self, Nanoseconds{70'000}) << "without the selected inner";
    EXPECT_EQ(sumOf(sums.byName, "inner")->self, Nanoseconds{30'000});
    EXPECT_EQ(sumOf(sums.byName, "gemm")->count, 1);
    ASSERT_EQ(sums.byTrack.size(), 2U);
    EXPECT_EQ(sums.byTrack[0].busy, Nanoseconds{150'000});
    EXPECT_EQ(sums.byTrack[1].busy, Nanoseconds{20'000});
    EXPECT_EQ(sums.self, Nanoseconds{170'000});
    EXPECT_EQ(sliceSums(*trace, {}).count, 0);
}

TEST(RangeSums, StopWhenAsked)
{
    std::stop_source source;
    source.request_stop();
    EXPECT_TRUE(rangeSums(*nested(), {traceTime(0), traceTime(100)}, source.get_token()).stopped);
}

TEST(StepParts, EvidenceIsTheSliceWithMostOfThePart)
{
    const auto trace = test::trainingTrace({.steps = 30});
    const auto facts = analysis::analyse(*trace);
    for (const StepPart& part : kStepParts) {
        const Evidence evidence = evidenceOf(*trace, facts.steps, part);
        ASSERT_TRUE(evidence.slice) << part.name;
        const Slice slice = trace->slice(*evidence.slice);
        EXPECT_EQ(trace->name(slice), part.phase.empty() ? "step" : part.phase);
        for (const analysis::Step& step : facts.steps)
            if (isSteady(step) && step.range.contains(slice.begin)) {
                for (const analysis::Step& other : facts.steps)
                    EXPECT_TRUE(!isSteady(other) || other.parts.*part.time <= step.parts.*part.time);
            }
    }
    EXPECT_FALSE(evidenceOf(*trace, {}, kStepParts[0]).slice);
}

TEST(SliceDetails, ShowApplicableDetails)
{
    const auto trace = test::trainingTrace({.steps = 3});
    const Slice copy = trace->ofKind(ActivityKind::GpuMemcpy).at(1);
    std::map<QString, QString> facts;
    for (const SliceDetail& fact : sliceFacts(*trace, copy))
        facts[fact.label] = fact.value;
    EXPECT_EQ(facts["Bytes"], "38.5 MB");
    EXPECT_EQ(facts["Direction"], "HtoD");
    EXPECT_EQ(facts["Memory"], "pageable → device");
    EXPECT_EQ(facts["Kind"], "copy to device");
    EXPECT_TRUE(facts["Rate"].endsWith("GB/s")) << facts["Rate"].toStdString();
    EXPECT_FALSE(facts.contains("Sample"));
    EXPECT_EQ(sliceTitle(*trace, trace->ofKind(ActivityKind::Step).at(2)), "step 2");
    EXPECT_TRUE(sliceSentence(*trace, copy).contains("on stream 14"));
}

TEST(SliceDetails, ATitleContainsTheStepNumberOnce)
{
    const auto trace = test_support::traceFromText(R"(
        main
          annotation ProfilerStep#5 0 90
          step 6 100 90
    )");
    TraceBuilder builder;
    RawSlice step;
    step.duration = 1000;
    step.kind = ActivityKind::Step;
    step.name = builder.intern("ProfilerStep#5").value;
    SliceArgs args;
    args.value = 5;
    step.args = builder.internArgs(args);
    builder.addMany(builder.addTrack({}), {step}, Depth::Inferred);
    const auto imported = builder.finish();
    EXPECT_EQ(sliceTitle(*imported, imported->ofKind(ActivityKind::Step).at(0)), "ProfilerStep#5");
    EXPECT_EQ(sliceTitle(*trace, trace->ofKind(ActivityKind::Step).at(0)), "step 6");
    EXPECT_EQ(sliceTitle(*trace, trace->ofKind(ActivityKind::UserAnnotation).at(0)), "ProfilerStep#5");
}

TEST(SliceDetails, LinkRelatedSlices)
{
    const auto trace = test::trainingTrace({.steps = 3});
    const Slice kernel = trace->ofKind(ActivityKind::Kernel).at(4);
    const auto links = sliceLinks(*trace, kernel);
    ASSERT_EQ(links.size(), 1U);
    EXPECT_EQ(links[0].label, "Launched by");
    const Slice launch = trace->slice(*links[0].link);
    EXPECT_EQ(launch.correlation, kernel.correlation);
    const auto back = sliceLinks(*trace, launch);
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(back[0].label, "Inside");
    EXPECT_EQ(back[1].label, "Launches");
    EXPECT_EQ(*back[1].link, kernel.id);
}

TEST(SliceDetails, CountTheLinksThatAreNotListed)
{
    std::string text = "main\n op aten::relu 0 100\n call cudaGraphLaunch 10 20 corr=7\nstream 0 7\n";
    for (int i = 0; i < 50; ++i)
        text += " kernel relu " + std::to_string(100 + 10 * i) + " 5 corr=7\n";
    const auto trace = test_support::traceFromText(text);
    const auto links = sliceLinks(*trace, trace->ofKind(ActivityKind::CudaRuntime).at(0));
    std::int64_t listed = 0;
    for (const SliceDetail& link : links)
        listed += link.label == "Launches";
    EXPECT_EQ(links.front().label, "Inside");
    EXPECT_GT(listed, 0);
    EXPECT_LT(listed, 50);
    EXPECT_EQ(links.back().value, QStringLiteral("%1 others").arg(50 - listed));
}

TEST(Selection, IsASliceOrARangeOrNothing)
{
    Selection selection;
    QSignalSpy changed(&selection, &Selection::changed), shown(&selection, &Selection::showRequested);
    const SliceId slice{{1}, 2};
    const TimeRange range{traceTime(1), traceTime(9)};
    selection.selectSlice(slice);
    selection.selectSlice(slice);
    EXPECT_EQ(changed.size(), 1) << "no change, no signal";
    selection.selectRange(range);
    EXPECT_FALSE(selection.slice());
    EXPECT_EQ(selection.range(), range);
    selection.show(range, TrackId{3});
    EXPECT_EQ(shown.size(), 1);
    EXPECT_EQ(selection.range(), range) << "showing selects nothing";
    selection.selectRange({});
    EXPECT_FALSE(selection.range());
    selection.clear();
    EXPECT_EQ(changed.size(), 3);
}

} // namespace
} // namespace app
