#include "app/tables/table_query.h"
#include "app/tables/table_rows.h"
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
        : trace(traceFromText(text)), subject(std::move(about)), query{{},
                                                                       {},
                                                                       {app::Field::Name},
                                                                       stepsOf(*trace),
                                                                       std::make_shared<app::OpDeviceTimesCache>(trace)}
    {
    }
    std::shared_ptr<const TableRows> rows() const { return runQuery(trace, subject, query); }
    void orderBy(app::Field field, bool descending = false) { query.order = {{static_cast<int>(field), descending}}; }
    void filterBy(const QString& text)
    {
        const auto filter = app::parseFilter(text, filterFieldsOf(subject, query.grouping));
        ASSERT_TRUE(filter) << filter.error().message();
        query.filter.conditions = *filter;
    }

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
    table.query.grouping = {};
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
    const QString csv = tableText(*rows, first, allColumns(*rows), app::TableText::Csv);
    EXPECT_TRUE(
        csv.startsWith("Name,Start (ns),Duration (ns),Class,Grid,Block,Registers,Shared memory,Occupancy,Track"))
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
        table.query.grouping = grouped ? app::TableGrouping{app::Field::Name} : app::TableGrouping{};
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
    table.filterBy("LINEAR");
    EXPECT_EQ(column(*table.rows(), "Self"), "52000");
    table.query.filter.range = profiler::TimeRange{profiler::traceTime(30'000), profiler::traceTime(45'000)};
    EXPECT_EQ(column(*table.rows(), "Total"), "30000");
    EXPECT_EQ(column(*table.rows(), "Self"), "20000");
}

TEST(TableRows, CopiesHaveBytesRatesAndKindsOfMemory)
{
    Table table(app::copySubject());
    table.query.grouping = {};
    const auto rows = table.rows();
    EXPECT_EQ(column(*rows, "Start"), "60000 64000");
    EXPECT_EQ(column(*rows, "Bytes"), "4000 12000");
    EXPECT_EQ(column(*rows, "Rate"), "2000000000 3000000000");
    EXPECT_EQ(column(*rows, "Direction"), "HtoD HtoD");
    EXPECT_EQ(column(*rows, "From"), "pageable pinned");
    EXPECT_EQ(column(*rows, "To"), "device device");
    EXPECT_EQ(column(*rows, "Correlation"), "2 3");
    EXPECT_EQ(column(*rows, "Track"), "stream 7 stream 7");
    table.query.grouping = {app::Field::Name};
    EXPECT_EQ(column(*table.rows(), "Bytes"), "16000");
    EXPECT_EQ(shownText(table.rows()->value(0, 4)), "2.67 GB/s");
}

TEST(TableRows, SlicesShowTheirStep)
{
    Table table(app::kernelSubject());
    table.query.grouping = {};
    EXPECT_EQ(column(*table.rows(), "Step"), "0 1 1 ");
}

TEST(TableRows, EmptyColumnsAreLeftOut)
{
    Table table(app::kernelSubject(), "stream 0 7\n kernel a 0 10");
    table.query.grouping = {};
    EXPECT_FALSE(hasColumn(*table.rows(), "Step"));
    EXPECT_FALSE(hasColumn(*table.rows(), "Correlation"));
    EXPECT_TRUE(hasColumn(*table.rows(), "Duration"));
}

TEST(TableRows, AnyColumnSortsBothWays)
{
    Table table(app::kernelSubject());
    table.query.grouping = {};
    EXPECT_EQ(column(*table.rows(), "Start"), "20000 120000 140000 250000");
    table.orderBy(app::Field::Duration, true);
    EXPECT_EQ(column(*table.rows(), "Duration"), "50000 30000 10000 1000");
    table.orderBy(app::Field::Duration);
    EXPECT_EQ(column(*table.rows(), "Duration"), "1000 10000 30000 50000");
    table.orderBy(app::Field::Name, true);
    EXPECT_EQ(column(*table.rows(), "Name"), "relu gemm gemm gemm");
    table.query.grouping = {app::Field::Name};
    table.orderBy(app::Field::Count);
    EXPECT_EQ(column(*table.rows(), "Name"), "relu gemm");
    table.orderBy(app::Field::Name, true);
    EXPECT_EQ(column(*table.rows(), "Name"), "relu gemm");
}

TEST(TableRows, RowsAreSortedAgainWithoutAnotherSearch)
{
    Table table(app::kernelSubject());
    const auto rows = table.rows();
    const auto again = rows->sorted({{static_cast<int>(app::Field::Longest), false}});
    EXPECT_EQ(column(*again, "Name"), "relu gemm");
    EXPECT_EQ(column(*rows, "Name"), "gemm relu");
    table.query.grouping = {};
    const auto slices = table.rows();
    EXPECT_EQ(column(*slices->sorted({{static_cast<int>(app::Field::Duration), true}}), "Duration"),
              "50000 30000 10000 1000");
    EXPECT_EQ(column(*slices->sorted({}), "Start"), "20000 120000 140000 250000");
}

