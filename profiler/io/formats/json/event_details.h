#pragma once

#include "profiler/io/formats/json/byte_source.h"
#include "profiler/model/arg_source.h"

#include <memory>

namespace profiler::formats::json {

/// Reads all fields of the event whose brace lies at a byte of the text: those of the event itself, then its args. A
/// text as it reads, everything else as JSON.
std::shared_ptr<const ArgSource> eventDetails(std::shared_ptr<ByteSource> source);

} // namespace profiler::formats::json
