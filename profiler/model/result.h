#pragma once

#include <string>
#include <tl/expected.hpp>

namespace profiler {

/// An expected failure, in words of the user's task: what was wrong, where, and how to mend it.
struct Error {
    enum class Code { NotFound, Permission, Malformed, Unsupported, NoSpace, Invalid, Unavailable, Cancelled, Io };

    Code code = Code::Io;
    std::string what;  ///< what was wrong: "the checksum of a frame does not match"
    std::string where; ///< file, byte offset, row, knob…; may be empty
    std::string mend;  ///< the next step for the user; may be empty

    /// One line: "what (where): mend".
    [[nodiscard]] std::string message() const;
};

template <class T>
using Result = tl::expected<T, Error>;

} // namespace profiler
