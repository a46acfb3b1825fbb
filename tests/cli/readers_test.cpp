#include "advisor/rule.h"
#include "tests/cli/cli_program.h"

#include "trainer/config/training_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <vector>

namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

std::vector<std::string> keys(const Json& object)
{
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items())
        names.push_back(key);
    return names;
}

/// A CPU run as the trainer leaves it: two cores, no workers, a wait of 60 %.
constexpr std::string_view kCpuRun = R"(
    meta host.cores 2
    meta host.threads 1
    meta versions.torch 2.11.0
    main
      repeat 20 every 1000
        step 0 0 1000
        phase "data wait" 0 600
        stage read 0 100
        stage decode 100 480
        stage collate 580 10
        phase forward 600 200
        op aten::conv2d 600 150
        phase backward 800 200
      end
)";

constexpr std::string_view kGpuRun = R"(
    device 0 "NVIDIA H100" GPU-1
    main
      repeat 4 every 100
        step 0 0 100
        phase "data wait" 0 20
        call cudaLaunchKernel 20 5 corr=5
        call cudaMemcpyAsync 50 5
        call cudaStreamSynchronize 60 10
      end
    stream 0 7
      repeat 4 every 100
        copy HtoD 20 10 bytes=20000 src=pageable dst=device
        kernel gemm 30 40
        kernel relu 70 5
        memset Memset 75 1 bytes=64
      end
)";

Json jsonOf(const Ended& ended)
{
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, IsEmpty());
    return Json::parse(ended.out, nullptr, false);
}

std::string onlyLine(const std::string& text)
{
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    return text;
}

TEST(Summarize, HasTheFieldsThatProgramsRead)
{
    const Folder folder;
    const Json json = jsonOf(run({"summarize", folder.trace("a.sstrace", kCpuRun), "--json"}));
    EXPECT_THAT(keys(json), ElementsAre("schema", "source", "counts", "kernel_time_us", "kernels_under_10us", "memcpy",
                                        "devices", "steps", "between_steps", "versions", "breakdown", "loader", "comm",
                                        "sync", "idle", "top_kernels", "memory", "data_loss", "program"));
    EXPECT_EQ(json["schema"], 1);
    EXPECT_THAT(keys(json["source"]), ElementsAre("format", "devices", "rank", "world_size"));
    EXPECT_THAT(keys(json["counts"]), ElementsAre("events", "kernel", "memcpy", "memset", "runtime", "cpu_op", "nvtx"));
    EXPECT_THAT(keys(json["steps"]), ElementsAre("count", "mean_us", "median_us", "p90_us", "min_us", "max_us",
                                                 "steady_mean_us", "list_us"));
    EXPECT_THAT(keys(json["between_steps"]), ElementsAre("span_us", "time_us", "phases", "other_us"));
    EXPECT_THAT(keys(json["versions"]), ElementsAre("cuda_driver", "cuda_runtime", "cudnn", "nccl", "cupti", "torch"));
    EXPECT_THAT(keys(json["breakdown"]), ElementsAre("kernel", "communication", "memcpy", "memset", "runtime",
                                                     "data_loader", "cpu_op", "other"));
    EXPECT_THAT(keys(json["loader"]), ElementsAre("waits", "time_us", "workers"));
    EXPECT_THAT(keys(json["comm"]), ElementsAre("kernels", "time_us", "exposed_us", "overlap"));
    EXPECT_THAT(keys(json["sync"]), ElementsAre("calls", "time_us", "blocking_copy_calls", "blocking_copy_us"));
    EXPECT_THAT(keys(json["data_loss"]), ElementsAre("dropped", "unmatched", "notes", "note_messages"));
}

