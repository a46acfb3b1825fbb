#include "tests/data/image_files.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <set>
#include <zlib.h>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;
using profiler::Error;
using profiler::test::hasId;
using testing::HasSubstr;

/// An IDX file of bytes.
Bytes idx(const std::vector<std::uint32_t>& dimensions, const Bytes& values)
{
    Bytes file{0, 0, 8, static_cast<std::uint8_t>(dimensions.size())};
    for (const std::uint32_t size : dimensions)
        for (int shift = 24; shift >= 0; shift -= 8)
            file.push_back(static_cast<std::uint8_t>(size >> shift));
    file.insert(file.end(), values.begin(), values.end());
    return file;
}

class MnistFiles : public testing::Test {
protected:
    void SetUp() override
    {
        Bytes pixels(3 * 28 * 28);
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<std::uint8_t>(i % 28 * 9);
        write("train-images-idx3-ubyte", idx({3, 28, 28}, pixels));
        write("train-labels-idx1-ubyte", idx({3}, {7, 0, 9}));
        write("t10k-images-idx3-ubyte", idx({1, 28, 28}, Bytes(28 * 28, 128)));
        write("t10k-labels-idx1-ubyte", idx({1}, {4}));
    }
    void write(const std::string& name, const Bytes& bytes) { writeBytes(m_folder / name, bytes); }
    [[nodiscard]] profiler::Result<std::shared_ptr<const Dataset>> open() const
    {
        return openDataset("mnist", configOf({{"dataset.path", m_folder.path().string()}}));
    }
    [[nodiscard]] Error failure() const
    {
        const auto dataset = open();
        EXPECT_FALSE(dataset);
        return dataset ? Error{} : dataset.error();
    }
    TemporaryFolder m_folder;
};

TEST_F(MnistFiles, SamplesLabelsAndNormalisation)
{
    const auto dataset = open();
    ASSERT_TRUE(dataset) << dataset.error().message();
    EXPECT_EQ((*dataset)->size(Split::Train), 3);
    EXPECT_EQ((*dataset)->size(Split::Validation), 1);
    EXPECT_EQ((*dataset)->spec().inputs[0].elements(), 784);
    EXPECT_EQ((*dataset)->spec().inputs[0].shape[0], 1);
    EXPECT_EQ((*dataset)->spec().classes, 10);
    std::vector<float> out(784);
    EXPECT_EQ(loadImage(**dataset, Split::Validation, 0, 0, out), 4);
    EXPECT_THAT(out, testing::Each(testing::FloatNear((128 / 255.0F - 0.1307F) / 0.3081F, 1e-5F)));
    EXPECT_EQ(loadImage(**dataset, Split::Train, 2, 0, out), 9);
}

TEST_F(MnistFiles, AugmentationShiftsByAtMostTwoPixels)
{
    const auto dataset = open();
    ASSERT_TRUE(dataset);
    std::vector<float> plain(784), moved(784);
    ASSERT_TRUE(loadImage(**dataset, Split::Train, 0, 0, plain));
    std::set<int> shifts;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        ASSERT_TRUE(loadImage(**dataset, Split::Train, 0, seed, moved));
        for (int dx = -14; dx <= 13; ++dx) // rows are ramps: the shift can be read off
            if (moved[14 * 28 + 14] == plain[static_cast<std::size_t>(14 * 28 + 14 - dx)])
                shifts.insert(dx);
    }
    EXPECT_THAT(shifts, testing::ElementsAre(-2, -1, 0, 1, 2));
}

TEST_F(MnistFiles, CompressedAndDottedNamesAreRead)
{
    const Bytes labels = readBytes(m_folder / "train-labels-idx1-ubyte");
    gzFile packed = gzopen((m_folder / "train-labels-idx1-ubyte.gz").c_str(), "wb");
    ASSERT_EQ(gzwrite(packed, labels.data(), static_cast<unsigned>(labels.size())), std::ssize(labels));
    gzclose(packed);
    fs::remove(m_folder / "train-labels-idx1-ubyte");
    fs::rename(m_folder / "t10k-images-idx3-ubyte", m_folder / "t10k-images.idx3-ubyte");
    const auto dataset = open();
    ASSERT_TRUE(dataset) << dataset.error().message();
    std::vector<float> out(784);
    EXPECT_EQ(loadImage(**dataset, Split::Train, 0, 0, out), 7);

    Bytes cut = readBytes(m_folder / "train-labels-idx1-ubyte.gz");
    cut.resize(cut.size() / 2);
    write("train-labels-idx1-ubyte.gz", cut);
    EXPECT_THAT(failure().where, HasSubstr("train-labels-idx1-ubyte.gz"));
}

TEST_F(MnistFiles, AMissingFileIsNamed)
{
    fs::remove(m_folder / "t10k-labels-idx1-ubyte");
    const Error error = failure();
    EXPECT_EQ(error.code, Error::Code::NotFound);
    EXPECT_THAT(error.what, hasId("dataset.mnist.missing", {{"file", "t10k-labels-idx1-ubyte"}}));
    EXPECT_EQ(error.where, m_folder.path());
}

TEST_F(MnistFiles, AWrongMagicNumberIsRejected)
{
    Bytes labels = idx({3}, {1, 2, 3});
    labels[2] = 0x0d; // floats
    write("train-labels-idx1-ubyte", labels);
    const Error error = failure();
    EXPECT_THAT(error.what, hasId("data.idx.not_idx", {{"found", "0x00000d01"}, {"wanted", "0x00000801"}}));
    EXPECT_EQ(error.where, m_folder / "train-labels-idx1-ubyte");
    write("train-images-idx3-ubyte", idx({3}, {1, 2, 3})); // labels in the images' place
    EXPECT_THAT(failure().what, hasId("data.idx.not_idx", {{"dimensions", 3}}));
    write("train-images-idx3-ubyte", {});
    EXPECT_THAT(failure().what, hasId("data.idx.not_idx"));
}

TEST_F(MnistFiles, SizesMustMatch)
{
    Bytes images = readBytes(m_folder / "train-images-idx3-ubyte");
    images.pop_back();
    write("train-images-idx3-ubyte", images);
    EXPECT_THAT(failure().what, hasId("data.idx.length", {{"wanted", 2352}, {"comparison", "only "}, {"have", "2351"}}));
    images.resize(images.size() + 2);
    write("train-images-idx3-ubyte", images);
    EXPECT_THAT(failure().what, hasId("data.idx.length", {{"comparison", "more"}}));
    images.resize(10);
    write("train-images-idx3-ubyte", images);
    EXPECT_THAT(failure().what, hasId("data.idx.cut_header"));
    write("train-images-idx3-ubyte", idx({0xffffffff, 0xffffffff, 2}, {1}));
    EXPECT_THAT(failure().what, hasId("data.idx.too_large"));
    write("train-images-idx3-ubyte", idx({100000, 28, 28}, {1})); // within the limit, but not there
    EXPECT_THAT(failure().what, hasId("data.idx.length", {{"comparison", "only "}, {"have", "1"}}));
}

TEST_F(MnistFiles, LabelsMustFitTheImages)
{
    write("train-labels-idx1-ubyte", idx({2}, {1, 2}));
    EXPECT_THAT(failure().what, hasId("dataset.mnist.counts", {{"images", 3}, {"labels", 2}}));
    write("train-labels-idx1-ubyte", idx({3}, {1, 2, 10}));
    EXPECT_THAT(failure().what, hasId("dataset.mnist.label", {{"image", 2}, {"label", 10}}));
}

} // namespace
} // namespace data_test
