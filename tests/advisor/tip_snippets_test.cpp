// Compiles the C++ code of every tip against the LibTorch with which the trainer is built.
#include "advisor/tips.h"
#include "advisor_tips.h"
#include "tests/advisor/compiled_snippets.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace advisor_test {
namespace {

/// Declarations that all snippets need.
std::string training()
{
    std::ifstream file(SNIPPET_TRAINING);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Declarations that single snippets need in addition.
const std::map<std::string, std::string> kGiven = {
    {"augment.device", "torch::Tensor batch"},
    {"batch.find_max", "void (*trainStep)(std::int64_t size)"},
    {"checkpointing", "torch::nn::AnyModule block"},
    {"comm.buckets",
     "std::vector<torch::Tensor> flattenedGradients, c10::intrusive_ptr<c10d::ProcessGroup> processGroup"},
    {"comm.exposed", "std::vector<bool> expectSparse"},
    {"data.normalize", "torch::data::datasets::MNIST images"},
    {"debug.gradcheck", "torch::Tensor (*f)(torch::Tensor)"},
    {"debug.gradgradcheck", "torch::Tensor (*f)(torch::Tensor)"},
    {"host.bound",
     "std::vector<torch::Tensor> means, std::vector<torch::Tensor> variances, std::vector<torch::Tensor> steps"},
    {"optimizer.fused", "std::vector<torch::Tensor> momentumBuffers"},
    {"parallel.kind", "std::vector<bool> expectSparse, c10::intrusive_ptr<c10d::ProcessGroup> processGroup"},
    {"tensors.create_on_device", "std::int64_t batch, std::int64_t length"},
    {"tensors.share_memory", "std::shared_ptr<std::vector<float>> buffer"},
};

std::vector<Snippet> snippets()
{
    std::vector<Snippet> all;
    for (const advisor::EmbeddedTip& tip : advisor::embeddedTips()) {
        Snippet snippet;
        snippet.key = tip.key;
        snippet.code = advisor::tipCode(tip.key, advisor::tip_section::kLibTorch);
        const auto begin = tip.text.find(snippet.code);
        snippet.line = 1 + static_cast<int>(std::count(tip.text.begin(),
                                                       tip.text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
        if (const auto given = kGiven.find(snippet.key); given != kGiven.end())
            snippet.given = given->second;
        snippet.isFunction = snippet.key == "eval.no_grad";
        all.push_back(std::move(snippet));
    }
    return all;
}

TEST(TipSnippets, EveryTipsLibTorchCompiles)
{
    const std::vector<Snippet> all = snippets();
    ASSERT_GE(all.size(), 30U);
    ASSERT_NE(training(), "") << SNIPPET_TRAINING;
    for (const Snippet& snippet : all)
        EXPECT_FALSE(snippet.code.empty()) << snippet.key << " has no C++";
    for (const auto& [key, given] : kGiven)
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Snippet& s) { return s.key == key; })) << key;
    const Compiled compiled = compile(SNIPPET_COMPILER, sourceOf(training(), all));
    for (const auto& [key, error] : compiled.errors)
        ADD_FAILURE() << "The C++ of the tip " << key << " does not compile: " << error;
    if (compiled.errors.empty()) {
        EXPECT_TRUE(compiled.works) << compiled.output;
    }
}

TEST(TipSnippets, AWrongOneIsNamedWithItsLine)
{
    const std::vector<Snippet> some = {
        {"right.one", "#include <vector>\nstd::vector<int> v{step};", 7, "int step", false},
        {"wrong.one", "int a = 1;\na.step();", 12, "", false},
        {"a.function", "int g()\n{\n    return 1;\n}", 3, "", true}};
    const Compiled compiled = compile(SNIPPET_COMPILER, sourceOf("", some));
    EXPECT_FALSE(compiled.works);
    ASSERT_EQ(compiled.errors.size(), 1U) << compiled.output;
    EXPECT_EQ(compiled.errors[0].first, "wrong.one");
    EXPECT_THAT(compiled.errors[0].second, testing::StartsWith("wrong.one.md:13:"));
}

} // namespace
} // namespace advisor_test
