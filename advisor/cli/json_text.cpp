#include "advisor/cli/json_text.h"

namespace advisor::cli {

std::string jsonText(const nlohmann::ordered_json& json, bool inOneLine)
{
    return json.dump(inOneLine ? -1 : 2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace advisor::cli
