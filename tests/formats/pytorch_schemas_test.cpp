#include "tests/formats/json_text.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The schemas of PyTorch's profiler, field by field. The fixtures were reduced by hand from files of its versions.
namespace {

using namespace profiler;
using namespace json_test;
using profiler::test::hasId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// As written by PyTorch 1.8 to 1.11: integer µs, thread ids in quotes, capitalised categories.
constexpr std::string_view kOld = R"json({
  "schemaVersion": 1,
  "deviceProperties": [ { "id": 0, "name": "Tesla V100-DGXS-32GB", "totalGlobalMem": 34084028416,
      "computeMajor": 7, "computeMinor": 0 } ],
  "traceEvents": [
  {
    "ph": "X", "cat": "Operator", 
    "name": "aten::add_", "pid": 25738, "tid": "25738",
    "ts": 1623142623460111, "dur": 25,
    "args": {
      "Device": 25738, "External id": 2,
      "Trace name": "PyTorch Profiler", "Trace iteration": 0 ,
      "Fwd thread id": 0, "Sequence number": 41,
      "Input Dims": [[64, 3], []], "Call stack": "a.py(1): <module>;b.py(2): f", "Input type": ["float", "Int"]
    }
  },
  {
    "ph": "X", "cat": "Operator", 
    "name": "AddBackward0", "pid": 25738, "tid": "25772",
    "ts": 1623142623461111, "dur": 5,
    "args": { "Device": 25772, "External id": 3, "Fwd thread id": 1, "Sequence number": 41 }
  },
  {
    "ph": "X", "cat": "Operator", "name": "ProfilerStep#3", "pid": 25738, "tid": "25738", "ts": 1623142623460000, "dur": 5000,
    "args": { "Device": 25738, "External id": 1 }
  },
  {
    "ph": "i", "s": "t", "name": "[memory]",
    "pid": 25738, "tid": 25738, "ts": 1623142623460121,
    "args": { "Device Type": 0, "Device Id": -1, "Bytes": 4 }
  },
  {
    "ph": "i", "s": "t", "name": "[memory]", "pid": 25738, "tid": 25738, "ts": 1623142623460131,
    "args": { "Device Type": 1, "Device Id": 0, "Bytes": 1024 }
  },
  {
    "ph": "i", "s": "t", "name": "[memory]", "pid": 25738, "tid": 25738, "ts": 1623142623460141,
    "args": { "Device Type": 1, "Device Id": 0, "Bytes": -512 }
  },
  {
    "ph": "X", "cat": "Runtime", "name": "cudaMemcpyAsync", "pid": 25738, "tid": "25738",
    "ts": 1623142623529088, "dur": 2022,
    "args": { "cbid": 41, "correlation": 34417, "external id": 537, "external ts": 1623142623529071 }
  },
  { "ph": "s", "id": 34417, "pid": 25738, "tid": 25738, "ts": 1623142623529088, "cat": "async", "name": "launch" },
  {
    "ph": "X", "cat": "Memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": "stream 7",
    "ts": 1623142623529248, "dur": 1940,
    "args": { "device": 0, "context": 1, "stream": 7, "correlation": 34417, "external id": 537,
      "bytes": 19267584, "memory bandwidth (GB/s)": 9.927016204653041 }
  },
  { "ph": "f", "id": 34417, "pid": 0, "tid": "stream 7", "ts": 1623142623529248, "cat": "async", "name": "launch", "bp": "e" },
  { "name": "process_name", "ph": "M", "ts": 1623142623460016, "pid": 25738, "tid": 0, "args": { "name": "python" } },
  { "name": "process_labels", "ph": "M", "ts": 1623142623460016, "pid": 0, "tid": 0, "args": { "labels": "GPU 0" } },
  { "name": "thread_name", "ph": "M", "ts": 1623142623460016, "pid": 25738, "tid": "25738", "args": { "name": "thread 25738 (python)" } },
  {
    "ph": "X", "cat": "Trace", "ts": 1623142623460016, "dur": 1065723,
    "pid": "Traces", "tid": "PyTorch Profiler",
    "name": "PyTorch Profiler (0)",
    "args": { "Op count": 0 }
  },
  { "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",
    "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": 1623142623460016 },
  { "name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1623142624633484 }
]})json";

