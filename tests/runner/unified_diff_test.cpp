#include "advisor/runner/unified_diff.h"

#include "tests/runner/traces_of_processes.h"

#include <gmock/gmock.h>

namespace runner_test {

using advisor::runner::applyDiff;
using advisor::runner::diffInFolder;
using profiler::Error;
using testing::SizeIs;

namespace {

std::string textOf(const Folder& folder, const std::string& diff)
{
    const auto files = applyDiff(diff, folder.path());
    EXPECT_TRUE(files) << files.error().message();
    return files && files->size() == 1 ? files->front().text : "not one file";
}

Error::Code refusal(const Folder& folder, const std::string& diff)
{
    const auto files = applyDiff(diff, folder.path());
    EXPECT_FALSE(files);
    return files ? Error::Code::Io : files.error().code;
}

TEST(UnifiedDiff, ChangesLinesAndKeepsTheRest)
{
    const Folder folder;
    folder.write("train.py", "one\ntwo\nthree\nfour\nfive\n");
    EXPECT_EQ(textOf(folder, "diff --git a/train.py b/train.py\nindex 1..2 100644\n--- a/train.py\n+++ b/train.py\n"
                             "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -5 +5,2 @@ def f():\n five\n+six\n"),
              "one\nTWO\nthree\nfour\nfive\nsix\n");
    EXPECT_EQ(textOf(folder, "--- train.py\t2026-01-01\n+++ train.py\t2026-01-02\n@@ -2,0 +3,1 @@\n+2.5\n"),
              "one\ntwo\n2.5\nthree\nfour\nfive\n")
        << "without context, as diff -U0 writes it";
    EXPECT_EQ(readText(folder / "train.py"), "one\ntwo\nthree\nfour\nfive\n") << "no file is written";
}

TEST(UnifiedDiff, FollowsLinesThatHaveMoved)
{
    const Folder folder;
    folder.write("a.py", "new\nnew\nnew\none\ntwo\nthree\n\nlast\n");
    EXPECT_EQ(
        textOf(folder, "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -5 +5 @@\n-last\n+end\n"),
        "new\nnew\nnew\none\n2\nthree\n\nend\n");
}

TEST(UnifiedDiff, EndsOfLinesAreKept)
{
    const Folder folder;
    folder.write("crlf.py", "one\r\ntwo\r\n");
    EXPECT_EQ(textOf(folder, "--- a/crlf.py\n+++ b/crlf.py\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n"), "one\r\n2\r\n");
    folder.write("end.py", "one\ntwo");
    EXPECT_EQ(textOf(folder, "--- a/end.py\n+++ b/end.py\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n"
                             "+2\n\\ No newline at end of file\n"),
              "one\n2");
    EXPECT_EQ(
        textOf(folder, "--- a/end.py\n+++ b/end.py\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n"),
        "one\n2\n");
}

TEST(UnifiedDiff, FindsFilesFromTheRootOfTheRepository)
{
    const Folder folder;
    folder.write(".git/HEAD", "");
    folder.write("src/pkg/x.py", "x\n");
    const auto files = applyDiff("--- a/src/pkg/x.py\n+++ b/src/pkg/x.py\n@@ -1 +1 @@\n-x\n+y\n", folder / "src/pkg");
    ASSERT_TRUE(files) << files.error().message();
    ASSERT_THAT(*files, SizeIs(1));
    EXPECT_EQ(files->front().path, folder / "src/pkg/x.py");
}

TEST(UnifiedDiff, SeveralFilesAndNewOnes)
{
    const Folder folder;
    folder.write("a.py", "a\n");
    const auto files = applyDiff("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
                                 "--- /dev/null\n+++ b/sub/new.py\n@@ -0,0 +1,2 @@\n+x\n+y\n",
                                 folder.path());
    ASSERT_TRUE(files) << files.error().message();
    ASSERT_THAT(*files, SizeIs(2));
    EXPECT_EQ((*files)[1].path, folder / "sub/new.py");
    EXPECT_EQ((*files)[1].text, "x\ny\n");
}

TEST(UnifiedDiff, WhatDoesNotApplyIsRefused)
{
    const Folder folder;
    folder.write("a.py", "a\nb\n");
    EXPECT_EQ(refusal(folder, "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-other\n+b\n"), Error::Code::Invalid);
    EXPECT_EQ(refusal(folder, "--- a/no.py\n+++ b/no.py\n@@ -1 +1 @@\n-a\n+b\n"), Error::Code::NotFound);
    EXPECT_EQ(refusal(folder, "--- a/a.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"), Error::Code::Unsupported);
    EXPECT_EQ(refusal(folder, "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1 @@\n-a\n"), Error::Code::Malformed) << "cut off";
    EXPECT_EQ(refusal(folder, "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\nfrom nowhere\n"), Error::Code::Malformed);
    EXPECT_EQ(refusal(folder, "--- a/a.py\n+++ b/a.py\n@@ -one @@\n"), Error::Code::Malformed);
    EXPECT_EQ(refusal(folder, "this is no diff\n"), Error::Code::Malformed);
    EXPECT_EQ(refusal(folder, "GIT binary patch\n"), Error::Code::Malformed);
    EXPECT_EQ(refusal(folder, ""), Error::Code::Malformed);
}

TEST(UnifiedDiff, NamesBeginInTheFolderOfAllItsFiles)
{
    const std::string diff = "--- a/home/u/train.py\n+++ b/home/u/train.py\n@@ -1,3 +1,3 @@\n-- a/home/u/x\n+y\n z\n"
                             "--- a/home/u/pkg/m.py\n+++ b/home/u/pkg/m.py\n@@ -1 +1 @@\n-a\n+b\n";
    EXPECT_EQ(diffInFolder(diff, "/home/u"), "--- a/train.py\n+++ b/train.py\n@@ -1,3 +1,3 @@\n-- a/home/u/x\n+y\n z\n"
                                             "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1 +1 @@\n-a\n+b\n");
    EXPECT_EQ(diffInFolder(diff, "/home/u/pkg"), diff) << "one file is elsewhere";
    EXPECT_EQ(diffInFolder("", "/home/u"), "");
}

} // namespace
} // namespace runner_test
