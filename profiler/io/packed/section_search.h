#pragma once

#include "profiler/io/packed/section.h"

#include <cstdint>
#include <stop_token>

namespace profiler::packed {

/// Finds where sections may begin in what is damaged. Reads every byte once, however many places look like one.
class SectionSearch {
public:
    explicit SectionSearch(const SectionFile& file) : m_file(file) {}
    /// The first place at `offset` or behind it where a section's magic lies; the file's size where there is none, or
    /// where it cannot be read. Offsets rise from call to call.
    [[nodiscard]] std::uint64_t next(std::uint64_t offset);

private:
    const SectionFile& m_file;
    Bytes m_window;
    std::uint64_t m_begin = 0; ///< of the window
};

/// Where the first section of a type lies, at `offset` or behind it, whose checksum is right; the file's size where
/// there is none, or when it is stopped. Goes from section to section, past what is damaged.
[[nodiscard]] std::uint64_t findSection(const SectionFile& file, std::uint64_t offset, SectionType type,
                                        const std::stop_token& stop);

} // namespace profiler::packed
