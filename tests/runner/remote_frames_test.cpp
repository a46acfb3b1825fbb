#include "advisor/runner/remote_frames.h"

#include <gmock/gmock.h>
#include <string>
#include <utility>
#include <vector>

// What another machine sends is taken apart byte by byte, and is not trusted.
namespace advisor::runner {

namespace {

using testing::ElementsAre;
using testing::Pair;

using Taken = std::vector<std::pair<RemoteFrame, std::string>>;

profiler::Result<void> add(RemoteFrames& frames, std::string_view bytes, Taken& taken)
{
    return frames.add(bytes, [&](RemoteFrame type, std::string_view payload) {
        taken.emplace_back(type, payload);
        return profiler::Result<void>{};
    });
}

} // namespace

TEST(RemoteFrames, ComeInAnyPieces)
{
    const std::string bytes = "Welcome to the machine\n" + std::string(kRemoteBegin) +
                              encodeFrame(RemoteFrame::Output, "hello") + encodeFrame(RemoteFrame::Errors, "") +
                              encodeFrame(RemoteFrame::Ended, "3");
    for (std::size_t piece = 1; piece < bytes.size(); piece += 3) {
        RemoteFrames frames;
        Taken taken;
        for (std::size_t at = 0; at < bytes.size(); at += piece)
            ASSERT_TRUE(add(frames, std::string_view(bytes).substr(at, piece), taken));
        EXPECT_THAT(taken, ElementsAre(Pair(RemoteFrame::Output, "hello"), Pair(RemoteFrame::Errors, ""),
                                       Pair(RemoteFrame::Ended, "3")));
    }
}

TEST(RemoteFrames, WhatIsNoFrameEndsTheStream)
{
    for (const std::string& bytes :
         {std::string("Q\1\0\0\0x", 6), std::string("O\xff\xff\xff\xff", 5), std::string("O\1\0\x10\0", 5)}) {
        RemoteFrames frames;
        Taken taken;
        const auto added = add(frames, std::string(kRemoteBegin) + bytes, taken);
        ASSERT_FALSE(added);
        EXPECT_EQ(added.error().what.id, "remote.answer");
        EXPECT_TRUE(taken.empty());
    }
}

TEST(RemoteFrames, ABannerIsBounded)
{
    RemoteFrames frames;
    Taken taken;
    profiler::Result<void> added;
    for (int i = 0; added && i < 1000; ++i)
        added = add(frames, std::string(1000, 'b'), taken);
    EXPECT_FALSE(added);
}

TEST(RemoteFrames, NamesOfFilesStayInTheFolder)
{
    for (const char* good : {"5 trace/rank0.sstrace", "0 report.json", "7 trace/capture-20260101-000000/rank0.sstrace"})
        EXPECT_TRUE(remoteFileOf(good)) << good;
    EXPECT_EQ(remoteFileOf("5 trace/rank0.sstrace")->bytes, 5U);
    for (const char* bad :
         {"5 ../evil", "5 trace/../../evil", "5 /etc/passwd", "5 trace//x", "5 trace/.hidden", "5 ", "trace/x",
          "-1 trace/x", "5 trace/a b", "5 trace/a\nb", "5 trace/x/", "5 a/b/c/d", "99999999999999999999 trace/x"})
        EXPECT_FALSE(remoteFileOf(bad)) << bad;
    EXPECT_FALSE(remoteFileOf("5 " + std::string(300, 'a')));
}

TEST(RemoteFrames, TextCannotControlTheTerminal)
{
    EXPECT_EQ(harmlessText("a\x1b[2Jb\nc\x7f"), "a?[2Jb\nc?");
    EXPECT_EQ(harmlessText(std::string(100, 'a'), 10).size(), 10U);
}

} // namespace advisor::runner
