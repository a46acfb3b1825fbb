#pragma once

#include "profiler/model/message.h"

#include <tl/expected.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

/// Expected failures, as the error of a Result and, in the trainer, as an exception.
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

inline std::string Error::message() const
{
    std::string text = what.text;
    if (text.ends_with('.') && (!where.empty() || !hint.empty())) // the sentence continues
        text.pop_back();
    if (!where.empty())
        text += " (" + where + ")";
    if (!hint.empty())
        text += ": " + hint;
    return text;
}

inline Message Error::asMessage() const
{
    return {what.id, what.parameters, message()};
}

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

/// An Error as an exception. Only the trainer throws it, since its code runs between calls of LibTorch, which throws
/// itself; everything else returns a Result.
class Failure final : public std::runtime_error {
public:
    explicit Failure(Error error) : std::runtime_error(error.message()), m_error(std::move(error)) {}
    [[nodiscard]] const Error& error() const { return m_error; }

private:
    Error m_error;
};

/// Throws a Failure whose text is written where it is raised; the parameters are those of makeError().
template <detail::Literal Id, detail::Literal Text>
[[noreturn]] void throwError(Error::Code code, std::string where = {}, std::string hint = {},
                             std::initializer_list<MessageParameter> parameters = {})
{
    throw Failure(makeError<Id, Text>(code, std::move(where), std::move(hint), parameters));
}

} // namespace profiler
