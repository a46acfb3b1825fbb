#include "tests/fuzz/packed_reader_target.h"

/// libFuzzer's entry; give it packed traces as a corpus. packed_mutation_test goes deeper: it mends checksums.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    readAnyPacked(data, size);
    return 0;
}
