#include "profiler/query/query.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

/// SQL over traces from text: what the tables contain, and that conditions select the same rows as a scan of all.
namespace {

using namespace profiler;
using namespace profiler::query;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kTraining = R"(
    meta versions.torch 2.11
    device 0 H100 sm=90 sms=132
    main pid=10 tid=11
      repeat 4 every 1000
        step 0 0 1000
        phase "data wait" 0 300
        phase forward 300 200
        op aten::mm 310 100 seq=7 shapes=[[2,2],[2,2]] types=[float,float]
        call cudaLaunchKernel 320 10 corr=1
        call cudaMemcpyAsync 250 20 corr=2
      end
    stream 0 7
      repeat 4 every 1000
        copy HtoD 270 50 corr=2 bytes=4096 src=pageable dst=device async
        kernel sgemm 400 90 corr=1 grid=4,2,1 block=128,1,1 registers=32 shared=1024
        kernel softmax 500 10 grid=1,1,1 block=64,1,1
      end
    counter loss unit=nats
      sample 500 2.5
      sample 1500 1.25
)";

Source training()
{
    Source source{test_support::traceFromText(kTraining)};
    source.steps = analysis::findSteps(*source.trace);
    return source;
}

std::string text(const Value& value)
{
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value))
        return std::to_string(*real);
    const auto* string = std::get_if<std::string>(&value);
    return string ? *string : "NULL";
}

/// Each row as a text: "cell|cell".
std::vector<std::string> rowsOf(const Source& source, std::string_view sql)
{
    const auto table = runQuery(source, sql);
    EXPECT_TRUE(table) << sql << ": " << table.error().message();
    std::vector<std::string> rows;
    for (std::size_t row = 0; table && row < table->rows; ++row) {
        std::string line;
        for (std::size_t column = 0; column < table->columns.size(); ++column)
            line += (column == 0 ? "" : "|") + text(table->at(row, column));
        rows.push_back(line);
    }
    return rows;
}
std::vector<std::string> rowsOf(std::string_view sql)
{
    return rowsOf(training(), sql);
}

TEST(Query, GroupsByNameWithTheUnitsOfTheColumns)
{
    const auto table =
        runQuery(training(), "SELECT name, SUM(dur), COUNT(*) FROM slice GROUP BY name ORDER BY 2 DESC, 1");
    ASSERT_TRUE(table) << table.error().message();
    EXPECT_EQ(table->columns[0].unit, Unit::None);
    EXPECT_EQ(table->columns[1].unit, Unit::Duration);
    EXPECT_EQ(table->columns[2].unit, Unit::None);
    EXPECT_EQ(table->rows, 9U);
    EXPECT_EQ(text(table->at(0, 0)) + text(table->at(0, 1)), "step4000000");
    EXPECT_EQ(text(table->at(1, 0)) + text(table->at(1, 1)), "data wait1200000");
}

TEST(Query, KernelsHaveTheirLaunchConfiguration)
{
    EXPECT_THAT(rowsOf("SELECT name, category, grid_x, grid_y, block_x, registers, shared_memory, device, stream, step "
                       "FROM kernel WHERE step = 2 ORDER BY ts"),
                ElementsAre("sgemm|gemm|4|2|128|32|1024|0|7|2", "softmax|reduction|1|1|64|NULL|NULL|0|7|2"));
}

TEST(Query, CopiesHaveTheirMemoryKinds)
{
    EXPECT_THAT(rowsOf("SELECT DISTINCT copy_kind, src, dst, bytes, is_async FROM memcpy"),
                ElementsAre("HtoD|pageable|device|4096|1"));
}

TEST(Query, OperatorsHaveTheirShapes)
{
    EXPECT_THAT(rowsOf("SELECT name, shapes, dtypes, sequence FROM op LIMIT 1"),
                ElementsAre("aten::mm|[[2,2],[2,2]]|[float,float]|7"));
}

TEST(Query, ParentsAreTheSlicesAround)
{
    EXPECT_THAT(rowsOf("SELECT p.name FROM op JOIN slice AS p ON p.id = op.parent WHERE op.step = 1"),
                ElementsAre("forward"));
    EXPECT_THAT(rowsOf("SELECT c.name FROM slice AS p JOIN slice AS c ON c.parent = p.id "
                       "WHERE p.name = 'step' AND p.step = 1 ORDER BY c.ts"),
                ElementsAre("data wait", "forward"));
}

