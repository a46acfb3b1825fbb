#include "tests/fuzz/open_trace_target.h"

/// libFuzzer's entry; tests/fuzz/corpus/json is a corpus to begin with, tests/fuzz/json.dict its dictionary.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    openAnything(data, size);
    return 0;
}