TEST(Summarize, OfACpuRun)
{
    const Folder folder;
    const Json json = jsonOf(run({"summarize", folder.trace("a.sstrace", kCpuRun), "--json"}));
    EXPECT_EQ(json["source"]["format"], "stepscope");
    EXPECT_TRUE(json["source"]["rank"].is_null());
    EXPECT_EQ(json["counts"]["events"], 160);
    EXPECT_EQ(json["counts"]["cpu_op"], 20);
    EXPECT_EQ(json["steps"]["count"], 20);
    EXPECT_EQ(json["steps"]["steady_mean_us"], 1000);
    EXPECT_EQ(json["steps"]["list_us"].size(), 20U);
    EXPECT_EQ(json["versions"]["torch"], "2.11.0");
    EXPECT_TRUE(json["versions"]["cupti"].is_null());
    EXPECT_DOUBLE_EQ(json["breakdown"]["data_loader"], 0.6);
    EXPECT_DOUBLE_EQ(json["breakdown"]["cpu_op"], 0.4);
    EXPECT_EQ(json["loader"]["waits"], 20);
    EXPECT_EQ(json["loader"]["time_us"], 12000);
    EXPECT_EQ(json["loader"]["workers"], 0);
    EXPECT_TRUE(json["comm"]["overlap"].is_null());
    EXPECT_THAT(json["devices"], IsEmpty());
    EXPECT_EQ(json["data_loss"],
              (Json{{"dropped", 0}, {"unmatched", 0}, {"notes", Json::array()}, {"note_messages", Json::array()}}));
}

TEST(Summarize, OfAGpuRun)
{
    const Folder folder;
    const Json json = jsonOf(run({"summarize", folder.trace("a.sstrace", kGpuRun), "--json"}));
    EXPECT_EQ(json["source"]["devices"], Json::array({{{"id", 0}, {"name", "NVIDIA H100"}}}));
    EXPECT_EQ(json["counts"]["kernel"], 8);
    EXPECT_EQ(json["counts"]["runtime"], 12);
    EXPECT_EQ(json["kernel_time_us"], 180);
    EXPECT_EQ(json["kernels_under_10us"], 4);
    EXPECT_EQ(json["memcpy"], Json::array({{{"kind", "HtoD"},
                                            {"src", "pageable"},
                                            {"dst", "device"},
                                            {"count", 4},
                                            {"bytes", 80000},
                                            {"time_us", 40.0},
                                            {"gb_per_s", 2.0}}}));
    EXPECT_THAT(keys(json["devices"][0]),
                ElementsAre("id", "busy_kernel_us", "busy_any_us", "span_us", "busy_kernel", "busy_any", "streams"));
    EXPECT_EQ(json["devices"][0]["span_us"], 356);
    EXPECT_EQ(json["devices"][0]["busy_any_us"], 224);
    EXPECT_EQ(json["top_kernels"],
              Json::array({{{"name", "gemm"}, {"count", 4}, {"time_us", 160.0}, {"longest", {{"duration_us", 40.0}}}},
                           {{"name", "relu"}, {"count", 4}, {"time_us", 20.0}, {"longest", {{"duration_us", 5.0}}}}}));
    EXPECT_EQ(json["idle"],
              Json::array({{{"cause", "other"}, {"time_us", 72.0}}, {{"cause", "data_loader"}, {"time_us", 60.0}}}));
    EXPECT_EQ(json["sync"]["calls"], 4);
    double sum = 0;
    for (const auto& [name, share] : json["breakdown"].items())
        sum += share.get<double>();
    EXPECT_DOUBLE_EQ(sum, 1);
    EXPECT_DOUBLE_EQ(json["breakdown"]["kernel"], 0.45);
}

TEST(Summarize, KernelsHaveTheLaunchOfTheLongest)
{
    const Folder folder;
    std::ofstream(folder / "a.json") << R"({"deviceProperties": [{"id": 0, "name": "H100", "computeMajor": 9,
        "computeMinor": 0, "numSms": 132}], "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7,
         "registers per thread": 128, "shared memory": 0, "grid": [1, 1, 1], "block": [256, 1, 1]}},
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 9, "args": {"device": 0, "stream": 7,
         "registers per thread": 128, "shared memory": 0, "grid": [264, 1, 1], "block": [256, 1, 1]}}]})";
    const Json json = jsonOf(run({"summarize", (folder / "a.json").string(), "--json"}));
    EXPECT_EQ(json["top_kernels"], Json::array({{{"name", "k"},
                                                 {"count", 2},
                                                 {"time_us", 14.0},
                                                 {"longest",
                                                  {{"duration_us", 9.0},
                                                   {"grid", {264, 1, 1}},
                                                   {"block", {256, 1, 1}},
                                                   {"registers_per_thread", 128},
                                                   {"shared_memory_bytes", 0},
                                                   {"occupancy", 0.25},
                                                   {"occupancy_limits", {"registers"}}}}}}));
}

