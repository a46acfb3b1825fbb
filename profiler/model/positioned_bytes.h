#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler {

/// Bytes that are read by position and are not a local file: a file on another machine. Thread-safe.
class PositionedBytes {
public:
    virtual ~PositionedBytes() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// Fills `into` from byte `offset`: less only at the end. May wait, and fails if the bytes cannot be had now.
    [[nodiscard]] virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const = 0;
};

} // namespace profiler
