#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/nifti_file.h"
#include "trainer/data/npy_file.h"
#include "trainer/data/volume_crop.h"
#include "trainer/data/volume_dataset.h"

#include <array>
#include <cstring>
#include <gmock/gmock.h>
#include <numeric>
#include <set>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;
using profiler::Error;
using profiler::test::hasId;
using testing::ElementsAre;

/// Values count up, width fastest.
Volume counted(std::int64_t depth, std::int64_t height, std::int64_t width, std::int64_t channels = 1)
{
    Volume volume;
    volume.channels = channels;
    volume.size = {depth, height, width};
    volume.values.resize(static_cast<std::size_t>(volume.voxels() * channels));
    std::iota(volume.values.begin(), volume.values.end(), 0.0F);
    return volume;
}

class VolumesOnDisk : public testing::Test {
protected:
    VolumesOnDisk()
    {
        fs::create_directories(m_folder / "images");
        fs::create_directories(m_folder / "labels");
    }
    [[nodiscard]] fs::path image(const std::string& name) const { return m_folder / ("images/" + name); }
    [[nodiscard]] fs::path labels(const std::string& name) const { return m_folder / ("labels/" + name); }
    [[nodiscard]] profiler::Result<std::shared_ptr<const Dataset>> open() const
    {
        return openDataset("volumes", configOf({{"dataset.path", m_folder.path().string()},
                                                {"dataset.classes", "3"},
                                                {"dataset.volume_size", "4"},
                                                {"dataset.validation_share", "0"},
                                                {"data.normalize", "false"}}));
    }
    void writePair(const std::string& name)
    {
        ASSERT_TRUE(writeNifti(image(name), counted(6, 5, 4), false));
        Volume classes = counted(6, 5, 4);
        for (float& value : classes.values)
            value = static_cast<float>(static_cast<int>(value) % 3);
        ASSERT_TRUE(writeNifti(labels(name), classes, true));
    }
    [[nodiscard]] Error loadFailure() const
    {
        const auto dataset = open();
        if (!dataset)
            return dataset.error();
        const auto sample = loadSample(**dataset, Split::Train, 0);
        EXPECT_FALSE(sample);
        return sample ? Error{} : sample.error();
    }
    TemporaryFolder m_folder;
};

TEST_F(VolumesOnDisk, NiftiPlainAndCompressedAndNumPyAreReadAlike)
{
    const Volume wanted = counted(6, 5, 4, 2);
    ASSERT_TRUE(writeNifti(image("a.nii"), wanted, false));
    ASSERT_TRUE(writeNifti(image("a.nii.gz"), wanted, false));
    ASSERT_TRUE(writeNpy(image("a.npy"), NpyType::Float32, {2, 6, 5, 4}, std::as_bytes(std::span(wanted.values))));
    EXPECT_LT(fs::file_size(image("a.nii.gz")), fs::file_size(image("a.nii")));
    for (const char* name : {"a.nii", "a.nii.gz", "a.npy"}) {
        Volume read;
        std::vector<std::uint8_t> space;
        const Bytes file = readBytes(image(name));
        const auto ok = inflated(file, space, std::size_t{1} << 20, name);
        ASSERT_TRUE(ok) << ok.error().message();
        if (std::string(name).ends_with(".npy"))
            continue; // by the dataset below
        ASSERT_TRUE(parseNifti(*ok, name, read));
        EXPECT_EQ(read.channels, 2);
        EXPECT_EQ(read.size, wanted.size);
        EXPECT_EQ(read.values, wanted.values);
    }
}

TEST(Nifti, BothVersionsAsNibabelWritesThem)
{
    for (const char* name : {"nibabel_1.nii.gz", "nibabel_2.nii.gz"}) { // int16, float64
        Volume volume;
        std::vector<std::uint8_t> space;
        const auto read = readVolume(name, readBytes(fs::path(FIXTURES) / name), space, volume);
        ASSERT_TRUE(read) << read.error().message();
        ASSERT_EQ(volume.size, (std::array<std::int64_t, 3>{7, 6, 5})) << "nibabel's x is the fastest";
        for (std::size_t x = 0; x < 5; ++x)
            for (std::size_t y = 0; y < 6; ++y)
                for (std::size_t z = 0; z < 7; ++z)
                    ASSERT_EQ(volume.values[(z * 6 + y) * 5 + x], static_cast<float>((x * 6 + y) * 7 + z));
    }
}