TEST(Summarize, PrintsATable)
{
    const Folder folder;
    const Ended ended = run({"summarize", folder.trace("a.sstrace", kCpuRun)});
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.out, HasSubstr("20 steps, 19 of them steady"));
    EXPECT_THAT(ended.out, HasSubstr("data wait"));
    EXPECT_THAT(ended.out, HasSubstr("60.0 %"));
    EXPECT_THAT(ended.out, HasSubstr("decode"));
}

TEST(Summarize, ListsTheAllocationsAtThePeak)
{
    const Folder folder;
    const auto trace = folder.trace("a.sstrace", "meta memory.peak.cpu 48000000\n"
                                                 "meta memory.peak.cpu.alive 48000000\t4\t3\tforward\taten::mm\n"
                                                 "meta memory.out.gpu0 8000000000\n"
                                                 "meta memory.out.gpu0.asked 536870912\nmain\nop aten::mm 0 10");
    const Json memory = jsonOf(run({"summarize", trace, "--json"}))["memory"];
    ASSERT_EQ(memory.size(), 2U);
    EXPECT_EQ(memory[0]["moment"], "out_of_memory");
    EXPECT_EQ(memory[0]["place"], "GPU 0");
    EXPECT_EQ(memory[0]["asked_bytes"], 536870912);
    EXPECT_EQ(memory[1]["moment"], "peak");
    EXPECT_EQ(memory[1]["bytes"], 48000000);
    ASSERT_EQ(memory[1]["alive"].size(), 1U);
    EXPECT_THAT(keys(memory[1]["alive"][0]), ElementsAre("op", "phase", "step", "bytes", "blocks", "rest"));
    EXPECT_EQ(memory[1]["alive"][0]["op"], "aten::mm");
    EXPECT_EQ(memory[1]["source"], "allocator_totals");
    EXPECT_TRUE(memory[1]["at_us"].is_null());
    EXPECT_EQ(memory[1]["categories"]["uncategorised"], 48000000) << "a forward pass without a backward pass";
    EXPECT_EQ(memory[1]["holders"][0]["category"], "uncategorised");
    EXPECT_EQ(memory[1]["holders"][0]["op"], "aten::mm");
    const std::string text = run({"summarize", trace}).out;
    EXPECT_THAT(text, HasSubstr("GPU 0 memory ran out when 537 MB were requested and 8.00 GB were allocated.\n"));
    EXPECT_THAT(text, HasSubstr("CPU memory peaked at 48.0 MB.\n"));
    EXPECT_THAT(text, HasSubstr("aten::mm"));
}

TEST(Summarize, HasThePeakOfTheMemoryEventsOfPyTorch)
{
    const Folder folder;
    const auto trace = folder / "a.json";
    {
        std::ofstream out(trace);
        out << R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 10})";
        for (const auto& [time, change, total] :
             std::vector<std::array<int, 3>>{{1, 100, 100}, {5, 600, 700}, {9, -400, 300}})
            out << R"(, {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" << time
                << R"(, "args": {"Device Type": 1, "Device Id": 1, "Bytes": )" << change << R"(, "Total Allocated": )"
                << total << R"(, "Total Reserved": 1000}})";
        out << "]}";
    }
    const Json memory = jsonOf(run({"summarize", trace.string(), "--json"}))["memory"];
    ASSERT_EQ(memory.size(), 1U);
    EXPECT_EQ(memory[0]["place"], "GPU 1");
    EXPECT_EQ(memory[0]["bytes"], 700);
    EXPECT_EQ(memory[0]["at_us"], 5);
    EXPECT_EQ(memory[0]["reserved_bytes"], 1000);
    EXPECT_EQ(memory[0]["categories"]["uncategorised"], 700);
    EXPECT_EQ(memory[0]["categories"]["cached"], 300);
    EXPECT_THAT(memory[0]["holders"], IsEmpty());
    EXPECT_THAT(run({"summarize", trace.string()}).out,
                HasSubstr("GPU 1 memory peaked at 700 B, 0.000 005 s after the start.\n"));
}

