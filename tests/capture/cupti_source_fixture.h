#pragma once

#include "profiler/capture/cupti/source.h"
#include "tests/capture/fake_cupti.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;

/// A source that records from a fake CUPTI without a GPU.
class CuptiSourceTest : public testing::Test {
protected:
    void SetUp() override
    {
        auto started = Recorder::start({.path = path});
        ASSERT_TRUE(started) << started.error().message();
        recorder = std::move(*started);
    }
    /// Without regular flushes: the test decides when buffers are returned.
    void start(CuptiOptions options = {})
    {
        options.flushEvery = Nanoseconds{0};
        startFlushing(options);
    }
    void startFlushing(const CuptiOptions& options)
    {
        auto started = CuptiSource::start(*recorder, cupti.api, options);
        ASSERT_TRUE(started) << started.error().message();
        source = std::move(*started);
    }
    ParsedTrace finished()
    {
        EXPECT_TRUE(source->stop());
        EXPECT_TRUE(recorder->finish());
        return parseTrace(path);
    }
    [[nodiscard]] std::ptrdiff_t positionOf(const std::string& call) const
    {
        const auto at = std::find(cupti.calls.begin(), cupti.calls.end(), call);
        EXPECT_NE(at, cupti.calls.end()) << call;
        return at - cupti.calls.begin();
    }

    test_support::TemporaryFolder folder;
    std::filesystem::path path = folder / "a.sstrace";
    FakeCupti cupti;
    std::unique_ptr<Recorder> recorder;
    std::unique_ptr<CuptiSource> source; // declared after the recorder and the calls it uses, so that it is destroyed
                                         // first
};

inline std::string enabling(CUpti_ActivityKind kind)
{
    return "enable " + std::to_string(kind);
}

inline void addKernel(CuptiBuffer& buffer, std::uint32_t stream, std::uint32_t correlation)
{
    auto& kernel = buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 100, 200, correlation);
    kernel.name = "kernel";
    kernel.streamId = stream;
}

inline void addCall(CuptiBuffer& buffer, CUpti_CallbackId call, std::uint32_t thread, std::uint32_t correlation)
{
    auto& record = buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 50, 60, correlation);
    record.cbid = call;
    record.threadId = thread;
}

inline void addWait(CuptiBuffer& buffer, std::uint32_t correlation)
{
    buffer.timed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 55, 58, correlation).type =
        CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
}

} // namespace capture_test
