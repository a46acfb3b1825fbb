#include "trainer/data/dataset.h"

#include <fmt/ranges.h>

namespace trainer::data {

std::string_view toText(DataKind kind)
{
    switch (kind) {
    case DataKind::Images:
        return "images";
    case DataKind::Tokens:
        return "tokens";
    case DataKind::Sequences:
        return "sequences";
    case DataKind::Rows:
        return "rows of numbers";
    }
    return {};
}

SampleSpec imageSpec(std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t classes)
{
    return {.kind = DataKind::Images,
            .inputs = {{Dtype::Float32, {channels, height, width}}},
            .target = {Dtype::Int64, {}},
            .classes = classes};
}

std::string toText(const ArraySpec& array)
{
    const std::string_view type = array.dtype == Dtype::Float32 ? "float"
                                  : array.dtype == Dtype::Int64 ? "int64"
                                                                : "uint8";
    if (array.shape.empty())
        return std::string(type);
    return fmt::format("{} {}", type, fmt::join(array.shape, " × "));
}

} // namespace trainer::data
