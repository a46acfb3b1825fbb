#include "app/tables/filter_text.h"

#include <gtest/gtest.h>

#include <string>

using app::Filter;
using app::FilterField;
using app::parseFilter;
using app::TableValue;
using Unit = TableValue::Unit;

namespace {

enum : int { Name, Class, Duration, Bytes, Share, Stream };

const std::vector<FilterField>& fields()
{
    static const std::vector<FilterField> all = {{Name, "name", Unit::Text},    {Class, "class", Unit::Text},
                                                 {Duration, "dur", Unit::Time}, {Bytes, "bytes", Unit::Bytes},
                                                 {Share, "share", Unit::Share}, {Stream, "stream", Unit::Count}};
    return all;
}

/// Whether every condition of a filter matches a value of its field.
bool matches(const char* text, const TableValue& value)
{
    const auto filter = parseFilter(QString::fromUtf8(text), fields());
    EXPECT_TRUE(filter) << filter.error().message();
    return filter && std::all_of(filter->begin(), filter->end(),
                                 [&](const app::FilterCondition& condition) { return condition.matches(value); });
}

std::string errorId(const char* text)
{
    const auto filter = parseFilter(QString::fromUtf8(text), fields());
    return filter ? std::string("none") : std::string(filter.error().what.id);
}

TableValue text(const char* value)
{
    return TableValue::ofText(QString::fromUtf8(value));
}
TableValue time(std::int64_t ns)
{
    return TableValue::ofTime(profiler::Nanoseconds{ns});
}

} // namespace

TEST(FilterText, WordsAreInTheName)
{
    EXPECT_TRUE(matches("", text("anything")));
    EXPECT_TRUE(matches("GEMM", text("volta_sgemm_64")));
    EXPECT_TRUE(matches("volta 64", text("volta_sgemm_64")));
    EXPECT_FALSE(matches("volta 65", text("volta_sgemm_64")));
    EXPECT_TRUE(matches("aten::mm", text("aten::mm")));
    EXPECT_TRUE(matches("std::plus<int>", text("f<std::plus<int>>()"))) << "two colons are no field";
    EXPECT_TRUE(matches("/home/me", text("/home/me/net.py(12): forward"))) << "a path is not a pattern";
}

TEST(FilterText, QuotesKeepSpacesAndSigns)
{
    EXPECT_TRUE(matches("\"void add<int>\"", text("void add<int>()")));
    EXPECT_FALSE(matches("\"void add<int>\"", text("void x; add<int>()")));
    EXPECT_TRUE(matches("name=\"a \\\"b\\\" \\\\\"", text("a \"b\" \\")));
    EXPECT_FALSE(matches("name=\"gemm\"", text("gemm2")));
}

TEST(FilterText, PatternsAndNegations)
{
    EXPECT_TRUE(matches("/^(ge|co)/", text("GEMM")));
    EXPECT_FALSE(matches("/^m/", text("gemm")));
    EXPECT_TRUE(matches("/a b/", text("xa by")));
    EXPECT_FALSE(matches("-gemm", text("gemm")));
    EXPECT_TRUE(matches("-class:gemm,conv", text("pooling")));
    EXPECT_FALSE(matches("-class:gemm,conv", text("convolution")));
    EXPECT_TRUE(matches("class!=gemm", text("pooling")));
}

TEST(FilterText, NumbersHaveUnitsRangesAndLists)
{
    EXPECT_TRUE(matches("dur>100us", time(100'001)));
    EXPECT_FALSE(matches("dur>100us", time(100'000)));
    EXPECT_TRUE(matches("dur>=0.1ms", time(100'000)));
    EXPECT_TRUE(matches("dur<=1.5µs", time(1500)));
    EXPECT_FALSE(matches("dur<1.5µs", time(1500)));
    EXPECT_TRUE(matches("dur>0", time(1)));
    EXPECT_TRUE(matches("dur:1us..2us", time(2000)));
    EXPECT_FALSE(matches("dur:1us..2us", time(2001)));
    EXPECT_TRUE(matches("bytes>1KiB", TableValue::ofBytes(1025)));
    EXPECT_FALSE(matches("bytes>1kib", TableValue::ofBytes(1024)));
    EXPECT_TRUE(matches("bytes>=2MB", TableValue::ofBytes(2'000'000)));
    EXPECT_TRUE(matches("share>50%", TableValue::ofShare(0.51)));
    EXPECT_TRUE(matches("share<0.5", TableValue::ofShare(0.49)));
    EXPECT_TRUE(matches("stream:7,9..11", TableValue::ofCount(10)));
    EXPECT_FALSE(matches("stream:7,9..11", TableValue::ofCount(8)));
    EXPECT_TRUE(matches("stream!=7", TableValue::ofCount(8)));
    EXPECT_TRUE(matches("STREAM=7", TableValue::ofCount(7)));
}

TEST(FilterText, EmptyCellsMatchOnlyNoneAndNegations)
{
    EXPECT_FALSE(matches("stream:7", TableValue()));
    EXPECT_FALSE(matches("stream<7", TableValue()));
    EXPECT_TRUE(matches("stream:none", TableValue()));
    EXPECT_FALSE(matches("stream:none", TableValue::ofCount(7)));
    EXPECT_TRUE(matches("-stream:7", TableValue()));
    EXPECT_TRUE(matches("class=none", TableValue()));
}

TEST(FilterText, ErrorsNameTheirCause)
{
    EXPECT_EQ(errorId("durr>100us"), "filter.field");
    EXPECT_EQ(errorId("gemm<float>"), "filter.field");
    EXPECT_EQ(errorId("dur>100"), "filter.number") << "a time needs a unit";
    EXPECT_EQ(errorId("dur>fast"), "filter.number");
    EXPECT_EQ(errorId("stream:7,"), "filter.number");
    EXPECT_EQ(errorId("dur>"), "filter.value");
    EXPECT_EQ(errorId("name>gemm"), "filter.comparison");
    EXPECT_EQ(errorId("\"gemm"), "filter.quote");
    EXPECT_EQ(errorId("/(ge/"), "filter.pattern");
    EXPECT_EQ(errorId("- / \\ ::"), "none");
}

TEST(FilterText, ATermFindsExactlyItsValue)
{
    for (const char* name : {"gemm", "a \"b\" \\", "", "/x/", "-a", "a:b,c"}) {
        const QString term = filterTerm(fields()[Name], text(name));
        EXPECT_TRUE(matches(term.toUtf8(), text(name))) << term.toStdString();
        EXPECT_FALSE(matches(term.toUtf8(), text("other"))) << term.toStdString();
    }
    EXPECT_EQ(filterTerm(fields()[Stream], TableValue::ofCount(7)), "stream=7");
    EXPECT_EQ(filterTerm(fields()[Duration], time(1500)), "dur=1500ns");
    EXPECT_TRUE(matches(filterTerm(fields()[Class], TableValue()).toUtf8(), TableValue()));
}
