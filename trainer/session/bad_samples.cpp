#include "trainer/session/bad_samples.h"

namespace trainer {

namespace {
constexpr const char* kHint = "it is skipped; repair or remove it";
}

void BadSamples::add(data::Split split, std::span<const data::BadSample> bad)
{
    for (const data::BadSample& sample : bad) {
        if (!m_seen.emplace(split, sample.index).second || m_seen.size() > kNamed)
            continue;
        m_reported = m_seen.size();
        m_progress.warn(sample.what, {}, kHint, static_cast<std::int64_t>(m_reported));
    }
}

void BadSamples::reportTotal()
{
    if (m_reported == m_seen.size())
        return;
    m_reported = m_seen.size();
    m_progress.warn(profiler::message<"training.bad_samples", "some samples cannot be loaded">(), {},
                    "they are skipped; repair or remove them", static_cast<std::int64_t>(m_reported));
}

} // namespace trainer
