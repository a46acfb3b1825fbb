#include "tests/cli/cli_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

/// `stepscope-cli query` as a user starts it.
namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kRun = R"(
    main
      repeat 5 every 1000
        step 0 0 1000
        phase forward 100 400
        op aten::mm 110 250
      end
    stream 0 7
      repeat 5 every 1000
        kernel "sgemm, \"wide\"" 300 90
        copy HtoD 200 50 bytes=2000000 src=pageable dst=device
      end
)";

Ended query(const Folder& folder, std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {"query", folder.trace("run.sstrace", kRun).string()});
    return run(arguments);
}

TEST(Query, PrintsATableWithUnits)
{
    const Folder folder;
    const Ended ended = query(folder, {"SELECT name, SUM(dur), COUNT(*) FROM op GROUP BY name"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("aten::mm"));
    EXPECT_THAT(ended.out, HasSubstr("1.25 ms"));
}

TEST(Query, PrintsJsonWithNanoseconds)
{
    const Folder folder;
    const Ended ended = query(folder, {"SELECT ts, dur, bytes, src FROM memcpy ORDER BY ts LIMIT 1", "--json"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    const Json json = Json::parse(ended.out);
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["columns"][1], (Json{{"name", "dur"}, {"unit", "ns"}}));
    EXPECT_EQ(json["columns"][2]["unit"], "bytes");
    EXPECT_EQ(json["rows"], Json::parse("[[200000, 50000, 2000000, \"pageable\"]]"));
    EXPECT_EQ(json["truncated"], false);
}

TEST(Query, PrintsCsvWithQuotes)
{
    const Folder folder;
    const Ended ended = query(folder, {"SELECT name, dur FROM kernel LIMIT 1", "--csv"});
    EXPECT_EQ(ended.out, "name,dur\r\n\"sgemm, \"\"wide\"\"\",90000\r\n");
}

TEST(Query, LimitsTheRows)
{
    const Folder folder;
    const Ended ended = query(folder, {"SELECT dur FROM kernel", "--csv", "--limit", "2"});
    EXPECT_EQ(ended.out, "dur\r\n90000\r\n90000\r\n");
    EXPECT_THAT(ended.err, HasSubstr("--limit"));
    EXPECT_EQ(ended.status, 0);
}

TEST(Query, ReadsTheStatementFromStandardInput)
{
    const Folder folder;
    const auto sql = folder.write("query.sql", "SELECT COUNT(*) AS kernels\nFROM kernel;\n");
    const std::string out = (folder / "out.csv").string();
    const std::string line = std::string(STEPSCOPE_CLI) + " query " + folder.trace("run.sstrace", kRun).string() +
                             " - --csv <" + sql.string() + " >" + out;
    EXPECT_EQ(std::system(line.c_str()), 0);
    std::ifstream file(out);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "kernels\r\n5\r\n");
}

TEST(Query, ShowsWhereTheStatementIsWrong)
{
    const Folder folder;
    const Ended ended = query(folder, {"SELECT name, duration FROM kernel"});
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr("SELECT name, duration FROM kernel\n             ^\n"));
    const Ended json = query(folder, {"SELECT name, duration FROM kernel", "--json"});
    EXPECT_EQ(Json::parse(json.out)["error"]["id"], "query.sql");
    EXPECT_EQ(query(folder, {"DROP VIEW kernel"}).status, 2);
}

TEST(Query, StopsAfterItsTime)
{
    const Folder folder;
    const Ended ended =
        query(folder, {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n", "--json",
                       "--timeout", "0.2"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_EQ(Json::parse(ended.out)["error"]["id"], "query.timeout");
}

TEST(Query, ReadsTheFindings)
{
    const Folder folder;
    const Ended ended = query(folder, {"SELECT COUNT(*) FROM finding WHERE state <> ''", "--csv"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, Not(HasSubstr("\r\n0\r\n")));
}

TEST(Query, ListsItsTables)
{
    const Ended text = run({"query", "--tables"});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("shared_memory"));
    const Json json = Json::parse(run({"query", "--tables", "--json"}).out);
    EXPECT_EQ(json["tables"][0]["name"], "slice");
    EXPECT_EQ(json["tables"][0]["columns"][2],
              (Json{{"name", "dur"}, {"type", "integer"}, {"unit", "ns"}, {"doc", "duration"}}));
    EXPECT_EQ(run({"query"}).status, 2);
}

} // namespace
} // namespace cli_test
