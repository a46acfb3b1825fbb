// The advisor's reading of a recorded Python program: the facts that its hooks wrote, the verdicts that follow from
// them, and the sampled lines.

#include "advisor/evidence/program_facts.h"
#include "advisor/evidence/source_lines.h"
#include "advisor/rule.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <string>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::ProgramDocument;
using advisor::SourceLine;
using advisor::State;
using test_support::traceFromText;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kDocument =
    R"({"schema":1,"script":"/p/train.py","module":null,"cwd":"/p","python":"3.11.7","torch":"2.11.0","argv":["python","train.py"],)"
    R"("objects":[)"
    R"({"id":"loader:0","kind":"loader","class":"torch.utils.data.DataLoader","framework":null,"role":"training","count":40,)"
    R"("site":{"file":"/p/train.py","line":10,"column":11,"end_line":14,"end_column":5,"function":"main"},"chain":[],)"
    R"("settings":{"batch_size":{"value":4,"given":true,"argument":"batch_size"},"num_workers":{"value":0,"given":false,"argument":null,)"
    R"("configuration":{"file":"/p/conf.yaml","line":3,"column":11,"end_column":12,"key":"data.workers"}}}},)"
    R"({"id":"loader:1","kind":"loader","class":"torch.utils.data.DataLoader","role":"validation","count":9000,"settings":{}},)"
    R"({"id":"optimizer:0","kind":"optimizer","class":"torch.optim.Adam","count":40,)"
    R"("site":{"file":"/p/train.py","line":20,"column":0,"end_line":20,"end_column":40,"function":"main"},)"
    R"("settings":{"lr":{"value":0.001,"given":true},"weight_decay":{"value":0.1,"given":true}},"groups":[{"weight_decay":0.1}]},)"
    R"({"id":"validation:0","kind":"validation","class":"Net","count":2,"grad":true,"time_us":5000,)"
    R"("site":{"file":"/p/train.py","line":44,"column":8,"end_line":44,"end_column":20,"function":"validate"},"settings":{}},)"
    R"({"id":"zero_grad:0","kind":"zero_grad","class":"Optimizer.zero_grad","count":40,"settings":{}}],)"
    R"("modules":[{"model":"model:0","name":"conv","class":"torch.nn.Conv2d","parameters":10,"dtype":"float32","bias":true,"requires_grad":true,"memory_format":"contiguous"},)"
    R"({"model":"model:0","name":"bn","class":"torch.nn.BatchNorm2d","parameters":4,"dtype":"float32"}],)"
    R"("conv_bn":[{"conv":"conv","bn":"bn","bias":true,"site":{"file":"/p/train.py","line":7,"end_line":7,"column":4,"end_column":9}}],)"
    R"("attention":[],"forward_order":true,"loss":{"count":40,"nan":0,"inf":0},"precision":{"autocast":null,"input_mean":0.01,"input_std":1.0,"input_dtype":"float32"},)"
    R"("memory":{"host_total":16000000000,"host_peak":1000000000}})";

std::string run(std::string_view document, std::string_view more = {})
{
    return "meta program " + std::string(document) + "\n" + std::string(more) +
           "\nrepeat 12 every 1000\n  main\n    step 0 0 1000\n    phase forward 0 500\n    op aten::conv2d 0 400\n"
           "    phase backward 500 300\nend\n";
}

std::map<std::string, Advice> advised(std::string_view document)
{
    std::map<std::string, Advice> found;
    for (auto& row : advisor::advise(*traceFromText(run(document)), nullptr))
        found.emplace(row.id, std::move(row.advice));
    return found;
}

} // namespace