TEST(Query, LaunchesJoinByCorrelationAndByFlow)
{
    const std::vector<std::string> four(4, "cudaLaunchKernel|sgemm");
    EXPECT_EQ(rowsOf("SELECT c.name, k.name FROM kernel AS k JOIN slice AS c ON c.correlation = k.correlation "
                     "AND c.kind = 'cuda_runtime'"),
              four);
    EXPECT_EQ(
        rowsOf("SELECT c.name, k.name FROM flow JOIN slice AS c ON c.id = from_id JOIN slice AS k ON k.id = to_id "
               "WHERE flow.kind = 'launch' AND k.kind = 'kernel'"),
        four);
    EXPECT_EQ(
        rowsOf("SELECT c.name, k.name FROM kernel AS k JOIN flow ON to_id = k.id JOIN slice AS c ON c.id = from_id"),
        four);
}

TEST(Query, StepsHaveTheirParts)
{
    EXPECT_THAT(rowsOf("SELECT step, dur, data_wait, forward, dur - data_wait - forward - other FROM step LIMIT 2"),
                ElementsAre("0|1000000|300000|200000|0", "1|1000000|300000|200000|0"));
    EXPECT_THAT(rowsOf("SELECT step, SUM(dur) FROM kernel GROUP BY step ORDER BY step DESC LIMIT 2"),
                ElementsAre("3|100000", "2|100000"));
}

TEST(Query, CountersTracksDevicesAndMetadata)
{
    EXPECT_THAT(rowsOf("SELECT name, ts, value, unit FROM counter"),
                ElementsAre("loss|500000|2.500000|nats", "loss|1500000|1.250000|nats"));
    EXPECT_THAT(rowsOf("SELECT c.value FROM track AS t JOIN counter AS c ON c.track = t.id WHERE t.name = 'loss'"),
                ElementsAre("2.500000", "1.250000"));
    EXPECT_THAT(rowsOf("SELECT name, kind, pid, device, stream, slices FROM track WHERE id = 1"),
                ElementsAre("stream 7|stream|NULL|0|7|12"));
    EXPECT_THAT(rowsOf("SELECT name, compute_capability, multiprocessors FROM device"), ElementsAre("H100|9.0|132"));
    EXPECT_THAT(rowsOf("SELECT value FROM metadata WHERE key = 'versions.torch'"), ElementsAre("2.11"));
}

/// The unary plus keeps SQLite from passing a condition to the table, which then delivers all rows.
TEST(Query, ConditionsSelectTheSameRowsAsAScan)
{
    const Source source = training();
    const std::vector<std::pair<std::string, std::string>> conditions = {
        {"ts", "= 400000"},
        {"ts", ">= 1000000"},
        {"ts", "> 1270000"},
        {"ts", "< 270000"},
        {"ts", "<= 1270000"},
        {"ts", "BETWEEN 1e6 AND 2e6"},
        {"ts", "> 1269999.5"},
        {"ts", "= '400000'"},
        {"ts", "> NULL"},
        {"ts", "> 'x'"},
        {"ts_end", "> 3490000"},
        {"ts_end", "<= 300000"},
        {"dur", ">= 90000"},
        {"dur", "= 10000"},
        {"dur", "< 10000.5"},
        {"depth", "= 0"},
        {"depth", "> 1"},
        {"kind", "= 'kernel'"},
        {"kind", "= 'nothing'"},
        {"kind", "IN ('step', 'phase', 'x')"},
        {"name", "= 'sgemm'"},
        {"name", "= 'SGEMM'"},
        {"name", "IN ('sgemm', 'softmax', 'none')"},
        {"name", "= 'SGEMM' COLLATE NOCASE"},
        {"name", "LIKE 'S%M'"},
        {"name", "LIKE '%o_t%'"},
        {"name", "GLOB 's*m'"},
        {"name", "NOT LIKE 's%'"},
        {"name", "= NULL"},
        {"track", "= 1"},
        {"track", "IN (0, 1, 99)"},
        {"track", "= -1"},
        {"step", "= 2"},
        {"step", ">= 2"},
        {"step", "BETWEEN 1 AND 2"},
        {"step", "IN (0, 3)"},
        {"step", "IS NULL"},
        {"step", "= 77"},
        {"correlation", "= 1001"},
        {"correlation", "IN (1, 2)"},
        {"correlation", "= 0"},
        {"id", "= 0"},
        {"id", "IN (0, 1, 4294967296, 5e9)"},
        {"id", "= 4294967296.0"},
        {"id", "= -5"},
        {"parent", "= 0"},
        {"parent", "IS NULL"},
    };
    for (const auto& [column, condition] : conditions) {
        const std::string select = "SELECT id, name, ts, dur FROM slice WHERE ";
        // A comparison with a plain column applies the column's affinity; CAST keeps that of an expression.
        const bool isText = column == "name" || column == "kind";
        const std::string scanned = "CAST(" + column + (isText ? " AS TEXT) " : " AS INTEGER) ");
        EXPECT_EQ(rowsOf(source, select + column + " " + condition + " ORDER BY id"),
                  rowsOf(source, select + scanned + condition + " ORDER BY id"))
            << column << " " << condition;
    }
    EXPECT_THAT(rowsOf(source, "SELECT id FROM slice WHERE name = 'sgemm' AND kind = 'kernel' AND ts > 1000000 AND "
                               "step < 3 AND name LIKE 's%'"),
                SizeIs(2));
    EXPECT_THAT(rowsOf(source, "SELECT id FROM slice WHERE id = 0 AND kind = 'kernel'"), IsEmpty());
}

