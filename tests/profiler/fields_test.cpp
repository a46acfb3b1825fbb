#include "profiler/formats/container/fields.h"
#include "profiler/formats/container/frame.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>

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

/// The numbers in a payload, by the names that the page gives them in its section for the payload's type.
std::map<std::string, std::int64_t> readByThePage(const std::string& section, std::span<const std::byte> payload)
{
    std::map<std::string, std::int64_t> values;
    const std::string page = formatPage();
    const auto from = page.find("### " + section + "\n");
    std::istringstream rows{page.substr(from, page.find("\n### ", from) - from)};
    static const std::regex kRow{R"(\| `(\w+)` \| [iu](32|64) \|.*)"};
    std::smatch row;
    for (std::string line; std::getline(rows, line);) {
        if (!std::regex_match(line, row, kRow))
            continue;
        std::int64_t value = 0;
        const std::size_t bytes = row[2] == "64" ? 8 : 4;
        std::memcpy(&value, payload.data(), std::min(bytes, payload.size()));
        payload = payload.subspan(std::min(bytes, payload.size()));
        values[row[1]] = value;
    }
    values["(rest)"] = static_cast<std::int64_t>(payload.size());
    return values;
}

TEST(Fields, ADeviceFrameIsAsThePageSays)
{
    Payload payload;
    appendDevice(payload, {3, 11, 12, 0}, {std::int64_t{141} << 30, 9, 1}, {132, 2048, 32, 65536, 233472});
    const std::map<std::string, std::int64_t> expected{
        {"device", 3},
        {"name", 11},
        {"uuid", 12},
        {"reserved", 0},
        {"memory_bytes", std::int64_t{141} << 30},
        {"compute_major", 9},
        {"compute_minor", 1},
        {"multiprocessors", 132},
        {"threads", 2048},
        {"blocks", 32},
        {"registers", 65536},
        {"shared_memory", 233472},
        {"(rest)", 0},
    };
    EXPECT_EQ(readByThePage(std::to_string(static_cast<int>(FrameType::Device)) + ": Device", payload), expected);
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
