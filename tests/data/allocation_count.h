#pragma once

#include <cstdint>

namespace data_test {

/// How often this thread asked operator new for memory. Linking it replaces operator new.
std::int64_t allocationsOfThisThread();

} // namespace data_test
