#include "profiler/query/query.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

/// What a query must not do: change anything, run forever, fill the memory; and how errors name their place.
namespace {

using namespace profiler;
using namespace profiler::query;
using namespace std::chrono_literals;
using testing::HasSubstr;

Source small()
{
    return {test_support::traceFromText(R"(
        main
          repeat 1000 every 10
            op aten::mm 0 5
          end
    )")};
}

Error errorOf(std::string_view sql, const Limits& limits = {}, const std::stop_token& stop = {})
{
    const auto table = runQuery(small(), sql, limits, stop);
    EXPECT_FALSE(table) << sql;
    return table ? Error{} : table.error();
}

constexpr std::string_view kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n";

TEST(QueryLimits, OnlySelectRuns)
{
    for (const char* sql : {"CREATE TABLE t(x)", "DROP VIEW kernel", "ATTACH 'x.db' AS x", "PRAGMA user_version = 1",
                            "PRAGMA user_version", "BEGIN", "VACUUM INTO '/tmp/x.db'", "CREATE TEMP TABLE t(x)",
                            "SELECT load_extension('x')", "SELECT * FROM pragma_table_info('slice')",
                            "DELETE FROM sqlite_master", "INSERT INTO sqlite_master VALUES(1)", "DETACH main",
                            "REINDEX", "ANALYZE", "SAVEPOINT s", "ALTER TABLE kernel RENAME TO k"}) {
        const Error error = errorOf(sql);
        EXPECT_TRUE(error.what.id == "query.not_select" || error.what.id == "query.sql")
            << sql << ": " << error.what.id;
    }
    EXPECT_EQ(errorOf("CREATE TABLE t(x)").what.id, "query.not_select");
    EXPECT_EQ(errorOf("ATTACH 'x.db' AS x").what.id, "query.not_select");
    EXPECT_EQ(errorOf("DELETE FROM slice").what.id, "query.sql");
    EXPECT_EQ(errorOf("SELECT 1; DROP VIEW kernel").what.id, "query.several");
    EXPECT_EQ(errorOf("SELECT 1; SELECT 2").what.id, "query.several");
    EXPECT_EQ(errorOf("").what.id, "query.empty");
    EXPECT_EQ(errorOf(" -- nothing\n").what.id, "query.empty");
    EXPECT_TRUE(runQuery(small(), "SELECT 1; -- done\n"));
    EXPECT_TRUE(runQuery(small(), "EXPLAIN QUERY PLAN SELECT * FROM slice"));
}

TEST(QueryLimits, ErrorsNameTheirPlace)
{
    const Error column = errorOf("SELECT name,\n  duration FROM slice");
    EXPECT_EQ(column.what.id, "query.sql");
    EXPECT_EQ(column.where, "line 2, column 3");
    EXPECT_EQ(markedLine("SELECT name,\n  duration FROM slice", column), "  duration FROM slice\n  ^");
    EXPECT_THAT(column.hint, HasSubstr("dur"));
    EXPECT_THAT(errorOf("SELECT * FROM slices").hint, HasSubstr("slice"));
    EXPECT_EQ(errorOf("SELECT 'ä' FORM slice WHERE").where, "line 1, column 17");
    EXPECT_EQ(errorOf("SELECT name FROM").where, "line 1, column 17");
}

TEST(QueryLimits, TimeIsLimited)
{
    Limits limits;
    limits.time = 50ms;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(errorOf(kEndless, limits).what.id, "query.timeout");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_EQ(
        errorOf("SELECT COUNT(*) FROM slice a, slice b, slice c, slice d WHERE a.dur + b.dur < c.dur", limits).what.id,
        "query.timeout");
}

TEST(QueryLimits, AStopRequestEndsIt)
{
    std::stop_source stop;
    std::jthread later([&] {
        std::this_thread::sleep_for(50ms);
        stop.request_stop();
    });
    const Error error = errorOf(kEndless, {}, stop.get_token());
    EXPECT_EQ(error.code, Error::Code::Cancelled);
    EXPECT_EQ(error.what.id, "query.stopped");
}

TEST(QueryLimits, ResultsAreCut)
{
    Limits limits;
    limits.rows = 10;
    const auto rows = runQuery(small(), "SELECT name FROM slice", limits);
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->rows, 10U);
    EXPECT_TRUE(rows->isCut);
    limits = {};
    limits.bytes = 10'000;
    const auto bytes = runQuery(small(), "SELECT name, ts FROM slice", limits);
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(bytes->isCut);
    EXPECT_LT(bytes->rows, 1000U);
    EXPECT_FALSE(runQuery(small(), "SELECT name FROM slice")->isCut);
}

TEST(QueryLimits, ValuesAreLimited)
{
    EXPECT_EQ(errorOf("SELECT length(zeroblob(100000000) || 'x')").what.id, "query.too_big");
    EXPECT_EQ(
        errorOf("WITH RECURSIVE n(s) AS (SELECT 'abcdefgh' UNION ALL SELECT s || s FROM n) SELECT length(s) FROM n")
            .what.id,
        "query.too_big");
}

} // namespace