TEST(ProgramFacts, HaveObjectsWithTheirPlacesAndSettings)
{
    const ProgramDocument read = advisor::readProgram(kDocument);
    ASSERT_TRUE(read.facts) << read.problem;
    const advisor::ProgramObject* loader = read.facts->trainingLoader();
    ASSERT_TRUE(loader);
    EXPECT_EQ(loader->id, "loader:0") << "not the one with the most requests";
    ASSERT_TRUE(loader->site);
    EXPECT_EQ(loader->site->line, 10);
    EXPECT_EQ(loader->site->endLine, 14);
    EXPECT_EQ(loader->site->what, "DataLoader (training)");
    EXPECT_EQ(loader->setting("batch_size")->argument, "batch_size");
    EXPECT_FALSE(loader->setting("batch_size")->configuration);
    ASSERT_TRUE(loader->setting("num_workers")->configuration);
    EXPECT_EQ(loader->setting("num_workers")->configuration->line, 3);
    EXPECT_EQ(loader->setting("num_workers")->configuration->what, "data.workers");
    EXPECT_EQ(loader->number("num_workers"), 0);
    EXPECT_FALSE(loader->setting("num_workers")->given);
    EXPECT_EQ(loader->number("batch_size"), 4);
    EXPECT_EQ(read.facts->mainOptimizer()->shortName(), "Adam");
    EXPECT_EQ(read.facts->modules.size(), 2U);
    EXPECT_TRUE(read.facts->convolutionsBeforeNorm.at(0).bias);
}

TEST(ProgramVerdicts, AnOptimizerGetsAnImplementationThatItsClassHas)
{
    const auto adviceFor = [](const std::string& optimizer) {
        std::string document(kDocument);
        document.replace(document.find("torch.optim.Adam\""), 17, "torch.optim." + optimizer + '"');
        std::string steps =
            "meta program " + document +
            "\nmeta host.cpu some processor\nrepeat 12 every 1000\n  main\n"
            "    step 0 0 1000\n    phase forward 0 400\n    op aten::conv2d 0 400\n    phase optimizer 500 400\n";
        for (int i = 0; i < 100; ++i)
            steps += "    op aten::mul_ " + std::to_string(500 + 4 * i) + " 3\n";
        for (auto& row : advisor::advise(*traceFromText(steps + "end\n"), nullptr))
            if (row.id == "optimizer.fused")
                return row.advice;
        return Advice();
    };
    const Advice adamw = adviceFor("AdamW"), prop = adviceFor("RMSprop"), lbfgs = adviceFor("LBFGS");
    ASSERT_TRUE(adamw.proposed) << adamw.reason;
    EXPECT_EQ(adamw.proposed->to, "fused");
    ASSERT_TRUE(prop.proposed) << prop.reason;
    EXPECT_EQ(prop.proposed->to, "foreach");
    EXPECT_THAT(prop.caveats, ElementsAre(test_support::HasId("program.optimizer.foreach_only")));
    EXPECT_EQ(lbfgs.state, State::Silent);
    EXPECT_THAT(lbfgs.reason, test_support::HasId("program.optimizer.plain_only"));
}

TEST(ProgramVerdicts, ADebugToolConcernsThePassesThatItSlowsDown)
{
    std::string document(kDocument);
    document.insert(
        document.find(R"({"id":"zero_grad:0")"),
        R"({"id":"anomaly:0","kind":"anomaly","class":"torch.autograd.set_detect_anomaly","count":1,"mode":true},)");
    std::string steps = run(document, "meta host.cpu some processor\n");
    steps.replace(steps.find("aten::conv2d"), 12, "aten::linear"); // memory_format would claim the time of convolutions
    for (const auto& row : advisor::advise(*traceFromText(steps), nullptr))
        if (row.id == "debug.anomaly") {
            EXPECT_EQ(row.advice.state, State::Fires) << row.advice.reason;
            EXPECT_NEAR(row.advice.timeShare, 0.8, 1e-6);
        }
}

