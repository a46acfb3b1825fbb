#include "tests/fuzz/packed_reader_target.h"

/// libFuzzer's entry point; use packed traces as the corpus. packed_mutation_test goes deeper, because it repairs
/// checksums.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    readAnyPacked(data, size);
    return 0;
}
