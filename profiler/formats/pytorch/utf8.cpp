#include "profiler/formats/pytorch/utf8.h"

#include <simdjson.h>

namespace profiler::formats::json {

bool isUtf8(const char* text, std::size_t bytes)
{
    return simdjson::validate_utf8(text, bytes);
}

} // namespace profiler::formats::json
