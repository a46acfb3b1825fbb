#include "profiler/capture/collect_parts.h"

#include "profiler/capture/recorder.h"
#include "profiler/formats/container/trace_reader.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;

namespace {

container::EventRecord correlated(container::EventType type, ActivityKind kind, std::uint32_t name, std::int64_t begin)
{
    container::EventRecord record{};
    record.type = type;
    record.kind = kind;
    record.name = name;
    record.begin = begin;
    record.end = begin + 10;
    record.link = 7; // CUPTI counts from 1 in every process
    return record;
}

/// A process that launched one kernel on its own GPU, and the step in which it did so.
void writeLauncher(const std::filesystem::path& path, std::uint32_t device, std::int64_t begin)
{
    auto recorder = Recorder::start({.path = path});
    ASSERT_TRUE(recorder);
    Recorder& to = **recorder;
    const std::string number = std::to_string(device);
    to.addDevice(DeviceId{device}, "Some GPU", "GPU-" + number);
    container::EventRecord call =
        correlated(container::EventType::Slice, ActivityKind::CudaRuntime, to.intern("launch"), begin);
    to.addBatch(to.namedTrack("calls of " + number, TrackKind::Thread), {&call, 1});
    container::EventRecord work[2] = {
        correlated(container::EventType::Device, ActivityKind::Kernel, to.intern("kernel of " + number), begin + 5),
        {}};
    work[1].type = container::EventType::Extra;
    to.addBatch(to.streamTrack(DeviceId{device}, StreamId{7}), work);
    container::EventRecord step = correlated(container::EventType::Slice, ActivityKind::Step, to.intern("step"), begin);
    to.addBatch(to.namedTrack("steps", TrackKind::Thread), {&step, 1});
    ASSERT_TRUE(to.finish());
}

} // namespace

TEST(CollectParts, ALaunchIsLinkedToTheWorkOfItsOwnProcess)
{
    const test_support::TemporaryFolder folder;
    writeLauncher(folder / "t.sstrace.11", 0, 1000);
    writeLauncher(folder / "t.sstrace.12", 1, 1003);
    const auto parts = findParts(folder / "t.sstrace");
    ASSERT_EQ(parts.size(), 2U);
    ASSERT_TRUE(collectParts(parts, {.trace = folder / "t.sstrace", .mainProcess = 11, .metadata = {}, .notes = {}}));
    const auto trace = container::readTrace(folder / "t.sstrace");
    ASSERT_TRUE(trace) << trace.error().message();
    const auto file = container::InputFile::open(folder / "t.sstrace");
    EXPECT_TRUE(container::readHeader(file.value()).value().isSealed);
    int calls = 0, steps = 0;
    for (const Slice& call : (*trace)->ofKind(ActivityKind::CudaRuntime)) {
        ++calls;
        const auto flows = (*trace)->flowsOf(call.id);
        ASSERT_EQ(flows.size(), 1U);
        const std::string row = (*trace)->tracks()[call.id.track.value].name;
        EXPECT_EQ((*trace)->name((*trace)->slice(flows[0].to)), "kernel of " + row.substr(row.size() - 1));
    }
    for (const Slice& step : (*trace)->ofKind(ActivityKind::Step)) {
        ++steps;
        EXPECT_EQ(step.args.value, 7) << "a step index is not a correlation id";
    }
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(steps, 2);
}

TEST(CollectParts, AProcessThatIsKilledLosesEventsOnlyOfItsGpu)
{
    const test_support::TemporaryFolder folder;
    for (const bool usesGpu : {false, true}) {
        const std::string name = usesGpu ? "gpu.sstrace" : "cpu.sstrace";
        const pid_t child = fork();
        if (child == 0) {
            auto recorder = Recorder::start({.path = folder / (name + ".11")});
            if (!recorder)
                _exit(1);
            Recorder& to = **recorder;
            if (usesGpu)
                to.addDevice(DeviceId{0}, "Some GPU", "GPU-0");
            container::EventRecord step =
                correlated(container::EventType::Slice, ActivityKind::Step, to.intern("step"), 1000);
            to.addBatch(to.namedTrack("steps", TrackKind::Thread), {&step, 1});
            std::this_thread::sleep_for(std::chrono::milliseconds(300)); // until it is in the file
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
        const auto collected = collectParts(findParts(folder / name),
                                            {.trace = folder / name, .mainProcess = 11, .metadata = {}, .notes = {}});
        ASSERT_TRUE(collected) << collected.error().message();
        std::vector<std::string> ids;
        for (const Message& note : collected->notes)
            ids.push_back(std::string(note.id));
        EXPECT_EQ(std::ranges::count(ids, "record.part.not_ended"), usesGpu ? 1 : 0);
        EXPECT_EQ(container::readTrace(folder / name).value()->ofKind(ActivityKind::Step).size(), 1U);
    }
}

TEST(CollectParts, TheProcessWithMostStepsDescribesTheProgram)
{
    const test_support::TemporaryFolder folder;
    const auto write = [&](const char* name, const std::map<std::string, std::string>& facts) {
        auto recorder = Recorder::start({.path = folder / name});
        ASSERT_TRUE(recorder);
        for (const auto& [key, value] : facts)
            (*recorder)->setMetadata(key, value);
        ASSERT_TRUE((*recorder)->finish());
    };
    write("t.sstrace.11", {{"program", "first"}, {"program.note", "of the first"}, {"host.cpu", "one"}});
    write("t.sstrace.12", {{"program", "trains"}, {"program.steps", "30"}, {"host.cpu", "two"}});
    write("t.sstrace.13", {{"program", "trains as well"}, {"program.steps", "30"}});
    write("t.sstrace.14", {{"programs", "another key"}});
    ASSERT_TRUE(collectParts(findParts(folder / "t.sstrace"),
                             {.trace = folder / "t.sstrace", .mainProcess = 11, .metadata = {}, .notes = {}}));
    const auto trace = container::readTrace(folder / "t.sstrace");
    ASSERT_TRUE(trace) << trace.error().message();
    const auto& metadata = (*trace)->metadata();
    const auto value = [&](const std::string& key) {
        const auto found = metadata.find(key);
        return found == metadata.end() ? "" : found->second;
    };
    EXPECT_EQ(value("program"), "trains");
    EXPECT_EQ(value("program.steps"), "30");
    EXPECT_EQ(value("program.note"), "") << "belongs to a process other than the chosen one";
    EXPECT_EQ(value("host.cpu"), "one");
    EXPECT_EQ(value("programs"), "another key");
}

} // namespace capture_test
