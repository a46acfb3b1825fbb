#pragma once

#include "advisor/experiment/difference.h"

#include <nlohmann/json.hpp>
#include <string>

namespace advisor::cli {

/// What `diff` prints.
nlohmann::ordered_json toJson(const Difference& difference);
std::string toText(const Difference& difference);

} // namespace advisor::cli