TEST(PytorchSchemas, OldFilesAreReadInFull)
{
    const auto trace = open(kOld);
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
    EXPECT_EQ(trace->format(), "pytorch-json");
    EXPECT_EQ(trace->metadata().at("source.events"), "16");
    EXPECT_EQ(trace->metadata().at("record.end_ns"), "1623142624633484000");
    ASSERT_EQ(trace->devices().size(), 1U);
    EXPECT_EQ(trace->devices()[0].name, "Tesla V100-DGXS-32GB");
    EXPECT_EQ(trace->devices()[0].computeMajor, 7);
    EXPECT_EQ(trace->devices()[0].memoryBytes, 34084028416);

    const Track* main = track(*trace, "thread 25738 (python)");
    ASSERT_TRUE(main);
    EXPECT_EQ(main->kind, TrackKind::MainThread);
    EXPECT_EQ(main->pid, 25738);
    EXPECT_EQ(main->tid, 25738);
    EXPECT_EQ(main->processName, "python");
    const auto host = trace->sorted(main->id);
    ASSERT_EQ(host.size(), 3U);
    EXPECT_EQ(host[0].kind, ActivityKind::Step);
    EXPECT_EQ(host[0].args.value, 3);
    EXPECT_EQ(host[1].kind, ActivityKind::CpuOp);
    EXPECT_EQ(trace->name(host[1]), "aten::add_");
    EXPECT_EQ(toNs(host[1].begin), 1623142623460111000);
    EXPECT_EQ(host[1].duration.count(), 25000);
    EXPECT_EQ(host[1].sequence, 41);
    EXPECT_EQ(host[1].externalId, 2U);
    EXPECT_EQ(host[1].depth, 1);
    EXPECT_FALSE(host[1].is(slice_flag::kBackward));
    EXPECT_EQ(trace->string(host[1].args.shapes), "[[64, 3], []]");
    EXPECT_EQ(trace->string(host[1].args.types), "[float, Int]");
    EXPECT_EQ(host[2].kind, ActivityKind::CudaRuntime);
    EXPECT_EQ(host[2].correlation.value, 34417U);
    EXPECT_EQ(host[2].externalId, 537U);

    const auto backward = slices(*trace, "thread 25772");
    ASSERT_EQ(backward.size(), 1U);
    EXPECT_TRUE(backward[0].is(slice_flag::kBackward));
    EXPECT_EQ(backward[0].sequence, 41);
    ASSERT_EQ(trace->flowsOf(backward[0].id).size(), 1U);
    EXPECT_EQ(trace->flowsOf(backward[0].id)[0].from, host[1].id);

    const Track* stream = track(*trace, "stream 7");
    ASSERT_TRUE(stream);
    EXPECT_EQ(stream->kind, TrackKind::Stream);
    EXPECT_EQ(stream->stream.value, 7U);
    EXPECT_EQ(stream->processName, "GPU 0");
    const auto copies = trace->sorted(stream->id);
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].kind, ActivityKind::GpuMemcpy);
    EXPECT_EQ(copies[0].args.bytes, 19267584);
    EXPECT_EQ(copies[0].args.copy, CopyKind::HtoD);
    EXPECT_EQ(copies[0].args.src, MemoryKind::Pageable);
    EXPECT_EQ(copies[0].args.dst, MemoryKind::Device);
    ASSERT_EQ(trace->flowsOf(copies[0].id).size(), 1U);
    EXPECT_EQ(trace->flowsOf(copies[0].id)[0].from, host[2].id);

    const Track* memory = track(*trace, "GPU 0 memory allocated since the recording began");
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->kind, TrackKind::Counter);
    EXPECT_EQ(memory->unit, "bytes");
    const auto samples = trace->counter(memory->id);
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[0].value, 1024);
    EXPECT_EQ(samples[1].value, 512);
    ASSERT_TRUE(track(*trace, "PyTorch Profiler"));
    EXPECT_EQ(track(*trace, "PyTorch Profiler")->processName, "Traces");
}

