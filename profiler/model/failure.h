#pragma once

#include "profiler/model/result.h"

#include <stdexcept>

/// An Error as an exception. Only the trainer throws it, since its code runs between calls of LibTorch, which throws
/// itself; everything else returns a Result.
namespace profiler {

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
