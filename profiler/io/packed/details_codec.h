#pragma once

#include "profiler/io/packed/bytes.h"
#include "profiler/model/arg_source.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace profiler::packed {

/// The details of slices that follow each other in the file, by number: those of the section's first slice have the
/// number `first`, 1 or more.
struct DetailsHead {
    std::uint64_t first;
    std::uint32_t count, unused;
};

/// What a section of details holds at most, so that one click reads little and a damaged file takes no memory.
namespace details_limit {
inline constexpr std::size_t kSlices = 4096;
inline constexpr std::size_t kBytes = std::size_t{4} << 20; ///< of texts: a section ends with the slice that passes it
inline constexpr std::size_t kOfSlice = std::size_t{4} << 20; ///< bytes of one slice
inline constexpr std::size_t kEntries = 1024;                 ///< of one slice
} // namespace details_limit

/// Bytes that the details of a slice count as towards details_limit::kBytes.
std::size_t sizeOf(const SliceDetails& details);

/// Cuts what is beyond the limits of one slice, and says so at its end.
void limitDetails(SliceDetails& details);

/// The raw bytes of a Details section. Slices with the same names in the same order lie together, name by name:
/// numbers as numbers, texts once each. Every text comes back as it was.
/// @param all  at most details_limit::kSlices, each within the limits
Bytes encodeDetails(std::uint64_t first, std::span<const SliceDetails> all);

/// What a Details section holds.
struct DecodedDetails {
    std::uint64_t first = 0;
    std::vector<SliceDetails> slices;
};
/// Empty where the bytes are none of ours: nothing of what they say is trusted.
std::optional<DecodedDetails> decodeDetails(std::span<const std::byte> raw);
/// The first bytes of a Details section; empty where they are not there.
std::optional<DetailsHead> headOfDetails(std::span<const std::byte> raw);

} // namespace profiler::packed