TEST(PytorchSchemas, ProcessesAndThreadsHaveSortIndexes)
{
    const auto trace = json_test::open(json_test::object(R"json(
{"ph":"M","name":"process_sort_index","pid":4711,"tid":0,"ts":1,"args":{"sort_index":4711}},
{"ph":"M","name":"thread_sort_index","pid":4711,"tid":8,"ts":1,"args":{"sort_index":-1}},
{"ph":"M","name":"process_sort_index","pid":0,"tid":0,"ts":1,"args":{"sort_index":16777216}},
{"ph":"M","name":"thread_sort_index","pid":0,"tid":7,"ts":1,"args":{"sort_index":7}},
{"ph":"M","name":"process_sort_index","pid":"Spans","tid":0,"ts":1,"args":{"sort_index":99999999999}},
{"ph":"X","cat":"cpu_op","name":"a","pid":4711,"tid":8,"ts":1,"dur":5},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":9},
{"ph":"C","name":"load","pid":4711,"ts":1,"args":{"load":5}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7}})json"));
    const auto wish = [&](std::string_view name) {
        const Track* row = track(*trace, name);
        EXPECT_TRUE(row) << name;
        return row ? std::pair(row->processSortIndex, row->sortIndex) : std::pair(0, 0);
    };
    EXPECT_EQ(wish("thread 8"), std::pair(4711, -1));
    EXPECT_EQ(wish("stream 7"), std::pair(16777216, 7));
    EXPECT_EQ(wish("load"), std::pair(4711, 0));
    EXPECT_EQ(wish("PyTorch Profiler"), std::pair(2147483647, 0)) << "out of range";
}

// As written by PyTorch 2: fractional µs, lower-case categories, flows that repeat what ids say.
constexpr std::string_view kNew = R"json({
  "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0}],
  "cuda_runtime_version": 12040, "cuda_driver_version": 12090, "cupti_version": 22, "record_shapes": 1,
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "nccl_version": "2.17.1"},
  "displayTimeUnit": "ms", "baseTimeNanoseconds": 1751410836000000000,
  "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#6", "pid": 1102, "tid": 1262, "ts": 1419247332972.313, "dur": 4426.114,
   "args": {"External id": 1, "Record function id": 0, "Ev Idx": 0}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::slice", "pid": 1102, "tid": 1262, "ts": 1419247333291.708, "dur": 22.51,
   "args": {"External id": 2, "Concrete Inputs": ["", "0", "9223372036854775807"], "Input type": ["long int", "Scalar"],
            "Input Strides": [[512, 1], []], "Input Dims": [[1,
              512], [ ]], "Ev Idx": 1}},
  {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1102, "tid": 1262, "ts": 1419247333400.919,
   "args": {"Total Reserved": 121634816, "Total Allocated": 91505152, "Bytes": 144384, "Addr": 18446744073709551615, "Device Id": 0, "Device Type": 1, "Ev Idx": 480}},
  {"ph": "X", "cat": "python_function", "name": "threading.py(1032): _bootstrap", "pid": 0, "tid": 0, "ts": 1419247332596.028, "dur": 4871.288,
   "args": {"Python parent id": null, "Python id": 1, "Ev Idx": 716}},
  {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 1102, "tid": 1262, "ts": 1419247333423.777, "dur": 7.6,
   "args": {"External id": 9, "cbid": 307, "correlation": 8218}},
  {"ph": "s", "id": 8218, "pid": 1102, "tid": 1262, "ts": 1419247333423.777, "cat": "ac2g", "name": "ac2g"},
  {"ph": "X", "cat": "kernel", "name": "void k<float, 4>(int, \"x\", std::array<char*, 2ul>)", "pid": 0, "tid": 7, "ts": 1419247333430.849, "dur": 3.136,
   "args": {"External id": 9, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 8218, "registers per thread": 32,
            "shared memory": 0, "blocks per SM": 0.625, "warps per SM": 5.0e0, "grid": [50, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 8}},
  {"ph": "f", "id": 8218, "pid": 0, "tid": 7, "ts": 1419247333430.849, "cat": "ac2g", "name": "ac2g", "bp": "e"},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 1419247333440, "dur": 1,
   "args": {"device": 0, "stream": 7, "correlation": 8300, "bytes": 12845056, "memory bandwidth (GB/s)": 814.2}},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#6", "pid": 0, "tid": 7, "ts": 1419247333430.848, "dur": 3907.827, "args": {"External id": 1}},
  {"ph": "X", "cat": "cuda_sync", "name": "Stream Synchronize", "pid": 0, "tid": 7, "ts": 1419247333450, "dur": 2, "args": {"device": 0, "stream": 7}},
  {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "ts": 1419247333450, "dur": 2}
]})json";

