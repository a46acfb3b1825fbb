#include "advisor/runner/remote_answer.h"
#include "advisor/runner/remote_frames.h"
#include "profiler/os/files.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <string>

// Answers of another machine that are wrong on purpose.
namespace advisor::runner {

namespace {

namespace fs = std::filesystem;

class RemoteAnswer : public testing::Test {
protected:
    ~RemoteAnswer() override { fs::remove_all(m_folder); }

    /// Asks a place that answers each script with these bytes.
    profiler::Result<int> ask(const std::string& bytes, const std::string& afterwards = {})
    {
        std::ofstream(m_folder / "answer", std::ios::binary) << bytes;
        const auto host =
            RemoteHost::through("sh -c 'cat \"" + (m_folder / "answer").string() + "\"; " + afterwards + "' x");
        RemoteRequest request{.words = {"report", "--output=@result", "--", "t.sstrace"},
                              .folder = {},
                              .result = m_result,
                              .resultWord = 1,
                              .mostText = 1 << 20,
                              .output = [this](std::string_view text) { m_out += text; },
                              .errors = [this](std::string_view text) { m_err += text; },
                              .received = {},
                              .mostSilence = std::chrono::seconds(1),
                              .goesOn = [] { return true; }};
        return askRemote(*host, {.root = "/r", .program = "/r/h/bin/stepscope-cli"}, request);
    }
    std::string idOf(const std::string& frames, const std::string& afterwards = {})
    {
        const auto status = ask(std::string(kRemoteBegin) + frames, afterwards);
        return status ? "status " + std::to_string(*status) : status.error().what.id;
    }

    fs::path m_folder = *profiler::os::createTemporaryFolder(fs::temp_directory_path() / "remote-answer-");
    fs::path m_result = m_folder / "result.bin";
    std::string m_out, m_err;
};

std::string frame(RemoteFrame type, const std::string& payload)
{
    return encodeFrame(type, payload);
}
std::string ended(const std::string& status)
{
    return frame(RemoteFrame::Ended, status);
}

} // namespace

TEST_F(RemoteAnswer, TextAndStatusArePassedOn)
{
    EXPECT_EQ(idOf(frame(RemoteFrame::Output, "out\n") + frame(RemoteFrame::Errors, "err\n") + ended("3")), "status 3");
    EXPECT_EQ(m_out, "out\n");
    EXPECT_EQ(m_err, "err\n");
}

TEST_F(RemoteAnswer, TextCannotControlTheTerminal)
{
    // A C1 character and one of two bytes, each cut in the middle by the end of a frame.
    EXPECT_EQ(idOf(frame(RemoteFrame::Output, "a\x1b]0;x\x07\xc2") +
                   frame(RemoteFrame::Output, "\x9b"
                                              "2J\xc3") +
                   frame(RemoteFrame::Output, "\xa4\r\nb\rc\xff\xe2\x80\xae") + ended("0")),
              "status 0");
    EXPECT_EQ(m_out, "a?]0;x??2J\xc3\xa4\r\nb?c??");
}

TEST_F(RemoteAnswer, StatusesAreNumbersOfOneByte)
{
    for (const char* status : {"", "-1", "256", "1x", "99999999999999999999"})
        EXPECT_EQ(idOf(ended(status)), "remote.answer") << status;
}

TEST_F(RemoteAnswer, EndlessOutputIsRefused)
{
    std::string frames;
    for (int i = 0; i < 3; ++i)
        frames += frame(RemoteFrame::Output, std::string(500'000, 'x'));
    EXPECT_EQ(idOf(frames + ended("0")), "remote.long_answer");
    EXPECT_LE(m_out.size(), 1U << 20);
}

TEST_F(RemoteAnswer, OnlyTheExpectedFileIsWritten)
{
    const auto sends = [](const std::string& file, const std::string& data) {
        return frame(RemoteFrame::File, file) + frame(RemoteFrame::Data, data) + frame(RemoteFrame::Done, "") +
               ended("0");
    };
    for (const std::string& file :
         {std::string("4 trace/../../evil"), std::string("4 /tmp/evil"), std::string("4 trace/other.bin"),
          std::string("x trace/result.bin"), std::string("4 report.json")})
        EXPECT_EQ(idOf(sends(file, "evil")), "remote.result") << file;
    EXPECT_EQ(idOf(sends("3 trace/result.bin", "evil")), "remote.result");
    EXPECT_EQ(idOf(sends("5 trace/result.bin", "evil")), "remote.answer");
    EXPECT_EQ(idOf(sends("9000000000000000000 trace/result.bin", "evil")), "remote.result_write");
    EXPECT_EQ(idOf(frame(RemoteFrame::Data, "evil") + ended("0")), "remote.result");
    EXPECT_FALSE(fs::exists(m_result));
    EXPECT_EQ(idOf(sends("4 trace/result.bin", "good")), "status 0");
    EXPECT_EQ(fs::file_size(m_result), 4U);
    for (const auto& entry : fs::directory_iterator(m_folder))
        EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("answer", "result.bin"));
}

TEST_F(RemoteAnswer, ReportsRunNoScripts)
{
    m_result = m_folder / "report.html";
    const std::string page = "<!DOCTYPE html>\n<script>alert(1)</script>";
    EXPECT_EQ(idOf(frame(RemoteFrame::File, std::to_string(page.size()) + " trace/result.html") +
                   frame(RemoteFrame::Data, page) + frame(RemoteFrame::Done, "") + ended("0")),
              "remote.result");
    EXPECT_FALSE(fs::exists(m_result));
}

TEST_F(RemoteAnswer, FramesThatMayNotComeAreRefused)
{
    EXPECT_EQ(idOf(frame(RemoteFrame::Opened, "1 x") + ended("0")), "remote.answer");
    EXPECT_EQ(idOf(ended("0") + ended("1")), "remote.answer");
    EXPECT_EQ(idOf(std::string("O\xff\xff\xff\xff", 5)), "remote.answer");
}

TEST_F(RemoteAnswer, AnAnswerThatStopsIsAnError)
{
    EXPECT_EQ(idOf(frame(RemoteFrame::Output, "begins")), "remote.answer_lost");
    EXPECT_EQ(m_out, "begins");
    EXPECT_EQ(idOf("", "exec sleep 60"), "remote.answer_lost"); // silent, but connected
    const auto nothing = ask("");
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().what.id, "remote.unreachable");
}

} // namespace advisor::runner
