#pragma once

#include "profiler/io/packed/section.h"

#include <cstdint>

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

} // namespace profiler::packed
