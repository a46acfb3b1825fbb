#include "profiler/io/wire/frame.h"
#include "tests/fuzz/wire_reader_target.h"
#include "tests/profiler/wire_file.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

// What a fuzzer does, where there is none: thousands of damaged traces. Half of them get right checksums again, so that
// the damage reaches what lies behind them.
namespace {

using namespace profiler::wire;
using Bytes = std::vector<std::byte>;

class Mutator {
public:
    explicit Mutator(unsigned seed) : m_random(seed) {}

    Bytes mutate(Bytes bytes)
    {
        for (std::size_t count = 1 + below(8); count > 0 && !bytes.empty(); --count)
            change(bytes);
        if (below(2) == 0)
            mend(bytes);
        return bytes;
    }

private:
    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>{0, limit - 1}(m_random); }

    void change(Bytes& bytes)
    {
        const std::size_t at = below(bytes.size());
        const std::size_t length = std::min(1 + below(64), bytes.size() - at);
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        switch (below(6)) {
        case 0:
            bytes[at] ^= static_cast<std::byte>(1U << below(8));
            break;
        case 1:
            bytes[at] = static_cast<std::byte>(below(3) == 0 ? 0xff : below(256));
            break;
        case 2: // a number that is much too large
            std::fill_n(place, std::min<std::size_t>(length, 8), std::byte{0xff});
            break;
        case 3:
            bytes.erase(place, place + static_cast<std::ptrdiff_t>(length));
            break;
        case 4: {
            const Bytes copy(place, place + static_cast<std::ptrdiff_t>(length));
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size())), copy.begin(), copy.end());
            break;
        }
        default:
            if (below(4) == 0)
                bytes.resize(at);
        }
    }

    static void mend(Bytes& bytes)
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

    std::mt19937 m_random;
};

TEST(WireMutation, NoBytesBreakTheReader)
{
    const Bytes seed = wire_test::everything().bytes();
    Mutator mutator{20240607};
    for (int i = 0; i < 4000; ++i) {
        const Bytes bytes = mutator.mutate(seed);
        readAnything(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
}

TEST(WireMutation, AFileOfNothingButFrameMagicsIsReadInTime)
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