TEST(ProgramVerdicts, WithoutOperatorsTheSettingsShowWhetherAnOptimizerLoops)
{
    const auto adviceFor = [](int optimizerUs, const std::string& settings, const std::string& device) {
        std::string document(kDocument);
        const std::string rate = R"("lr":{"value":0.001,"given":true})";
        document.replace(document.find(rate), rate.size(), rate + settings);
        const std::string steps = "meta program " + document +
                                  "\nmeta host.cpu some processor\nrepeat 12 every 1000\n  main\n"
                                  "    step 0 0 1000\n    phase forward 0 400\n    phase optimizer 500 " +
                                  std::to_string(optimizerUs) + "\nend\n" + device;
        for (auto& row : advisor::advise(*traceFromText(steps), nullptr))
            if (row.id == "optimizer.fused")
                return row.advice;
        return Advice();
    };
    const Advice loops = adviceFor(300, "", "");
    EXPECT_THAT(loops.reason, test_support::HasId("program.optimizer.loops"));
    ASSERT_TRUE(loops.proposed);
    EXPECT_EQ(loops.proposed->key, "optimizer.implementation");
    EXPECT_EQ(loops.proposed->to, "fused");
    EXPECT_THAT(adviceFor(49, "", "").reason, test_support::HasId("program.optimizer.short"));
    EXPECT_THAT(adviceFor(300, R"(,"fused":{"value":true,"given":true})", "").reason,
                test_support::HasId("program.optimizer.fused_on"));
    EXPECT_EQ(adviceFor(300, "", "device 0 gpu\nstream 0 7\nkernel k 0 990\n").state, State::CannotTell)
        << "on a GPU, PyTorch's default is foreach";
}

TEST(ProgramFacts, ADocumentThatIsTruncatedAnywhereIsIgnored)
{
    for (std::size_t length = 0; length < kDocument.size(); length += 7) {
        const ProgramDocument read = advisor::readProgram(kDocument.substr(0, length));
        EXPECT_FALSE(read.facts);
        EXPECT_EQ(read.problem.id, "program.unreadable");
    }
}

TEST(ProgramFacts, ValuesOfAnotherTypeAreIgnored)
{
    const ProgramDocument read = advisor::readProgram(
        R"({"schema":1,"script":7,"objects":[1,{"kind":["loader"],"site":"x","settings":[],"count":-5},)"
        R"({"kind":"loader","count":1e300,"site":{"file":"f","line":-3},"settings":{"a":3,"b":{"value":{"c":[]},"given":"yes"}}}],)"
        R"("modules":{"name":1},"conv_bn":[{}],"precision":[],"loss":null,"argv":[1,"x"]})");
    ASSERT_TRUE(read.facts) << read.problem;
    EXPECT_EQ(read.facts->script, "");
    ASSERT_EQ(read.facts->objects.size(), 2U);
    EXPECT_EQ(read.facts->objects[0].count, 0);
    EXPECT_FALSE(read.facts->objects[1].site);
    EXPECT_EQ(read.facts->objects[1].settings.size(), 1U);
    EXPECT_FALSE(read.facts->objects[1].settings[0].given);
    EXPECT_THAT(read.facts->command, ElementsAre("x"));
    EXPECT_TRUE(read.facts->precisionOf("autocast").is_null());
}

TEST(ProgramFacts, HostileDocumentsAreIgnored)
{
    const std::string deep = R"({"schema":1,"objects":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
    EXPECT_EQ(advisor::readProgram(deep).problem.id, "program.unreadable");
    EXPECT_EQ(advisor::readProgram(std::string(9u << 20, ' ')).problem.id, "program.too_large");
    EXPECT_EQ(advisor::readProgram("{\"schema\":1,\"script\":\"\xff\"}").problem.id, "program.unreadable");
    EXPECT_EQ(advisor::readProgram(R"({"schema":2})").problem.id, "program.other_version");
    const ProgramDocument none = advisor::programOf(*traceFromText("main\n  step 0 0 10\n"));
    EXPECT_FALSE(none.facts);
    EXPECT_TRUE(none.problem.empty());
}

