#include "profiler/formats/container/trace_reader.h"
#include "tests/capture/cupti_source_fixture.h"
#include "tests/support/failing_memory.h"
#include "tests/support/message_matchers.h"

#include <cstring>
#include <thread>

// Memory runs out on CUPTI's thread, or on the source's own thread.

namespace capture_test {

using namespace std::chrono_literals;
using profiler::test::hasId;
using test_support::FailingMemory;

class CuptiMemoryTest : public CuptiSourceTest {
protected:
    void expectNoteInTrace()
    {
        EXPECT_TRUE(source->stop());
        EXPECT_FALSE(recorder->finish());
        const auto trace = container::readTrace(path);
        ASSERT_TRUE(trace) << trace.error().message();
        EXPECT_THAT((*trace)->captureStats().notes, testing::Contains(hasId("recorder.memory")));
    }
};

TEST_F(CuptiMemoryTest, OnTheFlushThreadEndsTheRecordingNotTheProgram)
{
    startFlushing({.flushEvery = 1ms});
    {
        const FailingMemory failing("GPU records");
        for (int i = 0; i < 20'000 && recorder->error(); ++i)
            std::this_thread::sleep_for(1ms);
    }
    ASSERT_FALSE(recorder->error());
    EXPECT_THAT(recorder->error().error().what, hasId("recorder.memory"));
    EXPECT_TRUE(source->setLevel(CuptiLevel::Full)) << "the change is cancelled, and the call does not wait for it";
    expectNoteInTrace();
}

TEST_F(CuptiMemoryTest, WhileDecodingABufferEndsTheRecordingAndReturnsTheBuffer)
{
    start({.buffers = 2, .maxBuffers = 2});
    CuptiBuffer records;
    addKernel(records, 7, 1);
    addCall(records, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 12, 1);
    std::size_t size = 0;
    std::uint8_t* const buffer = cupti.request(&size);
    ASSERT_NE(buffer, nullptr);
    std::memcpy(buffer, records.data(), records.size());
    {
        const FailingMemory failing = FailingMemory::once(0);
        cupti.complete(buffer, size, records.size()); // as CUPTI's thread, which must not see an exception
        EXPECT_EQ(FailingMemory::failures(), 1);
    }
    std::size_t free = 0;
    EXPECT_NE(cupti.request(&free), nullptr);
    EXPECT_NE(cupti.request(&free), nullptr) << "the buffer was returned";
    expectNoteInTrace();
}

TEST_F(CuptiMemoryTest, WhileCuptiReportsAStateEndsTheRecording)
{
    start();
    {
        const FailingMemory failing = FailingMemory::once(0);
        cupti.reportState(CUPTI_CBID_STATE_ERROR, CUPTI_ERROR_UNKNOWN, "a state");
        EXPECT_EQ(FailingMemory::failures(), 1);
    }
    expectNoteInTrace();
}

} // namespace capture_test