TEST(Summarize, ATraceWithoutStepsHasNulls)
{
    const Folder folder;
    const Json json = jsonOf(run({"summarize", folder.trace("a.sstrace", "main\nop aten::mm 0 10"), "--json"}));
    EXPECT_EQ(json["steps"]["count"], 0);
    EXPECT_TRUE(json["steps"]["mean_us"].is_null());
    EXPECT_TRUE(json["breakdown"].is_null());
    EXPECT_TRUE(json["loader"]["workers"].is_null());
}

TEST(Summarize, AnUnreadableFileIsOneLineAndStatusOne)
{
    const Folder folder;
    const Ended missing = run({"summarize", folder / "no.sstrace"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(onlyLine(missing.err), HasSubstr("no.sstrace"));
    EXPECT_THAT(missing.out, IsEmpty());

    const Ended foreign = run({"summarize", folder.write("a.json", "no trace at all"), "--json"});
    EXPECT_EQ(foreign.status, 1);
    EXPECT_THAT(onlyLine(foreign.err), HasSubstr("a.json"));
    EXPECT_THAT(foreign.out, IsEmpty());
}

TEST(Advise, HasEveryRuleWithItsFields)
{
    const Folder folder;
    const std::filesystem::path trace = folder.trace("a.sstrace", kCpuRun);
    const Json json = jsonOf(run({"advise", trace, "--config", folder.write("c.json", "{}"), "--json"}));
    EXPECT_THAT(keys(json), ElementsAre("schema", "advice", "steps"));
    ASSERT_EQ(json["advice"].size(), advisor::allRules().size());
    const Json& first = json["advice"][0];
    EXPECT_THAT(keys(first), ElementsAre("id", "state", "title", "reason", "evidence", "saving", "caveats", "toggle",
                                         "source", "code", "judged_by", "measure", "reason_id", "need", "need_id",
                                         "parameters", "messages", "claims", "patch", "why_no_patch", "shares_with"));
    EXPECT_THAT(first["code"]["python"], HasSubstr("num_workers"));
    EXPECT_THAT(first["code"]["cpp"], HasSubstr("workers("));
    EXPECT_EQ(first["id"], "loader.workers");
    EXPECT_EQ(first["state"], "fires");
    EXPECT_THAT(keys(first["evidence"][0]), ElementsAre("track", "process", "name", "begin_us", "duration_us"));
    EXPECT_EQ(first["evidence"][0]["name"], "data wait");
    EXPECT_EQ(first["evidence"][0]["duration_us"], 600);
    EXPECT_EQ(first["evidence"][0]["begin_us"], 1000); // relative to the start of the trace; the first step is warm-up
    EXPECT_THAT(keys(first["saving"]), ElementsAre("unit", "low", "mid", "high", "of_us", "kind", "coverage"));
    EXPECT_EQ(first["saving"]["unit"], "us_per_step");
    EXPECT_EQ(first["toggle"], (Json{{"key", "loader.workers"}, {"from", "0"}, {"to", "2"}}));
    EXPECT_EQ(first["judged_by"], "time");
    for (const Json& advice : json["advice"]) {
        EXPECT_THAT(advice["state"], testing::AnyOf("fires", "silent", "cannot tell"));
        EXPECT_EQ(advice["need_id"].is_null(), advice["state"] != "cannot tell");
        EXPECT_EQ(advice["need"].is_null(), advice["need_id"].is_null());
        if (advice["saving"].is_null()) {
            EXPECT_TRUE(advice.contains("why_no_prediction"));
        }
        if (advice["toggle"].is_null()) {
            EXPECT_TRUE(advice.contains("why_no_toggle"));
        }
    }
}

TEST(Advise, UsesTheConfigurationInTheTrace)
{
    const Folder folder;
    const std::string text = "meta config {\"loader\": {\"workers\": 0}}\n" + std::string(kCpuRun);
    const Json json = jsonOf(run({"advise", folder.trace("a.sstrace", text), "--json"}));
    EXPECT_EQ(json["advice"][0]["toggle"]["key"], "loader.workers");
}

TEST(Advise, WithoutAConfigurationThereIsNoToggleAndItSaysWhy)
{
    const Folder folder;
    const Json json = jsonOf(run({"advise", folder.trace("a.sstrace", kCpuRun), "--json"}));
    EXPECT_EQ(json["advice"][0]["state"], "fires");
    EXPECT_TRUE(json["advice"][0]["toggle"].is_null());
    EXPECT_EQ(json["advice"][0]["messages"]["why_no_toggle"]["id"], "toggle.no_configuration");
}

TEST(Advise, PrintsText)
{
    const Folder folder;
    const Ended ended = run({"advise", folder.trace("a.sstrace", kCpuRun), "--config", folder.write("c.json", "{}")});
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.out, HasSubstr("The step waits for data  (loader.workers)"));
    EXPECT_THAT(ended.out, HasSubstr("Change: loader.workers = 2 (now 0)"));
}

TEST(Advise, ABadConfigurationIsBadInput)
{
    const Folder folder;
    const std::filesystem::path trace = folder.trace("a.sstrace", kCpuRun);
    const Ended ended =
        run({"advise", trace, "--config", folder.write("c.json", R"({"loader": {"workers": "many"}})")});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(onlyLine(ended.err), HasSubstr("loader.workers"));
    EXPECT_THAT(ended.err, HasSubstr("c.json"));
}

TEST(Lines, HaveTheirAllocationsIfRecorded)
{
    const Folder folder;
    const auto lines = [&](const std::string& entry) {
        const auto path = folder.trace(
            "t.sstrace", R"(meta lines {"schema":1,"interval_us":1000,"begin_ns":0,"files":["/p/train.py"],)"
                         R"("places":[[0,3,"main"],[0,9,"loss"]],"stacks":[[0],[1,0]],"samples":[0,0,1,1000,0,1000])" +
                             entry + "}\nmain\n  step 0 0 3000\n");
        const Ended json = run({"lines", path.string(), "--json"});
        EXPECT_EQ(json.status, 0) << json.err;
        return std::pair(Json::parse(json.out, nullptr, false), run({"lines", path.string()}).out);
    };
    const auto [sampled, sampledText] = lines(R"(,"allocated":[0,0,2500000,3,0,0])");
    EXPECT_EQ(sampled["allocations"], "sampled");
    EXPECT_EQ(sampled["lines"][0]["allocations"], (Json{{"bytes", 0}, {"count", 0}}));
    EXPECT_EQ(sampled["lines"][1]["allocations"], (Json{{"bytes", 2'500'000}, {"count", 3}}));
    EXPECT_THAT(sampledText, HasSubstr("2.50 MB (3)"));
    const auto [exact, exactText] = lines(R"(,"exact":[0,812,1])");
    EXPECT_EQ(exact["allocations"], "exact");
    EXPECT_EQ(exact["lines"][0]["allocations"], (Json{{"bytes", 812}, {"count", 1}}));
    EXPECT_THAT(exactText, HasSubstr("812 B (1)"));
    const auto [none, noneText] = lines("");
    EXPECT_EQ(none["allocations"], nullptr);
    EXPECT_EQ(none["lines"][1]["allocations"], nullptr);
    EXPECT_THAT(noneText, testing::Not(HasSubstr("allocated")));
}

TEST(Lines, HaveTheirCodeWhileTheFileIsUnchanged)
{
    constexpr std::string_view kScript = "import torch\n\nfor inputs in loader:\n    loss = train(inputs)\n";
    constexpr const char* kHash = "13aea8027126feae9664da0764133fa88e04411950f14793537261173c8a1aba";
    const Folder folder;
    const std::string script = folder.write("train.py", kScript).string();
    const Json program = {{"schema", 1},
                          {"cwd", std::filesystem::path(script).parent_path().string()},
                          {"script", script},
                          {"files", {{{"path", script}, {"sha256", kHash}, {"lines", 4}}}}};
    const auto path = folder.trace(
        "t.sstrace",
        "meta program " + program.dump() +
            "\nmeta lines {\"schema\":1,\"interval_us\":1000,\"begin_ns\":0,\"files\":[\"" + script +
            R"("],"places":[[0,3,"main"],[0,4,"main"]],"stacks":[[0],[1,0]],"samples":[0,0,1,1000,0,1000]})"
            "\nmain\n  step 0 0 3000\n");
    const Json json = jsonOf(run({"lines", path.string(), "--json"}));
    EXPECT_EQ(json["lines"][0]["code"], "for inputs in loader:");
    EXPECT_EQ(json["lines"][1]["code"], "loss = train(inputs)");
    const std::string text = run({"lines", path.string()}).out;
    EXPECT_THAT(text, HasSubstr("\n  train.py:4 main")) << "relative to the program's folder";
    EXPECT_THAT(text, HasSubstr("  loss = train(inputs)\n"));
    folder.write("train.py", std::string("# edited\n") + std::string(kScript));
    EXPECT_EQ(jsonOf(run({"lines", path.string(), "--json"}))["lines"][1]["code"], nullptr);
}

