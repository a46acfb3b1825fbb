#include "app/tables/table_query.h"
#include "app/tables/table_text.h"
#include "profiler/analysis/steps/steps.h"
#include "tests/support/trace_text.h"

#include <QTemporaryDir>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using app::TableQuery;
using app::TableRows;
using test_support::traceFromText;

namespace {

// Two steps with nested operators, calls, copies and kernels.
constexpr auto kTraining = R"(
    main
      step 0 0 100
      op aten::linear 10 30 seq=1
      op aten::mm 15 10
      call cudaLaunchKernel 17 4 corr=1
      op aten::linear 50 20 seq=2
      step 1 100 100
      op aten::linear 110 12 seq=3
    stream 0 7
      kernel gemm 20 30 corr=1
      copy HtoD 60 2 bytes=4000 src=pageable dst=device corr=2
      copy HtoD 64 4 bytes=12000 src=pinned dst=device corr=3
      memset Memset 70 1 bytes=256
      kernel gemm 120 10 corr=4
      kernel relu 140 1 corr=5
      kernel gemm 250 50 corr=6
)";

std::shared_ptr<const app::Steps> stepsOf(const profiler::Trace& trace)
{
    return std::make_shared<const app::Steps>(profiler::analysis::findSteps(trace));
}

struct Table {
    explicit Table(app::TableSubject about, std::string_view text = kTraining)
        : trace(traceFromText(text)), subject(std::move(about)), query{{}, {}, true, stepsOf(*trace)}
    {
    }
    std::shared_ptr<const TableRows> rows() const { return runQuery(trace, subject, query); }
    void orderBy(app::Field field, bool descending = false) { query.order = {static_cast<int>(field), descending}; }

    std::shared_ptr<const profiler::Trace> trace;
    app::TableSubject subject;
    TableQuery query;
};

/// The cells of a column in file format, top to bottom.
std::string column(const TableRows& rows, const QString& title)
{
    std::string cells;
    for (std::size_t column = 0; column < rows.columns().size(); ++column)
        if (rows.columns()[column].title == title)
            for (std::size_t row = 0; row < rows.size(); ++row)
                cells += (row > 0 ? " " : "") + exactText(rows.value(row, column)).toStdString();
    return cells;
}

bool hasColumn(const TableRows& rows, const QString& title)
{
    return std::any_of(rows.columns().begin(), rows.columns().end(),
                       [&](const app::TableColumn& column) { return column.title == title; });
}

} // namespace

TEST(TableRows, GroupsSumUpEachName)
{
    const auto rows = Table(app::kernelSubject()).rows();
    EXPECT_EQ(column(*rows, "Name"), "gemm relu");
    EXPECT_EQ(column(*rows, "Count"), "3 1");
    EXPECT_EQ(column(*rows, "Total"), "90000 1000");
    EXPECT_EQ(column(*rows, "Mean"), "30000 1000");
    EXPECT_EQ(column(*rows, "Median"), "30000 1000");
    EXPECT_EQ(column(*rows, "Min"), "10000 1000");
    EXPECT_EQ(column(*rows, "Max"), "50000 1000");
    EXPECT_EQ(column(*rows, "Share"), "0.989010989 0.010989011");
}

constexpr auto kLaunches = R"(
    device 0 H100 GPU-1 sm=90
    stream 0 7
      kernel gemm 0 30 grid=264,1,1 block=256,1,1 registers=128 shared=49152
      kernel gemm 40 10 grid=8,4,1 block=256,1,1 registers=128 shared=0
      kernel relu 60 1 grid=1000,1,1 block=256,1,1 registers=32 shared=0
      kernel unknown 70 1
)";