TEST(PytorchSchemas, NewFilesAreReadInFull)
{
    const auto trace = open(kNew);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.loss.no_launch", {{"count", 1}})));
    EXPECT_EQ(trace->captureStats().unmatched, 1U);
    const auto& metadata = trace->metadata();
    EXPECT_EQ(metadata.at("versions.cuda_runtime"), "12.4");
    EXPECT_EQ(metadata.at("versions.cuda_driver"), "12.9");
    EXPECT_EQ(metadata.at("versions.cupti"), "22");
    EXPECT_EQ(metadata.at("versions.nccl"), "2.17.1");
    EXPECT_EQ(metadata.at("rank"), "3");
    EXPECT_EQ(metadata.at("world_size"), "8");
    EXPECT_EQ(metadata.at("pytorch.baseTimeNanoseconds"), "1751410836000000000");
    EXPECT_EQ(metadata.at("pytorch.displayTimeUnit"), "ms");
    EXPECT_EQ(metadata.at("pytorch.record_shapes"), "1");

    const Track* main = track(*trace, "thread 1262");
    ASSERT_TRUE(main);
    EXPECT_EQ(main->kind, TrackKind::MainThread) << "it contains the steps, whatever its number";
    const auto host = trace->sorted(main->id);
    ASSERT_EQ(host.size(), 3U);
    EXPECT_EQ(host[0].kind, ActivityKind::Step);
    EXPECT_EQ(toNs(host[0].begin), 1419247332972313);
    EXPECT_EQ(host[0].duration.count(), 4426114);
    EXPECT_EQ(trace->string(host[1].args.shapes), "[[1, 512], []]");
    EXPECT_EQ(trace->string(host[1].args.types), "[long int, Scalar]");
    EXPECT_EQ(host[1].sequence, -1);
    EXPECT_EQ(host[2].kind, ActivityKind::CudaDriver);

    const auto device = slices(*trace, "stream 7");
    ASSERT_EQ(device.size(), 2U);
    EXPECT_EQ(device[0].kind, ActivityKind::Kernel);
    EXPECT_EQ(trace->name(device[0]), "void k<float, 4>(int, \"x\", std::array<char*, 2ul>)");
    EXPECT_EQ(device[0].duration.count(), 3136);
    ASSERT_EQ(trace->flowsOf(device[0].id).size(), 1U) << "the flow events are redundant";
    const LaunchConfig launch = trace->launch(device[0].args.launch);
    EXPECT_THAT(launch.grid, ElementsAre(50, 1, 1));
    EXPECT_THAT(launch.block, ElementsAre(256, 1, 1));
    EXPECT_EQ(launch.registers, 32U);
    EXPECT_EQ(launch.sharedMemory, 0U);
    EXPECT_EQ(launch.dynamicSharedMemory, std::nullopt) << "PyTorch only writes the sum";
    EXPECT_EQ(device[1].kind, ActivityKind::GpuMemset);
    EXPECT_EQ(device[1].args.bytes, 12845056);

    const auto marks = slices(*trace, "stream 7 annotations");
    ASSERT_EQ(marks.size(), 1U);
    EXPECT_EQ(marks[0].kind, ActivityKind::GpuUserAnnotation) << "a step is counted once";
    EXPECT_EQ(track(*trace, "stream 7 annotations")->kind, TrackKind::Annotation);
    ASSERT_EQ(slices(*trace, "stream 7 waits").size(), 1U);
    EXPECT_EQ(slices(*trace, "stream 7 waits")[0].kind, ActivityKind::Sync);
    EXPECT_EQ(trace->ofKind(ActivityKind::Overhead).size(), 1U);
    EXPECT_EQ(trace->counter(track(*trace, "GPU 0 memory allocated")->id)[0].value, 91505152);
    EXPECT_EQ(trace->counter(track(*trace, "GPU 0 memory reserved")->id)[0].value, 121634816);
}

