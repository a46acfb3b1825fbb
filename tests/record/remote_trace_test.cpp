#include "advisor/runner/remote_frames.h"
#include "advisor/runner/remote_trace.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/formats/format.h"
#include "tests/record/remote_place.h"

#include <functional>
#include <future>
#include <gmock/gmock.h>

// The bytes of a trace in another place, which come when they are read.
namespace record_test {

namespace {

using advisor::runner::encodeFrame;
using advisor::runner::RemoteFrame;
using advisor::runner::RemoteHost;
using advisor::runner::RemoteTrace;

const std::string kSample = std::string(SAMPLES) + "/launch_bound.sstrace";
const RemoteTrace::Opening kOpening{.uploading = {}, .converting = {}, .goesOn = [] { return true; }};

using Opened = profiler::Result<std::shared_ptr<RemoteTrace>>;

class RemoteTraces : public testing::Test {
protected:
    RemoteTraces() { ::setenv("STEPSCOPE_PROGRAMS", std::filesystem::path(STEPSCOPE_CLI).parent_path().c_str(), 1); }
    ~RemoteTraces() override { ::unsetenv("STEPSCOPE_PROGRAMS"); }

    Opened open(const std::string& path = kSample)
    {
        const std::string home = (m_place.folder() / "home").string();
        auto host = RemoteHost::through("'" + (m_place.folder() / "bin/link").string() + "' env -i 'HOME=" + home +
                                        "' PATH=/usr/bin:/bin");
        return RemoteTrace::open(std::make_shared<const RemoteHost>(*std::move(host)), path, kOpening);
    }
    /// The link answers a request for the trace with these frames, and waits.
    void answer(const std::string& frames)
    {
        m_place.folder().write("answer", std::string(advisor::runner::kRemoteBegin) + frames);
        link("cat '" + (m_place.folder() / "answer").string() + "'; exec sleep 60");
    }
    /// @param serve  what the link does instead of serving; empty: nothing else
    void link(const std::string& serve)
    {
        m_place.install("link", "for last; do :; done\ncase $last in\n*' serve '*) echo $$ > '" +
                                    (m_place.folder() / "serving").string() + "'; " + (serve.empty() ? ":" : serve) +
                                    " ;;\nesac\nexec \"$@\"\n");
    }
    void cut() { shell(m_place.folder(), "kill -9 $(cat '" + (m_place.folder() / "serving").string() + "')"); }
    static bool waitFor(const std::function<bool()>& what)
    {
        for (int i = 0; i < 200 && !what(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return what();
    }
    static std::string readId(const RemoteTrace& trace, std::uint64_t offset = 0)
    {
        std::byte bytes[16];
        const auto read = trace.read(offset, bytes);
        return read ? std::to_string(*read) : read.error().what.id;
    }

    Place m_place;
};

} // namespace

TEST_F(RemoteTraces, BytesComeOnce)
{
    link({});
    const auto trace = open();
    ASSERT_TRUE(trace) << trace.error().message();
    const std::string expected = textOf(kSample);
    ASSERT_EQ((*trace)->size(), expected.size());
    EXPECT_EQ((*trace)->fetched(), 0U);
    for (int round = 0; round < 2; ++round) {
        std::string bytes(expected.size(), '\0');
        const auto read = (*trace)->read(0, std::as_writable_bytes(std::span(bytes)));
        ASSERT_TRUE(read);
        EXPECT_EQ(*read, expected.size());
        EXPECT_EQ(bytes, expected);
        EXPECT_EQ((*trace)->fetched(), expected.size());
    }
    EXPECT_EQ(readId(**trace, expected.size()), "0");
    EXPECT_EQ(readId(**trace, expected.size() - 3), "3");
}

TEST_F(RemoteTraces, AnImpatientThreadNeverWaits)
{
    link({});
    const auto trace = open();
    ASSERT_TRUE(trace);
    (*trace)->setImpatient(std::this_thread::get_id());
    EXPECT_EQ(readId(**trace), "remote.not_here");
    EXPECT_TRUE(waitFor([&] { return readId(**trace) == "16"; }));
}

TEST_F(RemoteTraces, ReadOnDemandItIsTheSameTrace)
{
    link({});
    const auto remote = open();
    ASSERT_TRUE(remote);
    const auto far = profiler::container::readSealedOnDemand({*remote, "far"}, {});
    const auto near = profiler::formats::openTrace(kSample);
    ASSERT_TRUE(far) << far.error().message();
    ASSERT_EQ((*far)->sliceCount(), (*near)->sliceCount());
    for (const profiler::Track& track : (*near)->tracks()) {
        const auto expected = (*near)->sorted(track.id), slices = (*far)->sorted(track.id);
        ASSERT_EQ(slices.size(), expected.size());
        for (std::size_t i = 0; i < slices.size(); ++i)
            ASSERT_TRUE(slices[i].begin == expected[i].begin && slices[i].duration == expected[i].duration);
    }
    EXPECT_EQ((*far)->unread().slices, 0U);
}

TEST_F(RemoteTraces, WhatCannotBeOpenedSaysWhy)
{
    link({});
    const auto missing = open("/no/such/trace.sstrace");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().what.id, "remote.trace");
    EXPECT_THAT(missing.error().message(), testing::HasSubstr("/no/such/trace.sstrace"));
    EXPECT_EQ(open(m_place.folder().write("broken.json", "{]").string()).error().what.id, "remote.trace");
    answer(encodeFrame(RemoteFrame::Failed, "no\x1b[2J"));
    EXPECT_THAT(open().error().message(), testing::HasSubstr("no?[2J"));
    link("echo 'no route to host' >&2; exit 255");
    EXPECT_EQ(open().error().what.id, "remote.unreachable");
}

TEST_F(RemoteTraces, AFolderOrAPatternIsNoTrace)
{
    link({});
    const std::string folder = (m_place.folder() / "home").string();
    EXPECT_EQ(open(folder).error().what.id, advisor::runner::kRemoteRanks);
    EXPECT_EQ(open(folder + "/rank*.json").error().what.id, advisor::runner::kRemoteRanks);
}

TEST_F(RemoteTraces, SizesThatCannotBeAreRefused)
{
    for (const char* opened : {"", "x y", "12", "-1 x", "99999999999999999999 x", "9000000000000000000 x"}) {
        answer(encodeFrame(RemoteFrame::Opened, opened));
        const auto trace = open();
        ASSERT_FALSE(trace) << opened;
        EXPECT_EQ(trace.error().what.id, "remote.answer") << opened;
    }
}

TEST_F(RemoteTraces, BytesThatWereNotAskedForEndTheConnection)
{
    const std::string opened = encodeFrame(RemoteFrame::Opened, "1000 x");
    for (const std::string& frames :
         {opened + encodeFrame(RemoteFrame::Data, "unasked"), opened + encodeFrame(RemoteFrame::Output, "text"),
          opened + std::string("D\xff\xff\xff\xff", 5)}) {
        answer(frames);
        const auto trace = open();
        ASSERT_TRUE(trace);
        EXPECT_TRUE(waitFor([&] { return (*trace)->state() == RemoteTrace::State::Lost; }));
        EXPECT_EQ((*trace)->whyLost()->what.id, "remote.answer");
        EXPECT_EQ(readId(**trace), "remote.trace_lost");
        EXPECT_EQ((*trace)->fetched(), 0U);
    }
}

TEST_F(RemoteTraces, WrongBytesAreNoticedByTheTrace)
{
    // Answers each request with zeros.
    const std::string opened = encodeFrame(RemoteFrame::Opened, "1000 x");
    m_place.folder().write("zeros", encodeFrame(RemoteFrame::Data, std::string(1000, '\0')));
    m_place.folder().write("answer", std::string(advisor::runner::kRemoteBegin) + opened);
    link("cat '" + (m_place.folder() / "answer").string() + "'; read request; cat '" +
         (m_place.folder() / "zeros").string() + "'; exec sleep 60");
    const auto remote = open();
    ASSERT_TRUE(remote);
    const auto trace = profiler::container::readSealedOnDemand({*remote, "far"}, {});
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().what.id, "trace.no_trace");
}

TEST_F(RemoteTraces, ALostConnectionEndsReadsAndCanBeRestored)
{
    link({});
    const auto copy = m_place.folder() / "copy.sstrace";
    std::filesystem::copy_file(kSample, copy);
    const auto trace = open(copy.string());
    ASSERT_TRUE(trace);
    cut();
    EXPECT_TRUE(waitFor([&] { return (*trace)->state() == RemoteTrace::State::Lost; }));
    EXPECT_EQ(readId(**trace), "remote.trace_lost");
    ASSERT_TRUE((*trace)->reconnect(kOpening));
    EXPECT_EQ((*trace)->state(), RemoteTrace::State::Connected);
    EXPECT_EQ(readId(**trace), "16");
    cut();
    EXPECT_TRUE(waitFor([&] { return (*trace)->state() == RemoteTrace::State::Lost; }));
    EXPECT_EQ(readId(**trace), "16"); // what has come stays
    std::filesystem::last_write_time(copy, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    const auto again = (*trace)->reconnect(kOpening);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().what.id, "remote.trace_changed");
}

TEST_F(RemoteTraces, AConvertedTraceCanBeOpenedAgain)
{
    link({});
    const auto json = m_place.folder() / "t.json";
    ASSERT_TRUE(profiler::formats::saveTrace(**profiler::formats::openTrace(kSample), json));
    const auto trace = open(json.string());
    ASSERT_TRUE(trace) << trace.error().message();
    cut();
    EXPECT_TRUE(waitFor([&] { return (*trace)->state() == RemoteTrace::State::Lost; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the time of its last use changes
    const auto again = (*trace)->reconnect(kOpening);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(readId(**trace), "16");
}

TEST_F(RemoteTraces, ClosingEndsReadsThatWait)
{
    answer(encodeFrame(RemoteFrame::Opened, "1000 x")); // and never sends a byte
    const auto trace = open();
    ASSERT_TRUE(trace);
    auto waits = std::async(std::launch::async, [&] { return readId(**trace); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    (*trace)->close();
    EXPECT_EQ(waits.get(), "remote.trace_lost");
}

} // namespace record_test