TEST(ProgramVerdicts, FindingsNameTheLinesThatTheyConcern)
{
    const auto advice = advised(kDocument);
    const auto lineOf = [&](const char* rule) {
        const auto& source = advice.at(rule).source;
        return source.empty() ? 0 : source.front().line;
    };
    EXPECT_EQ(advice.at("eval.no_grad").state, State::Fires);
    EXPECT_EQ(lineOf("eval.no_grad"), 44);
    EXPECT_EQ(advice.at("model.conv_bias").state, State::Fires);
    EXPECT_EQ(lineOf("model.conv_bias"), 7);
    EXPECT_EQ(advice.at("optimizer.kind").state, State::Fires) << "Adam with weight decay";
    EXPECT_EQ(lineOf("optimizer.kind"), 20);
    EXPECT_EQ(advice.at("model.norm").state, State::Fires) << "batch norm over four samples";
    EXPECT_EQ(lineOf("loader.workers"), advice.at("loader.workers").state == State::CannotTell ? 0 : 10);
    EXPECT_EQ(advice.at("data.normalize").state, State::Silent);
    EXPECT_EQ(advice.at("debug.gradcheck").state, State::Silent);
    EXPECT_EQ(advice.at("gradient.clip_norm").state, State::Silent) << "the loss stayed finite";
    EXPECT_EQ(advice.at("memory.pressure").state, State::Silent);
}

TEST(ProgramVerdicts, OtherSettingsGiveOtherVerdicts)
{
    std::string document(kDocument);
    const auto replace = [&](std::string_view what, std::string_view by) {
        const auto at = document.find(what);
        ASSERT_NE(at, std::string::npos) << what;
        document.replace(at, what.size(), by);
    };
    replace("torch.optim.Adam", "torch.optim.AdamW");
    replace(R"("grad":true)", R"("grad":false)");
    replace(R"("input_mean":0.01)", R"("input_mean":128.0)");
    replace(R"("nan":0)", R"("nan":3)");
    replace(R"("host_peak":1000000000)", R"("host_peak":15900000000)");
    replace(R"("bias":true,"site")", R"("bias":false,"site")");
    const auto advice = advised(document);
    EXPECT_EQ(advice.at("optimizer.kind").state, State::Silent);
    EXPECT_EQ(advice.at("eval.no_grad").state, State::Silent);
    EXPECT_EQ(advice.at("data.normalize").state, State::Fires);
    EXPECT_EQ(advice.at("gradient.clip_norm").state, State::Fires);
    EXPECT_EQ(advice.at("memory.pressure").state, State::CannotTell);
    EXPECT_EQ(advice.at("model.conv_bias").state, State::Silent);
    EXPECT_THAT(advice.at("memory.pressure").source, IsEmpty());
}

// pytorch/examples word_language_model updates its parameters in a loop and cuts its batches out of one tensor.
TEST(ProgramVerdicts, AProgramWithoutOptimizerAndLoaderHasNothingToChangeThere)
{
    const auto advice =
        advised(R"({"schema":1,"script":"/p/train.py","cwd":"/p","argv":["python","train.py"],"objects":[],)"
                R"("loss":{"count":40,"nan":0,"inf":0}})");
    for (const char* key :
         {"optimizer.fused", "optimizer.kind", "optimizer.lr_scaling", "optimizer.weight_decay", "schedule.kind"}) {
        EXPECT_EQ(advice.at(key).state, State::Silent) << key;
        EXPECT_THAT(advice.at(key).reason, profiler::test::hasId("program.optimizer.none")) << key;
    }
    for (const char* key : {"loader.persistent_workers", "loader.prefetch_factor"})
        EXPECT_EQ(advice.at(key).state, State::Silent) << key;
    // Before the first backward pass nothing shows how the program trains.
    const auto early =
        advised(R"({"schema":1,"script":"/p/train.py","cwd":"/p","argv":["python","train.py"],"objects":[]})");
    EXPECT_EQ(early.at("optimizer.kind").state, State::CannotTell);
}

