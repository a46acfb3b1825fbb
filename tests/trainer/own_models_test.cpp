#include "tests/trainer/script_files.h"
#include "tests/trainer/trainer_run.h"
#include "trainer/workloads/parts/script_trace.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainer_test;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class OwnModel : public testing::Test {
protected:
    Finished trainWith(const std::string& workload, const fs::path& model, const std::vector<std::string>& more = {})
    {
        std::vector<std::string> settings = {"workload=" + workload,
                                             "model.path=" + model.string(),
                                             "dataset.kind=csv",
                                             "dataset.path=",
                                             "model.trusted_sha256=" + sha256Of(model),
                                             "run.steps=20"};
        settings.insert(settings.end(), more.begin(), more.end());
        return train(m_folder.path(), settings);
    }
    static std::string failure(const Finished& run)
    {
        std::string text;
        for (const protocol::Progress& record : run.records)
            if (const auto* notice = std::get_if<protocol::Notice>(&record))
                text += notice->id + " | " + notice->what + " | " + notice->where + " | " + notice->hint + "\n";
        return text;
    }
    TestFolder m_folder;
};

TEST_F(OwnModel, ATorchScriptFileIsTrained)
{
    const fs::path script = m_folder.path() / "net.pt";
    writeLinearScript(script, 16, 4);
    const auto run =
        trainWith("torchscript", script, {"model.input_shapes=16", "run.steps=40", "optimizer.learning_rate=0.5"});
    ASSERT_EQ(run.ended.status, 0) << failure(run);
    EXPECT_EQ(run.one<protocol::Hello>().parameters, 16 * 4 + 4);
    const auto end = run.one<protocol::Done>();
    EXPECT_EQ(end.steps, 40);
    EXPECT_GT(end.validationAccuracy, 0.5) << "four classes: chance is a quarter";
}

TEST_F(OwnModel, AModelWithItsOwnLossIsTrained)
{
    const fs::path script = m_folder.path() / "loss.pt";
    writeLossScript(script, 16);
    const auto run = trainWith("torchscript", script, {"model.loss=given", "optimizer.learning_rate=0.01"});
    ASSERT_EQ(run.ended.status, 0) << failure(run);
    EXPECT_EQ(run.one<protocol::Done>().metric, "loss");
}

TEST_F(OwnModel, ItRunsOnlyWhenItsHashIsTrusted)
{
    const fs::path script = m_folder.path() / "net.pt";
    writeLinearScript(script, 16, 4);
    const std::string hash = sha256Of(script);
    for (const std::string& trusted : {std::string(), std::string(64, 'a')}) {
        const auto run = trainWith("torchscript", script, {"model.trusted_sha256=" + trusted});
        EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::BadInput));
        EXPECT_THAT(failure(run), AllOf(HasSubstr(script.string()), HasSubstr(hash), HasSubstr(trusted)));
    }
}

TEST_F(OwnModel, AFileThatIsNotAModelIsNamed)
{
    const fs::path script = m_folder.path() / "net.pt";
    std::ofstream(script) << "no model";
    EXPECT_THAT(failure(trainWith("torchscript", script)),
                AllOf(HasSubstr("net.pt"), HasSubstr("model_file.no_torchscript |"), HasSubstr("torch.jit.script")));
    EXPECT_THAT(failure(trainWith("torchscript", "")), HasSubstr("model.path"));
}

TEST_F(OwnModel, WrongShapesNameLayerAndShapes)
{
    const fs::path script = m_folder.path() / "net.pt";
    writeLinearScript(script, 12, 4);
    const auto run = trainWith("torchscript", script);
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::Failed));
    EXPECT_THAT(failure(run), AllOf(HasSubstr("layer fc"), HasSubstr("16x16"), HasSubstr("12x4"), HasSubstr("[16, 16]"),
                                    HasSubstr("model_file.forward |"), HasSubstr("net.pt, step 0 |"),
                                    HasSubstr("model.input_shapes")));
    EXPECT_TRUE(run.trace) << "the run's trace stays";
}

TEST_F(OwnModel, ThatGoesByTheOrderInMemoryIsToldWhatToDo)
{
    const fs::path script = m_folder.path() / "net.pt";
    writeViewScript(script, 3 * 16 * 16, 4);
    const std::vector<std::string> pictures = {"dataset.kind=generated_images",
                                               "dataset.path=" + (m_folder.path() / "images").string()};
    EXPECT_EQ(trainWith("torchscript", script, pictures).ended.status, 0);
    auto lastly = pictures;
    lastly.emplace_back("memory_format=channels_last");
    const auto run = trainWith("torchscript", script, lastly);
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::Failed));
    EXPECT_THAT(failure(run), AllOf(HasSubstr("memory_format=contiguous"), HasSubstr("reshape()")));
}

