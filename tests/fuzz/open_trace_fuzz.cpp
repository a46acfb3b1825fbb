#include "tests/fuzz/open_trace_target.h"

/// libFuzzer's entry point; tests/fuzz/corpus/json is the initial corpus, tests/fuzz/json.dict the dictionary.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    openAnything(data, size);
    return 0;
}
