#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/model/arg_source.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace profiler::packed {

/// The numbers of the slices in a section. The slices are consecutive in the file; the first one has the number
/// `first`, which is at least 1.
struct DetailsHead {
    std::uint64_t first;
    std::uint32_t count, unused;
};

/// Limits of a Details section, so that one click reads little data and a damaged file cannot exhaust memory.
namespace details_limit {
inline constexpr std::size_t kSlices = 4096;
inline constexpr std::size_t kBytes = std::size_t{4} << 20;   ///< of text; the slice that exceeds it ends the section
inline constexpr std::size_t kOfSlice = std::size_t{4} << 20; ///< bytes per slice
inline constexpr std::size_t kEntries = 1024;                 ///< per slice
} // namespace details_limit

/// The size of a slice's details that counts towards details_limit::kBytes.
std::size_t sizeOf(const SliceDetails& details);

/// Truncates details beyond the limits of one slice, and appends an entry that says so.
void limitDetails(SliceDetails& details);

/// The raw bytes of a Details section. Slices with the same names in the same order are stored together, name by name:
/// numbers as numbers, and each distinct text once. Decoding returns the exact texts.
/// @param all  at most details_limit::kSlices, each within the limits
Bytes encodeDetails(std::uint64_t first, std::span<const SliceDetails> all);

/// The content of a Details section.
struct DecodedDetails {
    std::uint64_t first = 0;
    std::vector<SliceDetails> slices;
};
/// Decodes untrusted bytes; empty if they are invalid.
std::optional<DecodedDetails> decodeDetails(std::span<const std::byte> raw);
/// The first bytes of a Details section; empty if they are missing.
std::optional<DetailsHead> headOfDetails(std::span<const std::byte> raw);

} // namespace profiler::packed