TEST(PytorchSchemas, DetailsAreReadFromTheFile)
{
    for (const bool compressed : {false, true}) {
        const TextFile file(compressed ? gzip(kNew) : std::string(kNew));
        const auto trace = formats::openTrace(file.path());
        ASSERT_TRUE(trace);
        const auto kernels = (*trace)->ofKind(ActivityKind::Kernel);
        ASSERT_EQ(kernels.size(), 1U);
        const auto details = (*trace)->details(kernels[0].id);
        ASSERT_TRUE(details) << details.error().message();
        EXPECT_THAT(*details,
                    testing::IsSupersetOf({Pair("registers per thread", "32"), Pair("grid", "[50, 1, 1]"),
                                           Pair("blocks per SM", "0.625"), Pair("cat", "kernel"),
                                           Pair("name", "void k<float, 4>(int, \"x\", std::array<char*, 2ul>)")}));
        const auto ops = (*trace)->ofKind(ActivityKind::CpuOp);
        EXPECT_THAT(*(*trace)->details(ops[0].id),
                    testing::Contains(Pair("Concrete Inputs", "[, 0, 9223372036854775807]")));
    }
}

TEST(PytorchSchemas, LaunchConfigurationsMayBeIncompleteOrInvalid)
{
    const auto launchOf = [](const std::string& args) {
        const auto trace =
            open(object(R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1,
            "args": {"device": 0, "stream": 7, )" +
                        args + "}}"));
        const auto kernels = trace->ofKind(ActivityKind::Kernel);
        EXPECT_EQ(kernels.size(), 1U);
        return kernels.empty() ? LaunchConfig{} : trace->launch(kernels[0].args.launch);
    };
    EXPECT_THAT(launchOf(R"("grid":[4294967295,2,1])").grid, ElementsAre(4294967295, 2, 1));
    EXPECT_THAT(launchOf("\"block\": [\n 8 , 4\t, 2 ]").block, ElementsAre(8, 4, 2));
    for (const char* grid : {"[4294967296, 1, 1]", "[1, 1]", "[1, 1, 1, 1]", "[]", "[-1, 1, 1]", "[1.5, 1, 1]",
                             "\"1,1,1\"", "[[1, 1, 1]]", "null", "7", "{\"x\": 1}"})
        EXPECT_EQ(launchOf(std::string("\"grid\": ") + grid), LaunchConfig{}) << grid;
    EXPECT_EQ(launchOf(R"("registers per thread": 0)"), LaunchConfig{}) << "no kernel has none";
    EXPECT_EQ(launchOf(R"("registers per thread": -3, "shared memory": -1)"), LaunchConfig{});
    EXPECT_EQ(launchOf(R"("shared memory": 49152)").sharedMemory, 49152U);
}

TEST(PytorchSchemas, LimitsOfMultiprocessorsAreRead)
{
    const auto trace = open(R"({"deviceProperties": [
        {"id": 0, "name": "H100", "computeMajor": 9, "computeMinor": 0, "numSms": 132, "maxThreadsPerMultiprocessor": 2048,
         "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472},
        {"id": 1, "name": "broken", "numSms": -1, "regsPerMultiprocessor": 99999999999, "maxThreadsPerMultiprocessor": "x"}],
        "traceEvents": []})");
    ASSERT_EQ(trace->devices().size(), 2U);
    EXPECT_EQ(trace->devices()[0].multiprocessors, 132);
    EXPECT_EQ(trace->devices()[0].limits, (MultiprocessorLimits{2048, 0, 65536, 233472}));
    EXPECT_EQ(trace->devices()[1].multiprocessors, 0);
    EXPECT_EQ(trace->devices()[1].limits, MultiprocessorLimits{});
}

