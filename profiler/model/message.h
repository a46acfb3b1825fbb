#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

/// Everything the product says to a user (a finding's reason, a caveat, a note about a trace, an error, a verdict) is a
/// Message: an id that programs and tests check, parameter values, and English text. The text is written next to the
/// code that raises the message: `message<"host.bound.idle", "The device idles {share} of the time.">({{"share", 0.4,
/// "40 %"}})`.
namespace profiler {

/// One value of a message.
struct MessageParameter {
    using Value = std::variant<std::int64_t, double, std::string>;

    std::string name; ///< as in the text, without braces
    Value value;      ///< for programs; times in µs, sizes in bytes, shares in 0…1
    std::string text; ///< for readers, with its unit

    /// @param shown  the value with its unit; for a string, the string itself
    MessageParameter(std::string_view parameter, std::string_view shown);
    MessageParameter(std::string_view parameter, double number, std::string_view shown);
    /// @param shown  the formatted number; if empty, the plain number
    template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
    MessageParameter(std::string_view parameter, Integer number, std::string_view shown = {})
        : MessageParameter(Exact{}, parameter, static_cast<std::int64_t>(number), shown)
    {
    }

    friend bool operator==(const MessageParameter&, const MessageParameter&) = default;

private:
    struct Exact {};
    MessageParameter(Exact, std::string_view parameter, std::int64_t number, std::string_view shown);
};

struct Message {
    std::string id; ///< "host.bound.idle"; empty only for text that comes from another program
    std::vector<MessageParameter> parameters;
    std::string text;

    Message() = default;
    Message(std::string messageId, std::vector<MessageParameter> values, std::string sentence);

    [[nodiscard]] bool empty() const { return text.empty(); }
    /// The parameter with that name, or nullptr.
    [[nodiscard]] const MessageParameter* find(std::string_view name) const;

    friend bool operator==(const Message&, const Message&) = default;
};

/// Text from another program, the operating system or a file, which has no id.
Message foreignText(std::string text);

/// A message as one line of a file: its text, then the id and the parameters, separated by U+001F.
std::string messageLine(const Message& message);
/// Parses such a line. A line that messageLine() did not write becomes the text of a message without an id.
Message messageOfLine(std::string_view line);

/// messageLine() of each message.
std::string messageLines(const std::vector<Message>& messages);

/// Prints the id and the text, for tests and logs.
std::ostream& operator<<(std::ostream& out, const Message& message);

/// An id with its text. Parameters are in braces: "The device idles {share} of the time."
struct MessageText {
    std::string_view id, text;
};
/// Texts of all messages that this program can raise, sorted by id. Ids are unique.
std::vector<MessageText> messageTexts();

namespace detail {

template <std::size_t Size>
struct Literal {
    char value[Size]{};
    // Implicit, so that a string literal can be a template argument.
    constexpr Literal(const char (&text)[Size]) { std::copy_n(text, Size, value); } // NOLINT
    [[nodiscard]] constexpr std::string_view view() const { return {value, Size - 1}; }
};

bool registerMessage(std::string_view id, std::string_view text);
Message makeMessage(std::string_view id, std::string_view text, std::initializer_list<MessageParameter> parameters);

template <Literal Id, Literal Text>
struct RegisteredMessage {
    static inline const bool isRegistered = registerMessage(Id.view(), Text.view());
};

} // namespace detail

/// A message with the values of its parameters. Each parameter that the text uses must be given; unused ones are
/// allowed. In the text, "{name}" is replaced by the parameter, and "{name|is|are}" by the first word if the number is
/// 1, otherwise by the second.
template <detail::Literal Id, detail::Literal Text>
Message message(std::initializer_list<MessageParameter> parameters = {})
{
    static_cast<void>(detail::RegisteredMessage<Id, Text>::isRegistered);
    return detail::makeMessage(Id.view(), Text.view(), parameters);
}

} // namespace profiler
