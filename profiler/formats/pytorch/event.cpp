#include "profiler/formats/pytorch/event.h"

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

struct CopySpellings {
    CopyKind kind;
    std::array<std::string_view, 7> texts;
};
constexpr std::array<CopySpellings, 5> kCopies = {{
    {CopyKind::HtoD, {"HtoD", "HtoA", "HostToDevice", "M2D", "H2D"}},
    {CopyKind::DtoH, {"DtoH", "AtoH", "DeviceToHost", "D2M", "D2H"}},
    {CopyKind::DtoD, {"DtoD", "AtoA", "AtoD", "DtoA", "DeviceToDevice", "D2D"}},
    {CopyKind::PtoP, {"PtoP"}},
    {CopyKind::HtoH, {"HtoH", "HostToHost"}},
}};

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
    const auto copy = std::find_if(kCopies.begin(), kCopies.end(), [&](const CopySpellings& spellings) {
        return std::any_of(spellings.texts.begin(), spellings.texts.end(),
                           [&](std::string_view text) { return !text.empty() && contains(title, text); });
    });
    if (copy != kCopies.end())
        result.copy = copy->kind;
    const auto arrow = name.find("->");
    if (open != name.npos && arrow != name.npos && arrow > open) {
        result.src = memoryFromName(name.substr(open, arrow - open));
        result.dst = memoryFromName(name.substr(arrow));
    }
    return result;
}

} // namespace profiler::formats::json