TEST(TableRows, AFilterIsACaseInsensitiveTextOrPattern)
{
    Table table(app::kernelSubject());
    table.filterBy("EM");
    EXPECT_EQ(column(*table.rows(), "Name"), "gemm");
    table.filterBy("e.m");
    EXPECT_EQ(column(*table.rows(), "Name"), "");
    table.filterBy("/^(gemm|relu)$/");
    EXPECT_EQ(column(*table.rows(), "Name"), "gemm relu");
    table.filterBy("-gemm");
    EXPECT_EQ(column(*table.rows(), "Name"), "relu");
}

TEST(TableRows, AFilterAsksAboutAnyField)
{
    Table table(app::kernelSubject());
    table.query.grouping = {};
    const auto starts = [&](const char* filter) {
        table.filterBy(filter);
        return column(*table.rows(), "Start");
    };
    EXPECT_EQ(starts("dur>10us"), "20000 250000");
    EXPECT_EQ(starts("dur>=10us name:gemm"), "20000 120000 250000");
    EXPECT_EQ(starts("dur:1us..10us"), "120000 140000");
    EXPECT_EQ(starts("start>=120us start<250us"), "120000 140000");
    EXPECT_EQ(starts("step:0"), "20000");
    EXPECT_EQ(starts("step:none"), "250000");
    EXPECT_EQ(starts("corr:4,5"), "120000 140000");
    EXPECT_EQ(starts("stream:7 gpu:0"), "20000 120000 140000 250000");
    EXPECT_EQ(starts("stream:8"), "");
    EXPECT_EQ(starts("track!=\"stream 7\""), "");
    EXPECT_EQ(starts("class:gemm dur<20us"), "120000");
    Table copies(app::copySubject());
    copies.query.grouping = {};
    copies.filterBy("from:pageable bytes>1KB rate>1GB/s");
    EXPECT_EQ(column(*copies.rows(), "Bytes"), "4000");
}

TEST(TableRows, AFilterAsksAboutGroups)
{
    Table table(app::kernelSubject());
    table.filterBy("count>1");
    EXPECT_EQ(column(*table.rows(), "Name"), "gemm");
    table.filterBy("mean<2us");
    EXPECT_EQ(column(*table.rows(), "Name"), "relu");
    table.filterBy("dur<20us max<20us"); // the slices are filtered first
    EXPECT_EQ(column(*table.rows(), "Max"), "10000 1000");
}

TEST(TableRows, AFilteredGroupLosesOnlyItsOwnChildrensTime)
{
    Table table(app::opSubject());
    table.filterBy("linear dur>15us");
    // 30 − 10 (mm) + 20; the linear of 12 is filtered out.
    EXPECT_EQ(column(*table.rows(), "Self"), "40000");
}

TEST(TableRows, SeveralColumnsSort)
{
    Table table(app::kernelSubject(), R"(
        stream 0 7
          kernel b 0 10
          kernel a 20 10
          kernel b 40 30
          kernel a 80 30
    )");
    table.query.grouping = {};
    const auto id = [](app::Field field) { return static_cast<int>(field); };
    table.query.order = {{id(app::Field::Name), false}, {id(app::Field::Duration), true}};
    EXPECT_EQ(column(*table.rows(), "Start"), "80000 20000 40000 0");
    table.query.order = {{id(app::Field::Duration), true}, {id(app::Field::Name), true}};
    EXPECT_EQ(column(*table.rows(), "Start"), "40000 80000 0 20000");
    table.query.grouping = {app::Field::Name};
    table.query.order = {{id(app::Field::Total), true}, {id(app::Field::Name), true}};
    EXPECT_EQ(column(*table.rows(), "Name"), "b a");
    Table steps(app::stepSubject());
    steps.query.order = {{2, false}, {0, true}}; // equal durations, then the index
    EXPECT_EQ(column(*steps.rows(), "Step"), "1 0");
}