TEST(TableRows, KernelsHaveTheirLaunchConfiguration)
{
    Table table(app::kernelSubject(), kLaunches);
    table.query.grouped = false;
    auto rows = table.rows();
    EXPECT_EQ(column(*rows, "Grid"), "(264, 1, 1) (8, 4, 1) (1000, 1, 1) ");
    EXPECT_EQ(column(*rows, "Block"), "(256, 1, 1) (256, 1, 1) (256, 1, 1) ");
    EXPECT_EQ(column(*rows, "Registers"), "128 128 32 ");
    EXPECT_EQ(column(*rows, "Shared memory"), "49152 0 0 ");
    EXPECT_EQ(column(*rows, "Occupancy"), "0.25 0.25 1 ");
    table.orderBy(app::Field::Grid);
    EXPECT_EQ(column(*table.rows(), "Grid"), " (8, 4, 1) (264, 1, 1) (1000, 1, 1)") << "by the number of blocks";
    table.orderBy(app::Field::Occupancy, true);
    EXPECT_EQ(column(*table.rows(), "Occupancy"), "1 0.25 0.25 ");
    const std::vector<std::size_t> first = {0};
    const QString csv = tableText(*rows, first, app::TableText::Csv);
    EXPECT_TRUE(csv.startsWith("Name,Start (ns),Duration (ns),Grid,Block,Registers,Shared memory,Occupancy,Track"))
        << csv.toStdString();
    EXPECT_TRUE(csv.contains("\"(264, 1, 1)\",\"(256, 1, 1)\",128,49152,0.25,")) << csv.toStdString();
}

TEST(TableRows, AGroupHasWhatItsLaunchesHaveInCommon)
{
    Table table(app::kernelSubject(), kLaunches);
    const auto rows = table.rows();
    EXPECT_EQ(column(*rows, "Name"), "gemm relu unknown");
    EXPECT_EQ(column(*rows, "Grid"), " (1000, 1, 1) ");
    EXPECT_EQ(column(*rows, "Block"), "(256, 1, 1) (256, 1, 1) ");
    EXPECT_EQ(column(*rows, "Registers"), "128 32 ");
    EXPECT_EQ(column(*rows, "Shared memory"), " 0 ");
    EXPECT_EQ(column(*rows, "Occupancy"), "0.25 1 ");
    table.orderBy(app::Field::Registers, true);
    EXPECT_EQ(column(*table.rows(), "Name"), "gemm relu unknown");
    table.orderBy(app::Field::Registers);
    EXPECT_EQ(column(*table.rows(), "Name"), "unknown relu gemm");
}

TEST(TableRows, WithoutLaunchConfigurationsTheirColumnsAreHidden)
{
    for (const bool grouped : {true, false}) {
        Table table(app::kernelSubject());
        table.query.grouped = grouped;
        const auto rows = table.rows();
        for (const char* title : {"Grid", "Block", "Registers", "Shared memory", "Occupancy"})
            EXPECT_FALSE(hasColumn(*rows, title)) << title;
    }
}

TEST(TableRows, TheMedianOfAnEvenNumberIsTheMean)
{
    const auto rows = Table(app::kernelSubject(), R"(
        stream 0 7
          kernel a 0 10
          kernel a 100 20
          kernel a 200 40
          kernel a 300 90
    )")
                          .rows();
    EXPECT_EQ(column(*rows, "Median"), "30000");
}

TEST(TableRows, TheShareOfStepsExcludesSlicesThatStartOutside)
{
    const auto rows = Table(app::kernelSubject()).rows();
    // 30 + 10 of gemm start within the 200 µs of the steps; the kernel at 250 does not.
    EXPECT_EQ(column(*rows, "Share of steps"), "0.2 0.005");
    const auto none = Table(app::kernelSubject(), "stream 0 7\n kernel a 0 10").rows();
    EXPECT_FALSE(hasColumn(*none, "Share of steps"));
}

TEST(TableRows, SelfTimeExcludesDirectChildren)
{
    const auto rows = Table(app::opSubject()).rows();
    EXPECT_EQ(column(*rows, "Name"), "aten::linear aten::mm");
    EXPECT_EQ(column(*rows, "Total"), "62000 10000");
    // 30 − 10 (mm) + 20 + 12; mm contains a call of 4.
    EXPECT_EQ(column(*rows, "Self"), "52000 6000");
}

TEST(TableRows, SelfTimeUnderAFilterOrARangeExcludesAllChildren)
{
    Table table(app::opSubject());
    table.query.filter.text = "LINEAR";
    EXPECT_EQ(column(*table.rows(), "Self"), "52000");
    table.query.filter.range = profiler::TimeRange{profiler::traceTime(30'000), profiler::traceTime(45'000)};
    EXPECT_EQ(column(*table.rows(), "Total"), "30000");
    EXPECT_EQ(column(*table.rows(), "Self"), "20000");
}

