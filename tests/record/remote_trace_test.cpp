#include "advisor/runner/remote_frames.h"
#include "advisor/runner/remote_ranks.h"
#include "advisor/runner/remote_trace.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/formats/format.h"
#include "tests/record/remote_place.h"
#include "tests/support/job_traces.h"

#include <cstdlib>
#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <iterator>
#include <set>
#include <string>
#include <vector>

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

    [[nodiscard]] RemoteHost host() const
    {
        const std::string home = (m_place.folder() / "home").string();
        return *RemoteHost::through("'" + (m_place.folder() / "bin/link").string() + "' env -i 'HOME=" + home +
                                    "' PATH=/usr/bin:/bin");
    }
    Opened open(const std::string& path = kSample)
    {
        return RemoteTrace::open(std::make_shared<const RemoteHost>(host()), path, kOpening);
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

TEST_F(RemoteTraces, RanksAreMergedThereOnce)
{
    link({});
    const auto folder = m_place.folder() / "ranks";
    test_support::writeJobTraces(folder, {.ranks = 4, .ranksPerHost = 2, .steps = 4, .layers = 6});
    const auto merge = [&](std::vector<std::int64_t> ranks) {
        return advisor::runner::mergeRemoteRanks(host(), folder.string(), {std::move(ranks), 11}, kOpening);
    };
    const auto cache = m_place.folder() / "home/.cache/stepscope/remote/traces";
    const auto path = merge({3, 0});
    ASSERT_TRUE(path) << path.error().message();
    EXPECT_EQ(std::filesystem::path(*path).parent_path(), cache);
    const auto files = [&] { return std::distance(std::filesystem::directory_iterator(cache), {}); };
    EXPECT_EQ(files(), 2); // the figures of the ranks and the trace
    std::vector<std::string> bands;
    const auto far = open(*path);
    ASSERT_TRUE(far);
    const auto trace = profiler::container::readSealedOnDemand({*far, "far"}, {});
    ASSERT_TRUE(trace);
    for (const profiler::Track& track : (*trace)->tracks())
        if (track.kind == profiler::TrackKind::Stream)
            bands.push_back(std::to_string(track.processSortIndex) + ' ' + track.processName);
    EXPECT_THAT(std::set(bands.begin(), bands.end()), testing::ElementsAre("0 rank 3 on node1", "1 rank 0 on node0"));
    EXPECT_FALSE((*trace)->explicitFlows().empty());
    // What is there is not made again; another order is another trace.
    EXPECT_EQ(merge({3, 0}).value_or(""), *path);
    EXPECT_EQ(files(), 2);
    EXPECT_NE(merge({0, 3}).value_or(*path), *path);
    EXPECT_EQ(files(), 3);
    const auto missing = merge({0, 7});
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(), testing::HasSubstr("rank 7"));
    std::filesystem::remove(folder / "rank3.json");
    EXPECT_FALSE(merge({3, 0})); // the figures of before are not used
}

TEST_F(RemoteTraces, NamesOfMergedTracesAreNotTrusted)
{
    const std::string name = std::string(32, 'a') + ".sstrace\n";
    for (const std::string& printed :
         {std::string(), "trace " + name + name, "trace ../" + name, std::string("trace /etc/passwd\n"),
          "trace " + std::string(32, '/') + ".sstrace\n"}) {
        m_place.folder().write("answer", std::string(advisor::runner::kRemoteBegin) +
                                             encodeFrame(RemoteFrame::Output, printed) +
                                             encodeFrame(RemoteFrame::Ended, "0"));
        m_place.install("link", "for last; do :; done\ncase $last in\n*' merge '*) exec cat '" +
                                    (m_place.folder() / "answer").string() + "' ;;\nesac\nexec \"$@\"\n");
        const auto path = advisor::runner::mergeRemoteRanks(host(), "/ranks", {{0, 1}, {}}, kOpening);
        ASSERT_FALSE(path) << printed;
        EXPECT_EQ(path.error().what.id, "remote.answer") << printed;
    }
}

TEST_F(RemoteTraces, MergedRanksComeOverARealSshd)
{
    const Sshd sshd;
    if (!sshd.runs())
        GTEST_SKIP() << "there is no sshd: install openssh-server, or set STEPSCOPE_SSHD to its path";
    const auto folder = m_place.folder() / "two  'ranks'";
    test_support::writeJobTraces(folder, {.ranks = 2, .steps = 3, .layers = 4});
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", ((sshd.folder() / "bin").string() + ':' + before).c_str(), 1);
    {
        const auto box = std::make_shared<const RemoteHost>(*RemoteHost::overSsh("box"));
        const auto path = advisor::runner::mergeRemoteRanks(*box, folder.string(), {{1, 0}, {}}, kOpening);
        ASSERT_TRUE(path) << path.error().message();
        const auto far = RemoteTrace::open(box, *path, kOpening);
        ASSERT_TRUE(far) << far.error().message();
        const auto trace = profiler::container::readSealedOnDemand({*far, "far"}, {});
        ASSERT_TRUE(trace);
        EXPECT_FALSE((*trace)->explicitFlows().empty());
        std::size_t slices = 0;
        for (const profiler::Track& track : (*trace)->tracks())
            slices += (*trace)->sorted(track.id).size();
        EXPECT_EQ(slices, (*trace)->sliceCount());
        std::filesystem::remove(*path);
    }
    ::setenv("PATH", before.c_str(), 1);
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
