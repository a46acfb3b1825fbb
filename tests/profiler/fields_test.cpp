#include "profiler/formats/container/fields.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>

namespace {

using namespace profiler;
using namespace profiler::container;

/// STEPSCOPE_UPDATE_GOLDEN=1 writes the page.
TEST(Fields, TheDocumentationMatchesTheTables)
{
    if (std::getenv("STEPSCOPE_UPDATE_GOLDEN"))
        std::ofstream{STEPSCOPE_FORMAT_PAGE} << formatPage();
    std::ifstream in{STEPSCOPE_FORMAT_PAGE};
    const std::string page{std::istreambuf_iterator<char>{in}, {}};
    EXPECT_EQ(page, formatPage());
}

TEST(Fields, NamesOfARecordAreUnique)
{
    const auto areUnique = [](const auto& fields) {
        std::set<std::string_view> names;
        for (const auto& field : fields)
            if (!names.insert(field.name).second)
                return false;
        return true;
    };
    EXPECT_TRUE(areUnique(kTrackFields));
    EXPECT_TRUE(areUnique(kArgsFields));
    EXPECT_TRUE(areUnique(kLaunchFields));
    EXPECT_TRUE(areUnique(kDeviceFields));
    EXPECT_TRUE(areUnique(kFlowFields));
    EXPECT_TRUE(areUnique(kSliceColumns));
}

// The sizes are part of the format: files of all versions have them.
TEST(Fields, TakeTheBytesThatFilesHave)
{
    EXPECT_EQ(leastBytes(kTrackFields, 2), 41U);
    EXPECT_EQ(leastBytes(kTrackFields, 3), 45U);
    EXPECT_EQ(leastBytes(kDeviceFields, 1), 12U);
    EXPECT_EQ(leastBytes(kDeviceFields, 2), 28U);
    EXPECT_EQ(leastBytes(kDeviceFields, 6), 48U);
    EXPECT_EQ(leastBytes(kArgsFields, 1), 40U);
    EXPECT_EQ(leastBytes(kLaunchFields, 6), 44U);
    EXPECT_EQ(leastBytes(kFlowFields, 1), 17U);
    EXPECT_EQ(leastBytes(kSampleFields, 1), 16U);
}

TEST(Fields, OptionalMembersStayEmpty)
{
    LaunchConfig launch;
    launch.grid = {8, 2, 1};
    launch.registers = 0;
    launch.localMemory = 64;
    ByteWriter writer;
    putRecord(writer, kLaunchFields, launch);
    ByteReader reader{writer.bytes()};
    EXPECT_EQ(takeRecord(reader, kLaunchFields, kVersion), launch);
    EXPECT_TRUE(reader.atEnd());
}

TEST(Fields, AnOlderVersionLeavesLaterFieldsAtTheirDefaults)
{
    Device device;
    device.name = "GPU";
    device.multiprocessors = 132;
    ByteWriter writer;
    putRecord(writer, kDeviceFields, device);
    ByteReader reader{writer.bytes()};
    const Device read = takeRecord(reader, kDeviceFields, 2);
    EXPECT_EQ(read.name, "GPU");
    EXPECT_EQ(read.multiprocessors, 0);
    EXPECT_FALSE(reader.atEnd()) << "the fields since version 6 were not read";
}

} // namespace