TEST(TableRows, SlicesAreGroupedByAnyFields)
{
    Table table(app::kernelSubject(), R"(
        main
          step 0 0 100
          step 1 100 100
        stream 0 7
          kernel volta_sgemm_64x64_nt 0 30
          kernel ampere_bf16_s16816gemm_bf16_128x64 40 20
        stream 0 8
          kernel vectorized_elementwise_kernel 110 5
    )");
    table.query.grouping = {app::Field::Class};
    EXPECT_EQ(column(*table.rows(), "Class"), "gemm elementwise");
    EXPECT_EQ(column(*table.rows(), "Count"), "2 1");
    EXPECT_FALSE(hasColumn(*table.rows(), "Name"));
    EXPECT_EQ(table.rows()->filterTerms(0), "class=\"gemm\"");
    table.query.grouping = {app::Field::TensorCores};
    EXPECT_EQ(column(*table.rows(), "Tensor cores"), "no yes ");
    table.query.grouping = {app::Field::Step};
    EXPECT_EQ(column(*table.rows(), "Total"), "50000 5000");
    EXPECT_EQ(table.rows()->filterTerms(1), "step=1");
    table.query.grouping = {app::Field::Class, app::Field::Track};
    EXPECT_EQ(column(*table.rows(), "Track"), "stream 7 stream 8");
    const auto kernel = table.trace->ofKind(profiler::ActivityKind::Kernel)[2];
    EXPECT_EQ(table.rows()->find(kernel), 1U);
}

TEST(TableRows, TheTermsOfAGroupFindItsSlices)
{
    Table table(app::kernelSubject(), R"TEXT(
        stream 0 7
          kernel "void \"gemm\"<float, 4>(a\\b)" 0 30
          kernel "void \"gemm\"<float, 4>(a\\b) 2" 40 20
    )TEXT");
    const QString terms = table.rows()->filterTerms(0);
    table.query.grouping = {};
    table.filterBy(terms);
    EXPECT_EQ(column(*table.rows(), "Start"), "0") << terms.toStdString();
}

TEST(TableRows, KernelsHaveWhatTheirNamesTell)
{
    Table table(app::kernelSubject(), R"(
        stream 0 7
          kernel volta_sgemm_64x64_nt 0 30
          kernel ampere_bf16_s16816gemm_bf16_128x64 40 20
          kernel spin_kernel 70 10
    )");
    for (const app::TableGrouping& grouping : {app::TableGrouping{app::Field::Name}, app::TableGrouping{}}) {
        table.query.grouping = grouping;
        EXPECT_EQ(column(*table.rows(), "Class"), "gemm gemm other");
        EXPECT_EQ(column(*table.rows(), "Dtype"), "fp32 bf16 ");
        EXPECT_EQ(column(*table.rows(), "Tensor cores"), "no yes ");
    }
    table.filterBy("tensor:no");
    EXPECT_EQ(column(*table.rows(), "Start"), "0");
    table.orderBy(app::Field::Class);
    table.filterBy("");
    EXPECT_EQ(column(*table.rows(), "Class"), "gemm gemm other");
}

TEST(TableRows, LongNamesOfKernelsAreShortenedAsOnTheTimeline)
{
    Table table(app::kernelSubject(), R"TEXT(
        stream 0 7
          kernel "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)" 0 30
          kernel "void aaa::zeta<float>(int)" 40 20
          kernel mine 70 10
    )TEXT");
    const auto id = [](app::Field field) { return static_cast<int>(field); };
    for (const app::TableGrouping& grouping : {app::TableGrouping{app::Field::Name}, app::TableGrouping{}}) {
        table.query.grouping = grouping;
        table.query.order = {{id(app::Field::Name), false}}; // by what is displayed
        const auto rows = table.rows();
        const auto name = [&](std::size_t row) { return rows->value(row, 0); };
        EXPECT_EQ(shownText(name(0)), "add (vectorized)");
        EXPECT_EQ(shownText(name(1)), "mine");
        EXPECT_EQ(shownText(name(2)), "zeta");
        EXPECT_EQ(fullText(name(2)), "void aaa::zeta<float>(int)");
        EXPECT_EQ(exactText(name(2)), "void aaa::zeta<float>(int)") << "copies and files have the whole name";
    }
    table.filterBy("name:aaa");
    EXPECT_EQ(table.rows()->size(), 1U) << "filters match the whole name";
}

TEST(TableRows, OperatorsHaveDeviceTime)
{
    Table table(app::opSubject(), R"(
        main
          op aten::linear 0 50
          op aten::addmm 10 30
          call cudaLaunchKernel 15 4 corr=1
          call cudaMemcpyAsync 45 2 corr=2
          op aten::relu 60 20
        stream 0 7
          kernel gemm 20 30 corr=1
          copy HtoD 60 5 corr=2
    )");
    EXPECT_EQ(column(*table.rows(), "Name"), "aten::addmm aten::relu aten::linear");
    EXPECT_EQ(column(*table.rows(), "Device time"), "30000  35000");
    EXPECT_EQ(column(*table.rows(), "Device self"), "30000  5000");
    table.query.grouping = {};
    EXPECT_EQ(column(*table.rows(), "Device time"), "35000 30000 ");
    table.orderBy(app::Field::DeviceSelf, true);
    EXPECT_EQ(column(*table.rows(), "Name"), "aten::addmm aten::linear aten::relu");
    table.filterBy("device>31us");
    EXPECT_EQ(column(*table.rows(), "Name"), "aten::linear");
    EXPECT_FALSE(hasColumn(*Table(app::opSubject(), "main\n op aten::relu 0 1").rows(), "Device time"));
}

