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
/// Message: an id that programs and tests check, the values in it, and the English text. The text is written next to
/// the code that raises the message: `message<"host.bound.idle", "The device idles {share} of the time.">({{"share",
/// 0.4, "40 %"}})`.
namespace profiler {

/// One value of a message.
struct MessageParameter {
    using Value = std::variant<std::int64_t, double, std::string>;

    std::string name; ///< as in the text, without braces
    Value value;      ///< for programs; times in µs, sizes in bytes, shares in 0…1
    std::string text; ///< for readers, with its unit

    /// @param shown  the value with its unit; a string stands for itself
    MessageParameter(std::string_view parameter, std::string_view shown);
    MessageParameter(std::string_view parameter, double number, std::string_view shown);
    /// @param shown  empty: the number as it is
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
    /// The parameter of that name; nullptr without one.
    [[nodiscard]] const MessageParameter* find(std::string_view name) const;

    friend bool operator==(const Message&, const Message&) = default;
};

/// The words of another program, of the operating system or of a file, for which there is no id.
Message foreignText(std::string text);

/// A message as one line of a file: its text, then the id and the parameters, separated by U+001F.
std::string messageLine(const Message& message);
/// The message of such a line. A line of another origin is the text of a message without an id.
Message messageOfLine(std::string_view line);

/// messageLine() of each.
std::string messageLines(const std::vector<Message>& messages);

/// Prints the id and the text, for tests and logs.
std::ostream& operator<<(std::ostream& out, const Message& message);

/// An id with its text, whose parameters are in braces: "The device idles {share} of the time."
struct MessageText {
    std::string_view id, text;
};
/// Texts of all messages that this program can raise, by id. An id occurs once.
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

/// A message with the values of its parameters. Each parameter that the text names must be given; more may be. In the
/// text, "{name}" stands for a parameter, and "{name|is|are}" for the first of the two where its number is 1.
template <detail::Literal Id, detail::Literal Text>
Message message(std::initializer_list<MessageParameter> parameters = {})
{
    static_cast<void>(detail::RegisteredMessage<Id, Text>::isRegistered);
    return detail::makeMessage(Id.view(), Text.view(), parameters);
}

} // namespace profiler