TEST(ProgramVerdicts, GradientsThatNoOptimizerUsesAreRedundantWork)
{
    const auto verdict = [](std::string_view fields, bool ofInput = false) {
        std::string document(kDocument);
        document.insert(
            document.find(R"({"id":"zero_grad:0")"),
            R"({"id":"model:0","kind":"model","class":"Net","count":40,"trainable":100,"settings":{},)"
            R"("site":{"file":"/p/train.py","line":17,"column":0,"end_line":17,"end_column":9,"function":"main"})" +
                std::string(fields) + "},");
        if (ofInput)
            document.insert(document.find(R"("input_mean")"), R"("input_requires_grad":true,)");
        return advised(document).at("work.unused");
    };
    EXPECT_EQ(verdict("").state, State::CannotTell) << "recorded by an older version";
    EXPECT_EQ(verdict(R"(,"unused_gradients":0,"unused_gradients_in":[])").reason.id, "program.gradients.used");
    const Advice unused = verdict(R"(,"unused_gradients":60,"unused_gradients_in":["backbone.0"])");
    EXPECT_EQ(unused.state, State::Fires);
    EXPECT_EQ(unused.reason.id, "program.gradients.unused");
    ASSERT_THAT(unused.source, testing::SizeIs(1));
    EXPECT_EQ(unused.source.front().line, 17);
    EXPECT_EQ(verdict(R"(,"unused_gradients":0,"unused_gradients_in":[])", true).reason.id,
              "program.gradients.of_inputs");
}

TEST(ProgramVerdicts, CopiesDuringDataPreparationAreJudgedByTheirTime)
{
    const auto verdict = [](std::string_view ops) {
        const std::string text = "meta program " + std::string(kDocument) +
                                 "\nrepeat 12 every 1000\n  main\n    step 0 0 1000\n    phase \"data wait\" 0 400\n" +
                                 std::string(ops) + "    phase forward 400 500\n    op aten::clone 500 90\nend\n";
        for (auto& row : advisor::advise(*traceFromText(text), nullptr))
            if (row.id == "tensors.share_memory")
                return row.advice;
        return Advice();
    };
    EXPECT_EQ(verdict("    op aten::stack 0 300\n").reason.id, "program.sharing.short");
    EXPECT_EQ(verdict("    op aten::clone 0 5\n    op aten::copy_ 1 4\n").reason.id, "program.sharing.short");
    const Advice cloned = verdict("    op aten::clone 0 100\n    op aten::copy_ 1 98\n");
    EXPECT_EQ(cloned.state, State::Fires);
    EXPECT_EQ(cloned.reason.id, "program.sharing.cloned");
    // Another layout requires a copy.
    const Advice layout = verdict("    op aten::contiguous 0 100\n    op aten::clone 1 98\n    op aten::copy_ 2 96\n");
    EXPECT_EQ(layout.reason.id, "program.sharing.other_copies");
    EXPECT_EQ(layout.need.id, "need.measurement");
}

TEST(ProgramVerdicts, ATraceWithoutFactsKeepsTheVerdictsOfTheRules)
{
    for (const auto& row : advisor::advise(*traceFromText(run("not a document")), nullptr)) {
        EXPECT_THAT(row.advice.source, IsEmpty());
        EXPECT_THAT(row.advice.reason.id, Not(testing::StartsWith("program.")));
    }
}

namespace {

constexpr std::string_view kLines =
    R"(meta lines {"schema":1,"interval_us":1000,"begin_ns":1000000,"files":["/p/train.py"],)"
    R"("places":[[0,3,"main"],[0,9,"loss"],[0,12,"load"]],"stacks":[[1,0],[2,0],[1,1,0]],)"
    R"("samples":[0,0,0,1000,1,1000,-1,1000,2,1000,0,1000],"cost_us":12})";

} // namespace

TEST(SourceLines, HaveTheTimeUntilTheNextSample)
{
    const auto found = advisor::sourceLines(
        *traceFromText(std::string(kLines) + "\nmain\n  step 0 0 9000\n  phase \"data wait\" 2500 1000\n"));
    ASSERT_TRUE(found.problem.empty()) << found.problem;
    EXPECT_EQ(found.samples, 6);
    EXPECT_DOUBLE_EQ(found.sampledUs, 6000);
    EXPECT_DOUBLE_EQ(found.outsideUs, 1000);
    ASSERT_EQ(found.lines.size(), 3U);
    EXPECT_EQ(found.lines[0].line, 3);
    EXPECT_DOUBLE_EQ(found.lines[0].totalUs, 5000);
    EXPECT_DOUBLE_EQ(found.lines[0].selfUs, 0);
    EXPECT_EQ(found.lines[1].line, 9);
    EXPECT_DOUBLE_EQ(found.lines[1].totalUs, 4000) << "a function that calls itself counts once";
    EXPECT_EQ(found.lines[2].line, 12);
    EXPECT_DOUBLE_EQ(found.lines[2].waitUs, 1000);
    EXPECT_FALSE(found.lines[0].deviceUs) << "no device worked";
}

