#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;
using profiler::test::hasId;
using testing::HasSubstr;

class Cifar10 : public testing::Test {
protected:
    void SetUp() override
    {
        for (int file = 1; file <= 5; ++file)
            write("data_batch_" + std::to_string(file) + ".bin", static_cast<std::uint8_t>(file));
        write("test_batch.bin", 9);
    }
    /// Two images: red counts rows, green columns, blue is 7.
    void write(const std::string& name, std::uint8_t label)
    {
        Bytes bytes;
        for (int image = 0; image < 2; ++image) {
            bytes.push_back(label);
            for (int plane = 0; plane < 3; ++plane)
                for (int y = 0; y < 32; ++y)
                    for (int x = 0; x < 32; ++x)
                        bytes.push_back(static_cast<std::uint8_t>(plane == 0 ? y : plane == 1 ? x : 7));
        }
        writeBytes(m_folder / name, bytes);
    }
    [[nodiscard]] profiler::Result<std::shared_ptr<const Dataset>> open() const
    {
        return openDataset("cifar10",
                           configOf({{"dataset.path", m_folder.path().string()}, {"data.normalize", "false"}}));
    }
    TemporaryFolder m_folder;
};

TEST_F(Cifar10, PlanesLabelsAndSplit)
{
    const auto dataset = *open();
    EXPECT_EQ(dataset->size(Split::Train), 10);
    EXPECT_EQ(dataset->size(Split::Validation), 2);
    const auto sample = loadSample(*dataset, Split::Train, 5);
    EXPECT_EQ(sample->classes()[0], 3);
    EXPECT_FLOAT_EQ(sample->floats()[31 * 32], 31 / 255.0F);
    EXPECT_FLOAT_EQ(sample->floats()[1024 + 31], 31 / 255.0F);
    EXPECT_FLOAT_EQ(sample->floats()[2048], 7 / 255.0F);
}

TEST_F(Cifar10, AugmentationMovesByAtMostFourPixelsAndMirrors)
{
    const auto dataset = *open();
    bool mirrored = false, straight = false;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const auto pixels = loadSample(*dataset, Split::Train, 0, seed)->floats();
        const float middle = pixels[1024 + 16 * 32 + 16] * 255, right = pixels[1024 + 16 * 32 + 17] * 255;
        EXPECT_NEAR(middle, 16, 5);
        (right > middle ? straight : mirrored) = true;
    }
    EXPECT_TRUE(mirrored && straight);
}

TEST_F(Cifar10, DamagedFilesAreNamed)
{
    Bytes bytes = readBytes(m_folder / "data_batch_3.bin");
    bytes[3073] = 10;
    writeBytes(m_folder / "data_batch_3.bin", bytes);
    EXPECT_THAT(open().error().what, hasId("dataset.cifar10.label", {{"image", 1}, {"label", 10}}));
    EXPECT_THAT(open().error().where, HasSubstr("data_batch_3.bin"));
    bytes.pop_back();
    writeBytes(m_folder / "data_batch_3.bin", bytes);
    EXPECT_THAT(open().error().what, hasId("dataset.cifar10.length", {{"image", 1}}));
    EXPECT_THAT(open().error().where, HasSubstr("data_batch_3.bin"));
    fs::remove(m_folder / "data_batch_3.bin");
    EXPECT_THAT(open().error().message(), HasSubstr("data_batch_3.bin"));
}

} // namespace
} // namespace data_test