TEST(ScriptTrace, LayersWhoseNamesAreNumbersAreNamedToo)
{
    // What a Sequential inside a model gives, shortened.
    EXPECT_EQ(trainer::layerAndReason(
                  "The following operation failed in the TorchScript interpreter.\n"
                  "Traceback of TorchScript, serialized code (most recent call last):\n"
                  "  File \"code/__torch__/net.py\", line 10, in forward\n"
                  "    return (body).forward(torch.flatten(x, 1), )\n"
                  "            ~~~~~~~~~~~~~ <--- HERE\n"
                  "  File \"code/__torch__/torch/nn/modules/container/___torch_mangle_2.py\", line 14, in forward\n"
                  "    _1 = getattr(self, \"1\")\n"
                  "    _2 = getattr(self, \"2\")\n"
                  "    input0 = (_0).forward(input, )\n"
                  "              ~~~~~~~~~~~ <--- HERE\n"
                  "    input1 = (_1).forward(input0, )\n"
                  "Traceback of TorchScript, original code (most recent call last):\n"
                  "  File \"net.py\", line 5, in forward\n"
                  "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x16 and 12x32)\n"),
              "layer body.0: mat1 and mat2 shapes cannot be multiplied (32x16 and 12x32)");
    EXPECT_EQ(trainer::layerAndReason("something else\nand more"), "something else");
}

TEST_F(OwnModel, ShapesThatAreGivenAreCheckedBeforeTheFirstStep)
{
    const fs::path script = m_folder.path() / "net.pt";
    writeLinearScript(script, 12, 4);
    const auto run = trainWith("torchscript", script, {"model.input_shapes=12"});
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::BadInput));
    EXPECT_THAT(failure(run), AllOf(HasSubstr("model_file.inputs |"), HasSubstr("12"), HasSubstr("16")));
    EXPECT_THAT(failure(trainWith("torchscript", script, {"model.input_shapes=12,x"})),
                HasSubstr("model_file.shapes |"));
    EXPECT_THAT(failure(trainWith("torchscript", script, {"model.loss=mse"})), HasSubstr("model_file.loss |"));
}

TEST_F(OwnModel, TooFewScoresAreReportedWithBothShapes)
{
    const fs::path script = m_folder.path() / "net.pt";
    writeLinearScript(script, 16, 3);
    EXPECT_THAT(failure(trainWith("torchscript", script)),
                AllOf(HasSubstr("model_file.class_scores |"), HasSubstr("16 × 3"), HasSubstr("4 classes"),
                      HasSubstr(script.string() + ", step 0 |")));
}

TEST_F(OwnModel, TheExamplePlugInIsTrained)
{
    const fs::path library = EXAMPLE_PLUGIN;
    const auto run = trainWith("plugin", library, {"run.steps=40"});
    ASSERT_EQ(run.ended.status, 0) << failure(run);
    EXPECT_EQ(run.one<protocol::Hello>().parameters, 16 * 64 + 64 + 64 * 4 + 4);
    EXPECT_GT(run.one<protocol::Done>().validationAccuracy, 0.5);
    EXPECT_THAT(failure(trainWith("plugin", library, {"model.trusted_sha256="})),
                AllOf(HasSubstr(library.string()), HasSubstr(sha256Of(library))));
}

TEST_F(OwnModel, APlugInOfAnotherVersionIsRefused)
{
    const auto run = trainWith("plugin", OLD_PLUGIN);
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::BadInput));
    EXPECT_THAT(failure(run), AllOf(HasSubstr("plugin.other_version |"), HasSubstr("1.2.3"), HasSubstr(OLD_PLUGIN)));
}

TEST_F(OwnModel, ALibraryThatIsNotAPlugInIsRefused)
{
    EXPECT_THAT(failure(trainWith("plugin", NO_PLUGIN)), HasSubstr("plugin.no_symbol |"));
    const fs::path text = m_folder.path() / "plugin.so";
    std::ofstream(text) << "no library";
    EXPECT_THAT(failure(trainWith("plugin", text)), AllOf(HasSubstr("plugin.not_loaded |"), HasSubstr("plugin.so")));
}

} // namespace
