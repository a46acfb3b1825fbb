#pragma once

#include "profiler/model/name_search.h"

#include <memory>
#include <optional>
#include <string_view>

namespace profiler {

/// A compiled NamePattern. One thread.
class NameMatcher {
public:
    static Result<NameMatcher> make(const NamePattern& pattern);
    NameMatcher(NameMatcher&&) noexcept;
    NameMatcher& operator=(NameMatcher&&) noexcept;
    ~NameMatcher();

    /// Empty when the expression gave up on this text: it took more steps than any search of use does.
    [[nodiscard]] std::optional<bool> matches(std::string_view text) const;

private:
    struct Compiled;
    explicit NameMatcher(std::unique_ptr<Compiled> compiled);
    std::unique_ptr<Compiled> m;
};

} // namespace profiler