TEST(Describe, KnowsKnobsAndRulesWithoutATrainer)
{
    const Json json = jsonOf(run({"describe", "--json"}));
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["knobs"].size(), config::knobs().size());
    EXPECT_EQ(json["rules"].size(), advisor::allRules().size());
    EXPECT_THAT(keys(json["knobs"][0]),
                ElementsAre("key", "group", "label", "type", "default", "min", "max", "choices", "unit", "zero", "path",
                            "when_empty", "doc", "where", "needs_gpu", "advanced", "objective", "changes_batches",
                            "batches", "batch_values", "may_change_loss", "comparable_loss", "changes_training_samples",
                            "scales_with_length", "batch_factor", "searches_batch", "of_measurement", "warm_up",
                            "search", "settings", "enabled_if"));
    EXPECT_THAT(keys(json["messages"][0]), ElementsAre("id", "text"));
    const auto hasId = [](const Json& message) { return message["id"] == "toggle.no_configuration"; };
    EXPECT_TRUE(std::any_of(json["messages"].begin(), json["messages"].end(), hasId));
    std::vector<std::string> formats;
    for (const Json& format : json["formats"])
        formats.push_back(format["id"]);
    EXPECT_THAT(formats, testing::IsSupersetOf({"csv", "nsys-sqlite", "perfetto", "pytorch-json", "stepscope"}));
    EXPECT_TRUE(json["workloads"].is_null());
    EXPECT_TRUE(json["trainer"].is_null());
    EXPECT_THAT(json["why_no_trainer"], HasSubstr("/nowhere/stepscope-train"));
}

