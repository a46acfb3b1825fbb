#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>

namespace packed_test {

/// A training as importers give it: threads of nested ops and runtime calls with all that a slice can carry.
std::shared_ptr<const profiler::Trace> training(std::int64_t slices, std::uint32_t threads);

/// Every slice of both, and what is asked of them, must be the same.
void expectSame(const profiler::Trace& a, const profiler::Trace& b);

} // namespace packed_test