TEST(SourceLines, HaveTheDeviceTimeOfWhatTheyLaunched)
{
    const auto found = advisor::sourceLines(*traceFromText(
        std::string(kLines) + "\ndevice 0 GPU\nmain\n  step 0 0 9000\n  call cudaLaunchKernel 1500 10 corr=1\n"
                              "  call cudaLaunchKernel 3500 10 corr=2\nstream 0 7\n  kernel k 6000 70 corr=1\n"
                              "  kernel k 7000 30 corr=2\n"));
    ASSERT_EQ(found.lines.size(), 3U);
    EXPECT_EQ(found.lines[1].line, 9);
    EXPECT_DOUBLE_EQ(found.lines[1].deviceUs.value_or(-1), 70);
    EXPECT_DOUBLE_EQ(found.lines[2].deviceUs.value_or(-1), 30);
}

TEST(SourceLines, KnowWhenTheyRanAndWhichSlicesAreTheirs)
{
    using namespace std::chrono_literals;
    const auto trace = traceFromText(std::string(kLines) +
                                     "\ndevice 0 GPU\nmain\n  step 0 0 9000\n  call cudaLaunchKernel 1500 10 corr=1\n"
                                     "  call cudaLaunchKernel 3500 10 corr=2\nstream 0 7\n  kernel k 6000 70 corr=1\n"
                                     "  kernel k 7000 30 corr=2\n  kernel k 8000 30 corr=3\n");
    const advisor::SourceTimes times(*trace);
    const auto at = [](std::chrono::nanoseconds begin, std::chrono::nanoseconds end) {
        return profiler::TimeRange{profiler::TraceTime(begin), profiler::TraceTime(end)};
    };
    EXPECT_THAT(times.rangesOf("/p/train.py", 9), testing::ElementsAre(at(1ms, 3ms), at(5ms, 7ms)));
    EXPECT_THAT(times.rangesOf("/p/train.py", 3), testing::ElementsAre(at(1ms, 4ms), at(5ms, 7ms)));
    EXPECT_THAT(times.rangesOf("/p/other.py", 3), IsEmpty());
    std::vector<int> lines;
    for (const profiler::Slice& kernel : trace->ofKind(profiler::ActivityKind::Kernel)) {
        const auto place = times.placeOf(kernel);
        lines.push_back(place ? place->line : 0);
    }
    EXPECT_THAT(lines, testing::ElementsAre(9, 12, 0)) << "where they were launched; the last has no launch";
}

namespace {

/// The nodes of a tree, in preorder: depth, name, total and self time in µs, number of calls.
std::vector<std::string> nodesOf(const profiler::analysis::CallTree& tree)
{
    std::vector<std::string> texts;
    std::vector<int> depths(tree.nodes.size());
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const profiler::analysis::CallNode& node = tree.nodes[i];
        depths[i] = node.parent == 0 ? 0 : depths[node.parent] + 1;
        texts.push_back(std::to_string(depths[i]) + ' ' + std::string(tree.name(node)) + ' ' +
                        std::to_string(node.total.count() / 1000) + ' ' + std::to_string(node.self.count() / 1000) +
                        ' ' + std::to_string(node.calls));
    }
    return texts;
}

} // namespace

