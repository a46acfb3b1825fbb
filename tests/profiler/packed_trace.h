#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>

namespace packed_test {

/// A training as importers provide it: threads with nested ops and runtime calls that use all fields of a slice.
std::shared_ptr<const profiler::Trace> training(std::int64_t slices, std::uint32_t threads);

/// Expects all slices and query results of both traces to be equal.
void expectSame(const profiler::Trace& a, const profiler::Trace& b);

} // namespace packed_test
