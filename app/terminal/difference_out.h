#pragma once

#include "advisor/experiment/difference.h"

#include <nlohmann/json.hpp>
#include <string>

namespace advisor::cli {

/// The output of `diff`.
nlohmann::ordered_json toJson(const Difference& difference);
std::string toText(const Difference& difference);

} // namespace advisor::cli