TEST(SampledCalls, AreTheStacksOfTheUsersLines)
{
    using namespace std::chrono_literals;
    const auto trace = traceFromText(std::string(kLines) + "\nmain\n  step 0 0 4500\n  step 1 4500 4500\n");
    profiler::analysis::CallTreeOptions options{.by = profiler::analysis::CallGrouping::Python};
    ASSERT_TRUE(advisor::hasCallsOrSamples(*trace, options.by));
    const auto all = advisor::callsOrSamples(*trace, options);
    EXPECT_EQ(all.sampledEvery, 1ms);
    EXPECT_THAT(nodesOf(all), ElementsAre("0 /p/train.py(3): main 5000 0 0", "1 /p/train.py(9): loss 4000 3000 0",
                                          "2 /p/train.py(9): loss 1000 1000 0", "1 /p/train.py(12): load 1000 1000 0",
                                          "0 outside of the program's files 1000 1000 0"));
    options.scope.window = {{profiler::TraceTime(3500us), profiler::TraceTime(4500us)}};
    EXPECT_THAT(nodesOf(advisor::callsOrSamples(*trace, options)),
                ElementsAre("0 /p/train.py(3): main 500 0 0", "1 /p/train.py(12): load 500 500 0",
                            "0 outside of the program's files 500 500 0"));
    options.by = profiler::analysis::CallGrouping::Operator;
    EXPECT_EQ(advisor::callsOrSamples(*trace, options).sampledEvery, 0ns) << "the others are recorded";
}

TEST(SampledCalls, HaveTheDeviceWorkThatTheirLinesLaunched)
{
    const auto trace = traceFromText(std::string(kLines) +
                                     "\ndevice 0 GPU\nmain\n  step 0 0 9000\n  call cudaLaunchKernel 1500 10 corr=1\n"
                                     "  call cudaLaunchKernel 3500 10 corr=2\n  call cudaLaunchKernel 8500 10 corr=3\n"
                                     "stream 0 7\n  kernel k 6000 70 corr=1\n  kernel k 7000 30 corr=2\n"
                                     "  kernel late 8600 20 corr=3\n");
    profiler::analysis::CallTreeOptions options{.by = profiler::analysis::CallGrouping::Python,
                                                .time = profiler::analysis::CallTime::Device};
    EXPECT_THAT(nodesOf(advisor::callsOrSamples(*trace, options)),
                ElementsAre("0 /p/train.py(3): main 100 0 0", "1 /p/train.py(9): loss 70 0 0", "2 k 70 70 1",
                            "1 /p/train.py(12): load 30 0 0", "2 k 30 30 1", "0 launch not recorded 20 0 0",
                            "1 late 20 20 1"));
    options.scope.window = {
        {profiler::TraceTime(std::chrono::milliseconds(3)), profiler::TraceTime(std::chrono::milliseconds(4))}};
    EXPECT_THAT(nodesOf(advisor::callsOrSamples(*trace, options)),
                ElementsAre("0 /p/train.py(3): main 30 0 0", "1 /p/train.py(12): load 30 0 0", "2 k 30 30 1"));
}

TEST(SampledCalls, GiveWayToRecordedPythonFunctions)
{
    const auto trace = traceFromText(std::string(kLines) + "\nmain\n  other \"train.py(1): main\" 0 9000\n");
    const auto tree = advisor::callsOrSamples(*trace, {.by = profiler::analysis::CallGrouping::Python});
    EXPECT_THAT(nodesOf(tree), ElementsAre("0 train.py(1): main 9000 9000 1"));
    EXPECT_FALSE(
        advisor::hasCallsOrSamples(*traceFromText("main\n op a 0 1\n"), profiler::analysis::CallGrouping::Python));
}

namespace {

/// kLines with more entries at its end.
advisor::SourceLines linesWith(std::string_view entries)
{
    const std::string_view document = kLines.substr(kLines.find('{'));
    profiler::TraceBuilder builder;
    builder.setMetadata("lines", std::string(document.substr(0, document.size() - 1)) + std::string(entries) + "}");
    return advisor::sourceLines(*builder.finish());
}

/// "line: bytes in count", in the order of the lines in the file.
std::vector<std::string> allocations(const advisor::SourceLines& found)
{
    std::vector<std::string> texts;
    for (const advisor::SourceLine& line : found.lines)
        texts.push_back(std::to_string(line.line) + ": " +
                        (line.allocations ? std::to_string(line.allocations->bytes) + " in " +
                                                std::to_string(line.allocations->count)
                                          : "-"));
    std::ranges::sort(texts);
    return texts;
}

} // namespace