TEST_F(VolumesOnDisk, TheMiddleIsCutOutAsItIs)
{
    for (const char* name : {"a.nii.gz", "a.npy"}) {
        fs::remove_all(m_folder / "images");
        fs::create_directories(m_folder / "images");
        writePair("a.nii.gz");
        if (std::string(name) == "a.npy") {
            fs::remove(image("a.nii.gz"));
            const Volume volume = counted(6, 5, 4);
            ASSERT_TRUE(writeNpy(image(name), NpyType::Float32, {6, 5, 4}, std::as_bytes(std::span(volume.values))));
            std::vector<std::uint8_t> classes(120);
            for (std::size_t i = 0; i < classes.size(); ++i)
                classes[i] = static_cast<std::uint8_t>(i % 3);
            ASSERT_TRUE(writeNpy(labels(name), NpyType::UInt8, {6, 5, 4}, std::as_bytes(std::span(classes))));
        }
        const auto dataset = open();
        ASSERT_TRUE(dataset) << dataset.error().message();
        const auto sample = loadSample(**dataset, Split::Train, 0);
        ASSERT_TRUE(sample) << sample.error().message();
        ASSERT_EQ(sample->floats().size(), 64U);
        // Depth begins at 1 of 6, height between 0 and 1 of 5, width at 0.
        EXPECT_FLOAT_EQ(sample->floats()[0], 20 + 0.5F * 4);
        EXPECT_FLOAT_EQ(sample->floats()[1], 20 + 0.5F * 4 + 1);
        for (const std::int64_t label : sample->classes())
            EXPECT_TRUE(label >= 0 && label < 3);
    }
}

TEST(VolumeCrop, AugmentationKeepsImageAndLabelsTogether)
{
    // The image says the class: it still does wherever the cube is cut, however it is turned.
    Volume image = counted(20, 20, 20), labels = image;
    for (std::size_t i = 0; i < image.values.size(); ++i) {
        labels.values[i] = i / 400 < 10 ? 0.0F : 1.0F;
        image.values[i] = 100 * labels.values[i];
    }
    std::set<std::vector<std::int64_t>> different;
    std::int64_t apart = 0, voxels = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        VolumeView view = randomView(image, 12, seed);
        view.gain = 1;
        view.shift = view.noise = 0;
        std::vector<float> values(12 * 12 * 12);
        std::vector<std::int64_t> classes(values.size());
        cutValues(image, view, 12, values);
        cutLabels(labels, view, 12, classes);
        for (std::size_t i = 0; i < values.size(); ++i)
            apart += (values[i] > 50) != (classes[i] == 1) ? 1 : 0;
        voxels += std::ssize(values);
        different.insert(classes);
    }
    EXPECT_LT(apart, voxels / 100);
    EXPECT_GT(different.size(), 25U);
}

TEST(VolumeCrop, TheSameSeedGivesTheSameCube)
{
    const Volume image = counted(16, 16, 16);
    std::vector<float> a(512), b(512), c(512);
    cutValues(image, randomView(image, 8, 5), 8, a);
    cutValues(image, randomView(image, 8, 5), 8, b);
    cutValues(image, randomView(image, 8, 6), 8, c);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, c);
}

