#include "profiler/formats/container/section_search.h"

#include <algorithm>
#include <cstring>

namespace profiler::packed {
namespace {

constexpr std::uint64_t kWindow = 1U << 20;

} // namespace

std::uint64_t SectionSearch::next(std::uint64_t offset)
{
    constexpr std::uint64_t kMagicBytes = sizeof kSectionMagic;
    for (;;) {
        if (offset < m_begin || m_begin + m_window.size() < offset + kMagicBytes) {
            const std::uint64_t left = m_file.size() - std::min(m_file.size(), offset);
            m_begin = offset;
            m_window.resize(std::min(left, kWindow));
            if (left < kMagicBytes || !m_file.readAt(offset, m_window)) {
                m_window.clear();
                return m_file.size();
            }
        }
        const std::byte* from = m_window.data() + (offset - m_begin);
        const std::byte* end = m_window.data() + m_window.size();
        const void* found = memmem(from, static_cast<std::size_t>(end - from), &kSectionMagic, kMagicBytes);
        if (found)
            return m_begin + static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - m_window.data());
        offset = m_begin + m_window.size() - (kMagicBytes - 1); // a magic number may span the window's end
    }
}

std::uint64_t findSection(const SectionFile& file, std::uint64_t offset, SectionType type, const std::stop_token& stop)
{
    SectionSearch search(file);
    // Data that only resembles sections must not cause the file to be read again and again.
    std::uint64_t mayRead = 4 * file.size();
    while (offset < file.size() && !stop.stop_requested()) {
        const auto header = file.headerAt(offset);
        const bool candidate = header && header->type == type && header->packedBytes <= mayRead;
        if (candidate) {
            mayRead -= header->packedBytes;
            if (file.check(offset, type))
                return offset;
        }
        // The length of a damaged section may be damaged too.
        offset = header && !candidate ? offset + sizeof(SectionHeader) + header->packedBytes : search.next(offset + 1);
    }
    return file.size();
}

} // namespace profiler::packed
