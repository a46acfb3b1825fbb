#include "app/document/selection.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_field.h"
#include "app/views/selection/selection_panel.h"
#include "profiler/model/trace_builder.h"

#include <QLabel>
#include <QTest>
#include <gtest/gtest.h>
#include <map>

// Positions in time are shown with full resolution in all views.

namespace app {
namespace {

using namespace profiler;

constexpr TraceTime kStart = traceTime(5'000'000'007);
constexpr Nanoseconds kOffset{12'345'678'901};

/// Two operators: at the start of the trace, and 12.345 678 901 s later.
std::shared_ptr<const Trace> twoOps()
{
    TraceBuilder builder;
    Track thread;
    thread.kind = TrackKind::MainThread;
    const TrackId track = builder.addTrack(thread);
    for (const Nanoseconds at : {Nanoseconds{0}, kOffset}) {
        Slice op;
        op.begin = kStart + at;
        op.duration = Nanoseconds{1'234'567};
        op.kind = ActivityKind::CpuOp;
        op.name = builder.intern("aten::add");
        builder.add(track, op);
    }
    return builder.finish();
}

TEST(Positions, HaveFullResolutionInTheTooltipAndTheSelection)
{
    const auto trace = twoOps();
    const Slice slice = trace->ofKind(ActivityKind::CpuOp).at(1);
    std::map<QString, QString> facts;
    for (const SliceDetail& fact : sliceFacts(*trace, slice)) // the position that both show
        facts[fact.label] = fact.value;
    EXPECT_EQ(facts["Start"].toStdString(), "12.345 678 901 s");
    EXPECT_EQ(facts["Duration"].toStdString(), "1.23 ms") << "a duration has three significant digits";
}

TEST(Positions, HaveFullResolutionInTablesCopiesAndFiles)
{
    const auto trace = twoOps();
    const Slice slice = trace->ofKind(ActivityKind::CpuOp).at(1);
    const TableValue begin = sliceValue({trace.get(), nullptr}, slice, Field::Begin);
    EXPECT_EQ(shownText(begin).toStdString(), "12.345 678 901 s");
    EXPECT_EQ(exactText(begin).toStdString(), "12345678901") << "ns, as in the heading";
    EXPECT_EQ(exactUnit(Field::Begin).toStdString(), "ns");
    const TableValue first = sliceValue({trace.get(), nullptr}, trace->ofKind(ActivityKind::CpuOp).at(0), Field::Begin);
    EXPECT_EQ(shownText(first).toStdString(), "0.000 000 000 s");
    EXPECT_TRUE(comesBefore(first, begin));
    EXPECT_FALSE(comesBefore(begin, first));
}

TEST(Positions, HaveFullResolutionInASelectedRange)
{
    const auto trace = twoOps();
    Selection selection;
    SelectionPanel panel(&selection);
    panel.resize(500, 400);
    panel.setTrace(trace);
    panel.show();
    selection.selectRange({kStart + kOffset, kStart + kOffset + Nanoseconds{500}});
    const auto title = [&] {
        QString all;
        for (const QLabel* label : panel.findChildren<QLabel*>())
            all += label->text() + '\n';
        return all;
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return title().contains("12.345 678 901 s"); })) << title().toStdString();
}

} // namespace
} // namespace app
