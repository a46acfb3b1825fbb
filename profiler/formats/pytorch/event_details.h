#pragma once

#include "profiler/formats/pytorch/byte_source.h"
#include "profiler/model/trace.h"

#include <memory>

namespace profiler::formats::json {

/// Reads all fields of the event whose brace is at a byte of the text: first the fields of the event itself, then its
/// args. Texts are unquoted; everything else is returned as JSON.
std::shared_ptr<const ArgSource> eventDetails(std::shared_ptr<ByteSource> source);

} // namespace profiler::formats::json