TEST(TableRows, CopiesHaveBytesRatesAndKindsOfMemory)
{
    Table table(app::copySubject());
    table.query.grouped = false;
    const auto rows = table.rows();
    EXPECT_EQ(column(*rows, "Start"), "60000 64000");
    EXPECT_EQ(column(*rows, "Bytes"), "4000 12000");
    EXPECT_EQ(column(*rows, "Rate"), "2000000000 3000000000");
    EXPECT_EQ(column(*rows, "Direction"), "HtoD HtoD");
    EXPECT_EQ(column(*rows, "From"), "pageable pinned");
    EXPECT_EQ(column(*rows, "To"), "device device");
    EXPECT_EQ(column(*rows, "Correlation"), "2 3");
    EXPECT_EQ(column(*rows, "Track"), "stream 7 stream 7");
    table.query.grouped = true;
    EXPECT_EQ(column(*table.rows(), "Bytes"), "16000");
    EXPECT_EQ(shownText(table.rows()->value(0, 4)), "2.67 GB/s");
}

TEST(TableRows, SlicesShowTheirStep)
{
    Table table(app::kernelSubject());
    table.query.grouped = false;
    EXPECT_EQ(column(*table.rows(), "Step"), "0 1 1 ");
}

TEST(TableRows, EmptyColumnsAreLeftOut)
{
    Table table(app::kernelSubject(), "stream 0 7\n kernel a 0 10");
    table.query.grouped = false;
    EXPECT_FALSE(hasColumn(*table.rows(), "Step"));
    EXPECT_FALSE(hasColumn(*table.rows(), "Correlation"));
    EXPECT_TRUE(hasColumn(*table.rows(), "Duration"));
}

TEST(TableRows, AnyColumnSortsBothWays)
{
    Table table(app::kernelSubject());
    table.query.grouped = false;
    EXPECT_EQ(column(*table.rows(), "Start"), "20000 120000 140000 250000");
    table.orderBy(app::Field::Duration, true);
    EXPECT_EQ(column(*table.rows(), "Duration"), "50000 30000 10000 1000");
    table.orderBy(app::Field::Duration);
    EXPECT_EQ(column(*table.rows(), "Duration"), "1000 10000 30000 50000");
    table.orderBy(app::Field::Name, true);
    EXPECT_EQ(column(*table.rows(), "Name"), "relu gemm gemm gemm");
    table.query.grouped = true;
    table.orderBy(app::Field::Count);
    EXPECT_EQ(column(*table.rows(), "Name"), "relu gemm");
    table.orderBy(app::Field::Name, true);
    EXPECT_EQ(column(*table.rows(), "Name"), "relu gemm");
}

TEST(TableRows, GroupsAreReorderedWithoutTheTrace)
{
    Table table(app::kernelSubject());
    const auto rows = table.rows();
    const auto again = reordered(rows, {static_cast<int>(app::Field::Longest), false});
    EXPECT_EQ(column(*again, "Name"), "relu gemm");
    EXPECT_EQ(column(*rows, "Name"), "gemm relu");
    table.query.grouped = false;
    EXPECT_EQ(reordered(table.rows(), {}), nullptr);
}

TEST(TableRows, AFilterIsACaseInsensitiveTextOrPattern)
{
    Table table(app::kernelSubject());
    table.query.filter.text = "EM";
    EXPECT_EQ(column(*table.rows(), "Name"), "gemm");
    table.query.filter.text = "e.m";
    EXPECT_EQ(column(*table.rows(), "Name"), "");
    table.query.filter.pattern = true;
    table.query.filter.text = "^(gemm|relu)$";
    EXPECT_EQ(column(*table.rows(), "Name"), "gemm relu");
    table.query.filter.text = "(";
    EXPECT_FALSE(app::patternProblem(table.query.filter).isEmpty());
    table.query.filter.pattern = false;
    EXPECT_TRUE(app::patternProblem(table.query.filter).isEmpty());
}

TEST(TableRows, ARangeKeepsOverlappingSlices)
{
    Table table(app::kernelSubject());
    table.query.grouped = false;
    table.query.filter.range = profiler::TimeRange{profiler::traceTime(45'000), profiler::traceTime(140'500)};
    EXPECT_EQ(column(*table.rows(), "Start"), "20000 120000 140000");
}

