#pragma once

#include "profiler/capture/cupti/api.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace capture_test {

/// A buffer of CUPTI records built by a test, with the layout that CUPTI uses.
class CuptiBuffer {
public:
    /// Adds a zeroed record; fill it in before adding the next one.
    template <class Record>
    Record& add(CUpti_ActivityKind kind)
    {
        const std::size_t at = m_words.size();
        m_words.resize(at + sizeof(Record) / sizeof(std::uint64_t));
        auto& record = *reinterpret_cast<Record*>(m_words.data() + at);
        record.kind = kind;
        return record;
    }
    template <class Record>
    Record& timed(CUpti_ActivityKind kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation = 1)
    {
        Record& record = add<Record>(kind);
        record.start = start;
        record.end = end;
        record.correlationId = correlation;
        return record;
    }
    [[nodiscard]] std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(m_words.data()); }
    [[nodiscard]] std::size_t size() const { return m_words.size() * sizeof(std::uint64_t); }

private:
    std::vector<std::uint64_t> m_words;
};

} // namespace capture_test
