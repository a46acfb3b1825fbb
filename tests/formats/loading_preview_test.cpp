#include "profiler/formats/format.h"
#include "tests/formats/json_text.h"

#include <gmock/gmock.h>
#include <stop_token>
#include <string>
#include <vector>

// A long file is shown while it is being read.
namespace {

using namespace profiler;
using json_test::TextFile;
using testing::SizeIs;

constexpr int kSteps = 16'000;

/// Steps with an operator and a kernel each. The names of threads come first, as in Kineto's files.
std::string longTrace()
{
    std::string events =
        R"json({"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "ts": 0, "args": {"name": "thread 7 (python)"}})json";
    for (int i = 0; i < kSteps; ++i) {
        const std::string begin = std::to_string(1000 + i * 100);
        events += R"(,{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":)" + begin +
                  R"(,"dur":80,"args":{"External id":)" + std::to_string(i) + "}}";
        events += R"(,{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":7,"tid":7,"ts":)" + begin + R"(,"dur":40})";
        events += R"(,{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":3,"ts":)" + begin +
                  R"(,"dur":60,"args":{"device":0,"stream":3,"correlation":)" + std::to_string(i) + "}}";
    }
    return json_test::object(events);
}

std::vector<std::shared_ptr<const Trace>> previewsOf(const std::filesystem::path& path,
                                                     std::shared_ptr<const Trace>& whole, std::uint64_t budget = 0)
{
    std::vector<std::shared_ptr<const Trace>> previews;
    formats::ReadOptions options;
    options.threads = 2;
    options.memoryBudget = budget;
    options.previewAfter = std::chrono::milliseconds(0);
    options.preview = [&](std::shared_ptr<const Trace> trace) { previews.push_back(std::move(trace)); };
    auto trace = formats::openTrace(path, options);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
    whole = trace.value_or(nullptr);
    return previews;
}

TEST(LoadingPreview, GrowsToTheWholeTrace)
{
    for (const bool compressed : {false, true}) {
        const std::string text = longTrace();
        const TextFile file(compressed ? json_test::gzip(text) : text);
        std::shared_ptr<const Trace> whole;
        const auto previews = previewsOf(file.path(), whole);
        ASSERT_TRUE(whole);
        ASSERT_GE(previews.size(), 2U) << "a part has at most four megabytes, the text " << text.size();
        EXPECT_EQ(whole->sliceCount(), 3U * kSteps);
        std::size_t last = 0;
        for (const auto& preview : previews) {
            EXPECT_GT(preview->sliceCount(), last);
            last = preview->sliceCount();
            EXPECT_EQ(preview->format(), whole->format()) << "the layout of rows is stored per format";
            ASSERT_THAT(preview->tracks(), SizeIs(2));
            EXPECT_EQ(preview->track(TrackId{0}).name, whole->track(TrackId{0}).name);
            EXPECT_EQ(preview->track(TrackId{1}).kind, TrackKind::Stream);
            EXPECT_LE(preview->range().end, whole->range().end);
        }
        EXPECT_LT(previews.front()->sliceCount(), whole->sliceCount());
    }
}

TEST(LoadingPreview, ContainsUnchangedSlices)
{
    const TextFile file(longTrace());
    std::shared_ptr<const Trace> whole;
    const auto previews = previewsOf(file.path(), whole);
    ASSERT_GE(previews.size(), 2U);
    const Trace& preview = *previews[1];
    EXPECT_EQ(preview.depthCount(TrackId{0}), 2) << "one operator is nested in another";
    std::size_t count = 0;
    for (const Track& track : preview.tracks()) {
        const auto shown = preview.sorted(track.id), all = whole->sorted(track.id);
        count += shown.size();
        for (std::size_t i = 0; i < shown.size(); i += 11) {
            ASSERT_EQ(shown[i].begin, all[i].begin);
            ASSERT_EQ(shown[i].duration, all[i].duration);
            ASSERT_EQ(preview.name(shown[i]), whole->name(all[i]));
            ASSERT_EQ(preview.slice(shown[i].id).begin, shown[i].begin);
        }
        std::vector<LodBucket> buckets(16);
        preview.summarize(track.id, 0, preview.range(), buckets);
        EXPECT_GT(buckets[3].count, 0U);
    }
    EXPECT_EQ(count, preview.sliceCount());
}

TEST(LoadingPreview, UsesOnlyAFractionOfTheMemory)
{
    const TextFile file(longTrace());
    std::shared_ptr<const Trace> whole;
    // Columns above one megabyte go to disk; previews may take an eighth of that.
    const auto previews = previewsOf(file.path(), whole, 1 << 20);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->sliceCount(), 3U * kSteps) << "the final trace is complete";
    ASSERT_GE(previews.size(), 1U);
    EXPECT_LT(previews.back()->sliceCount(), whole->sliceCount() / 2);
}

TEST(LoadingPreview, DoesNotChangeTheResult)
{
    const TextFile file(longTrace());
    std::shared_ptr<const Trace> shown;
    previewsOf(file.path(), shown);
    const auto plain = formats::openTrace(file.path());
    ASSERT_TRUE(plain);
    EXPECT_EQ(json_test::dump(*shown), json_test::dump(**plain));
}

TEST(LoadingPreview, CancellingAtTheFirstPreviewEndsTheRead)
{
    const TextFile file(longTrace());
    std::stop_source stop;
    formats::ReadOptions options;
    options.stop = stop.get_token();
    options.previewAfter = std::chrono::milliseconds(0);
    options.preview = [&](const std::shared_ptr<const Trace>&) { stop.request_stop(); };
    const auto trace = formats::openTrace(file.path(), options);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, Error::Code::Cancelled);
}

} // namespace
