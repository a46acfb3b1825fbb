#include "advisor/runner/child_process.h"

#include <gtest/gtest.h>

namespace advisor {
namespace {

std::string tailOf(std::string_view text)
{
    OutputTail tail;
    tail.add(text);
    return tail.lastLines();
}

TEST(OutputTail, KeepsTheLastTwentyLines)
{
    OutputTail tail;
    for (int i = 0; i < 5000; ++i)
        tail.add("line " + std::to_string(i) + "\n");
    const std::string lines = tail.lastLines();
    EXPECT_TRUE(lines.starts_with("line 4980\n")) << lines;
    EXPECT_TRUE(lines.ends_with("line 4999"));
}

TEST(OutputTail, ALineWithoutAnEndIsBounded)
{
    OutputTail tail;
    for (int i = 0; i < 100; ++i)
        tail.add(std::string(1000, 'x'));
    EXPECT_LE(tail.lastLines().size(), 8192U);
    EXPECT_GE(tail.lastLines().size(), 8000U);
}

TEST(OutputTail, AProgressBarIsItsLastDrawing)
{
    EXPECT_EQ(tailOf("a\n 10 %\r 20 %\r"), "a\n 20 %");
}

TEST(OutputTail, IsValidTextWithoutControlCharacters)
{
    EXPECT_EQ(tailOf("caf\xc3\xa9 \x1b[31m\ttab"), "caf\xc3\xa9 [31m\ttab");
    EXPECT_EQ(tailOf("a\xff"), "a\xEF\xBF\xBD");
    EXPECT_EQ(tailOf("\xc3"), "\xEF\xBF\xBD");                                 // truncated in the middle
    EXPECT_EQ(tailOf("\xed\xa0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); // a surrogate
    EXPECT_EQ(tailOf("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
}

TEST(OutputTail, OfNothingIsEmpty)
{
    EXPECT_EQ(tailOf(""), "");
    EXPECT_EQ(tailOf("\n\n"), "");
}

} // namespace

TEST(ScarceResource, LackOfMemoryAndATakenPortAreRecognized)
{
    for (const char* text :
         {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "Out of memory at step 3",
          "RuntimeError: [enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory",
          "DefaultCPUAllocator: not enough memory: you tried to allocate 80 bytes", "MemoryError", "std::bad_alloc",
          "OSError: [Errno 12] Cannot allocate memory", "OSError: [Errno 98] Address already in use"})
        EXPECT_TRUE(advisor::namesScarceResource(text)) << text;
    for (const char* text : {"ValueError: no such shape", "KeyError: 'memory'", ""})
        EXPECT_FALSE(advisor::namesScarceResource(text)) << text;
}

} // namespace advisor
