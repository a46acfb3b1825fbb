#include "tests/capture/injected_program.h"

#include "profiler/model/trace.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <gmock/gmock.h>
#include <memory>
#include <sys/wait.h>

namespace capture_test {

using namespace profiler;
using container::EventType;

namespace {

/// "outer 0", "inner 1": names and depths of complete slices of a track, ordered by start.
std::vector<std::string> nesting(const ParsedTrace& trace, const std::vector<ParsedTrace::Event>& events)
{
    std::vector<ParsedTrace::Event> slices;
    for (const auto& event : events)
        if (event.record.type == EventType::Slice)
            slices.push_back(event);
    std::stable_sort(slices.begin(), slices.end(),
                     [](const auto& a, const auto& b) { return a.record.begin < b.record.begin; });
    std::vector<std::string> lines;
    for (const auto& event : slices)
        lines.push_back(trace.name(event) + " " + std::to_string(event.record.depth));
    return lines;
}

std::vector<ParsedTrace::Event> ofMainThread(const InjectedRun& run, const ParsedTrace& trace)
{
    return trace.of("thread " + std::to_string(run.pid));
}

} // namespace

TEST(Injection, RangesOfTheDefaultDomainNestOnTheirThread)
{
    const InjectedRun run("ranges");
    EXPECT_EQ(run.out, "level 0\nlevel 1\nlevel 1\nlevel 0\n");
    const ParsedTrace trace = run.main();
    EXPECT_TRUE(trace.ended);
    EXPECT_THAT(trace.problems, testing::IsEmpty());
    EXPECT_THAT(nesting(trace, ofMainThread(run, trace)),
                testing::ElementsAre("outer 0", "inner 1", "wide ü 1", "here 0"));
    EXPECT_EQ(trace.loss.unmatched, 1U);
    for (const auto& event : trace.events) {
        EXPECT_EQ(event.record.kind, ActivityKind::Nvtx);
        EXPECT_LE(event.record.begin, event.record.end);
    }
    EXPECT_EQ(trace.processes.at(run.pid), "nvtx_program ranges");
}

TEST(Injection, AttributesAreRecorded)
{
    const InjectedRun run("attributes");
    const ParsedTrace trace = run.main();
    ASSERT_EQ(trace.events.size(), 4U);
    const auto detail = [&](std::size_t i) { return trace.strings.at(trace.events[i].record.detail); };
    EXPECT_EQ(trace.name(trace.events[0]), "read");
    EXPECT_EQ(trace.events[0].record.link, -42);
    EXPECT_EQ(detail(0), "category io · colour #ff8800");
    EXPECT_EQ(detail(1), "category io · colour #ff8800 · payload 0.125");
    EXPECT_EQ(trace.events[1].record.begin, trace.events[1].record.end);
    EXPECT_EQ(trace.name(trace.events[2]), "(unnamed)");
    EXPECT_EQ(detail(2), "category io");
    EXPECT_EQ(trace.name(trace.events[3]), "(unnamed)");
    EXPECT_EQ(detail(3), "");
}

TEST(Injection, EachDomainNestsSeparately)
{
    const InjectedRun run("domains");
    const ParsedTrace trace = run.main();
    EXPECT_THAT(nesting(trace, ofMainThread(run, trace)), testing::ElementsAre("program 0"));
    const auto library = trace.of("library · thread " + std::to_string(run.pid));
    EXPECT_THAT(nesting(trace, library), testing::ElementsAre("text 0", "registered 1", "registered 0"));
    EXPECT_EQ(trace.tracks.at(library.front().track).kind, static_cast<std::uint32_t>(TrackKind::NvtxDomain));
    EXPECT_EQ(trace.loss.unmatched, 0U);
}

TEST(Injection, StartedRangesEndOnAnyThread)
{
    const InjectedRun run("start");
    const ParsedTrace trace = run.main();
    const auto events = trace.of("NVTX ranges");
    EXPECT_THAT(nesting(trace, events), testing::ElementsAre("first 255", "second 255"));
    std::vector<std::string> begun;
    for (const auto& event : events)
        if (event.record.type == EventType::Begin)
            begun.push_back(trace.name(event));
    EXPECT_THAT(begun, testing::ElementsAre("first", "second", "left open"));
    EXPECT_EQ(trace.loss.unmatched, 1U) << "one range was ended twice";
}

TEST(Injection, EachThreadHasItsOwnNamedTrack)
{
    const InjectedRun run("threads");
    const ParsedTrace trace = run.main();
    EXPECT_EQ(trace.of("one").size(), 1000U);
    EXPECT_EQ(trace.of("two").size(), 1000U);
    EXPECT_EQ(trace.loss.dropped, 0U);
}

TEST(Injection, ThreadsMayStartAndEndWhileTheRecordingEnds)
{
    for (int i = 0; i < 8; ++i) {
        const InjectedRun run("crowd");
        ASSERT_TRUE(WIFEXITED(run.status)) << "ended by signal " << WTERMSIG(run.status);
        ASSERT_EQ(WEXITSTATUS(run.status), 0);
    }
}

TEST(Injection, RunningOutOfMemoryEndsTheRecordingNotTheProgram)
{
    const InjectedRun run("memory");
    ASSERT_TRUE(WIFEXITED(run.status)) << "ended by signal " << WTERMSIG(run.status);
    EXPECT_EQ(WEXITSTATUS(run.status), 0);
    EXPECT_EQ(run.out, "the program continues\n");
    const ParsedTrace trace = run.main();
    EXPECT_FALSE(trace.ended) << "events that the writer could no longer write are in the ring file";
    EXPECT_EQ(profiler::messageOfLine(trace.metadata.at("memory.note")).id, "recorder.memory");
    EXPECT_EQ(std::count_if(trace.events.begin(), trace.events.end(),
                            [&](const auto& event) { return trace.name(event) == "before"; }),
              1);
}

TEST(Injection, AForkedChildHasItsOwnTraceOnceItRecordsSomething)
{
    const InjectedRun run("fork");
    const ParsedTrace parent = run.main();
    EXPECT_TRUE(parent.ended);
    EXPECT_THAT(nesting(parent, parent.events), testing::ElementsAre("parent 0"));
    const auto children = run.others();
    ASSERT_EQ(children.size(), 1U);
    EXPECT_TRUE(children[0].ended);
    EXPECT_THAT(nesting(children[0], children[0].events), testing::ElementsAre("child 0"));
    EXPECT_NE(children[0].runId, parent.runId);
    for (const auto& [number, track] : children[0].tracks)
        EXPECT_NE(track.pid, run.pid);
}

TEST(Injection, RecordedEventsSurviveEveryKindOfExit)
{
    for (const char* how : {"exit", "_exit", "crash", "terminated", "interrupted"}) {
        const InjectedRun run(how);
        const ParsedTrace trace = run.main();
        EXPECT_EQ(trace.ended, std::string(how) == "exit") << how;
        EXPECT_THAT(nesting(trace, ofMainThread(run, trace)), testing::ElementsAre("before 0", "last 1")) << how;
    }
    EXPECT_EQ(WEXITSTATUS(InjectedRun("_exit").status), 3);
    EXPECT_EQ(WTERMSIG(InjectedRun("crash").status), SIGSEGV);
    EXPECT_EQ(WTERMSIG(InjectedRun("terminated").status), SIGTERM);
}

// Exit handlers of libraries loaded later run first; this includes CUPTI, which the recording loads itself.
TEST(Injection, CuptiIsUnsubscribedBeforeItsOwnExitHandler)
{
    const InjectedRun run("cuda");
    ASSERT_TRUE(WIFEXITED(run.status)) << "ended by signal " << WTERMSIG(run.status);
    EXPECT_EQ(run.err, "CUPTI is unsubscribed at exit\n");
    const ParsedTrace trace = run.main();
    EXPECT_TRUE(trace.ended);
    EXPECT_THAT(nesting(trace, ofMainThread(run, trace)), testing::ElementsAre("after CUDA 0"));
}

TEST(Injection, ABurstThatOutrunsTheWriterIsCountedAndBlocksNothing)
{
    const InjectedRun run("burst");
    EXPECT_EQ(WEXITSTATUS(run.status), 0);
    const ParsedTrace trace = run.main();
    EXPECT_TRUE(trace.ended);
    EXPECT_EQ(trace.events.size() + trace.loss.dropped, 3'000'000U);
    EXPECT_GT(trace.loss.dropped, 0U) << "the writer kept up: the test shows nothing";
}

TEST(Injection, TheLibraryDependsOnlyOnLibc)
{
    const std::unique_ptr<FILE, int (*)(FILE*)> listing(popen("ldd " INJECTION_LIBRARY, "r"), pclose);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), listing.get()));
    EXPECT_THAT(text, testing::HasSubstr("libc.so"));
    for (const char* other : {"libstdc++", "libgcc", "libfmt", "libxxhash", "libcupti"})
        EXPECT_THAT(text, testing::Not(testing::HasSubstr(other)));
}

TEST(Injection, WithoutTheVariableNothingIsWrittenOrPrinted)
{
    const InjectedRun run("ranges", "");
    EXPECT_EQ(run.out, "level -2\nlevel -2\nlevel -2\nlevel -2\n"); // NVTX's code for "not tracked"
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(run.folder.files(), 2U); // the program's output
}

TEST(Injection, AMissingFolderIsReportedOnceAndTheProgramContinues)
{
    const InjectedRun run("threads", "no/such/folder/t");
    EXPECT_EQ(WEXITSTATUS(run.status), 0);
    EXPECT_THAT(run.err, testing::HasSubstr("is not recorded: "));
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1);
}

} // namespace capture_test
