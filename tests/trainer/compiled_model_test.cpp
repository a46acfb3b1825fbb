#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainer_test;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::string told(const Finished& run)
{
    std::string text;
    for (const protocol::Progress& record : run.records)
        if (const auto* notice = std::get_if<protocol::Notice>(&record))
            text += notice->id + " | " + notice->what + " | " + notice->where + " | " + notice->hint + "\n";
    return text;
}

double validationLoss(const Finished& run)
{
    return run.one<protocol::EpochProgress>().validationLoss;
}

TEST(CompiledModel, ThatCannotBeUsedIsNamedAndTheModelValidates)
{
    const TestFolder folder;
    const fs::path file = folder.path() / "model.pt2";
    std::ofstream(file) << "no package";
    const std::string hash = sha256Of(file);
    const double plain = validationLoss(train(folder.path()));
    const auto expect = [&](const std::vector<std::string>& settings, const std::string& why) {
        const auto run = train(folder.path(), settings);
        EXPECT_EQ(run.ended.status, 0) << run.ended.output;
        EXPECT_THAT(told(run), AllOf(HasSubstr("validation.uncompiled |"), HasSubstr(why)));
        EXPECT_EQ(validationLoss(run), plain);
    };
    expect({"eval.package=" + (folder.path() / "none.pt2").string()}, "No such file");
    expect({"eval.package=" + file.string()}, "set eval.package_sha256=" + hash);
    expect({"eval.package=" + file.string(), "eval.package_sha256=" + std::string(64, '0')}, "another file is trusted");
    expect({"eval.package=" + file.string(), "eval.package_sha256=" + hash}, "this LibTorch cannot load the package");
}

#ifdef PYTHON_WITH_TORCH
// What PyTorch compiles takes a minute: once for all tests.
class CompiledByPython : public testing::Test {
protected:
    static void SetUpTestSuite()
    {
        s_folder = new TestFolder;
        const std::string command =
            std::string(PYTHON_WITH_TORCH) + " " + SCRIPTS + "/compile_model.py " + s_folder->path().string() + " 2>&1";
        ASSERT_EQ(std::system((command + " > " + (s_folder->path() / "output").string()).c_str()), 0);
    }
    static void TearDownTestSuite() { delete s_folder; }

    static Finished trained(const std::string& package, const std::vector<std::string>& more = {})
    {
        const fs::path model = s_folder->path() / "model.pt", file = s_folder->path() / package;
        std::vector<std::string> settings = {"workload=torchscript", "model.path=" + model.string(),
                                             "model.trusted_sha256=" + sha256Of(model), "run.epochs=2",
                                             "capture.ops_every=1"};
        if (!package.empty())
            settings.insert(settings.end(), {"eval.package=" + file.string(), "eval.package_sha256=" + sha256Of(file)});
        settings.insert(settings.end(), more.begin(), more.end());
        return train(s_folder->path(), settings);
    }
    static std::vector<double> validations(const Finished& run)
    {
        std::vector<double> losses;
        for (const protocol::Progress& record : run.records)
            if (const auto* epoch = std::get_if<protocol::EpochProgress>(&record))
                losses.push_back(epoch->validationLoss);
        return losses;
    }
    static TestFolder* s_folder;
};
TestFolder* CompiledByPython::s_folder = nullptr;

TEST_F(CompiledByPython, ValidatesWithTheCurrentWeights)
{
    const auto plain = trained(""), compiled = trained("dynamic.pt2");
    ASSERT_EQ(compiled.ended.status, 0) << compiled.ended.output;
    EXPECT_THAT(told(compiled), HasSubstr("validation.compiled |"));
    const auto a = validations(plain), b = validations(compiled);
    ASSERT_EQ(a.size(), 2u);
    ASSERT_EQ(b.size(), 2u);
    EXPECT_NE(a[0], a[1]) << "weights changed in between";
    for (std::size_t i = 0; i < 2; ++i)
        EXPECT_NEAR(b[i], a[i], 1e-5);
}

TEST_F(CompiledByPython, ABatchThatItRejectsRunsInTheModel)
{
    // Compiled for batches of 16: the last one of twenty samples has 4.
    const auto plain = trained(""), last = trained("fixed.pt2");
    ASSERT_EQ(last.ended.status, 0) << last.ended.output;
    EXPECT_THAT(told(last), HasSubstr("validation.batch_refused |"));
    EXPECT_NEAR(validationLoss(last), validationLoss(plain), 1e-5);
    const auto never = trained("fixed.pt2", {"batch.size=8"});
    EXPECT_EQ(never.ended.status, 0) << never.ended.output;
    EXPECT_THAT(told(never), AllOf(HasSubstr("does not accept inputs of shape [8, 3, 16, 16]"),
                                   HasSubstr("dynamic first dimension")));
}

TEST_F(CompiledByPython, WeightsWrittenIntoItsCodeAreRefused)
{
    const auto run = trained("written.pt2");
    EXPECT_EQ(run.ended.status, 0) << run.ended.output;
    EXPECT_THAT(told(run), AllOf(HasSubstr("the values of 'layers.3.bias' are compiled into its code"),
                                 HasSubstr("always_keep_tensor_constants")));
}

TEST_F(CompiledByPython, OfAnotherModelIsNotUsed)
{
    const fs::path package = s_folder->path() / "dynamic.pt2";
    const auto run =
        train(s_folder->path(), {"eval.package=" + package.string(), "eval.package_sha256=" + sha256Of(package)});
    EXPECT_EQ(run.ended.status, 0) << run.ended.output;
    EXPECT_THAT(told(run), HasSubstr("it belongs to another model: it has no weight '"));
}
#endif

} // namespace