TEST(PytorchSchemas, OnlyDescribedDeviceIsTheOnlyOneThatWorks)
{
    const auto devicesOf = [](const std::string& described, const std::string& second) {
        const auto trace = open(R"({"deviceProperties": [)" + described + R"(], "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "a", "pid": 2, "tid": 0, "ts": 20, "dur": 4, "args": {"device": 2, "stream": 0}})" +
                                second + "]}");
        std::vector<std::string> devices;
        for (const Device& device : trace->devices())
            devices.push_back(std::to_string(device.id.value) + " " + device.name);
        return devices;
    };
    const std::string one = R"({"id": 0, "name": "AMD Instinct MI300X"})", two = R"(, {"id": 1, "name": "other"})";
    EXPECT_THAT(devicesOf(one, ""), testing::ElementsAre("2 AMD Instinct MI300X")) << "ROCm counts the CPUs, too";
    EXPECT_THAT(devicesOf(one + two, ""), testing::ElementsAre("0 AMD Instinct MI300X", "1 other", "2 "))
        << "which of them works is unknown";
    const std::string working =
        R"(, {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 0, "ts": 30, "dur": 4, "args": {"device": 0, "stream": 0}})";
    EXPECT_THAT(devicesOf(one, working), testing::ElementsAre("0 AMD Instinct MI300X", "2 "));
}

