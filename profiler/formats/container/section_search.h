#pragma once

#include "profiler/formats/container/section.h"

#include <cstdint>
#include <stop_token>

namespace profiler::packed {

/// Finds possible starts of sections in damaged data. Reads every byte once, however many candidates there are.
class SectionSearch {
public:
    explicit SectionSearch(const SectionFile& file) : m_file(file) {}
    /// The first position at or after `offset` with a section's magic number. Returns the file's size if there is none
    /// or the file cannot be read. Offsets must increase from call to call.
    [[nodiscard]] std::uint64_t next(std::uint64_t offset);

private:
    const SectionFile& m_file;
    Bytes m_window;
    std::uint64_t m_begin = 0; ///< start of the window
};

/// The position of the first section of a type at or after `offset` whose checksum is correct. Returns the file's size
/// if there is none or the search was stopped. Walks from section to section and skips damaged data.
[[nodiscard]] std::uint64_t findSection(const SectionFile& file, std::uint64_t offset, SectionType type,
                                        const std::stop_token& stop);

} // namespace profiler::packed