TEST(Usage, WrongUsageIsStatusTwo)
{
    const Folder folder;
    const std::string config = folder.write("c.json", "{}");
    EXPECT_EQ(run({}).status, 2);
    EXPECT_EQ(run({"dance"}).status, 2);
    EXPECT_EQ(run({"summarize"}).status, 2);
    EXPECT_EQ(run({"summarize", "a", "--jason"}).status, 2);
    EXPECT_EQ(run({"experiment", "--config", config, "--measure", "mood"}).status, 2);
    const Ended knob = run({"train", "--config", config, "--set", "loader.worker=2", "-o", folder / "t.sstrace"});
    EXPECT_EQ(knob.status, 2);
    EXPECT_THAT(onlyLine(knob.err), HasSubstr("loader.workers"));
    EXPECT_EQ(run({"--help"}).status, 0);
}

TEST(Usage, AMissingConfigurationOrTrainerIsBadInput)
{
    const Folder folder;
    const Ended missing = run({"train", "--config", folder / "no.json", "-o", folder / "t.sstrace"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(onlyLine(missing.err), HasSubstr("no.json"));
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"train", "--config", folder.write("c.json", "{}"), "-o", folder / "t.sstrace"},
          std::vector<std::string>{"experiment", "--config", folder / "c.json", "--set", "loader.workers=1"}}) {
        const Ended ended = run(arguments);
        EXPECT_EQ(ended.status, 1);
        EXPECT_THAT(onlyLine(ended.err), HasSubstr("/nowhere/stepscope-train"));
    }
}

} // namespace
} // namespace cli_test
