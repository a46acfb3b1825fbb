#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/slice_details.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/message_matchers.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <unistd.h>

// A copy in our packed format includes the slice details of the original file.
namespace {

using namespace profiler;
using container::readTrace;
using container::writeTrace;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::vector<SliceDetails> coded(const std::vector<SliceDetails>& all)
{
    const auto decoded = container::decodeDetails(container::encodeDetails(7, all));
    EXPECT_TRUE(decoded);
    EXPECT_EQ(decoded ? decoded->first : 0, 7U);
    return decoded ? decoded->slices : std::vector<SliceDetails>{};
}

TEST(DetailsCodec, TextsRoundTripExactly)
{
    std::vector<SliceDetails> all;
    using namespace std::string_literals;
    for (const std::string& text : std::vector<std::string>{"0",
                                                            "-0",
                                                            "00",
                                                            "1",
                                                            "-1",
                                                            "+1",
                                                            "1.",
                                                            ".5",
                                                            "1.50",
                                                            "-0.5",
                                                            "-0.0",
                                                            "0.0",
                                                            "0.000000000000000001",
                                                            "1e5",
                                                            "9223372036854775807",
                                                            "-9223372036854775808",
                                                            "9223372036854775808",
                                                            "123456789.123456789",
                                                            "",
                                                            " 1",
                                                            "NaN",
                                                            "[50, 1, 1]",
                                                            "\xff\0x"s,
                                                            "1621401187223005.123",
                                                            "99999999999999999999999999999999999999"}) {
        all.push_back({{"value", text}});
        EXPECT_EQ(coded({{{"value", text}}}), (std::vector<SliceDetails>{{{"value", text}}})) << text;
    }
    EXPECT_EQ(coded(all), all) << "mixed values are stored as texts";
    EXPECT_THAT(coded({}), IsEmpty());
    EXPECT_EQ(coded({{}, {{"a", "1"}}, {}}), (std::vector<SliceDetails>{{}, {{"a", "1"}}, {}}));
    const SliceDetails twice = {{"a", "1"}, {"a", "2"}, {"", ""}};
    EXPECT_EQ(coded({twice}), std::vector<SliceDetails>{twice});
}

TEST(DetailsCodec, ExtremeNumbersRoundTrip)
{
    std::vector<SliceDetails> all;
    for (const char* text :
         {"9223372036854775807", "-9223372036854775808", "0", "9223372036854775807", "-0.25", "12.50"})
        all.push_back({{"value", text}});
    EXPECT_EQ(coded(all), all);
}

TEST(DetailsCodec, SlicesOfManyKindsRoundTrip)
{
    std::minstd_rand random;
    std::vector<SliceDetails> all(1000);
    for (SliceDetails& details : all)
        for (unsigned i = random() % 6; i > 0; --i)
            details.emplace_back("key " + std::to_string(random() % 4),
                                 random() % 2 == 0 ? std::to_string(random()) : "text " + std::to_string(random() % 9));
    EXPECT_EQ(coded(all), all);
}

TEST(DetailsCodec, DamagedBytesDoNotCrashTheDecoder)
{
    const container::Bytes good =
        container::encodeDetails(1, std::vector<SliceDetails>{{{"a", "12"}, {"b", "text"}}, {}});
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(container::decodeDetails(std::span{good}.first(size))) << size;
    for (std::size_t at = 0; at < good.size(); ++at) {
        container::Bytes bad = good;
        bad[at] ^= std::byte{0x81};
        static_cast<void>(container::decodeDetails(bad)); // must not crash, whatever it says
    }
}

// The name is stored once per section and compresses well, so a few kilobytes could become many gigabytes.
TEST(DetailsCodec, ALongNameOfManySlicesIsRejected)
{
    const auto section = [](std::size_t nameBytes) {
        const SliceDetails details = {{std::string(nameBytes, 'n'), "1"}};
        return container::encodeDetails(1, std::vector<SliceDetails>(container::details_limit::kSlices, details));
    };
    constexpr std::size_t kRoom = 2 * (container::details_limit::kBytes + container::details_limit::kOfSlice);
    constexpr std::size_t kMost = kRoom / container::details_limit::kSlices;
    EXPECT_TRUE(container::decodeDetails(section(kMost)));
    EXPECT_FALSE(container::decodeDetails(section(kMost + 1)));
}

TEST(DetailsCodec, TooManyNamesOrShapesAreRejected)
{
    const auto isRead = [](std::uint32_t names, std::uint32_t shapes) {
        container::ByteWriter writer;
        writer.put(container::DetailsHead{1, 0, 0});
        for (const std::uint32_t count : {names, shapes}) {
            writer.put(count);
            for (std::uint32_t i = 0; i < count; ++i) // a name without letters, a shape without names
                writer.put(std::uint32_t{0});
        }
        writer.putColumn({});
        return container::decodeDetails(writer.bytes()).has_value();
    };
    constexpr std::uint32_t kNames = 1U << 20, kShapes = container::details_limit::kSlices;
    EXPECT_TRUE(isRead(kNames, kShapes));
    EXPECT_FALSE(isRead(kNames + 1, kShapes));
    EXPECT_FALSE(isRead(kNames, kShapes + 1));
}

TEST(DetailsCodec, TruncatedDetailsAreReported)
{
    SliceDetails many(2000, {"name", "value"});
    container::limitDetails(many);
    ASSERT_EQ(many.size(), container::details_limit::kEntries);
    EXPECT_THAT(many.back(), Pair("…", HasSubstr("977 more")));
    SliceDetails longOnes = {{"a", "1"}, {"b", std::string(container::details_limit::kOfSlice, 'x')}, {"c", "3"}};
    container::limitDetails(longOnes);
    EXPECT_THAT(longOnes, ElementsAre(Pair("a", "1"), Pair("…", HasSubstr("2 more"))));
    EXPECT_TRUE(container::decodeDetails(container::encodeDetails(1, std::vector{longOnes, many})));
}

/// The details of place n are n; from `goneFrom` on, the file can no longer be read.
class Places final : public ArgSource {
public:
    explicit Places(std::uint64_t goneFrom = ~std::uint64_t{0}) : m_goneFrom(goneFrom) {}
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        if (source >= m_goneFrom)
            return tl::unexpected(Error{Error::Code::NotFound, {"test.gone", {}, "the file went away"}, "a.json", {}});
        if (source % 5 == 0)
            return SliceDetails{};
        return SliceDetails{{"place", std::to_string(source)}, {source % 2 == 0 ? "even" : "odd", "yes"}};
    }

private:
    std::uint64_t m_goneFrom;
};