TEST(Query, OrdersTheSameAsASort)
{
    const Source source = training();
    for (const std::string_view order : {"name", "name DESC", "kind, name", "kind DESC, name", "track, depth",
                                         "step, name", "step DESC, kind", "track DESC", "depth, track, name"}) {
        std::string columns;
        for (const char c : order)
            columns += c;
        std::string plain = columns;
        for (std::size_t at = plain.find(" DESC"); at != std::string::npos; at = plain.find(" DESC"))
            plain.erase(at, 5);
        // ts belongs to no order of the table, so SQLite sorts the second query itself.
        const auto byTable = rowsOf(source, "SELECT " + plain + " FROM slice ORDER BY " + columns);
        const auto bySort = rowsOf(source, "SELECT " + plain + " FROM slice ORDER BY " + columns + ", ts");
        EXPECT_EQ(byTable, bySort) << order;
    }
    EXPECT_THAT(rowsOf(source, "SELECT kind, step, COUNT(*) FROM slice WHERE kind = 'kernel' GROUP BY kind, step"),
                SizeIs(4));
    EXPECT_THAT(rowsOf(source, "SELECT DISTINCT name FROM slice"), SizeIs(9));
}

TEST(Query, EveryExampleRuns)
{
    const Source source = training();
    for (const Example& example : examples()) {
        const auto table = runQuery(source, example.sql);
        EXPECT_TRUE(table) << example.title << ": " << table.error().message();
        if (table && example.title != "Pageable copies above 1 MB") {
            EXPECT_GT(table->rows, 0U) << example.title;
        }
    }
}

TEST(Query, EveryColumnOfEveryTableCanBeRead)
{
    const Source source = training();
    for (const TableInfo& info : tables()) {
        const auto table = runQuery(source, "SELECT * FROM " + info.name);
        ASSERT_TRUE(table) << info.name << ": " << table.error().message();
        ASSERT_EQ(table->columns.size(), info.columns.size()) << info.name;
        for (std::size_t i = 0; i < info.columns.size(); ++i) {
            EXPECT_EQ(table->columns[i].name, info.columns[i].name);
            EXPECT_EQ(table->columns[i].unit, info.columns[i].unit) << info.name << '.' << info.columns[i].name;
        }
    }
}

TEST(Query, ReadsTablesOfTheCallerOnlyIfUsed)
{
    Source source = training();
    int calls = 0;
    source.extraTables.push_back({{"finding", "", {{"id", Type::Text, Unit::None, ""}}}, [&calls] {
                                      ++calls;
                                      return std::vector<std::vector<Value>>{{std::string("host.bound")}};
                                  }});
    EXPECT_THAT(rowsOf(source, "SELECT COUNT(*) FROM op"), ElementsAre("4"));
    EXPECT_EQ(calls, 0);
    EXPECT_THAT(rowsOf(source, "SELECT finding.id FROM op JOIN finding LIMIT 1"), ElementsAre("host.bound"));
    EXPECT_EQ(calls, 1);
}

TEST(Query, UnitsFollowNames)
{
    EXPECT_EQ(unitOfName("SUM(dur)"), Unit::Duration);
    EXPECT_EQ(unitOfName("max( k.ts )"), Unit::Time);
    EXPECT_EQ(unitOfName("avg(bytes)"), Unit::Bytes);
    EXPECT_EQ(unitOfName("wait_ns"), Unit::Duration);
    EXPECT_EQ(unitOfName("peak_bytes"), Unit::Bytes);
    EXPECT_EQ(unitOfName("COUNT(dur)"), Unit::None);
    EXPECT_EQ(unitOfName("id"), Unit::None);
}

} // namespace
