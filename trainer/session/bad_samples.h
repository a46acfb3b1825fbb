#pragma once

#include "trainer/data/loader.h"
#include "trainer/session/progress.h"

#include <set>
#include <span>

namespace trainer {

/// Reports samples that could not be loaded: the first ones by name, and the total as a number. A file counts once,
/// even if several epochs read it.
class BadSamples {
public:
    explicit BadSamples(Progress& progress) : m_progress(progress) {}
    void add(data::Split split, std::span<const data::BadSample> bad);
    /// Reports the number if it has grown since the last report.
    void reportTotal();

private:
    // A longer list of names would hide all other notices.
    static constexpr std::size_t kNamed = 20;
    Progress& m_progress;
    std::set<std::pair<data::Split, std::int64_t>> m_seen;
    std::size_t m_reported = 0;
};

} // namespace trainer