TEST(TableRows, ARangeKeepsOverlappingSlices)
{
    Table table(app::kernelSubject());
    table.query.grouping = {};
    table.query.filter.range = profiler::TimeRange{profiler::traceTime(45'000), profiler::traceTime(140'500)};
    EXPECT_EQ(column(*table.rows(), "Start"), "20000 120000 140000");
}

TEST(TableRows, ASliceIsFoundInItsRowOrInItsGroup)
{
    Table table(app::kernelSubject());
    const auto relu = table.trace->ofKind(profiler::ActivityKind::Kernel)[2];
    EXPECT_EQ(table.rows()->find(relu), 1U);
    EXPECT_EQ(table.rows()->slice(1), relu.id);
    table.query.grouping = {};
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
    table.query.order = {{rows->columns()[2].id, false}};
    EXPECT_EQ(column(*table.rows(), "Step"), "1 0");
    table.query.filter.range = profiler::TimeRange{profiler::traceTime(0), profiler::traceTime(50'000)};
    EXPECT_EQ(column(*table.rows(), "Step"), "0");
    table.query.filter.range.reset();
    table.filterBy("dur>80us data-wait>=30us");
    EXPECT_EQ(column(*table.rows(), "Step"), "0");
    table.filterBy("remark:warm");
    EXPECT_EQ(column(*table.rows(), "Step"), "0");
    table.filterBy("remark:none");
    EXPECT_EQ(column(*table.rows(), "Step"), "1");
}

TEST(TableRows, AQueryStopsWhenAsked)
{
    std::stop_source source;
    source.request_stop();
    Table table(app::kernelSubject());
    for (const bool grouped : {true, false}) {
        table.query.grouping = grouped ? app::TableGrouping{app::Field::Name} : app::TableGrouping{};
        EXPECT_EQ(runQuery(table.trace, table.subject, table.query, {}, source.get_token()), nullptr);
    }
}

TEST(TableText, CsvHasExactFiguresAndQuotes)
{
    Table table(app::kernelSubject(), R"TEXT(
        stream 0 7
          kernel "void gemm<float, 4>(\"x\")" 1.5 2.001
    )TEXT");
    table.query.grouping = {};
    const std::size_t all[] = {0};
    const auto rows = table.rows();
    EXPECT_EQ(tableText(*rows, all, allColumns(*rows), app::TableText::Csv).toStdString(),
              "Name,Start (ns),Duration (ns),Class,Dtype,Tensor cores,Track,GPU,Stream\n"
              "\"void gemm<float, 4>(\"\"x\"\")\",0,2001,gemm,fp32,no,stream 7,0,7\n");
    EXPECT_EQ(tableText(*rows, all, allColumns(*rows), app::TableText::Tsv).toStdString(),
              "Name\tStart (ns)\tDuration (ns)\tClass\tDtype\tTensor cores\tTrack\tGPU\tStream\n"
              "void gemm<float, 4>(\"x\")\t0\t2001\tgemm\tfp32\tno\tstream 7\t0\t7\n");
}

TEST(TableText, ASavedTableEqualsTheCopiedOne)
{
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("kernels.csv").toStdString();
    const auto rows = Table(app::kernelSubject()).rows();
    ASSERT_TRUE(saveCsv(*rows, allColumns(*rows), path));
    std::ostringstream read;
    read << std::ifstream(path, std::ios::binary).rdbuf();
    const std::size_t all[] = {0, 1};
    EXPECT_EQ(read.str(), tableText(*rows, all, allColumns(*rows), app::TableText::Csv).toStdString());
}

TEST(TableText, AFailedOrStoppedSaveLeavesNothingAndSaysWhere)
{
    const QTemporaryDir folder;
    const auto rows = Table(app::kernelSubject()).rows();
    const auto nowhere = saveCsv(*rows, allColumns(*rows), folder.filePath("no/such/folder.csv").toStdString());
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().message().find("folder.csv"), std::string::npos);
    std::stop_source source;
    source.request_stop();
    const QString path = folder.filePath("stopped.csv");
    EXPECT_EQ(saveCsv(*rows, allColumns(*rows), path.toStdString(), {}, source.get_token()).error().code,
              profiler::Error::Code::Cancelled);
    EXPECT_FALSE(std::filesystem::exists(path.toStdString()));
}
