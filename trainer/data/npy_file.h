#pragma once

#include "profiler/model/result.h"
#include "profiler/os/files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trainer::data {

/// Supported element types of arrays; all little-endian.
enum class NpyType { Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, Bool };
std::size_t sizeOf(NpyType type);
bool isInteger(NpyType type);
/// "float32"
std::string_view toText(NpyType type);

/// Header of a .npy file (NumPy's format, versions 1 to 3).
struct NpyHeader {
    NpyType type = NpyType::Float32;
    std::vector<std::int64_t> shape; ///< outermost first
    std::size_t dataOffset = 0;      ///< bytes from the start of the file
    [[nodiscard]] std::int64_t elements() const;
    [[nodiscard]] std::size_t dataBytes() const { return static_cast<std::size_t>(elements()) * sizeOf(type); }
};
/// @param head  the file's first bytes: kNpyHead of them, or the whole file
/// @return the error names what is not supported: objects, big-endian numbers, column-major order
profiler::Result<NpyHeader> parseNpyHeader(std::span<const std::byte> head, const std::string& where);
inline constexpr std::size_t kNpyHead = 64 * 1024;

/// An array whose first dimension is the sample index. Samples are read from the file on each access; a small array, or
/// one from an archive, is kept in memory. Thread-safe.
class NpyArray {
public:
    /// Rejects a file that is shorter or longer than its header declares.
    static profiler::Result<NpyArray> open(const std::filesystem::path& path);
    /// @param where  the array's name in errors
    static profiler::Result<NpyArray> fromBytes(std::vector<std::byte> bytes, const std::string& where);

    [[nodiscard]] const NpyHeader& header() const { return m_header; }
    [[nodiscard]] const std::string& where() const { return m_where; }
    [[nodiscard]] std::int64_t samples() const { return m_header.shape.empty() ? 0 : m_header.shape[0]; }
    /// Shape of one sample.
    [[nodiscard]] std::vector<std::int64_t> sampleShape() const;
    [[nodiscard]] std::size_t sampleBytes() const;
    /// One sample's raw bytes.
    /// @param space  buffer for bytes that come from a file
    profiler::Result<std::span<const std::byte>> read(std::int64_t index, std::vector<std::byte>& space) const;

private:
    NpyArray() = default;
    NpyHeader m_header;
    std::string m_where;
    std::shared_ptr<const profiler::os::Descriptor> m_file;
    std::shared_ptr<const std::vector<std::byte>> m_bytes; // of the whole file; null: from m_file
};

/// Converts elements to float.
void toFloat(NpyType type, std::span<const std::byte> from, std::span<float> to);
/// Converts elements of an integer type.
void toInt64(NpyType type, std::span<const std::byte> from, std::span<std::int64_t> to);

/// Writes a .npy file, version 1.
/// @param data  elements, row by row
profiler::Result<void> writeNpy(const std::filesystem::path& path, NpyType type, const std::vector<std::int64_t>& shape,
                                std::span<const std::byte> data);

} // namespace trainer::data
