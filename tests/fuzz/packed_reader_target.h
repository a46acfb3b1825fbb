#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>

/// Memory budgets that decode all blocks of a small trace, or none before they are needed.
inline constexpr std::uint64_t kDecodesAll = std::uint64_t{64} << 20, kDecodesOnDemand = 1;

/// Reads any bytes as a packed trace, and runs all queries on the result. Aborts if an answer is impossible.
/// @return nullptr if they cannot be read
std::shared_ptr<const profiler::Trace> readAnyPacked(const std::uint8_t* data, std::size_t size, std::uint64_t budget);

/// Reads them completely and on demand.
void readAnyPacked(const std::uint8_t* data, std::size_t size);
