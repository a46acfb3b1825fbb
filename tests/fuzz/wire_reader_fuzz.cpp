#include "tests/fuzz/wire_reader_target.h"

/// libFuzzer's entry point; use whole traces as the corpus. wire_mutation_test goes deeper, because it repairs the
/// checksums of what it changes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    readAnything(data, size);
    return 0;
}