TEST(PytorchSchemas, AmdNamesAndCategories)
{
    const auto trace = open(object(R"(
  {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 5, "tid": 5, "ts": 10.5, "dur": 2, "args": {"correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "Cijk_Ailk_Bljk", "pid": 2, "tid": 0, "ts": 20.25, "dur": 4, "args": {"device": 2, "stream": 0, "correlation": 77}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "CopyHostToDevice", "pid": 2, "tid": 0, "ts": 30, "dur": 4, "args": {"device": 2, "stream": 0, "correlation": 78, "bytes": 64}}
)"));
    const auto kernels = trace->ofKind(ActivityKind::Kernel);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(toNs(kernels[0].begin), 20250);
    EXPECT_EQ(trace->track(kernels[0].id.track).device.value, 2U);
    EXPECT_EQ(trace->flowsOf(kernels[0].id).size(), 1U);
    EXPECT_EQ(trace->ofKind(ActivityKind::GpuMemcpy)[0].args.copy, CopyKind::HtoD);
    ASSERT_EQ(trace->devices().size(), 1U);
    EXPECT_EQ(trace->devices()[0].id.value, 2U);
}

TEST(PytorchSchemas, FlowsReplaceMissingCorrelationIds)
{
    const auto trace = open(object(R"(
  {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 5, "tid": 5, "ts": 10, "dur": 2},
  {"ph": "s", "id": 1, "pid": 5, "tid": 5, "ts": 10, "cat": "ac2g", "name": "ac2g"},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 4},
  {"ph": "f", "id": 1, "pid": 0, "tid": 7, "ts": 20, "cat": "ac2g", "name": "ac2g", "bp": "e"}
)"));
    const auto kernels = trace->ofKind(ActivityKind::Kernel);
    ASSERT_EQ(kernels.size(), 1U);
    const auto flows = trace->flowsOf(kernels[0].id);
    ASSERT_EQ(flows.size(), 1U);
    EXPECT_EQ(flows[0].kind, FlowKind::Launch);
    EXPECT_EQ(trace->name(trace->slice(flows[0].from)), "launch");
}

// As written by torch.autograd.profiler without Kineto: no categories; the process determines the kind of an event.
TEST(PytorchSchemas, FilesFromBeforeKinetoUseTheProcessAsCategory)
{
    const auto trace = open(R"([
{"name": "aten::mul", "ph": "X", "ts": 10, "dur": 20, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "mul_kernel", "ph": "X", "ts": 40, "dur": 5, "tid": 1, "pid": "CUDA functions", "args": {}},
{"name": "aten::mul", "ph": "s", "ts": 10, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}},
{"name": "mul_kernel", "ph": "f", "ts": 40, "tid": 1, "pid": "CUDA functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}
])");
    const auto ops = trace->ofKind(ActivityKind::CpuOp), kernels = trace->ofKind(ActivityKind::Kernel);
    ASSERT_EQ(ops.size(), 1U);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(trace->track(kernels[0].id.track).kind, TrackKind::Stream);
    EXPECT_EQ(trace->track(kernels[0].id.track).device.value, 1U) << "the thread is the device";
    ASSERT_EQ(trace->flowsOf(kernels[0].id).size(), 1U);
    EXPECT_EQ(trace->flowsOf(kernels[0].id)[0].from, ops[0].id);
}

TEST(PytorchSchemas, SeveralLaunchingProcessesAreDistinguishedAndNoted)
{
    const auto trace = open(object(R"(
  {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": "rank 0", "tid": 5, "ts": 10, "dur": 2, "args": {"correlation": 7}},
  {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": "rank 1", "tid": 5, "ts": 10, "dur": 2, "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": 7}}
)"));
    std::vector<std::int64_t> pids;
    for (const Track& row : trace->tracks())
        if (row.kind != TrackKind::Stream)
            pids.push_back(row.pid);
    ASSERT_EQ(pids.size(), 2U);
    EXPECT_NE(pids[0], pids[1]);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("json.several_processes", {{"count", 2}})));
}

// Each process calls the only GPU that it sees device 0; the program that merged their files created processes for the
// rows.
TEST(PytorchSchemas, EqualDeviceNumbersOfSeveralProcessesAreDifferentDevices)
{
    constexpr std::string_view kMerged = R"(
  {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": "[TP00] 41", "tid": 41, "ts": 10, "dur": 2, "args": {"correlation": 7}},
  {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": "[TP01] 42", "tid": 42, "ts": 10, "dur": 2, "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": "[TP00] 0", "tid": 7, "ts": 20, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": "[TP01] 0", "tid": 7, "ts": 21, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": 7}}
)";
    const auto devicesOf = [](const Trace& trace) {
        std::vector<std::uint32_t> devices;
        for (const Track& row : trace.tracks())
            if (row.kind == TrackKind::Stream)
                devices.push_back(row.device.value);
        return devices;
    };
    const auto merged = open(object(kMerged));
    EXPECT_THAT(devicesOf(*merged), UnorderedElementsAre(0U, 1U));
    EXPECT_EQ(merged->devices().size(), 2U);
    // One process that drives a device from two rows has a single device.
    std::string one(kMerged);
    for (auto at = one.find("[TP01] 42"); at != one.npos; at = one.find("[TP01] 42"))
        one.replace(at, 9, "[TP00] 41");
    EXPECT_THAT(devicesOf(*open(object(one))), UnorderedElementsAre(0U, 0U));
}

TEST(PytorchSchemas, AFewMissingIdsDoNotCauseASecondPass)
{
    std::string events =
        R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 4},
           {"ph": "s", "id": 1, "pid": 5, "tid": 5, "ts": 10, "cat": "ac2g", "name": "ac2g"},
           {"ph": "f", "id": 1, "pid": 0, "tid": 7, "ts": 20, "cat": "ac2g", "name": "ac2g", "bp": "e"})";
    for (int i = 0; i < 40; ++i)
        events += R"(,{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" +
                  std::to_string(30 + 5 * i) + R"(, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": )" +
                  std::to_string(i + 1) + "}}";
    const TextFile file(object(events));
    formats::ReadOptions options;
    int readings = 0;
    options.progress = [&](double share) { readings += share == 1 ? 1 : 0; };
    ASSERT_TRUE(formats::openTrace(file.path(), options));
    EXPECT_EQ(readings, 1);
}

} // namespace