constexpr std::uint32_t kSlices = 10'000; ///< on each of two tracks: enough for several sections

class PackedDetailsOfTraces : public testing::Test {
protected:
    ~PackedDetailsOfTraces() override
    {
        for (const auto& path : {m_path, m_copy})
            std::filesystem::remove(path);
    }

    static std::shared_ptr<const Trace> make(std::shared_ptr<const ArgSource> source)
    {
        TraceBuilder builder;
        const std::uint32_t name = builder.intern("aten::mm").value;
        for (std::uint64_t track = 0; track < 2; ++track) {
            std::vector<RawSlice> slices(kSlices);
            for (std::uint64_t i = 0; i < kSlices; ++i) {
                slices[i].begin = static_cast<std::int64_t>(i) * 100;
                slices[i].duration = 50;
                slices[i].name = name;
                slices[i].setSource(i % 7 == 0 ? 0 : 2 * i + track + 1);
            }
            builder.addMany(builder.addTrack({}), std::move(slices), Depth::Inferred);
        }
        builder.setArgSource(std::move(source));
        return builder.finish();
    }

    static std::shared_ptr<const Trace> open(const std::filesystem::path& path, std::uint64_t budget = 0)
    {
        container::ReadOptions options;
        options.memoryBudget = budget;
        const auto trace = readTrace(path, options);
        EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
        return trace.value_or(std::make_shared<const Trace>());
    }

