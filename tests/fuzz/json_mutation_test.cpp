#include "tests/fuzz/open_trace_target.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// A substitute for a fuzzer where none is available: thousands of damaged traces, made from the fuzzing corpus.
namespace {

class Mutator {
public:
    explicit Mutator(unsigned seed) : m_random(seed) {}

    std::string mutate(std::string text)
    {
        for (std::size_t count = 1 + below(6); count > 0 && !text.empty(); --count)
            change(text);
        return text;
    }

private:
    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>{0, limit - 1}(m_random); }

    void change(std::string& text)
    {
        constexpr const char* kPieces[] = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           "\"",
                                           "\\",
                                           ",",
                                           ":",
                                           "},{\"ph\":\"X\"",
                                           "9999999999999999999",
                                           "-",
                                           "\\ud800",
                                           "1e400",
                                           "NaN",
                                           "\n",
                                           "\xff",
                                           "null",
                                           "\"args\":{",
                                           "0.0001",
                                           "\"Input Dims\": [["};
        const std::size_t at = below(text.size());
        const std::size_t length = std::min(1 + below(40), text.size() - at);
        switch (below(6)) {
        case 0:
            text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
            break;
        case 1:
            text.insert(at, kPieces[below(std::size(kPieces))]);
            break;
        case 2:
            text.erase(at, length);
            break;
        case 3:
            text.insert(below(text.size()), text.substr(at, length));
            break;
        case 4:
            text.replace(at, length, kPieces[below(std::size(kPieces))]);
            break;
        default:
            if (below(4) == 0)
                text.resize(at);
        }
    }

    std::mt19937 m_random;
};

TEST(Corpus, NoFileBreaksTheReaders)
{
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(STEPSCOPE_CORPUS)) {
        if (!entry.is_regular_file())
            continue;
        std::ifstream in(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        openAnything(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        ++files;
    }
    EXPECT_GE(files, 10U) << "of every readable format";
}

TEST(JsonMutation, NoBytesBreakTheReaders)
{
    std::vector<std::string> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(STEPSCOPE_CORPUS "/json")) {
        std::ifstream in(entry.path(), std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    ASSERT_GE(seeds.size(), 5U);
    std::sort(seeds.begin(), seeds.end());
    Mutator mutator{20250131};
    for (std::size_t i = 0; i < 3000; ++i) {
        const std::string text = mutator.mutate(seeds[i % seeds.size()]);
        openAnything(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
}

} // namespace
