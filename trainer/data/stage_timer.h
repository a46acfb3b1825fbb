#pragma once

#include "profiler/model/clock.h"
#include "trainer/data/dataset.h"

#include <cstdint>

namespace trainer::data {

/// Records a scope as a stage of its thread; free if nothing is recorded.
class StageTimer {
public:
    /// @param name  string id: stages.read, stages.decode…
    /// @param value  index of the sample, or of the batch for collate and pin
    StageTimer(const StageRecorder& stages, std::uint32_t name, std::int64_t value)
        : m_buffer(stages.buffer), m_name(name), m_value(value)
    {
        if (m_buffer)
            m_begin = profiler::TraceClock::now();
    }
    ~StageTimer()
    {
        if (m_buffer)
            m_buffer->complete(profiler::ActivityKind::LoaderStage, m_name, m_begin, profiler::TraceClock::now(),
                               m_value, m_bytes);
    }
    StageTimer(const StageTimer&) = delete;
    StageTimer& operator=(const StageTimer&) = delete;
    void setBytes(std::int64_t bytes) { m_bytes = bytes; }

private:
    profiler::capture::ThreadBuffer* m_buffer;
    std::uint32_t m_name;
    std::int64_t m_value, m_bytes = 0;
    profiler::TraceTime m_begin{};
};

} // namespace trainer::data