    static void expectSameDetails(const Trace& copy, const Trace& original)
    {
        ASSERT_EQ(copy.sliceCount(), original.sliceCount());
        for (std::uint32_t track = 0; track < 2; ++track)
            for (std::uint32_t i = 0; i < kSlices; i += 37) {
                const SliceId id{TrackId{track}, i};
                ASSERT_EQ(copy.details(id).value(), original.details(id).value()) << track << " " << i;
            }
    }

    std::filesystem::path m_path =
        std::filesystem::temp_directory_path() / ("packed_details." + std::to_string(getpid()) + ".sspack");
    std::filesystem::path m_copy = m_path.string() + ".copy.sspack";
};

TEST_F(PackedDetailsOfTraces, AreKeptInACopyAndInItsCopy)
{
    const auto trace = make(std::make_shared<Places>());
    ASSERT_TRUE(writeTrace(*trace, m_path));
    const auto copy = open(m_path);
    expectSameDetails(*copy, *trace);
    ASSERT_TRUE(writeTrace(*copy, m_copy));
    expectSameDetails(*open(m_copy), *trace);
    EXPECT_THAT(copy->captureStats().notes, IsEmpty());
}

TEST_F(PackedDetailsOfTraces, AreAvailableIfBlocksStayInTheFile)
{
    const auto trace = make(std::make_shared<Places>());
    ASSERT_TRUE(writeTrace(*trace, m_path));
    expectSameDetails(*open(m_path, 1), *trace);
}

TEST_F(PackedDetailsOfTraces, AreFoundInATruncatedFile)
{
    const auto trace = make(std::make_shared<Places>());
    ASSERT_TRUE(writeTrace(*trace, m_path));
    for (const std::uintmax_t gone : {60, 400}) { // in the index, in the overview
        std::filesystem::resize_file(m_path, std::filesystem::file_size(m_path) - gone);
        const auto cut = open(m_path);
        EXPECT_TRUE(cut->captureStats().cut);
        expectSameDetails(*cut, *trace);
    }
}

TEST_F(PackedDetailsOfTraces, ThatAreUnreadableAreCountedInTheCopy)
{
    const auto trace = make(std::make_shared<Places>(1001));
    ASSERT_TRUE(writeTrace(*trace, m_path));
    const auto copy = open(m_path);
    EXPECT_THAT(copy->captureStats().notes,
                ElementsAre(testing::AllOf(hasId("trace.unread_details", {{"count", 16'286}}),
                                           hasIdAndPart("trace.unread_details", "why", "the file went away"))));
    EXPECT_EQ(copy->details({TrackId{0}, 3}).value(), trace->details({TrackId{0}, 3}).value());
    EXPECT_THAT(copy->details({TrackId{0}, 9000}).value(), IsEmpty());
}

TEST_F(PackedDetailsOfTraces, TakeNoSpaceIfThereAreNone)
{
    ASSERT_TRUE(writeTrace(*make(nullptr), m_path));
    ASSERT_TRUE(writeTrace(*make(std::make_shared<Places>()), m_copy));
    EXPECT_LT(std::filesystem::file_size(m_path) + 10'000, std::filesystem::file_size(m_copy));
    EXPECT_EQ(open(m_path)->argSource(), nullptr);
}

TEST_F(PackedDetailsOfTraces, AStoppedWriteLeavesNoFile)
{
    std::stop_source stop;
    stop.request_stop();
    container::WriteOptions options;
    options.stop = stop.get_token();
    const auto written = writeTrace(*make(std::make_shared<Places>()), m_path, options);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Error::Code::Cancelled);
    EXPECT_FALSE(std::filesystem::exists(m_path));
}

TEST_F(PackedDetailsOfTraces, OfADeviceAreKept)
{
    TraceBuilder builder;
    builder.addDevice({DeviceId{0}, "NVIDIA H100", "GPU-1", 9, 0, std::int64_t{80} << 30});
    ASSERT_TRUE(writeTrace(*builder.finish(), m_path));
    const auto copy = open(m_path);
    ASSERT_EQ(copy->devices().size(), 1U);
    EXPECT_EQ(copy->devices()[0].computeMajor, 9);
    EXPECT_EQ(copy->devices()[0].memoryBytes, std::int64_t{80} << 30);
}

} // namespace
