#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/model/trace_builder.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/packed_reader_target.h"
#include "tests/profiler/wire_file.h"
#include "tests/support/trace_text.h"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <zstd.h>

// Thousands of damaged packed traces. Most are damaged inside their sections and packed again with correct checksums,
// so that the damage reaches the code after the checks.
namespace {

using namespace profiler::container;

struct Part {
    FrameType type;
    Bytes raw;
};

/// Provides some details for each slice.
class Places final : public profiler::ArgSource {
public:
    [[nodiscard]] profiler::Result<profiler::SliceDetails> read(std::uint64_t source) const override
    {
        return profiler::SliceDetails{{"place", std::to_string(source)},
                                      {"share", "0." + std::to_string(source)},
                                      {"name", source % 2 == 0 ? "even" : "odd"}};
    }
};

std::shared_ptr<const profiler::Trace> withDetails()
{
    profiler::TraceBuilder builder;
    std::vector<profiler::RawSlice> slices(40);
    for (std::size_t i = 0; i < slices.size(); ++i) {
        slices[i].begin = static_cast<std::int64_t>(i) * 10;
        slices[i].duration = 8;
        slices[i].setSource(i);
    }
    builder.addMany(builder.addTrack({}), std::move(slices), profiler::Depth::Inferred);
    builder.setArgSource(std::make_shared<Places>());
    return builder.finish();
}

Bytes fileOf(const profiler::Trace& trace)
{
    const auto path = std::filesystem::temp_directory_path() / ("packed_mutation." + std::to_string(getpid()));
    EXPECT_TRUE(writeTrace(trace, path));
    std::ifstream in{path, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
    std::filesystem::remove(path);
    const auto raw = std::as_bytes(std::span{bytes});
    return {raw.begin(), raw.end()};
}

std::vector<Part> partsOf(const Bytes& file)
{
    std::vector<Part> parts;
    for (std::size_t at = sizeof(FileHeader); at < file.size();) {
        FrameHeader header{};
        std::memcpy(&header, &file[at], sizeof header);
        at += sizeof header;
        Part part{header.type, Bytes(ZSTD_getFrameContentSize(&file[at], header.payloadBytes))};
        EXPECT_EQ(ZSTD_decompress(part.raw.data(), part.raw.size(), &file[at], header.payloadBytes), part.raw.size());
        parts.push_back(std::move(part));
        at += header.payloadBytes;
    }
    return parts;
}

Bytes assemble(const std::vector<Part>& parts)
{
    Bytes file(sizeof(FileHeader));
    FileHeader header = makeFileHeader(0, 0);
    for (const Part& part : parts) {
        if (part.type == FrameType::Overview)
            header.overviewOffset = file.size();
        const auto section = packBlock(part.type, part.raw);
        file.insert(file.end(), section->begin(), section->end());
    }
    header.fileBytes = file.size();
    header.checksum = headerChecksum(header);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
}

void read(const Bytes& bytes)
{
    readAnyPacked(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

constexpr const char* kText = R"(format stepscope
meta key value
device 0 GPU uuid
lost dropped=2 note=lost
main pid=1
 step 0 0 100
repeat 30 every 100
 main
  op aten::linear 1 40 seq=1 shapes="[[2, 3]]"
  op aten::addmm 2 20 seq=1
  call launch 3 2 corr=1
 stream 0 7
  kernel gemm 10 5 corr=1
  copy HtoD 20 5 bytes=4096
end
counter memory
 sample 1 100
)";

TEST(PackedMutation, NoBytesBreakTheReader)
{
    const Bytes seed = fileOf(*test_support::traceFromText(kText));
    fuzz::Mutator mutator{7};
    for (int i = 0; i < 1000; ++i) {
        Bytes bytes = seed;
        for (std::size_t count = 1 + mutator.below(6); count > 0; --count)
            mutator.change(bytes, 16);
        read(bytes);
    }
}

TEST(PackedMutation, NoSectionsBreakTheReader)
{
    const std::vector<Part> seeds[] = {partsOf(fileOf(*test_support::traceFromText(kText))),
                                       partsOf(fileOf(*withDetails()))};
    ASSERT_EQ(seeds[1].size(), 6U) << "two copies of the names, details and their index";
    fuzz::Mutator mutator{8};
    for (int i = 0; i < 4000; ++i) {
        std::vector<Part> parts = seeds[i % 2];
        for (std::size_t count = 1 + mutator.below(4); count > 0; --count)
            mutator.change(parts[mutator.below(parts.size())].raw, 16);
        if (mutator.below(8) == 0)
            std::swap(parts[mutator.below(parts.size())], parts[mutator.below(parts.size())]);
        if (mutator.below(8) == 0)
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(mutator.below(parts.size())));
        read(assemble(parts));
    }
}

// Above the size limit of a block, memory grows with the data that is present: a claim of 2 GiB allocates nothing.
TEST(PackedMutation, AClaimOfGigabytesAllocatesNothing)
{
    Bytes raw(256 << 10);
    fuzz::Mutator random{3};
    for (std::byte& byte : raw)
        byte = static_cast<std::byte>(random.below(256)); // so that zstd cannot compress it
    auto section = packBlock(FrameType::Overview, raw);
    ASSERT_TRUE(section);
    const auto payload = std::span{*section}.subspan(sizeof(FrameHeader));
    const std::uint32_t claim = std::uint32_t{1} << 31;
    std::memcpy(&payload[5], &claim, sizeof claim); // the content size in the header of the zstd frame
    ASSERT_EQ(ZSTD_getFrameContentSize(payload.data(), payload.size()), claim);
    const FrameHeader header = makeFrameHeader(FrameType::Overview, 0, payload);
    std::memcpy(section->data(), &header, sizeof header);
    const wire_test::MemoryFile memory;
    auto input = InputFile::open(memory.write(*section));
    ASSERT_TRUE(input) << input.error().message();
    const BlockFile file{std::move(*input)};
    const auto peakKiB = [] {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        return used.ru_maxrss;
    };
    const long before = peakKiB();
    EXPECT_FALSE(file.read(0, FrameType::Overview));
    EXPECT_LT(peakKiB() - before, 200 << 10);
}

} // namespace
