#include "profiler/formats/format.h"
#include "tests/formats_sqlite/nsys_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

// Exports with random wrong bytes: reading always ends, with a trace that can be walked or an error.
// STEPSCOPE_MUTATIONS sets the number of attempts.
namespace formats_sqlite_test {
namespace {

using namespace profiler;

int mutations()
{
    const char* chosen = std::getenv("STEPSCOPE_MUTATIONS");
    return chosen ? std::atoi(chosen) : 300;
}

std::string mutated(std::string bytes, std::mt19937& random)
{
    const unsigned way = random() % 4;
    // The pages of the schema matter most, so half of the changes go there.
    const std::size_t within = way == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 3 * 4096);
    for (unsigned i = 0, changes = 1 + random() % 8; i < changes; ++i)
        bytes[random() % within] = static_cast<char>(random());
    if (way == 2) // one page replaced by another
        bytes.replace(random() % (bytes.size() / 4096) * 4096, 4096, bytes, random() % (bytes.size() / 4096) * 4096,
                      4096);
    if (way == 3)
        bytes.resize(bytes.size() - random() % bytes.size());
    return bytes;
}

TEST(NsysMutations, EndWithATraceOrAnError)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    const std::string whole = file.bytes();
    std::mt19937 random(7);
    int read = 0;
    for (int i = 0; i < mutations(); ++i) {
        file.write(mutated(whole, random));
        const auto trace = formats::openTrace(file.path());
        if (!trace) {
            EXPECT_FALSE(trace.error().message().empty());
            continue;
        }
        ++read;
        for (const Track& track : (*trace)->tracks())
            for (const Slice& slice : (*trace)->sorted(track.id)) {
                EXPECT_GE(slice.duration.count(), 0);
                static_cast<void>((*trace)->details(slice.id));
                static_cast<void>((*trace)->flowsOf(slice.id));
            }
    }
    EXPECT_GT(read, mutations() / 20); // most bytes of a page are unused, so the loop must have read traces
}

} // namespace
} // namespace formats_sqlite_test