TEST_F(VolumesOnDisk, DamagedFilesAreNamed)
{
    writePair("a.nii.gz");
    const Bytes whole = readBytes(image("a.nii.gz"));
    writeBytes(image("a.nii.gz"), Bytes(whole.begin(), whole.begin() + std::ssize(whole) / 2));
    Error error = loadFailure();
    EXPECT_EQ(error.where, image("a.nii.gz").string());
    EXPECT_THAT(error.what, hasId("data.nifti.cut_gzip"));

    fs::remove(image("a.nii.gz"));
    fs::remove(labels("a.nii.gz"));
    writePair("a.nii");
    const Bytes plain = readBytes(image("a.nii"));
    writeBytes(image("a.nii"), Bytes(plain.begin(), plain.end() - 4));
    EXPECT_THAT(loadFailure().what, hasId("data.nifti.length", {{"wanted", 120}, {"have", 119}}));
    const auto patched = [&](std::size_t offset, auto value) {
        Bytes bytes = plain;
        std::memcpy(bytes.data() + offset, &value, sizeof(value));
        writeBytes(image("a.nii"), bytes);
        return loadFailure().what;
    };
    EXPECT_THAT(patched(70, std::int16_t{128}), hasId("data.nifti.type", {{"type", 128}}));
    EXPECT_THAT(patched(42, std::int16_t{-4}), hasId("data.nifti.size", {{"dimension", 1}, {"size", -4}}));
    EXPECT_THAT(patched(40, std::int16_t{9}), hasId("data.nifti.dimensions", {{"dimensions", 9}}));
    EXPECT_THAT(patched(108, 1e9F), hasId("data.nifti.offset"));
    EXPECT_THAT(patched(0, 0x5c010000U), hasId("data.nifti.big_endian"));
    EXPECT_THAT(patched(0, 7), hasId("data.nifti.not_nifti"));
    writeBytes(image("a.nii"), Bytes(plain.begin(), plain.begin() + 100));
    EXPECT_THAT(loadFailure().what, hasId("data.nifti.cut_header"));
}

TEST(RandomPlace, IsThatOfTheWholeAugmentationAtWholeVoxels)
{
    const Volume volume = counted(20, 30, 16);
    std::set<double> places;
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        const VolumeView place = randomPlace(volume, 8, seed), view = randomView(volume, 8, seed);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            EXPECT_NEAR(place.centre[axis], view.centre[axis], 0.5);
            EXPECT_EQ(place.step[axis][axis], 1);
        }
        std::vector<float> cube(8 * 8 * 8);
        cutValues(volume, place, 8, cube);
        EXPECT_EQ(cube[1], cube[0] + 1) << "voxels as they are, not between two";
        places.insert(place.centre[1]);
    }
    EXPECT_GT(places.size(), 15u);
}

TEST_F(VolumesOnDisk, LabelsMustFitAndExist)
{
    writePair("a.nii");
    ASSERT_TRUE(writeNifti(labels("a.nii"), counted(6, 5, 3), true));
    EXPECT_THAT(loadFailure().what, hasId("data.volume.labels", {{"voxels", "6 × 5 × 3"}}));
    ASSERT_TRUE(writeNifti(labels("a.nii"), counted(6, 5, 4), true));
    const Error error = loadFailure();
    EXPECT_THAT(error.what,
                hasId("data.volume.no_class", {{"label", 3.0, ""}, {"depth", 0}, {"row", 0}, {"column", 3}}));
    EXPECT_EQ(error.where, labels("a.nii").string());
    fs::remove(labels("a.nii"));
    EXPECT_THAT(loadFailure().what, hasId("dataset.volumes.no_labels"));
    fs::remove(image("a.nii"));
    EXPECT_THAT(loadFailure().what, hasId("dataset.volumes.no_file"));
}

TEST_F(VolumesOnDisk, SlopeAndInterceptScaleTheValues)
{
    ASSERT_TRUE(writeNifti(image("a.nii"), counted(2, 2, 2), false));
    Bytes bytes = readBytes(image("a.nii"));
    const float slope = 2, intercept = 10;
    std::memcpy(bytes.data() + 112, &slope, 4);
    std::memcpy(bytes.data() + 116, &intercept, 4);
    Volume volume;
    ASSERT_TRUE(parseNifti(bytes, "a.nii", volume));
    EXPECT_THAT(volume.values, ElementsAre(10, 12, 14, 16, 18, 20, 22, 24));
}

} // namespace
} // namespace data_test
