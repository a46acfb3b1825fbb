#pragma once

#include "profiler/model/message.h"

#include <initializer_list>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace profiler {

/// An expected failure in terms of the user's task: what was wrong, where, and how to fix it.
struct Error {
    enum class Code { NotFound, Permission, Malformed, Unsupported, NoSpace, Invalid, Unavailable, Cancelled, Io };

    Code code = Code::Io;
    Message what;      ///< what was wrong: "the checksum of a frame does not match"
    std::string where; ///< file, byte offset, row, knob…; may be empty
    std::string hint;  ///< what the user should do next; may be empty

    /// One line: "what (where): hint".
    [[nodiscard]] std::string message() const;
    /// The same line with the id and the parameters of `what`, for lists of notes.
    [[nodiscard]] Message asMessage() const;
};

template <class T>
using Result = tl::expected<T, Error>;

/// An Error whose text is written where it is raised; see message().
template <detail::Literal Id, detail::Literal Text>
Error makeError(Error::Code code, std::string where = {}, std::string hint = {},
                std::initializer_list<MessageParameter> parameters = {})
{
    return {code, message<Id, Text>(parameters), std::move(where), std::move(hint)};
}

/// The same, for returning from a function that returns a Result: `return fail<"file.empty", "the file is
/// empty">(Error::Code::Malformed, path.string(), "choose another file")`.
template <detail::Literal Id, detail::Literal Text>
tl::unexpected<Error> fail(Error::Code code, std::string where = {}, std::string hint = {},
                           std::initializer_list<MessageParameter> parameters = {})
{
    return tl::unexpected(makeError<Id, Text>(code, std::move(where), std::move(hint), parameters));
}

} // namespace profiler
