#include "profiler/formats/container/frame.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/wire_reader_target.h"
#include "tests/profiler/wire_file.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <span>

// A substitute for a fuzzer where none is available: thousands of damaged traces. Half of them get correct checksums
// again, so that the damage reaches the code after the checks.
namespace {

using namespace profiler::container;
using fuzz::Bytes;

/// Numbers the frames and sets correct checksums.
void repairFrames(Bytes& bytes)
{
    std::uint32_t sequence = 0;
    for (std::size_t at = sizeof(FileHeader); at + sizeof(FrameHeader) <= bytes.size();) {
        FrameHeader header{};
        std::memcpy(&header, &bytes[at], sizeof header);
        const std::size_t there = bytes.size() - at - sizeof header;
        header.magic = kFrameMagic;
        header.sequence = sequence++;
        header.payloadBytes = static_cast<std::uint32_t>(std::min<std::size_t>(header.payloadBytes, there));
        header.checksum = frameChecksum(header, std::span{bytes}.subspan(at + sizeof header, header.payloadBytes));
        std::memcpy(&bytes[at], &header, sizeof header);
        at += sizeof header + header.payloadBytes;
    }
}

Bytes mutate(Bytes bytes, fuzz::Mutator& mutator)
{
    for (std::size_t count = 1 + mutator.below(8); count > 0 && !bytes.empty(); --count)
        mutator.change(bytes, 64);
    if (mutator.below(2) == 0)
        repairFrames(bytes);
    return bytes;
}

TEST(WireMutation, NoBytesBreakTheReader)
{
    const Bytes seed = wire_test::everything().bytes();
    fuzz::Mutator mutator{20240607};
    for (int i = 0; i < 4000; ++i) {
        const Bytes bytes = mutate(seed, mutator);
        readAnything(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
}

TEST(WireMutation, AFileOfOnlyFrameMagicsIsReadInTime)
{
    Bytes bytes = wire_test::WireFile{}.bytes();
    FrameHeader header{};
    header.magic = kFrameMagic;
    header.payloadBytes = 1 << 20;
    const auto raw = std::as_bytes(std::span{&header, 1});
    while (bytes.size() < 8U << 20)
        bytes.insert(bytes.end(), raw.begin(), raw.end());
    readAnything(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

} // namespace
