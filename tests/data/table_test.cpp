#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/csv_table.h"

#include <gmock/gmock.h>
#include <numeric>

namespace data_test {
namespace {

using namespace trainer::data;
using profiler::test::hasId;
using testing::ElementsAre;

profiler::Error wrong(std::string_view text, const CsvTarget& target = {"", 3})
{
    const auto table = parseCsv(text, target, "t.csv");
    EXPECT_FALSE(table) << text;
    return table ? profiler::Error{} : table.error();
}

TEST(Csv, ColumnsQuotesAndLineEndsAreUnderstood)
{
    const auto table =
        parseCsv("\xef\xbb\xbf\"a, b\",class,c\r\n1.5,2,-3e2\r\n\r\n\"4\", 0 ,+5", {"class", 3}, "t.csv");
    ASSERT_TRUE(table) << table.error().message();
    EXPECT_THAT(table->features, ElementsAre("a, b", "c"));
    EXPECT_THAT(table->values, ElementsAre(1.5F, -300.0F, 4.0F, 5.0F));
    EXPECT_THAT(table->targets, ElementsAre(2.0F, 0.0F));
}

TEST(Csv, TheLastColumnIsTheTargetUnlessNamed)
{
    EXPECT_EQ(parseCsv("a,b\n1,2\n", {"", 3}, "t.csv")->target, "b");
    EXPECT_EQ(parseCsv("a,b\n1,2\n", {"a", 3}, "t.csv")->target, "a");
}

TEST(Csv, ATextCellIsNamedWithRowAndColumn)
{
    const auto error = wrong("a,b,class\n1,2,0\n1,n/a,1\n");
    EXPECT_THAT(error.what, hasId("data.csv.no_number", {{"cell", "n/a"}}));
    EXPECT_EQ(error.where, "t.csv, row 3, column b");
    EXPECT_THAT(wrong("a,class\n,1\n").what, hasId("data.csv.empty_cell"));
    EXPECT_THAT(wrong("a,class\nnan,1\n").what, hasId("data.csv.no_number", {{"cell", "nan"}}));
    EXPECT_THAT(wrong("a,class\n1x,1\n").what, hasId("data.csv.no_number", {{"cell", "1x"}}));
    EXPECT_THAT(wrong("a,class\n\"1\"2\"\",1\n").what, hasId("data.csv.no_number"));
}

TEST(Csv, AMissingTargetColumnIsNamedWithTheExistingOnes)
{
    EXPECT_THAT(wrong("a,b\n1,2\n", {"price", 3}).what,
                hasId("data.csv.no_column", {{"column", "price"}, {"columns", "a, b"}}));
}

TEST(Csv, ALabelOutOfRangeIsNamed)
{
    for (const char* label : {"3", "-1", "1.5"}) {
        const auto error = wrong(std::string("a,class\n1,0\n1,") + label + "\n");
        EXPECT_THAT(error.what, hasId("data.csv.no_class", {{"most", 2}, {"cell", label}})) << label;
        EXPECT_EQ(error.where, "t.csv, row 3, column class");
    }
    EXPECT_TRUE(parseCsv("a,y\n1,3.5\n", {"", 0}, "t.csv")) << "numbers have no range";
}

TEST(Csv, RowsOfAnotherLengthAndEmptyTablesAreRefused)
{
    EXPECT_EQ(wrong("a,b\n1,2\n1\n").where, "t.csv, row 3");
    EXPECT_THAT(wrong("a,b\n1,2,3\n").what, hasId("data.csv.row_length", {{"cells", 3}, {"columns", 2}}));
    EXPECT_THAT(wrong("").what, hasId("data.csv.empty"));
    EXPECT_THAT(wrong("a,b\n").what, hasId("data.csv.no_rows"));
    EXPECT_THAT(wrong("a\n1\n").what, hasId("data.csv.one_column"));
    EXPECT_THAT(wrong("a,b\n1,\"2\n").what, hasId("data.csv.open_quote"));
}

TEST(CsvDataset, ColumnsAreNormalisedByTheTrainingRows)
{
    const TemporaryFolder folder;
    std::string text = "big,small,class\n";
    for (int i = 0; i < 50; ++i)
        text +=
            std::to_string(1000 + 10 * i) + "," + std::to_string(0.001 * (i % 7)) + "," + std::to_string(i % 2) + "\n";
    writeBytes(folder / "t.csv", Bytes(text.begin(), text.end()));
    const auto open = [&](const char* normalise) {
        return *openDataset("csv", configOf({{"dataset.path", (folder / "t.csv").string()},
                                             {"dataset.classes", "2"},
                                             {"data.normalize", normalise}}));
    };
    const auto dataset = open("true"), raw = open("false");
    ASSERT_EQ(dataset->size(Split::Train), 40);
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < 40; ++i) {
        const float value = loadSample(*dataset, Split::Train, i)->floats()[0];
        sum += value;
        squares += value * value;
    }
    EXPECT_NEAR(sum / 40, 0, 1e-4);
    EXPECT_NEAR(squares / 40, 1, 1e-3);
    EXPECT_GE(loadSample(*raw, Split::Train, 0)->floats()[0], 1000);
}

TEST(CsvDataset, PredictsNumbersOnRequest)
{
    const TemporaryFolder folder;
    const std::string text = "a,price\n1,2.5\n2,3.5\n";
    writeBytes(folder / "t.csv", Bytes(text.begin(), text.end()));
    const auto dataset = *openDataset("csv", configOf({{"dataset.path", folder.path().string()},
                                                       {"dataset.target", "number"},
                                                       {"dataset.validation_share", "0"}}));
    EXPECT_EQ(dataset->spec().classes, 0);
    EXPECT_THAT(loadSample(*dataset, Split::Train, 1)->numbers(), ElementsAre(3.5F));
}

} // namespace
} // namespace data_test
