#pragma once

#include "profiler/model/name_search.h"

#include <memory>
#include <optional>
#include <string_view>

namespace profiler {

/// A compiled NamePattern. For use by one thread.
class NameMatcher {
public:
    static Result<NameMatcher> make(const NamePattern& pattern);
    NameMatcher(NameMatcher&&) noexcept;
    NameMatcher& operator=(NameMatcher&&) noexcept;
    ~NameMatcher();

    /// Empty if the expression exceeded the step limit on this text.
    [[nodiscard]] std::optional<bool> matches(std::string_view text) const;

private:
    struct Compiled;
    explicit NameMatcher(std::unique_ptr<Compiled> compiled);
    std::unique_ptr<Compiled> m;
};

} // namespace profiler
