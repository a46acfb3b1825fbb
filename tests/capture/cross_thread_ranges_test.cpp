#include "profiler/capture/recorder.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <array>
#include <functional>
#include <gmock/gmock.h>
#include <thread>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using testing::ElementsAre;

namespace {

using Owners = std::array<char, 4>; ///< used for their addresses

class Wandering : public testing::Test {
protected:
    Wandering()
    {
        auto started = Recorder::start({.path = m_folder / "a.sstrace"});
        EXPECT_TRUE(started) << started.error().message();
        m_recorder = std::move(*started);
        m_buffer = &m_recorder->nameThisThread("main", TrackKind::MainThread);
    }
    void push(const char* name, const void* owner)
    {
        m_buffer->push(ActivityKind::CpuOp, m_buffer->intern(name), 0, 0, 0, 0, owner);
    }
    /// Ends a range as a callback does, on an arbitrary thread.
    void end(const void* owner)
    {
        if (!m_recorder->thisThread().popOwned(owner))
            m_recorder->endCrossThread(owner);
    }
    void endOnAnotherThread(const void* owner)
    {
        std::thread([&] { end(owner); }).join();
    }
    ParsedTrace finished()
    {
        EXPECT_TRUE(m_recorder->finish());
        return parseTrace(m_folder / "a.sstrace");
    }
    static std::vector<std::string> names(const ParsedTrace& trace, std::string_view track)
    {
        std::vector<std::string> found;
        for (const auto& event : trace.of(track))
            found.push_back(trace.name(event));
        return found;
    }

    test_support::TemporaryFolder m_folder;
    std::unique_ptr<Recorder> m_recorder;
    ThreadBuffer* m_buffer = nullptr;
    Owners m_owners{};
};

} // namespace

TEST_F(Wandering, RangesKnownToCrossThreadsHaveASeparateTrack)
{
    push("outer", &m_owners[0]);
    m_recorder->beginCrossThread(&m_owners[1], ActivityKind::UserAnnotation, m_buffer->intern("gloo:all_reduce"), 5);
    push("inner", &m_owners[2]);
    endOnAnotherThread(&m_owners[1]);
    end(&m_owners[2]);
    end(&m_owners[0]);
    const ParsedTrace trace = finished();
    EXPECT_THAT(names(trace, "main"), ElementsAre("inner", "outer"));
    EXPECT_EQ(trace.of("main").front().record.depth, 1);
    const auto wandering = trace.of("asynchronous operators");
    ASSERT_EQ(wandering.size(), 2U) << "its start, so that a range without an end is visible, and the complete range";
    EXPECT_EQ(wandering[0].record.type, container::EventType::Begin);
    EXPECT_EQ(wandering[1].record.type, container::EventType::Slice);
    EXPECT_EQ(wandering[1].record.begin, wandering[0].record.begin);
    EXPECT_GT(wandering[1].record.end, wandering[1].record.begin);
    EXPECT_EQ(wandering[1].record.link, 5);
    EXPECT_EQ(trace.name(wandering[1]), "gloo:all_reduce");
    EXPECT_EQ(trace.loss.unmatched, 0U);
}

TEST_F(Wandering, AnEndOnAnotherThreadEndsTheRangeOnItsStartThread)
{
    push("outer", &m_owners[0]);
    push("wanders", &m_owners[1]);
    endOnAnotherThread(&m_owners[1]);
    push("next", &m_owners[2]);
    end(&m_owners[2]);
    end(&m_owners[0]);
    const ParsedTrace trace = finished();
    ASSERT_THAT(names(trace, "main"), ElementsAre("wanders", "next", "outer"));
    const auto events = trace.of("main");
    EXPECT_LE(events[0].record.end, events[1].record.begin) << "it ended when the other thread ended it";
    EXPECT_EQ(events[1].record.depth, 1) << "the next one follows it and is not nested in it";
    EXPECT_EQ(trace.loss.unmatched, 0U);
    EXPECT_EQ(trace.events.size(), 3U) << "nothing is on the other thread's track";
}

TEST_F(Wandering, ManyCrossThreadRangesDoNotChangeTheNesting)
{
    push("outer", &m_owners[0]);
    for (int i = 0; i < 1000; ++i) {
        push("wanders", &m_owners[1]);
        endOnAnotherThread(&m_owners[1]);
    }
    push("next", &m_owners[2]);
    end(&m_owners[2]);
    end(&m_owners[0]);
    const ParsedTrace trace = finished();
    const auto events = trace.of("main");
    ASSERT_EQ(events.size(), 1002U);
    EXPECT_EQ(events[1000].record.depth, 1);
    EXPECT_EQ(trace.loss.dropped, 0U);
}

TEST_F(Wandering, RangesMayEndInAnyOrder)
{
    push("first", &m_owners[0]);
    push("second", &m_owners[1]);
    m_buffer->push(ActivityKind::Nvtx, m_buffer->intern("range"), 0);
    end(&m_owners[0]);
    m_buffer->pop();
    end(&m_owners[1]);
    push("after", &m_owners[2]);
    end(&m_owners[2]);
    const ParsedTrace trace = finished();
    ASSERT_THAT(names(trace, "main"), ElementsAre("first", "range", "second", "after"));
    EXPECT_EQ(trace.of("main").back().record.depth, 0);
    EXPECT_EQ(trace.loss.unmatched, 0U);
}

TEST_F(Wandering, AnUnmatchedEndDoesNotEndALaterRangeWithTheSameAddress)
{
    end(&m_owners[0]); // started before the recording
    push("later", &m_owners[0]);
    push("inner", &m_owners[1]);
    end(&m_owners[1]);
    end(&m_owners[0]);
    const ParsedTrace trace = finished();
    ASSERT_THAT(names(trace, "main"), ElementsAre("inner", "later"));
    EXPECT_EQ(trace.of("main").front().record.depth, 1) << "the outer range stayed open until its own end";
}

} // namespace capture_test
