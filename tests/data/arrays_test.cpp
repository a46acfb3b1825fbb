#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/npy_file.h"

#include <array>
#include <gmock/gmock.h>
#include <limits>
#include <numeric>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;
using profiler::Error;
using profiler::test::hasId;
using testing::ElementsAre;
using testing::HasSubstr;

std::string headerOf(const std::string& dictionary)
{
    std::string text = dictionary + '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
}

profiler::Result<NpyHeader> parse(const std::string& file)
{
    return parseNpyHeader(std::as_bytes(std::span(file)), "a.npy");
}

TEST(Npy, HeadersAsNumPyWritesThem)
{
    const auto header = parse(headerOf("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"));
    ASSERT_TRUE(header) << header.error().message();
    EXPECT_EQ(header->type, NpyType::Float64);
    EXPECT_THAT(header->shape, ElementsAre(3, 4));
    EXPECT_EQ(header->dataBytes(), 96U);
    EXPECT_THAT(parse(headerOf("{'descr': '|u1', 'fortran_order': True, 'shape': (7,), }"))->shape, ElementsAre(7))
        << "one dimension has no order";
    EXPECT_THAT(parse(headerOf("{'descr': '<i8', 'fortran_order': False, 'shape': (), }"))->shape, ElementsAre());
}

TEST(Npy, UnreadableFilesAreReported)
{
    const auto why = [](const std::string& file) {
        const auto header = parse(file);
        EXPECT_FALSE(header);
        return header ? profiler::Message() : header.error().what;
    };
    EXPECT_THAT(why(headerOf("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }")), hasId("data.npy.objects"));
    EXPECT_THAT(why(headerOf("{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }")),
                hasId("data.npy.big_endian", {{"type", ">f4"}}));
    EXPECT_THAT(why(headerOf("{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }")),
                hasId("data.npy.type", {{"type", "<c8"}}));
    EXPECT_THAT(why(headerOf("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }")),
                hasId("data.npy.records"));
    EXPECT_THAT(why(headerOf("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }")),
                hasId("data.npy.fortran_order"));
    EXPECT_THAT(why(headerOf("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }")),
                hasId("data.npy.too_many"));
    EXPECT_THAT(why(headerOf("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }")),
                hasId("data.npy.bad_shape"));
    EXPECT_THAT(why("PK\x03\x04 something else"), hasId("data.npy.not_npy"));
    EXPECT_THAT(why(std::string("\x93NUMPY\x01\x00\xff\xff{", 11)), hasId("data.npy.cut_header"));
    EXPECT_THAT(why(std::string("\x93NUMPY\x09\x00\x01\x00\n", 11)), hasId("data.npy.version", {{"version", 9}}));
}

TEST(Npy, HalfPrecisionAndIntegersBecomeFloats)
{
    const std::array<std::uint16_t, 6> halves = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x8000};
    std::array<float, 6> out{};
    toFloat(NpyType::Float16, std::as_bytes(std::span(halves)), out);
    EXPECT_THAT(out, ElementsAre(1.0F, -2.0F, 65504.0F, 0x1p-24F, std::numeric_limits<float>::infinity(), -0.0F));
    const std::array<std::int16_t, 2> shorts = {-3, 700};
    std::array<float, 2> two{};
    toFloat(NpyType::Int16, std::as_bytes(std::span(shorts)), two);
    EXPECT_THAT(two, ElementsAre(-3, 700));
}

class ArrayFiles : public testing::Test {
protected:
    template <class T>
    void write(const std::string& name, NpyType type, const std::vector<std::int64_t>& shape,
               const std::vector<T>& values)
    {
        ASSERT_TRUE(writeNpy(m_folder / name, type, shape, std::as_bytes(std::span(values))));
    }
    void writeRows()
    {
        std::vector<float> inputs(12);
        std::iota(inputs.begin(), inputs.end(), 0.0F);
        write("inputs.npy", NpyType::Float32, {4, 3}, inputs);
        write("targets.npy", NpyType::Int64, {4}, std::vector<std::int64_t>{0, 1, 2, 1});
    }
    [[nodiscard]] profiler::Result<std::shared_ptr<const Dataset>>
    open(std::initializer_list<std::pair<std::string_view, std::string>> more = {}) const
    {
        auto config = configOf({{"dataset.path", m_folder.path().string()},
                                {"dataset.classes", "3"},
                                {"dataset.validation_share", "0"},
                                {"data.normalize", "false"}});
        for (const auto& [key, value] : more)
            EXPECT_TRUE(config.set(key, value));
        return openDataset("arrays", config);
    }
    [[nodiscard]] Error failure(std::initializer_list<std::pair<std::string_view, std::string>> more = {}) const
    {
        const auto dataset = open(more);
        EXPECT_FALSE(dataset);
        return dataset ? Error{} : dataset.error();
    }
    TemporaryFolder m_folder;
};

