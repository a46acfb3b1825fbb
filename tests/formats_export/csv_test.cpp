#include "profiler/formats/csv/csv_text.h"
#include "tests/formats_export/exported.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace formats_export_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string row(std::initializer_list<std::string_view> values)
{
    std::string out;
    profiler::formats::writers::appendCsvRow(out, std::vector<std::string_view>(values));
    return out;
}

TEST(Csv, QuotesOnlyWhatNeedsIt)
{
    EXPECT_EQ(row({"plain", "", "3.5"}), "plain,,3.5\n");
    EXPECT_EQ(row({"a,b", "say \"x\"", "two\nlines"}), "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

TEST(Csv, NamesCannotBecomeFormulas)
{
    EXPECT_EQ(row({"=HYPERLINK(1)"}), "\"'=HYPERLINK(1)\"\n");
    EXPECT_EQ(row({"@cmd", "-x"}), "\"'@cmd\",\"'-x\"\n");
    EXPECT_EQ(row({"-12.5", "+3"}), "-12.5,+3\n");
}

TEST(Csv, HasARowForEverySlice)
{
    const std::string csv = exported(kTraining, "a.csv");
    EXPECT_THAT(csv, StartsWith("track,process,pid,tid,device,stream,kind,name,begin_us,duration_us,depth,"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 7 + 4 * 2 + 1 + 4 * 3 + 2);
    EXPECT_THAT(csv, HasSubstr("stream 7,,,,0,7,kernel,gemm,30.001,40.123,0,5,,,,,,,,,,,\n"));
    EXPECT_THAT(csv, HasSubstr(",gpu_memcpy,Memcpy HtoD,20.500,9,"));
    EXPECT_THAT(csv, HasSubstr(",20000,HtoD,pageable,device,"));
    EXPECT_THAT(csv, HasSubstr("\"a \"\"quoted\"\" name\""));
    EXPECT_THAT(csv, HasSubstr("\"[[2, 3], []]\""));
}

TEST(Csv, KernelsHaveTheirLaunchConfiguration)
{
    const std::string csv = exported(R"(
stream 0 7
  kernel gemm 0 1 grid=141,2,1 block=32,4,1 registers=34 shared=0
  kernel other 2 1 registers=16
)",
                                     "a.csv");
    EXPECT_THAT(csv, HasSubstr(",types,grid,block,registers_per_thread,shared_memory_bytes\n"));
    EXPECT_THAT(csv, HasSubstr(",gemm,0,1,0,,,,,,,,,141 2 1,32 4 1,34,0\n"));
    EXPECT_THAT(csv, HasSubstr(",other,2,1,0,,,,,,,,,,,16,\n"));
}

} // namespace
} // namespace formats_export_test