TEST(TableRows, ASliceIsFoundInItsRowOrInItsGroup)
{
    Table table(app::kernelSubject());
    const auto relu = table.trace->ofKind(profiler::ActivityKind::Kernel)[2];
    EXPECT_EQ(table.rows()->find(relu), 1U);
    EXPECT_EQ(table.rows()->slice(1), relu.id);
    table.query.grouped = false;
    EXPECT_EQ(table.rows()->find(relu), 2U);
    const auto copy = table.trace->ofKind(profiler::ActivityKind::GpuMemcpy)[0];
    EXPECT_EQ(table.rows()->find(copy), std::nullopt);
}

TEST(TableRows, StepsShowTheirPartsAndContainTheirSlices)
{
    Table table(app::stepSubject(), R"(
        main
          step 0 0 100
          phase "data wait" 0 30
          phase forward 30 50
          step 1 100 80
          phase forward 110 60
    )");
    const auto rows = table.rows();
    EXPECT_EQ(column(*rows, "Step"), "0 1");
    EXPECT_EQ(column(*rows, "Duration"), "100000 80000");
    EXPECT_EQ(column(*rows, "Data wait"), "30000 0");
    EXPECT_EQ(column(*rows, "Forward"), "50000 60000");
    EXPECT_FALSE(hasColumn(*rows, "Backward"));
    const auto phases = table.trace->ofKind(profiler::ActivityKind::Phase);
    EXPECT_EQ(rows->find(phases.back()), 1U);
    table.query.order = {rows->columns()[2].id, false};
    EXPECT_EQ(column(*table.rows(), "Step"), "1 0");
    table.query.filter.range = profiler::TimeRange{profiler::traceTime(0), profiler::traceTime(50'000)};
    EXPECT_EQ(column(*table.rows(), "Step"), "0");
}

TEST(TableRows, AQueryStopsWhenAsked)
{
    std::stop_source source;
    source.request_stop();
    Table table(app::kernelSubject());
    for (const bool grouped : {true, false}) {
        table.query.grouped = grouped;
        EXPECT_EQ(runQuery(table.trace, table.subject, table.query, {}, source.get_token()), nullptr);
    }
}

TEST(TableText, CsvHasExactFiguresAndQuotes)
{
    Table table(app::kernelSubject(), R"TEXT(
        stream 0 7
          kernel "void gemm<float, 4>(\"x\")" 1.5 2.001
    )TEXT");
    table.query.grouped = false;
    const std::size_t all[] = {0};
    const auto rows = table.rows();
    EXPECT_EQ(tableText(*rows, all, app::TableText::Csv).toStdString(),
              "Name,Start (ns),Duration (ns),Track\n"
              "\"void gemm<float, 4>(\"\"x\"\")\",0,2001,stream 7\n");
    EXPECT_EQ(tableText(*rows, all, app::TableText::Tsv).toStdString(),
              "Name\tStart (ns)\tDuration (ns)\tTrack\n"
              "void gemm<float, 4>(\"x\")\t0\t2001\tstream 7\n");
}

TEST(TableText, ASavedTableEqualsTheCopiedOne)
{
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("kernels.csv").toStdString();
    const auto rows = Table(app::kernelSubject()).rows();
    ASSERT_TRUE(saveCsv(*rows, path));
    std::ostringstream read;
    read << std::ifstream(path, std::ios::binary).rdbuf();
    const std::size_t all[] = {0, 1};
    EXPECT_EQ(read.str(), tableText(*rows, all, app::TableText::Csv).toStdString());
}

TEST(TableText, AFailedOrStoppedSaveLeavesNothingAndSaysWhere)
{
    const QTemporaryDir folder;
    const auto rows = Table(app::kernelSubject()).rows();
    const auto nowhere = saveCsv(*rows, folder.filePath("no/such/folder.csv").toStdString());
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().message().find("folder.csv"), std::string::npos);
    std::stop_source source;
    source.request_stop();
    const QString path = folder.filePath("stopped.csv");
    EXPECT_EQ(saveCsv(*rows, path.toStdString(), {}, source.get_token()).error().code,
              profiler::Error::Code::Cancelled);
    EXPECT_FALSE(std::filesystem::exists(path.toStdString()));
}