TEST(SourceLines, HaveWhatWasAllocatedSinceThePreviousSample)
{
    const auto found = linesWith(R"(,"allocated":[1,1,20,2,300,3,4000,4,50000,5,600000,6])");
    EXPECT_EQ(found.allocations, advisor::AllocationSource::Sampled);
    // The samples: lines 9, 9, 12, outside of the files, 9, 9.
    EXPECT_THAT(allocations(found), testing::ElementsAre("12: 300 in 3", "3: 0 in 0", "9: 650021 in 14"));
}

TEST(SourceLines, HaveTheirExactAllocationsEvenIfTheyWereNotSampled)
{
    const auto found = linesWith(R"(,"places":[[0,3,"main"],[0,9,"loss"],[0,12,"load"],[0,15,"make"]],)"
                                 R"("exact":[1,4096,2,3,100,1,1,4,1],"allocated":[9,9])");
    EXPECT_EQ(found.allocations, advisor::AllocationSource::Exact);
    EXPECT_THAT(allocations(found), testing::ElementsAre("12: 0 in 0", "15: 100 in 1", "3: 0 in 0", "9: 4100 in 3"));
    EXPECT_EQ(found.lines.back().line, 15) << "it has no time";
}

TEST(SourceLines, OfATraceWithoutAllocationsHaveNone)
{
    const auto found = linesWith("");
    EXPECT_EQ(found.allocations, advisor::AllocationSource::NotRecorded);
    EXPECT_THAT(allocations(found), testing::ElementsAre("12: -", "3: -", "9: -"));
}

TEST(SourceLines, DamagedAllocationsAreNotShown)
{
    for (const std::string_view entries :
         {R"(,"allocated":[1,1])", R"(,"allocated":{})", R"(,"allocated":[0,0,0,0,0,0,0,0,0,0,0,-1])",
          R"(,"allocated":[0,0,0,0,0,0,0,0,0,0,"x",1])", R"(,"allocated":[0,0,0,0,0,0,0,0,0,0,1e300,1])",
          R"(,"allocated":[0,0,0,0,0,0,0,0,0,0,18446744073709551615,1])", R"(,"exact":7)", R"(,"exact":[1,2])",
          R"(,"exact":[3,1,1])", R"(,"exact":[-1,1,1])", R"(,"exact":[[1],1,1])", R"(,"exact":[1,-5,1])"})
        EXPECT_EQ(linesWith(entries).problem.id, "lines.unreadable") << entries;
    const std::string most = "1,9007199254740992,9007199254740992";
    std::string many = most;
    for (int i = 0; i < 3000; ++i)
        many += ',' + most;
    const auto found = linesWith(R"(,"exact":[)" + many + "]");
    ASSERT_EQ(found.problem.id, "");
    for (const auto& line : found.lines)
        EXPECT_GE(line.allocations.value().bytes, 0) << "the sum does not overflow";
}

TEST(SourceLines, DamagedOnesAreIgnored)
{
    const auto problem = [](std::string_view document) {
        profiler::TraceBuilder builder; // the text form of a trace supports no open quotes
        builder.setMetadata("lines", std::string(document));
        return advisor::sourceLines(*builder.finish()).problem.id;
    };
    EXPECT_EQ(problem(""), "lines.not_recorded");
    const std::string_view document = kLines.substr(kLines.find('{'));
    EXPECT_EQ(problem(document), "");
    for (std::size_t length = 1; length < document.size(); length += 5)
        EXPECT_EQ(problem(document.substr(0, length)), "lines.unreadable");
    EXPECT_EQ(problem(R"({"begin_ns":5,"samples":[0,0,"x",9]})"), "lines.unreadable");
    EXPECT_EQ(problem(R"({"begin_ns":5,"places":[[9,9,9]],"stacks":[[0,7]],"samples":[5,0,0,9]})"), "")
        << "a place without a file, and a stack without a place";
}

} // namespace advisor_test
