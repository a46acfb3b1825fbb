#pragma once

#include "trainer/data/loader.h"
#include "trainer/loop/progress.h"

#include <set>
#include <span>

namespace trainer {

/// Tells about samples that could not be loaded: the first ones by name, all by their number. A file counts once,
/// however many epochs meet it.
class BadSamples {
public:
    explicit BadSamples(Progress& progress) : m_progress(progress) {}
    void add(data::Split split, std::span<const data::BadSample> bad);
    /// Tells the number when it has grown since it was told last.
    void sumUp();

private:
    // More names than this nobody reads; they would push all else out of sight.
    static constexpr std::size_t kNamed = 20;
    Progress& m_progress;
    std::set<std::pair<data::Split, std::int64_t>> m_seen;
    std::size_t m_told = 0;
};

} // namespace trainer
