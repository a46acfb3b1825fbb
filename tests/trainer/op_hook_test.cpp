#include "trainer/hooks/op_hook.h"

#include "profiler/capture/recorder.h"
#include "profiler/formats/container/trace_reader.h"

#include <ATen/record_function.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

using namespace profiler;

/// The trace of what is done while the hook is on.
template <class Work>
std::shared_ptr<const Trace> hooked(const Work& work)
{
    const auto path =
        std::filesystem::temp_directory_path() / ("op_hook_test." + std::to_string(getpid()) + ".sstrace");
    auto recorder = capture::Recorder::start({.path = path});
    EXPECT_TRUE(recorder) << recorder.error().message();
    (*recorder)->nameThisThread("main", TrackKind::MainThread);
    {
        trainer::OpHook hook(**recorder);
        hook.set(true);
        work();
    }
    EXPECT_TRUE((*recorder)->finish());
    auto trace = container::readTrace(path);
    std::filesystem::remove(path);
    EXPECT_TRUE(trace) << trace.error().message();
    return trace ? *trace : std::make_shared<Trace>();
}

std::optional<Slice> find(const Trace& trace, std::string_view name, std::string_view track)
{
    for (const Track& candidate : trace.tracks())
        if (candidate.name == track)
            for (const Slice& slice : trace.sorted(candidate.id))
                if (trace.name(slice) == name)
                    return slice;
    return std::nullopt;
}

void endOnAnotherThread(at::RecordFunction& function)
{
    std::thread([&] { function.end(); }).join();
}

TEST(OpHook, AnOperatorThatEndsOnAnotherThreadIsOnTheOneWhereItBegan)
{
    const auto trace = hooked([] {
        RECORD_FUNCTION("outer", {});
        at::RecordFunction wanders(at::RecordScope::FUNCTION);
        wanders.before("wanders");
        endOnAnotherThread(wanders);
        {
            RECORD_FUNCTION("next", {});
        }
    });
    const auto outer = find(*trace, "outer", "main"), wanders = find(*trace, "wanders", "main"),
               next = find(*trace, "next", "main");
    ASSERT_TRUE(outer && wanders && next);
    EXPECT_EQ(wanders->depth, 1);
    EXPECT_EQ(next->depth, 1);
    EXPECT_LE(wanders->end(), next->begin);
}

// As LibTorch announces its collective calls.
TEST(OpHook, AsynchronousRangesHaveTheirOwnTrack)
{
    const auto trace = hooked([] {
        at::RecordFunction reduce(at::RecordScope::USER_SCOPE);
        reduce._setAsync();
        reduce.before("gloo:all_reduce");
        {
            RECORD_FUNCTION("meanwhile", {});
        }
        endOnAnotherThread(reduce);
    });
    const auto reduce = find(*trace, "gloo:all_reduce", "asynchronous operators"),
               meanwhile = find(*trace, "meanwhile", "main");
    ASSERT_TRUE(reduce && meanwhile);
    EXPECT_EQ(reduce->kind, ActivityKind::UserAnnotation);
    EXPECT_EQ(meanwhile->depth, 0);
    EXPECT_GE(reduce->end(), meanwhile->end());
    EXPECT_EQ(trace->captureStats().unmatched, 0U);
}

} // namespace
