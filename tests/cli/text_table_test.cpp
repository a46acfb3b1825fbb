#include "app/terminal/output.h"

#include <gtest/gtest.h>

namespace app::terminal {
namespace {

TEST(TextTable, AlignsByDisplayedWidthNotByBytes)
{
    TextTable table({"what", "time"});
    EXPECT_TRUE(table.empty());
    table.add({"a", "5 µs"});
    table.add({"longer", "12.3 ms"});
    EXPECT_EQ(table.text(), "  what       time\n"
                            "  a          5 µs\n"
                            "  longer  12.3 ms\n");
}

TEST(TextTable, WrapsAtBlanks)
{
    EXPECT_EQ(wrapped("one two three", 9, 2), "  one two\n  three\n");
    EXPECT_EQ(wrapped("unbreakable", 5, 0), "unbreakable\n");
}

} // namespace
} // namespace app::terminal