TEST_F(ArrayFiles, RowsAndTheirClasses)
{
    writeRows();
    const auto dataset = open();
    ASSERT_TRUE(dataset) << dataset.error().message();
    EXPECT_EQ((*dataset)->spec().kind, DataKind::Rows);
    const auto sample = loadSample(**dataset, Split::Train, 2);
    EXPECT_THAT(sample->floats(), ElementsAre(6, 7, 8));
    EXPECT_THAT(sample->classes(), ElementsAre(2));
}

TEST_F(ArrayFiles, DimensionsAndTypeDetermineTheSamples)
{
    const auto kindOf = [&](NpyType type, std::vector<std::int64_t> shape) {
        write("inputs.npy", type, shape, std::vector<float>(128 * sizeOf(type) / 4, 0.0F));
        return (*open())->spec().kind;
    };
    write("targets.npy", NpyType::UInt8, {4}, std::vector<std::uint8_t>{0, 1, 2, 1});
    EXPECT_EQ(kindOf(NpyType::Float32, {4, 8, 4}), DataKind::Sequences);
    EXPECT_EQ(kindOf(NpyType::Float32, {4, 2, 4, 4}), DataKind::Images);
    EXPECT_EQ(kindOf(NpyType::Int32, {4, 32}), DataKind::Tokens);
}

TEST_F(ArrayFiles, AnNpzFileOfNumPyContainsInputsAndTargets)
{
    for (const char* name : {"numpy_stored.npz", "numpy_deflated.npz"}) { // numpy.savez, numpy.savez_compressed
        const auto dataset = open({{"dataset.path", (fs::path(FIXTURES) / name).string()}});
        ASSERT_TRUE(dataset) << dataset.error().message();
        const auto sample = loadSample(**dataset, Split::Train, 2);
        EXPECT_THAT(sample->floats(), ElementsAre(12, 13, 14, 15, 16, 17));
        EXPECT_THAT(sample->classes(), ElementsAre(2));
    }
}

TEST_F(ArrayFiles, ATruncatedNpzFileIsNamed)
{
    Bytes bytes = readBytes(fs::path(FIXTURES) / "numpy_deflated.npz");
    bytes.resize(150);
    writeBytes(m_folder / "cut.npz", bytes);
    EXPECT_THAT(failure({{"dataset.path", (m_folder / "cut.npz").string()}}).where, HasSubstr("cut.npz"));
}

TEST_F(ArrayFiles, ATruncatedFileIsNamedWithTheRow)
{
    writeRows();
    auto bytes = readBytes(m_folder / "inputs.npy");
    bytes.resize(bytes.size() - 16);
    writeBytes(m_folder / "inputs.npy", bytes);
    const Error error = failure();
    EXPECT_EQ(error.where, (m_folder / "inputs.npy").string());
    EXPECT_THAT(error.what, profiler::test::hasIdAndPart("data.npy.length", "where", "row 2 of 4"));
    bytes.resize(20);
    writeBytes(m_folder / "inputs.npy", bytes);
    EXPECT_THAT(failure().what, hasId("data.npy.cut_header"));
}

TEST_F(ArrayFiles, ALabelOutOfRangeIsNamedWithItsRow)
{
    writeRows();
    write("targets.npy", NpyType::Int64, {4}, std::vector<std::int64_t>{0, 1, 3, 1});
    const Error error = failure();
    EXPECT_THAT(error.what, hasId("data.arrays.no_class", {{"value", 3}, {"most", 2}}));
    EXPECT_EQ(error.where, (m_folder / "targets.npy").string() + ", row 2");
}

TEST_F(ArrayFiles, IncompatibleTypesAndCountsAreRejected)
{
    writeRows();
    write("targets.npy", NpyType::Float32, {4}, std::vector<float>{0, 1, 2, 1});
    EXPECT_THAT(failure().what, hasId("data.arrays.target_type", {{"type", "float32"}}));
    EXPECT_TRUE(open({{"dataset.target", "number"}}));
    write("targets.npy", NpyType::Int64, {3}, std::vector<std::int64_t>{0, 1, 2});
    EXPECT_THAT(failure().what, hasId("data.arrays.counts", {{"inputs", 4}, {"targets", 3}}));
    fs::remove(m_folder / "targets.npy");
    EXPECT_THAT(failure().what, hasId("dataset.arrays.missing", {{"what", "targets"}}));
    write("targets.npy", NpyType::Int64, {12}, std::vector<std::int64_t>(12));
    write("inputs.npy", NpyType::Float32, {12}, std::vector<float>(12));
    EXPECT_THAT(failure().what, hasId("data.arrays.shape"));
}

TEST_F(ArrayFiles, ABadTokenIsABadSample)
{
    write("inputs.npy", NpyType::Int64, {2, 2}, std::vector<std::int64_t>{0, 1, 7, 0});
    write("targets.npy", NpyType::Int64, {2, 2}, std::vector<std::int64_t>{1, 2, 0, 2});
    const auto dataset = open();
    ASSERT_TRUE(dataset) << dataset.error().message();
    EXPECT_TRUE(loadSample(**dataset, Split::Train, 0));
    const auto bad = loadSample(**dataset, Split::Train, 1);
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error().where, HasSubstr("inputs.npy, row 1"));
}

} // namespace
} // namespace data_test
