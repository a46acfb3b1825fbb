#include "profiler/formats/pytorch/category.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace profiler::formats::json {

namespace {

bool sameLetter(char a, char b)
{
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool contains(std::string_view text, std::string_view part)
{
    return std::search(text.begin(), text.end(), part.begin(), part.end(), sameLetter) != text.end();
}

struct CopySpelling {
    std::string_view text;
    CopyKind kind;
};
constexpr std::array<CopySpelling, 19> kCopies = {{{"HtoD", CopyKind::HtoD},
                                                   {"DtoH", CopyKind::DtoH},
                                                   {"DtoD", CopyKind::DtoD},
                                                   {"PtoP", CopyKind::PtoP},
                                                   {"HtoH", CopyKind::HtoH},
                                                   {"HtoA", CopyKind::HtoD},
                                                   {"AtoH", CopyKind::DtoH},
                                                   {"AtoA", CopyKind::DtoD},
                                                   {"AtoD", CopyKind::DtoD},
                                                   {"DtoA", CopyKind::DtoD},
                                                   {"HostToDevice", CopyKind::HtoD},
                                                   {"DeviceToHost", CopyKind::DtoH},
                                                   {"DeviceToDevice", CopyKind::DtoD},
                                                   {"HostToHost", CopyKind::HtoH},
                                                   {"M2D", CopyKind::HtoD},
                                                   {"D2M", CopyKind::DtoH},
                                                   {"H2D", CopyKind::HtoD},
                                                   {"D2H", CopyKind::DtoH},
                                                   {"D2D", CopyKind::DtoD}}};

MemoryKind memoryFromName(std::string_view name)
{
    if (contains(name, "pageable"))
        return MemoryKind::Pageable;
    if (contains(name, "pinned"))
        return MemoryKind::Pinned;
    if (contains(name, "managed"))
        return MemoryKind::Managed; // also "Managed Static"
    if (contains(name, "device"))
        return MemoryKind::Device; // also "Device Static"
    return contains(name, "array") ? MemoryKind::Array : MemoryKind::Unknown;
}

} // namespace

std::uint8_t categoryIndex(std::string_view name)
{
    if (const auto comma = name.find(','); comma != name.npos) {
        const std::uint8_t first = categoryIndex(name.substr(0, comma));
        return first != 0 ? first : categoryIndex(name.substr(comma + 1));
    }
    const auto found = std::find_if(std::begin(kCategories) + 1, std::end(kCategories), [&](const Category& category) {
        return std::equal(name.begin(), name.end(), category.name.begin(), category.name.end(), sameLetter);
    });
    return found == std::end(kCategories) ? std::uint8_t{0}
                                          : static_cast<std::uint8_t>(found - std::begin(kCategories));
}

CopyName copyFromName(std::string_view name)
{
    CopyName result;
    const auto open = name.find('(');
    const std::string_view title = name.substr(0, open);
    for (const CopySpelling& spelling : kCopies)
        if (contains(title, spelling.text)) {
            result.copy = spelling.kind;
            break;
        }
    const auto arrow = name.find("->");
    if (open != name.npos && arrow != name.npos && arrow > open) {
        result.src = memoryFromName(name.substr(open, arrow - open));
        result.dst = memoryFromName(name.substr(arrow));
    }
    return result;
}

} // namespace profiler::formats::json
