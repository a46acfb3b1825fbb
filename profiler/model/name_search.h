#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profiler {

/// What to look for in names.
struct NamePattern {
    std::string text;   ///< UTF-8
    bool regex = false; ///< `text` is an ECMAScript regular expression (PCRE extensions are accepted, too)
    bool caseSensitive = false;
};

/// Slices of one trace whose names match a pattern. The pattern is tested once on every name in the string pool; after
/// that, slices are compared by name id. Immutable and thread-safe.
///
/// Slices are found in the order (start, track id, longest first, ordinal).
class NameSearch {
public:
    /// Fails (Invalid) if a regular expression cannot be compiled; `where` gives the offset of the error in it. An
    /// empty pattern matches nothing.
    static Result<NameSearch> make(std::shared_ptr<const Trace> trace, const NamePattern& pattern);

    [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return m_trace; }
    [[nodiscard]] bool matches(StringId name) const
    {
        return name.value < m_matches.size() && m_matches[name.value] != 0;
    }
    /// Number of matching names in the pool.
    [[nodiscard]] std::size_t nameCount() const { return m_names; }
    /// Number of names on which a regular expression exceeded its step limit; they count as not matching.
    [[nodiscard]] std::size_t undecidedNames() const { return m_undecided; }

    /// The first match that starts at `from` or later.
    [[nodiscard]] std::optional<Slice> next(std::span<const TrackId> tracks, TraceTime from) const;
    /// The first match after a slice (which itself need not match).
    [[nodiscard]] std::optional<Slice> next(std::span<const TrackId> tracks, const Slice& after) const;
    /// The last match that starts before `before`.
    [[nodiscard]] std::optional<Slice> previous(std::span<const TrackId> tracks, TraceTime before) const;
    /// The last match before a slice (which itself need not match).
    [[nodiscard]] std::optional<Slice> previous(std::span<const TrackId> tracks, const Slice& before) const;

    /// Number of matching slices.
    [[nodiscard]] std::uint64_t count(std::span<const TrackId> tracks) const;
    /// Number of matches before a slice; the slice is match `rank + 1` of `count`.
    [[nodiscard]] std::uint64_t rank(std::span<const TrackId> tracks, const Slice& slice) const;
    /// For a minimap: the number of matches that start in each of `buckets.size()` equal spans of `window`.
    void marks(std::span<const TrackId> tracks, TimeRange window, std::span<std::uint32_t> buckets) const;

private:
    NameSearch() = default;

    std::shared_ptr<const Trace> m_trace;
    std::vector<std::uint8_t> m_matches; ///< indexed by StringId
    std::size_t m_names = 0, m_undecided = 0;
};

} // namespace profiler
